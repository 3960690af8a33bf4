<?php

// Symfony's Lock component. A lock is a sorted set, and every step of it is a script.

declare(strict_types=1);

use Symfony\Component\Lock\Exception\LockConflictedException;
use Symfony\Component\Lock\Key;
use Symfony\Component\Lock\Lock as LockOfSymfony;
use Symfony\Component\Lock\PersistingStoreInterface;
use Symfony\Component\Lock\Store\CombinedStore;
use Symfony\Component\Lock\Store\RedisStore;
use Symfony\Component\Lock\Store\RetryTillSaveStore;
use Symfony\Component\Lock\Strategy\ConsensusStrategy;

require_once 'Predis/autoload.php';
require_once 'Symfony/Component/Lock/autoload.php';

final class SymfonyLock extends Lock
{
    private const POLL = 10; // milliseconds
    private const LONG = 60.0; // seconds

    public readonly LockOfSymfony $lock;
    private readonly Key $resource;

    public function __construct(string $name, private readonly PersistingStoreInterface $store, private ?float $lease)
    {
        parent::__construct($name);
        $this->lease ??= self::LONG;
        $this->resource = new Key($name);
        $this->lock = $this->over($store);
    }

    /** Only a store of its own, which Symfony calls deprecated, gives a wait for the lock an end. */
    public function take(?float $seconds): bool
    {
        if (!$seconds) {
            return $this->lock->acquire($seconds === null);
        }
        $attempts = (int) (1000 * $seconds / self::POLL);
        try {
            return $this->over(new RetryTillSaveStore($this->store, self::POLL, $attempts))->acquire(true);
        } catch (LockConflictedException) {
            return false;
        }
    }

    public function release(): void
    {
        $this->lock->release();
    }

    public function extend(): void
    {
        $this->lock->refresh();
    }

    private function over(PersistingStoreInterface $store): LockOfSymfony
    {
        return new LockOfSymfony($this->resource, $store, $this->lease, autoRelease: false);
    }
}

/** @return list<Cell> */
function symfonyCells(): array
{
    $name = 'Symfony Lock ' . version('php-symfony-lock');
    $clients = [
        "$name (phpredis " . phpversion('redis') . ')' => phpredis(...),
        "$name (Predis " . Predis\Client::VERSION . ')' => predis(...),
    ];
    $cells = [];
    foreach ($clients as $client => $connect) {
        $store = fn (string $addr) => new RedisStore($connect($addr));
        $open = fn (string $name, ?float $lease) => new SymfonyLock($name, $store(masters()[0]), $lease);
        $library = new Library($client, $open, renews: true, silent: true);
        $overAll = fn (string $name, ?float $lease) => new SymfonyLock($name, overMasters($store), $lease);
        $cells[] = cellsOf($library);
        $cells[] = [
            cell($library, 'read-write', readWrite(...)),
            cell(new Library($client, $overAll), 'redlock', redlock(...)),
        ];
    }
    return array_merge(...$cells);
}

function overMasters(Closure $store): CombinedStore
{
    return new CombinedStore(array_map($store, masters()), new ConsensusStrategy());
}

function readWrite(Scene $scene): void
{
    $a = $scene->lock()->lock;
    $b = $scene->lock()->lock;
    check($a->acquireRead() && $b->acquireRead(), 'two readers do not get on');
    check(!$b->acquire(), 'a reader became a writer among readers');
    $b->release();
    check($a->acquire(), 'the only reader did not become a writer');
    check(!$b->acquireRead(), 'a reader beside the writer');
    check($a->acquireRead() && $b->acquireRead(), 'the writer went on as a reader and keeps others out');
    $a->release();
    $b->release();
    $scene->server()->wantKey($scene->name, false, 'after both releases');
}

/** Two of three masters are enough, one is not. */
function redlock(Scene $scene): void
{
    $servers = array_map(fn ($addr) => new Server($addr), masters());
    $lock = $scene->lock();
    foreach ([true, true, false, false] as $taken => $got) {
        foreach (array_slice($servers, 0, $taken) as $server) {
            $server->redis->set($lock->key, 'of a stranger');
        }
        check($lock->take(0) === $got, ($got ? 'not got' : 'got') . " with $taken of 3 masters taken");
        if ($got) {
            $lock->release();
        }
        foreach ($servers as $server) {
            $server->redis->del($lock->key);
        }
    }
}
