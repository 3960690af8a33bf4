def masters
  ENV.fetch("REDIS_MASTERS", ENV.fetch("REDIS_ADDR")).split(",")
end

def connect(addr, **options)
  Redis.new(url: "redis://#{addr}", **options)
end

# A connection to look behind the client's back.
class Server
  attr_reader :redis

  def initialize(addr)
    @redis = connect(addr, id: "interop")
  end

  def want_key(key, there, time)
    check(@redis.exists?(key) == there, "#{time} #{key} is #{there ? "not there" : "still there"}")
  end

  # Adds one in two steps, which only a lock makes one.
  def increment(key)
    @redis.set(key, @redis.get(key).to_i + 1)
  end

  def lose_scripts
    @redis.script(:flush)
  end

  def kill_others
    @redis.call(%w[CLIENT KILL TYPE normal SKIPME yes])
  end
end
