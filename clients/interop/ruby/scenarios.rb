# The scenarios, each with two owners that want the same lock and a view of the server.
class Scenarios
  SHORT = 0.6 # seconds of a lease; a busy machine may be late by more than half of a shorter one
  LONG = 60
  PATIENCE = 5
  WORKERS = 16
  ROUNDS = 5

  def self.names
    %w[acquire-release contention expiry watchdog stranger try-timeout script-lost reconnect moved]
  end

  def initialize(key)
    @key = key
    @counter = "#{key}:counter"
    @server = Server.new(masters.first)
  end

  def play(scenario)
    send(scenario.tr("-", "_"))
  ensure
    @a&.close
    @b&.close
    @server.redis.del(@key, @counter)
    @server.redis.close
  end

  private

  def owners(lease)
    @a = lock(lease)
    @b = lock(lease)
  end

  def lock(lease)
    Recipe.new(connect(masters.first), @key, lease)
  end

  def take
    check(@a.acquire(PATIENCE), "a lock that was free was not got within #{PATIENCE} s")
  end

  def refused(time)
    check(!@b.acquire(0), "#{time} another one got the lock")
  end

  def take_and_release
    take
    @server.want_key(@key, true, "while held")
    @a.release
    @server.want_key(@key, false, "after the release")
  end

  def acquire_release
    owners(LONG)
    take_and_release
    take
    refused("while it was held")
    @a.release
  end

  def contention
    workers = Array.new(WORKERS) { Thread.new { work } }
    workers.each(&:join)
    lost = WORKERS * ROUNDS - @server.redis.get(@counter).to_i
    check(lost == 0, "#{lost} updates were lost")
  end

  def work
    Thread.current.report_on_exception = false # join raises it again
    mine = lock(LONG)
    server = Server.new(masters.first)
    ROUNDS.times do
      check(mine.acquire(LONG), "the lock was not got in time")
      server.increment(@counter)
      mine.release
    end
    mine.close
    server.redis.close
  end

  def expiry
    owners(SHORT)
    began = seconds
    take
    refused("before the lease was over")
    check(@b.acquire(PATIENCE), "the lock was not free after its lease")
    waited = seconds - began
    # Expiry is kept in whole milliseconds, and the client began its own a little earlier.
    check(waited >= SHORT - 0.005, "the lock was free after #{waited} s, its lease is #{SHORT} s")
    @b.release
  end

  def watchdog
    owners(SHORT)
    take
    began = seconds
    while seconds - began < 2 * SHORT
      sleep SHORT / 4
      @a.extend
      refused("while the lock was being renewed")
    end
    @a.release
  end

  # The lock passes to another owner; the first one, who thinks it still holds it, must not be able to release it.
  def stranger
    owners(LONG)
    take
    @server.redis.set(@key, "of a stranger")
    begin
      @a.release
    rescue NotHeld
      return @server.want_key(@key, true, "after a stranger's release")
    end
    raise "a stranger's lock was released"
  end

  def try_timeout
    limit = 0.3
    owners(LONG)
    take
    began = seconds
    check(!@b.acquire(limit), "got a lock that is held")
    waited = seconds - began
    check(waited >= limit && waited <= 10 * limit, "gave up after #{waited} s, with a limit of #{limit} s")
    @a.release
  end

  def script_lost
    owners(LONG)
    2.times do
      take_and_release
      @server.lose_scripts
    end
    take
    @server.lose_scripts
    @a.release
    @server.want_key(@key, false, "after a release without its script")
  end

  def reconnect
    owners(LONG)
    take_and_release
    @server.kill_others
    take_and_release # the client connects again by itself
  end

  # The lock's key goes to another server, and back: it still is its owner's, and has its lease.
  def moved
    owners(10)
    other = Server.new(masters.last)
    take
    move(@server.redis, other.redis)
    left = other.redis.pttl(@key)
    check(left.between?(1, 10_000), "there it has #{left} ms left of 10 s")
    move(other.redis, @server.redis)
    refused("after it came back")
    @a.release
    @server.want_key(@key, false, "after the release")
  ensure
    other&.redis&.close
  end

  def move(source, target)
    payload = source.dump(@key)
    ttl = source.pttl(@key)
    source.del(@key)
    target.restore(@key, ttl, payload)
  end
end
