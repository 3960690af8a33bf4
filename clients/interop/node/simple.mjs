import { createRequire } from 'node:module'
import { respOf, version } from './clients.mjs'
import { Taken } from './scenarios.mjs'

const require = createRequire(import.meta.url)

// simple-redis-mutex keeps one subscriber for the whole process, so each locker loads the library
// anew. The library reports nothing when it releases a lock of another owner.
export function simpleRedisMutex(client) {
  return {
    client: `simple-redis-mutex ${version('simple-redis-mutex')} (${client.name})`,
    silent: true,
    wakes: true,
    fences: true,
    protocols: client.protocols,
    open: async (addr, { lease, protocol }) => {
      const redis = await client.connect(addr, { protocol })
      const path = require.resolve('simple-redis-mutex')
      delete require.cache[path]
      const { lock, tryLock } = require(path)
      const held = (release) => ({ release, extend: release.refreshTimeout, token: release.fencingToken })
      return {
        // Polling is for leases that ran out, which nobody tells of.
        take: async (name, limit) => held(await lock(redis, name, { timeout: lease, pollingInterval: Math.min(lease, 10_000), failAfter: limit })
          .catch((err) => { throw /could not be acquired/.test(err.message) ? new Taken(err.message) : err })),
        try: async (name) => {
          const [got, release] = await tryLock(redis, name, { timeout: lease })
          if (!got) throw new Taken(name)
          return held(release)
        },
        key: (name) => `@simple-redis-mutex:lock-${name}`,
        resp: () => respOf(client, redis),
        close: () => client.close(redis),
      }
    },
  }
}
