<?php

/*
 * Runs lock libraries for PHP against one Redis server: a line of JSON for each cell.
 *
 * It is started by ../matrix, with the servers in its environment (../README.md has the contract); by hand:
 *
 *     REDIS_ADDR=127.0.0.1:6379 ./run
 *
 * The scenarios are written once, against the methods of a Lock; a file for each library fills them in.
 *
 *     cell.php        a cell, its process, its time limit and its line
 *     server.php      the servers, and a connection to look behind the client's back
 *     library.php     what a lock library is to a scenario
 *     scenarios.php   the scenarios of a plain lock
 *     symfony.php     Symfony's Lock component, over phpredis and over Predis
 *     laravel.php     the lock of Laravel's cache, and its limiters, over both
 *     session.php     phpredis's lock of a session
 */

declare(strict_types=1);

foreach (['cell', 'server', 'library', 'scenarios', 'symfony', 'laravel', 'session'] as $file) {
    require __DIR__ . "/$file.php";
}

set_error_handler(static function (int $level, string $message, string $file, int $line): bool {
    if (!(error_reporting() & $level)) {
        return false;
    }
    throw new ErrorException($message, 0, $level, $file, $line);
});

$cells = [...symfonyCells(), ...laravelCells(), ...cellsOf(sessionLibrary())];
$chosen = array_filter($cells, fn (Cell $cell) => str_contains($cell->name(), getenv('ONLY') ?: ''));
foreach ($chosen as $cell) {
    if (!$cell->waits) {
        $cell->start();
        $cell->finish();
    }
}
// Those that only wait run beside each other, after all that disturb others or keep the processor.
$waiting = array_filter($chosen, fn (Cell $cell) => $cell->waits);
foreach ($waiting as $cell) {
    $cell->start();
}
foreach ($waiting as $cell) {
    $cell->finish();
}
