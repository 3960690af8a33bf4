<?php

declare(strict_types=1);

/** What a library says of a lock that is not its own, in our words. */
final class NotHeld extends Exception
{
}

/** One lock of one owner. Two of them share nothing, like two processes. */
abstract class Lock
{
    /** @param string $key where the lock is kept on the server */
    public function __construct(public readonly string $key)
    {
    }

    /** Waits that many seconds, without end for null, not at all for 0. Returns whether it holds the lock. */
    abstract public function take(?float $seconds): bool;

    /** Throws NotHeld, unless its library is silent. */
    abstract public function release(): void;

    public function extend(): void
    {
        throw new LogicException('the library cannot renew a lock');
    }
}

/** A lock library over a connection library is one client. */
final class Library
{
    /**
     * @param Closure(string, ?float): Lock $open of a name and a lease (seconds, null: longer than any cell)
     * @param float $lease seconds; the shortest it knows, but not so short that a busy machine is late by all of it
     * @param float $wait seconds; the shortest time limit it knows
     * @param float $early seconds by which it may give up before the time limit
     * @param bool $renews its locks can be renewed
     * @param bool $silent it does not say that the lock it releases is of another owner
     */
    public function __construct(
        public readonly string $client,
        public readonly Closure $open,
        public readonly float $lease = 0.6,
        public readonly float $wait = 0.3,
        public readonly float $early = 0,
        public readonly bool $renews = false,
        public readonly bool $silent = false,
    ) {
    }
}
