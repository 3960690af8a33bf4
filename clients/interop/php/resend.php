<?php

// Single requests whose reply does not come, at the word of ../resend. ../README.md describes the interface.

declare(strict_types=1);

require_once __DIR__ . '/server.php';
require_once 'Predis/autoload.php';

const PATIENCE = 1; // seconds that a client waits for a reply
const LEASE = 30_000; // milliseconds

function byPhpredis(string $key): bool
{
    $redis = phpredis(masters()[0]);
    $redis->setOption(Redis::OPT_READ_TIMEOUT, PATIENCE);
    return $redis->set($key, 'token', ['nx', 'px' => LEASE]);
}

function byPredis(string $key): bool
{
    $redis = new Predis\Client(hostPort(masters()[0]) + ['read_write_timeout' => PATIENCE]);
    return $redis->set($key, 'token', 'PX', LEASE, 'NX') !== null;
}

function outcome(callable $send, string $key): string
{
    try {
        return $send($key) ? 'OK' : 'nil';
    } catch (RedisException | Predis\PredisException $e) {
        return 'error: ' . $e::class . ': ' . $e->getMessage();
    }
}

function say(string $client, string $fault, string $saw): void
{
    $line = ['client' => $client, 'setting' => '', 'fault' => $fault, 'saw' => $saw];
    echo json_encode($line, JSON_THROW_ON_ERROR), "\n";
}

$senders = [
    'phpredis ' . phpversion('redis') => byPhpredis(...),
    'Predis ' . Predis\Client::VERSION => byPredis(...),
];
foreach ($senders as $client => $send) {
    foreach (['lost', 'late'] as $fault) {
        say($client, $fault, '');
        $key = trim(fgets(STDIN));
        say($client, $fault, outcome($send, $key));
    }
}
