# Runs the lock that users of the redis gem write against one Redis server: a line of JSON for each cell.
#
# It is started by ../matrix, with the servers in its environment (../README.md has the contract); by hand:
#
#     REDIS_ADDR=127.0.0.1:6379 ./run
#
#     cell.rb         a cell, its time limit and its line
#     server.rb       the servers, and a connection to look behind the client's back
#     recipe.rb       the lock: SET NX PX and two scripts
#     scenarios.rb    what happens to it
require "redis"
require_relative "cell"
require_relative "server"
require_relative "recipe"
require_relative "scenarios"

$stdout.sync = true
client = "redis-rb #{Redis::VERSION}"
Scenarios.names.each do |scenario|
  cell = Cell.new(client, scenario) { Scenarios.new("interop:#{client}:#{scenario}:#{Process.pid}").play(scenario) }
  cell.run if cell.name.include?(ENV.fetch("ONLY", ""))
end
exit!(true) # a cell that hangs has left a thread behind
