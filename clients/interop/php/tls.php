<?php

// A lock over TLS with each client, for clients/interop/tls. ../README.md describes the interface.

declare(strict_types=1);

use Illuminate\Redis\RedisManager;
use Symfony\Component\Lock\Store\RedisStore;

foreach (['cell', 'server', 'library', 'scenarios', 'symfony', 'laravel', 'session'] as $file) {
    require __DIR__ . "/$file.php";
}

/** @return array<string, string> the files of the server and of the client, as PHP's streams name them */
function files(): array
{
    $folder = getenv('REDIS_TLS');
    return ['cafile' => "$folder/ca.crt", 'local_cert' => "$folder/client.crt", 'local_pk' => "$folder/client.key"];
}

function phpredisOverTls(): Redis
{
    ['host' => $host, 'port' => $port] = hostPort(masters()[0]);
    $redis = new Redis();
    $redis->connect("tls://$host", $port, 0, null, 0, 0, ['stream' => files()]);
    return $redis;
}

function predisOverTls(): Predis\Client
{
    return new Predis\Client(hostPort(masters()[0]) + ['scheme' => 'tls', 'ssl' => files()]);
}

function laravelOverTls(string $driver): RedisManager
{
    $settings = ['scheme' => 'tls', 'context' => ['stream' => files()], 'ssl' => files()];
    return new RedisManager(null, $driver, ['default' => hostPort(masters()[0]) + $settings]);
}

/** @param Closure(): Lock $open */
function saw(Closure $open): string
{
    try {
        [$a, $b] = [$open(), $open()];
        check($a->take(0), 'the lock is taken');
        check(!$b->take(0), 'a second owner gets the lock');
        $a->release();
        return 'ok';
    } catch (Exception $e) { // whatever the client throws is its result
        return 'error: ' . $e::class . ': ' . $e->getMessage();
    }
}

$name = 'tls:' . getmypid();
$symfony = 'Symfony Lock ' . version('php-symfony-lock');
$laravel = 'Laravel ' . version('php-illuminate-cache');
$phpredis = 'phpredis ' . phpversion('redis');
$predis = 'Predis ' . Predis\Client::VERSION;
$clients = [
    "$symfony ($phpredis)" => fn () => new SymfonyLock("$name:1", new RedisStore(phpredisOverTls()), 30),
    "$symfony ($predis)" => fn () => new SymfonyLock("$name:2", new RedisStore(predisOverTls()), 30),
    "$laravel ($phpredis)" => fn () => new LaravelLock("$name:3", laravelOverTls('phpredis'), 30),
    "$laravel ($predis)" => fn () => new LaravelLock("$name:4", laravelOverTls('predis'), 30),
];
foreach ($clients as $client => $open) {
    echo json_encode(['client' => $client, 'saw' => saw($open)], JSON_THROW_ON_ERROR), "\n";
}
