<?php

declare(strict_types=1);

/** Seconds. A cell that reaches it has failed, and the next one begins. */
const LIMIT = 10;

/** A cell runs in a process of its own: PHP has no threads, and a process can be ended. */
final class Cell
{
    private float $began;
    private int $process;

    public function __construct(
        private readonly string $client,
        private readonly string $scenario,
        private readonly Closure $do,
        /** It spends its time waiting, so others may run beside it. */
        public readonly bool $waits = false,
    ) {
    }

    public function name(): string
    {
        return "$this->client/$this->scenario";
    }

    public function start(): void
    {
        $this->began = microtime(true);
        $this->process = fork(fn () => $this->report($this->detail()));
    }

    public function finish(): void
    {
        pcntl_waitpid($this->process, $status);
        if (pcntl_wifsignaled($status) && pcntl_wtermsig($status) === SIGALRM) {
            $this->report('not done after ' . LIMIT . ' s');
        } elseif ($status !== 0) {
            $this->report("its process ended with status $status: see above");
        }
    }

    /** What went wrong, in a line; empty when nothing did. */
    private function detail(): string
    {
        try {
            ($this->do)();
            return '';
        } catch (Throwable $e) {
            return strtok($e::class . ': ' . $e->getMessage(), "\n");
        }
    }

    /** Writes to the file itself: after an echo, PHP refuses to start a session. */
    private function report(string $detail): void
    {
        fwrite(STDOUT, json_encode([
            'client' => $this->client,
            'scenario' => $this->scenario,
            'outcome' => $detail === '' ? 'pass' : 'fail',
            'ms' => (int) round(1000 * (microtime(true) - $this->began)),
            'detail' => $detail,
        ], JSON_THROW_ON_ERROR) . "\n");
    }
}

/** Runs a function in a process of its own, which SIGALRM ends after the time limit. Returns the process. */
function fork(Closure $do): int
{
    $process = pcntl_fork();
    if ($process !== 0) {
        return $process;
    }
    pcntl_alarm(LIMIT);
    try {
        $do();
        exit(0);
    } catch (Throwable $e) {
        fwrite(STDERR, "$e\n");
        exit(1);
    }
}

function check(bool $ok, string $what): void
{
    if (!$ok) {
        throw new RuntimeException($what);
    }
}
