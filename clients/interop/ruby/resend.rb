# Single requests whose reply does not come, at the word of ../resend. ../README.md describes the interface.
require "json"
require "redis"
require_relative "server"

PATIENCE = 1 # seconds that a client waits for a reply
LEASE = 30_000 # milliseconds

def outcome(key, settings)
  connect(masters.first, timeout: PATIENCE, **settings).set(key, "token", nx: true, px: LEASE) ? "OK" : "nil"
rescue Redis::BaseError => e
  "error: #{e.class}: #{e.message}"
end

def say(setting, fault, saw)
  puts JSON.generate(client: "redis-rb #{Redis::VERSION}", setting: setting, fault: fault, saw: saw)
end

$stdout.sync = true
{ "" => {}, "reconnect_attempts: 0" => { reconnect_attempts: 0 } }.each do |setting, settings|
  %w[lost late].each do |fault|
    say(setting, fault, "")
    key = gets.chomp
    say(setting, fault, outcome(key, settings))
  end
end
