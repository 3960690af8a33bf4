<?php

// The scenarios of a plain lock.

declare(strict_types=1);

const WORKERS = 16;
const ROUNDS = 5;

/** @return list<Cell> */
function cellsOf(Library $library): array
{
    $scenarios = [
        'acquire-release' => acquireRelease(...),
        'contention' => contention(...),
        'expiry' => expiry(...),
        'stranger' => stranger(...),
        'try-timeout' => tryTimeout(...),
        'script-lost' => scriptLost(...),
        'reconnect' => reconnect(...),
        'moved' => moved(...),
    ];
    if ($library->renews) {
        $scenarios['watchdog'] = watchdog(...);
    }
    return array_map(fn (string $name) => cell($library, $name, $scenarios[$name]), array_keys($scenarios));
}

function cell(Library $library, string $scenario, Closure $do): Cell
{
    $run = function () use ($library, $scenario, $do): void {
        $scene = new Scene($library, $scenario);
        try {
            $do($scene);
        } finally {
            $scene->clear();
        }
    };
    $waits = in_array($scenario, ['expiry', 'try-timeout', 'watchdog'], true);
    return new Cell($library->client, $scenario, $run, $waits);
}

/** What most scenarios need: owners that want the same lock, and a view of the server. */
final class Scene
{
    public readonly string $name;
    public readonly string $counter;
    private ?Server $server = null;

    public function __construct(public readonly Library $library, string $scenario)
    {
        $this->name = sprintf('interop:%s:%s:%d', $library->client, $scenario, getmypid());
        $this->counter = "$this->name:counter";
    }

    public function lock(?float $lease = null): Lock
    {
        return ($this->library->open)($this->name, $lease);
    }

    /** Connects when it is first asked, for a process must not inherit the connection of another. */
    public function server(): Server
    {
        return $this->server ??= new Server(masters()[0]);
    }

    public function clear(): void
    {
        foreach (masters() as $addr) {
            $redis = phpredis($addr);
            $redis->client('SETNAME', 'interop');
            $redis->del($redis->keys("$this->name*"));
        }
    }
}

function take(Lock $lock): void
{
    check($lock->take(5), 'a lock that was free was not got within 5 s');
}

function refused(Lock $lock, string $when): void
{
    check(!$lock->take(0), "$when another one got the lock");
}

function takeAndRelease(Lock $lock, Server $server): void
{
    take($lock);
    $server->wantKey($lock->key, true, 'while held');
    $lock->release();
    $server->wantKey($lock->key, false, 'after the release');
}

function acquireRelease(Scene $scene): void
{
    $a = $scene->lock();
    $b = $scene->lock();
    takeAndRelease($a, $scene->server());
    take($a);
    refused($b, 'while it was held');
    $a->release();
}

function contention(Scene $scene): void
{
    $workers = [];
    while (count($workers) < WORKERS) {
        $workers[] = fork(fn () => work($scene));
    }
    $failed = 0;
    foreach ($workers as $worker) {
        pcntl_waitpid($worker, $status);
        $failed += (int) ($status !== 0);
    }
    check($failed === 0, "$failed workers failed: see above");
    $lost = WORKERS * ROUNDS - (int) $scene->server()->redis->get($scene->counter);
    check($lost === 0, "$lost updates were lost");
}

function work(Scene $scene): void
{
    $lock = $scene->lock();
    for ($i = 0; $i < ROUNDS; $i++) {
        check($lock->take(null), 'waiting without a limit ended without the lock');
        $scene->server()->increment($scene->counter);
        $lock->release();
    }
}

function expiry(Scene $scene): void
{
    $lease = $scene->library->lease;
    $a = $scene->lock($lease);
    $b = $scene->lock($lease);
    $began = microtime(true);
    take($a);
    refused($b, 'before the lease was over');
    while (!$b->take(0)) {
        usleep(10_000);
    }
    $waited = microtime(true) - $began;
    // Expiry is kept in whole milliseconds, and the client began its own a little earlier.
    check($waited >= $lease - 0.005, "the lock was free after $waited s, its lease is $lease s");
    $b->release();
}

function watchdog(Scene $scene): void
{
    $lease = $scene->library->lease;
    $a = $scene->lock($lease);
    $b = $scene->lock($lease);
    take($a);
    for ($began = microtime(true); microtime(true) - $began < 2 * $lease;) {
        usleep((int) (1e6 * $lease / 4));
        $a->extend();
        refused($b, 'while the lock was being renewed');
    }
    $a->release();
}

/** The lock passes to another owner; the first one, who thinks it still holds it, must not be able to release it. */
function stranger(Scene $scene): void
{
    $a = $scene->lock();
    take($a);
    $scene->server()->redis->set($a->key, 'of a stranger');
    $told = false;
    try {
        $a->release();
    } catch (NotHeld) {
        $told = true;
    }
    check($told || $scene->library->silent, "a stranger's lock was released");
    $scene->server()->wantKey($a->key, true, "after a stranger's release");
}

function tryTimeout(Scene $scene): void
{
    $limit = $scene->library->wait;
    $a = $scene->lock();
    $b = $scene->lock();
    take($a);
    $began = microtime(true);
    check(!$b->take($limit), 'got a lock that is held');
    $waited = microtime(true) - $began;
    $ok = $waited >= $limit - $scene->library->early && $waited <= 5 * $limit;
    check($ok, "gave up after $waited s, with a limit of $limit s");
    $a->release();
}

function scriptLost(Scene $scene): void
{
    $a = $scene->lock();
    for ($i = 0; $i < 2; $i++) {
        takeAndRelease($a, $scene->server());
        $scene->server()->loseScripts();
    }
    take($a);
    $scene->server()->loseScripts();
    $a->release();
    $scene->server()->wantKey($a->key, false, 'after a release without its script');
}

function reconnect(Scene $scene): void
{
    $a = $scene->lock();
    takeAndRelease($a, $scene->server());
    $scene->server()->killOthers();
    try { // a client that does not retry may notice only now that its connection is gone
        if ($a->take(0)) {
            $a->release();
        }
    } catch (Exception) {
    }
    $scene->server()->redis->del($a->key);
    takeAndRelease($a, $scene->server());
}

/** The lock's key goes to another server, and back: it still is its owner's, and has its lease. */
function moved(Scene $scene): void
{
    $a = $scene->lock(10);
    $b = $scene->lock(10);
    $here = $scene->server();
    $there = new Server(masters()[count(masters()) - 1]);
    take($a);
    move($a->key, $here->redis, $there->redis);
    $left = $there->redis->pttl($a->key);
    check($left > 0 && $left <= 10_000, "there it has $left ms left of 10 s");
    move($a->key, $there->redis, $here->redis);
    refused($b, 'after it came back');
    $a->release();
    $here->wantKey($a->key, false, 'after the release');
}

function move(string $key, Redis $source, Redis $target): void
{
    [$payload, $ttl] = [$source->dump($key), $source->pttl($key)];
    $source->del($key);
    $target->restore($key, $ttl, $payload);
}
