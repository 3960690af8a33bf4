require "json"

# A cell, its time limit and its line.
class Cell
  LIMIT = 10 # seconds; a cell that reaches it has failed, and the next one begins

  attr_reader :name

  def initialize(client, scenario, &work)
    @client = client
    @scenario = scenario
    @name = "#{client}/#{scenario}"
    @work = work
  end

  def run
    began = seconds
    detail = within_limit
    puts JSON.generate(client: @client, scenario: @scenario, outcome: detail.empty? ? "pass" : "fail",
                       ms: (1000 * (seconds - began)).round, detail: detail)
  end

  private

  # Returns what went wrong, in a line; empty when nothing did.
  def within_limit
    detail = "not done after #{LIMIT} s"
    thread = Thread.new do
      @work.call
      detail = ""
    rescue StandardError => e
      detail = "#{e.class}: #{e.message}".lines.first.chomp
    end
    thread.join(LIMIT)
    detail
  end
end

# A clock that nobody sets.
def seconds
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

def check(ok, what)
  raise what unless ok
end
