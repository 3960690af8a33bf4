# A lock over TLS with each client, for clients/interop/tls. ../README.md describes the interface.
require "json"
require "openssl"
require "redis"
require_relative "cell"
require_relative "server"
require_relative "recipe"

def over_tls
  folder = ENV.fetch("REDIS_TLS")
  files = {
    ca_file: "#{folder}/ca.crt",
    cert: OpenSSL::X509::Certificate.new(File.read("#{folder}/client.crt")),
    key: OpenSSL::PKey.read(File.read("#{folder}/client.key")),
  }
  host, port = masters.first.split(":")
  Redis.new(host: host, port: port.to_i, ssl: true, ssl_params: files)
end

def saw
  a, b = Array.new(2) { Recipe.new(over_tls, "tls:redis-rb", 30) }
  check(a.acquire(0), "the lock is taken")
  check(!b.acquire(0), "a second owner gets the lock")
  a.release
  "ok"
rescue StandardError => e # whatever the client raises is its result
  "error: #{e.class}: #{e.message}"
end

puts JSON.generate(client: "redis-rb #{Redis::VERSION}", saw: saw)
