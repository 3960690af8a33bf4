require "digest"
require "securerandom"

class NotHeld < StandardError
end

# The lock that many programs write themselves: SET NX PX, and scripts that compare the token. Two of them share
# nothing, like two processes.
class Recipe
  POLL = 0.01 # seconds
  RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end"
  EXTEND = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) " \
           "else return 0 end"

  def initialize(redis, key, lease)
    @redis = redis
    @key = key
    @lease = (1000 * lease).round
    @token = SecureRandom.hex(16)
  end

  # Waits for the lock until the limit, or not at all if the limit is zero. Returns whether it holds the lock.
  def acquire(limit)
    deadline = seconds + limit
    until @redis.set(@key, @token, nx: true, px: @lease)
      return false if seconds >= deadline
      sleep POLL
    end
    true
  end

  def release
    own(RELEASE, @token)
  end

  def extend
    own(EXTEND, @token, @lease)
  end

  def close
    @redis.close
  end

  private

  def own(script, *arguments)
    done = begin
      @redis.evalsha(Digest::SHA1.hexdigest(script), [@key], arguments)
    rescue Redis::CommandError => e
      raise unless e.message.start_with?("NOSCRIPT")
      @redis.eval(script, [@key], arguments)
    end
    raise NotHeld if done == 0
  end
end
