<?php

// A lock in a cluster or through Sentinel, for clients/interop/topology. ../README.md describes the interface.

declare(strict_types=1);

foreach (['cell', 'server'] as $file) {
    require __DIR__ . "/$file.php";
}

const PATIENCE = 2.0; // seconds that a client waits for a reply
const RECOVERY = 30; // seconds until a client has to have found the new master
const LEASE = 300_000; // ms
const FREE = "if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('publish', ARGV[2], 'free') " .
    "return redis.call('del', KEYS[1]) end return 0";

/** @return list<string> */
function addresses(): array
{
    return explode(',', getenv('ADDRESSES'));
}

function inCluster(): bool
{
    return getenv('MODE') === 'cluster';
}

/** The first Sentinel that answers names the master. */
function master(): Redis
{
    foreach (addresses() as $address) {
        ['host' => $host, 'port' => $port] = hostPort($address);
        try {
            [$host, $port] = (new RedisSentinel($host, $port, PATIENCE))->getMasterAddrByName(getenv('MASTER'));
            $redis = new Redis();
            $redis->connect($host, (int) $port, PATIENCE, null, 0, PATIENCE);
            return $redis;
        } catch (RedisException $e) {
            $last = $e;
        }
    }
    throw $last;
}

function client(): Redis|RedisCluster
{
    return inCluster() ? new RedisCluster(null, addresses(), PATIENCE, PATIENCE) : master();
}

/** A process of the program, which has a connection of its own. */
final class Program
{
    private Redis|RedisCluster|null $client = null;

    /** @param Closure(Redis|RedisCluster): mixed $do what is done again with a new connection if it fails, after a failover */
    private function with(Closure $do): mixed
    {
        $this->client ??= client();
        try {
            return $do($this->client);
        } catch (RedisException | RedisClusterException $e) {
            $this->client = null; // the master may be another one
            throw $e;
        }
    }

    public function set(string $key, string $value): void
    {
        $this->with(fn ($client) => $client->set($key, $value));
    }

    public function get(string $key): string|false
    {
        return $this->with(fn ($client) => $client->get($key));
    }

    public function take(string $key, string $token): bool
    {
        return $this->with(fn ($client) => $client->set($key, $token, ['nx', 'px' => LEASE])) === true;
    }

    public function release(string $key, string $token): void
    {
        $freed = $this->with(fn ($client) => $client->eval(FREE, [$key, $token, "$key:free"], 1));
        check($freed === 1, 'the owner does not release the lock');
    }

    public function connect(): void
    {
        $this->set('connect', '1');
        check($this->get('connect') === '1', 'another value comes back');
    }

    public function lock(): void
    {
        check($this->take('lock', 'a'), 'a free lock is not taken');
        check(!$this->take('lock', 'b'), 'two clients hold the lock');
        $this->release('lock', 'a');
    }

    public function contention(): void
    {
        $workers = array_map(fn ($n) => fork(fn () => (new self())->work("worker-$n")), range(1, 4));
        foreach ($workers as $worker) {
            pcntl_waitpid($worker, $status);
            check($status === 0, 'a worker failed');
        }
        check($this->get('{busy}:n') === '40', 'an update is lost');
    }

    private function work(string $token): void
    {
        for ($round = 0; $round < 10; $round++) {
            while (!$this->take('busy', $token)) {
                usleep(5000);
            }
            $this->set('{busy}:n', (string) ((int) $this->get('{busy}:n') + 1));
            $this->release('busy', $token);
        }
    }

    /** A subscription keeps its process busy, so it has one. That writes a line when it stands, and when it is woken. */
    public function wakeUp(): void
    {
        [$mine, $its] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        stream_set_timeout($mine, (int) PATIENCE);
        $listener = fork(function () use ($its) {
            $client = client();
            $subscriber = $client instanceof RedisCluster ? self::anyNode($client) : $client;
            $subscriber->setOption(Redis::OPT_READ_TIMEOUT, -1);
            fwrite($its, "stands\n");
            $subscriber->subscribe(['woken:free'], function () use ($its) {
                fwrite($its, "woken\n");
                exit(0);
            });
        });
        check(fgets($mine) === "stands\n", 'there is no subscription');
        while ($this->subscribers() === 0) {
            usleep(1000);
        }
        check($this->take('woken', 'a'), 'a free lock is not taken');
        $this->release('woken', 'a');
        check(fgets($mine) === "woken\n", 'there is no message');
        pcntl_waitpid($listener, $status);
    }

    /** The messages of a cluster come from each of its nodes. */
    private static function anyNode(RedisCluster $client): Redis
    {
        [$host, $port] = $client->_masters()[0];
        $redis = new Redis();
        $redis->connect($host, (int) $port, PATIENCE);
        return $redis;
    }

    private function subscribers(): int
    {
        return $this->with(fn ($client) => ($client instanceof RedisCluster ? self::anyNode($client) : $client)
            ->pubsub('numsub', ['woken:free']))['woken:free'];
    }

    public function slot(): void
    {
        foreach (['move', 'finish'] as $step) { // ASK, then MOVED
            check($this->take('moved', 'a'), 'a free lock is not taken');
            ask($step, 'moved');
            check(!$this->take('moved', 'b'), 'two clients hold the lock');
            $this->release('moved', 'a');
        }
    }

    public function failover(): void
    {
        check($this->take('kept', 'a'), 'a free lock is not taken');
        ask('failover', 'kept');
        for ($end = microtime(true) + RECOVERY;; usleep(100_000)) {
            try {
                check(!$this->take('kept', 'b'), 'two clients hold the lock');
                $this->release('kept', 'a');
                return;
            } catch (RedisException | RedisClusterException $e) {
                if (microtime(true) > $end) {
                    throw $e;
                }
            }
        }
    }
}

/** Lets something happen to a key. */
function ask(string $what, string $key): void
{
    echo json_encode(['ask' => $what, 'key' => $key]), "\n";
    fgets(STDIN);
}

if ($argc === 1) {
    exit("phpredis\n");
}
$program = new Program();
foreach (['connect', 'lock', 'contention', 'wake-up', ...(inCluster() ? ['slot'] : []), 'failover'] as $scene) {
    $saw = 'ok';
    try {
        [$program, $scene === 'wake-up' ? 'wakeUp' : $scene]();
    } catch (Exception $e) { // whatever the client throws is its result
        $saw = 'error: ' . $e::class . ': ' . $e->getMessage();
    }
    $client = 'phpredis ' . phpversion('redis');
    echo json_encode(['client' => $client, 'scene' => $scene, 'saw' => $saw], JSON_THROW_ON_ERROR), "\n";
}
