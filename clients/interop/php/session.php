<?php

// phpredis's lock of a session: a request holds it from session_start to session_write_close.

declare(strict_types=1);

/** A process that holds one session, as the process of a web server does. The other one sends it orders. */
final class SessionLock extends Lock
{
    private const ID = 'session';
    private const POLL = 10; // milliseconds
    private const LONG = 60; // seconds

    /** @var resource */
    private $channel;

    public function __construct(string $name, ?float $lease)
    {
        parent::__construct("$name:" . self::ID . '_LOCK');
        [$mine, $theirs] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        fork(function () use ($name, $lease, $mine, $theirs): void {
            fclose($mine);
            self::configure($name, (int) ($lease ?? self::LONG));
            while (($order = fgets($theirs)) !== false) {
                fwrite($theirs, self::obey(...explode(' ', rtrim($order))) . "\n");
            }
            posix_kill(getmypid(), SIGKILL); // at an orderly end PHP would close the session, and so release the lock
        });
        fclose($theirs);
        $this->channel = $mine;
    }

    public function take(?float $seconds): bool
    {
        // -1 is without end, and 0 stands for the default, which is 10.
        $attempts = $seconds === null ? -1 : max(1, (int) (1000 * $seconds / self::POLL));
        return $this->ask("take $attempts") === 'taken';
    }

    public function release(): void
    {
        if ($this->ask('release') !== 'released') {
            throw new NotHeld();
        }
    }

    private function ask(string $order): string
    {
        fwrite($this->channel, "$order\n");
        $answer = fgets($this->channel);
        check($answer !== false, 'the process with the session has ended');
        check(!str_starts_with($answer, 'failed'), rtrim($answer));
        return rtrim($answer);
    }

    private static function configure(string $name, int $lease): void
    {
        $settings = [
            'session.save_handler' => 'redis',
            'session.save_path' => 'tcp://' . masters()[0] . '?prefix=' . urlencode("$name:"),
            'session.use_cookies' => '0',
            'session.cache_limiter' => '',
            'redis.session.locking_enabled' => '1',
            'redis.session.lock_expire' => (string) $lease,
            'redis.session.lock_wait_time' => (string) (1000 * self::POLL), // microseconds
        ];
        foreach ($settings as $setting => $value) {
            check(ini_set($setting, $value) !== false, "$setting cannot be set");
        }
    }

    /** PHP reports as errors what a library would throw. A session without its lock can only be read. */
    private static function obey(string $verb, string $attempts = ''): string
    {
        $errors = [];
        set_error_handler(static function (int $level, string $message) use (&$errors): bool {
            $errors[] = $message;
            return true;
        });
        if ($verb === 'release') {
            session_write_close();
        } else {
            ini_set('redis.session.lock_retries', $attempts);
            session_id(self::ID);
            session_start();
            $_SESSION['by'] = getmypid();
        }
        restore_error_handler();
        if ($errors && $verb === 'take') {
            session_abort();
        }
        return match ($errors[0] ?? null) {
            null => $verb === 'take' ? 'taken' : 'released',
            'session_start(): Acquire of session lock was not successful' => 'refused',
            'session_write_close(): Failed to refresh session lock' => 'not held',
            default => "failed: $errors[0]",
        };
    }
}

function sessionLibrary(): Library
{
    $open = fn (string $name, ?float $lease) => new SessionLock($name, $lease);
    return new Library('phpredis ' . phpversion('redis') . ' session', $open, lease: 1);
}
