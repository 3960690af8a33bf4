# The jobs of the Sidekiq process. Each says in a list that it ran.
Redis.silence_deprecations = true # Sidekiq 6 uses words that redis-rb 4.8 warns of
Sidekiq.configure_server { |config| config.options[:poll_interval_average] = 1 }

class Job
  include Sidekiq::Worker

  def perform(name)
    Sidekiq.redis { |redis| redis.lpush("done", name) }
    raise "red on purpose" if name == "fails"
  end
end
