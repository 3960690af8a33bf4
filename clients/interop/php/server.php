<?php

declare(strict_types=1);

/** @return list<string> the addresses of the independent servers; the first is REDIS_ADDR */
function masters(): array
{
    return explode(',', getenv('REDIS_MASTERS') ?: getenv('REDIS_ADDR'));
}

/** @return array{host: string, port: int} */
function hostPort(string $addr): array
{
    [$host, $port] = explode(':', $addr);
    return ['host' => $host, 'port' => (int) $port];
}

function phpredis(string $addr): Redis
{
    $redis = new Redis();
    $redis->connect(...hostPort($addr));
    return $redis;
}

function predis(string $addr): Predis\Client
{
    return new Predis\Client(hostPort($addr));
}

/** The version of a package of Debian, as the library's authors call it. */
function version(string $package): string
{
    $debian = exec('dpkg-query --show --showformat \'${Version}\' ' . escapeshellarg($package));
    return preg_replace('/[+~-].*/', '', $debian);
}

/** A connection to look behind the client's back. */
final class Server
{
    public readonly Redis $redis;

    public function __construct(string $addr)
    {
        $this->redis = phpredis($addr);
        $this->redis->client('SETNAME', 'interop');
    }

    public function wantKey(string $key, bool $there, string $when): void
    {
        check((bool) $this->redis->exists($key) === $there, "$when $key is " . ($there ? 'not there' : 'still there'));
    }

    /** Adds one in two steps, which only a lock makes one. */
    public function increment(string $key): void
    {
        $this->redis->set($key, (string) ((int) $this->redis->get($key) + 1));
    }

    public function loseScripts(): void
    {
        $this->redis->script('FLUSH');
    }

    public function killOthers(): void
    {
        $this->redis->rawCommand('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    }
}
