<?php

// The lock of Laravel's cache, and Laravel's limiters. Both know whole seconds only.

declare(strict_types=1);

use Illuminate\Cache\RedisStore;
use Illuminate\Contracts\Cache\Lock as LockOfLaravel;
use Illuminate\Contracts\Cache\LockTimeoutException;
use Illuminate\Redis\Connections\Connection;
use Illuminate\Redis\RedisManager;

require_once 'Illuminate/Cache/autoload.php';
require_once 'Illuminate/Redis/autoload.php';

final class LaravelLock extends Lock
{
    private const POLL = 10; // milliseconds
    private const LONG = 60; // seconds

    private readonly LockOfLaravel $lock;

    public function __construct(string $name, RedisManager $redis, ?float $lease)
    {
        parent::__construct($name);
        $this->lock = (new RedisStore($redis))->lock($name, (int) ($lease ?? self::LONG));
        $this->lock->betweenBlockedAttemptsSleepFor(self::POLL);
    }

    public function take(?float $seconds): bool
    {
        if ($seconds === 0.0) {
            return $this->lock->get();
        }
        try {
            return $this->lock->block((int) ceil($seconds ?? self::LONG));
        } catch (LockTimeoutException) {
            return false;
        }
    }

    public function release(): void
    {
        if (!$this->lock->release()) {
            throw new NotHeld();
        }
    }
}

/** @return list<Cell> */
function laravelCells(): array
{
    $name = 'Laravel ' . version('php-illuminate-cache');
    $clients = [
        'phpredis' => "$name (phpredis " . phpversion('redis') . ')',
        'predis' => "$name (Predis " . Predis\Client::VERSION . ')',
    ];
    $cells = [];
    foreach ($clients as $driver => $client) {
        $open = fn (string $name, ?float $lease) => new LaravelLock($name, laravel($driver), $lease);
        // It counts the seconds of the clock: of one second, little may be left.
        $library = new Library($client, $open, lease: 1, wait: 1, early: 1);
        $cells[] = cellsOf($library);
        $two = fn () => [connection($driver), connection($driver)];
        $cells[] = [
            cell($library, 'semaphore', fn (Scene $scene) => semaphore($scene, ...$two())),
            cell($library, 'rate-limiter', fn (Scene $scene) => rateLimiter($scene, ...$two())),
        ];
    }
    return array_merge(...$cells);
}

function laravel(string $driver): RedisManager
{
    return new RedisManager(null, $driver, ['default' => hostPort(masters()[0])]);
}

function connection(string $driver): Connection
{
    return laravel($driver)->connection();
}

/** Redis::funnel: so many may be inside at once. */
function semaphore(Scene $scene, Connection $mine, Connection $theirs): void
{
    $inside = fn (Connection $redis, Closure $do) =>
        $redis->funnel($scene->name)->limit(2)->releaseAfter(60)->block(0)->then($do, fn () => 'refused');
    $empty = fn () => 'inside';
    $third = $inside($mine, fn () => $inside($theirs, fn () => $inside($theirs, $empty)));
    check($third === 'refused', 'a third of two');
    check($inside($theirs, $empty) === 'inside', 'refused when both have left');
    $scene->server()->wantKey("{$scene->name}1", false, 'after all have left');
}

/** Redis::throttle: so often within so many seconds. */
function rateLimiter(Scene $scene, Connection $mine, Connection $theirs): void
{
    $once = fn (Connection $redis) =>
        $redis->throttle($scene->name)->allow(3)->every(60)->block(0)->then(fn () => true, fn () => false);
    check($once($mine) && $once($theirs) && $once($mine), 'refused one of three');
    check(!$once($mine) && !$once($theirs), 'a fourth of three');
    $left = $scene->server()->redis->ttl($scene->name);
    check($left > 60 && $left <= 120, "its key has $left s left, of twice the interval");
    $scene->server()->redis->del($scene->name);
    check($once($theirs), 'refused when the interval was forgotten');
}
