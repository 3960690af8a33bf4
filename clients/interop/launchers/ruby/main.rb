# Prints a row for each application in Ruby: see ../main.go. Sidekiq's process is one of its own, as in production.
require "json"
require "socket"
require "tmpdir"
require "sidekiq"
require_relative "jobs"

PATIENCE = 30 # seconds

# Yields the URL of a server that ends afterwards.
def serving(server)
  port = TCPServer.open("127.0.0.1", 0) { |socket| socket.addr[1] }
  log, out = IO.pipe
  process = spawn(server, "--port", port.to_s, "--save", "", out: out, chdir: Dir.tmpdir)
  out.close
  log.each_line { |line| break if line.include?("eady to accept connections") }
  yield "redis://127.0.0.1:#{port}/0"
ensure
  Process.kill("TERM", process)
  Process.wait(process)
end

# Yields while a Sidekiq process works.
def working(url)
  options = ["-r", "./jobs.rb", "-c", "2", "-t", "1"]
  process = spawn({ "REDIS_URL" => url }, "sidekiq", *options, out: File::NULL)
  yield
ensure
  Process.kill("TERM", process)
  Process.wait(process)
end

def sidekiq(server)
  serving(server) do |url|
    Sidekiq.configure_client { |config| config.redis = { url: url } }
    Job.perform_async("plain")
    Job.perform_in(0.1, "scheduled")
    Job.perform_async("fails")
    done = []
    working(url) do
      Sidekiq.redis { |r| done << r.brpop("done", timeout: PATIENCE)&.last until done.size == 3 }
    end
    raise "done: #{done}" unless done.sort == %w[fails plain scheduled]
    left = Sidekiq.redis { |r| [r.llen("queue:default"), r.zcard("schedule"), r.zcard("retry")] }
    raise "jobs waiting, scheduled, and to be retried: #{left}" unless left == [0, 0, 1]
  end
end

row = { kind: "application", name: "Sidekiq", version: Sidekiq::VERSION, ok: true,
        detail: "a job, a scheduled job, a job that fails and waits for its retry, in a process of its own" }
begin
  sidekiq(ARGV[0])
rescue => error
  warn error.full_message
  row.update(ok: false, detail: error.message.lines.first.chomp)
end
puts row.to_json
