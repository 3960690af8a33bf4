import { MultiSemaphore, Mutex, RedlockMutex, Semaphore } from 'redis-semaphore'
import { respOf, version } from './clients.mjs'
import { Taken } from './scenarios.mjs'

// redis-semaphore renews every lock it holds, and says nothing when what it releases is not its own.
export function redisSemaphore(client) {
  return {
    client: `redis-semaphore ${version('redis-semaphore')} (${client.name})`,
    silent: true,
    semaphores: true,
    protocols: client.protocols,
    open: (addr, o) => over(client, [addr], o),
    openOnAll: (addrs, o) => over(client, addrs, o),
  }
}

async function over(client, addrs, { lease, protocol }) {
  const connections = await Promise.all(addrs.map((addr) => client.connect(addr, { protocol })))
  const options = (limit) => ({
    lockTimeout: lease, refreshInterval: Math.round(lease / 3), retryInterval: 5, onLockLost: () => {},
    ...(limit > 0 ? { acquireTimeout: limit } : { acquireAttemptsLimit: 1 }),
  })
  const acquire = async (lock) => {
    if (!await lock.tryAcquire()) throw new Taken('not acquired')
    return { release: () => lock.release(), abandon: () => lock.stopRefresh() }
  }
  const mutex = (name, limit) => acquire(connections.length > 1
    ? new RedlockMutex(connections, name, options(limit))
    : new Mutex(connections[0], name, options(limit)))
  return {
    take: mutex,
    try: (name) => mutex(name, 0),
    trySemaphore: (name, count) => acquire(new Semaphore(connections[0], name, count, options(0))),
    tryPermits: (name, count, permits) => acquire(new MultiSemaphore(connections[0], name, count, permits, options(0))),
    key: (name) => `mutex:${name}`,
    semaphoreKey: (name) => `semaphore:${name}`,
    resp: () => respOf(client, connections[0]),
    close: () => connections.forEach(client.close),
  }
}
