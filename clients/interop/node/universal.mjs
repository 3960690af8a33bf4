import { createLock, createRedlock, IoredisAdapter, LockAcquisitionError, LockManager, NodeRedisAdapter } from 'redlock-universal'
import { nodeRedis, respOf, version } from './clients.mjs'
import { NotHeld, Taken } from './scenarios.mjs'

const delay = 10

export function redlockUniversal(client) {
  return {
    client: `redlock-universal ${version('redlock-universal')} (${client.name})`,
    multi: true,
    renewedLease: 1500, // it renews when a fifth is left
    protocols: client.protocols,
    open: (addr, o) => over(client, [addr], o),
    openOnAll: (addrs, o) => over(client, addrs, o),
  }
}

async function over(client, addrs, { lease, protocol }) {
  const connections = await Promise.all(addrs.map((addr) => client.connect(addr, { protocol })))
  const Adapter = client === nodeRedis ? NodeRedisAdapter : IoredisAdapter
  const adapters = connections.map((c) => new Adapter(c))
  const lockOf = (key, limit) => {
    const o = { key, ttl: lease, retryDelay: delay, retryAttempts: Math.ceil(limit / delay) }
    return adapters.length > 1 ? createRedlock({ adapters, ...o }) : createLock({ adapter: adapters[0], circuitBreaker: false, ...o })
  }
  const take = async (name, limit) => {
    const lock = lockOf(name, limit)
    const handle = await lock.acquire().catch(refusal)
    return {
      release: async () => { if (!await lock.release(handle)) throw new NotHeld(name) },
    }
  }
  const manager = new LockManager({ nodes: adapters, defaultTTL: lease })
  return {
    take,
    try: (name) => take(name, 0),
    using: (name, fn) => lockOf(name, 0).using(fn),
    takeAll: async (names) => {
      const handles = await manager.acquireBatch(names, { ttl: lease, retryAttempts: 0 }).catch(refusal)
      return { release: () => manager.releaseBatch(handles) }
    },
    key: (name) => name,
    resp: () => respOf(client, connections[0]),
    close: () => connections.forEach(client.close),
  }
}

// refusal tells a lock that is held, which is named in the cause, from a server that does not work.
function refusal(err) {
  const cause = `${err.message} ${err.cause?.message}`
  if (err instanceof LockAcquisitionError && /already (held|locked)|quorum not achieved/.test(cause)) throw new Taken(err.message)
  throw err
}
