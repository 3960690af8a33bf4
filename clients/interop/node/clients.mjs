import { randomUUID } from 'node:crypto'
import { createRequire } from 'node:module'
import Redis5 from 'ioredis-5'
import Redis6 from 'ioredis'
import { createClient } from 'redis'
import { hostAndPort } from './server.mjs'
import { sleep } from './cell.mjs'
import { NotHeld, Taken } from './scenarios.mjs'

const require = createRequire(import.meta.url)

// version reads which release of a package is installed; folder is its name in node_modules.
export const version = (folder) => require(`./node_modules/${folder}/package.json`).version.replace(/^v/, '')

// A client is one of the connection libraries, with the few calls that a lock written by hand
// makes in the words of that library. Lock libraries are given what connect returns.
const ioredis = (Redis, folder, protocols) => ({
  name: `ioredis ${version(folder)}`,
  protocols,
  connect: async (addr, { protocol } = {}) => {
    const redis = new Redis({ ...hostAndPort(addr), ...(protocol && { protocol }) })
    redis.on('error', () => {})
    redis.defineCommand('releaseByHand', { numberOfKeys: 1, lua: releaseScript })
    return redis
  },
  close: (redis) => redis.disconnect(),
  take: (redis, key, value, lease) => redis.set(key, value, 'PX', lease, 'NX'),
  release: (redis, key, value) => redis.releaseByHand(key, value),
  extend: (redis, key, lease) => redis.pexpire(key, lease),
  info: (redis) => redis.call('CLIENT', 'INFO'),
  subscribe: async (redis, channel, heard) => {
    const subscriber = redis.duplicate()
    subscriber.on('error', () => {})
    subscriber.on('message', heard)
    await subscriber.subscribe(channel)
    return subscriber
  },
})

export const ioredis5 = ioredis(Redis5, 'ioredis-5')
export const ioredis6 = ioredis(Redis6, 'ioredis', [2, 3])

export const nodeRedis = {
  name: `node-redis ${version('redis')}`,
  protocols: [2, 3],
  connect: async (addr, { protocol } = {}) => {
    const redis = createClient({ socket: hostAndPort(addr), ...(protocol && { RESP: protocol }) })
    redis.on('error', () => {})
    return redis.connect()
  },
  close: (redis) => redis.destroy(),
  take: (redis, key, value, lease) => redis.set(key, value, { PX: lease, NX: true }),
  release: async (redis, key, value) => {
    const how = { keys: [key], arguments: [value] }
    try {
      return await redis.evalSha(releaseSHA, how)
    } catch (err) {
      if (!err.message.startsWith('NOSCRIPT')) throw err
      return redis.eval(releaseScript, how)
    }
  },
  extend: (redis, key, lease) => redis.pExpire(key, lease),
  info: (redis) => redis.sendCommand(['CLIENT', 'INFO']),
  subscribe: async (redis, channel, heard) => {
    const subscriber = redis.duplicate()
    subscriber.on('error', () => {})
    await subscriber.connect()
    await subscriber.subscribe(channel, heard)
    return subscriber
  },
}

const channelOf = (key) => `${key}:released`

// The lock that many programs write themselves: SET NX PX, and a script that compares, deletes and
// tells the waiters.
const releaseScript = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', KEYS[1] .. ':released', ARGV[1])
return 1`
const releaseSHA = require('node:crypto').createHash('sha1').update(releaseScript).digest('hex')

// resp asks the server what the connection speaks.
export const respOf = async (client, redis) => Number(/ resp=(\d)/.exec(await client.info(redis))?.[1])

export function byHand(client) {
  return { client: client.name, wakes: true, protocols: client.protocols, open: (addr, o) => openByHand(client, addr, o) }
}

async function openByHand(client, addr, { lease, protocol }) {
  const redis = await client.connect(addr, { protocol })
  const tryOnce = async (key) => {
    const value = randomUUID()
    if (await client.take(redis, key, value, lease) !== 'OK') throw new Taken(key)
    return {
      release: async () => { if (await client.release(redis, key, value) !== 1) throw new NotHeld(key) },
      extend: () => client.extend(redis, key, lease),
    }
  }
  // Whoever waits tries again at each release, and a little after each lease: what expires tells
  // nobody.
  const take = async (key, limit) => {
    let wake = () => {}
    const subscriber = await client.subscribe(redis, channelOf(key), () => wake())
    try {
      for (const end = Date.now() + limit; ;) {
        const woken = new Promise((resolve) => { wake = resolve })
        try {
          return await tryOnce(key)
        } catch (err) {
          if (!(err instanceof Taken) || Date.now() >= end) throw err
        }
        await Promise.race([woken, sleep(Math.min(lease + 5, end - Date.now()))])
      }
    } finally {
      client.close(subscriber)
    }
  }
  return { take, try: tryOnce, key: (name) => name, resp: () => respOf(client, redis), close: () => client.close(redis) }
}
