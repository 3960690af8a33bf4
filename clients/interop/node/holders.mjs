// Two owners of one RedLock. They take and release it on orders of clients/interop/redlock: one line for
// each order, as ../README.md describes. The argument is the folder of the library.
import { createInterface } from 'node:readline'
import Redis from 'ioredis'
import Redlock4 from 'redlock-4'
import Redlock5 from 'redlock-5'
import { version } from './clients.mjs'
import { hostAndPort } from './server.mjs'

// patience is the time limit for a master that does not answer. Without it these libraries wait
// without end.
const patience = 500

const kinds = {
  'redlock-4': (connections) => {
    const redlock = new Redlock4(connections, { retryCount: 0 })
    return { acquire: (key, lease) => redlock.acquire(key, lease), release: (lock) => lock.unlock() }
  },
  'redlock-5': (connections) => {
    const redlock = new Redlock5(connections, { retryCount: 0 })
    return { acquire: (key, lease) => redlock.acquire([key], lease), release: (lock) => lock.release() }
  },
}

let owners = {}

const orders = {
  open: async (masters, key, lease) => {
    for (const name of ['a', 'b']) {
      const connections = masters.split(',').map((addr) => {
        const redis = new Redis({ ...hostAndPort(addr), connectionName: name, commandTimeout: patience })
        redis.on('error', () => {})
        return redis
      })
      owners[name] = { connections, key, lease: Number(lease), ...kinds[process.argv[2]](connections) }
    }
    const all = Object.values(owners).flatMap((owner) => owner.connections)
    await Promise.all(all.map((redis) => redis.ping()))
    return 'ok'
  },
  take: async (name) => {
    const owner = owners[name]
    try {
      owner.lock = await owner.acquire(owner.key, owner.lease)
      return 'held'
    } catch (err) {
      return `refused ${err.message}`
    }
  },
  release: async (name) => {
    await owners[name].release(owners[name].lock)
    return 'released'
  },
  close: async () => {
    Object.values(owners).forEach((owner) => owner.connections.forEach((redis) => redis.disconnect()))
    owners = {}
    return 'ok'
  },
}

console.log(`redlock ${version(process.argv[2])} (ioredis ${version('ioredis')})`)
for await (const line of createInterface({ input: process.stdin })) {
  const [order, ...words] = line.split(' ')
  const answer = await orders[order](...words).catch((err) => `failed ${err}`)
  console.log(answer.replaceAll('\n', ' '))
}
