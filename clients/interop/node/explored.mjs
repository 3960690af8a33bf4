// The lock clients that explore.mjs runs. open makes a worker: look tries without waiting, take waits. Both return how
// to release, look returns null for a refusal, and take throws.
import { createRequire } from 'node:module'
import Redis5 from 'ioredis-5'
import Redis6 from 'ioredis'
import { createClient } from 'redis'
import Redlock4 from 'redlock-4'
import Redlock5, { ExecutionError } from 'redlock-5'
import { Mutex } from 'redis-semaphore'
import { createLock, IoredisAdapter, LockAcquisitionError, NodeRedisAdapter } from 'redlock-universal'
import { version } from './clients.mjs'
import { hostAndPort } from './server.mjs'

const require = createRequire(import.meta.url)

const lease = 30_000 // milliseconds, as the next two
const silence = 1000 // that a client waits for a reply
const wait = 2000 // that a worker waits for the lock

async function byIoredis(Redis, addr, name) {
  const redis = new Redis({ ...hostAndPort(addr), connectionName: name, commandTimeout: silence })
  redis.on('error', () => {})
  await redis.ping()
  return redis
}

async function byNodeRedis(addr, name) {
  const redis = createClient({ socket: { ...hostAndPort(addr), socketTimeout: silence }, name })
  redis.on('error', () => {})
  return redis.connect()
}

// refused turns the error of a library that says "taken" into null.
const refused = (is) => (err) => {
  if (is(err)) return null
  throw err
}

async function redlock4(addr, name) {
  const redis = await byIoredis(Redis5, addr, name)
  const redlock = new Redlock4([redis])
  const once = new Redlock4([redis], { retryCount: 0 })
  redlock.on('clientError', () => {})
  once.on('clientError', () => {})
  const held = (lock) => () => lock.unlock()
  return {
    look: () => once.acquire('o', lease).then(held, refused((err) => err.name === 'LockError')),
    take: () => redlock.acquire('o', lease).then(held),
    close: () => redis.disconnect(),
  }
}

async function redlock5(addr, name) {
  const redis = await byIoredis(Redis5, addr, name)
  const redlock = new Redlock5([redis])
  redlock.on('error', () => {})
  const held = (lock) => () => lock.release()
  return {
    look: () => redlock.acquire(['o'], lease, { retryCount: 0 }).then(held, refused((err) => err instanceof ExecutionError)),
    take: () => redlock.acquire(['o'], lease).then(held),
    close: () => redis.disconnect(),
  }
}

async function semaphore(addr, name) {
  const redis = await byIoredis(Redis6, addr, name)
  const options = { lockTimeout: lease, acquireTimeout: wait }
  const held = (mutex) => () => mutex.release()
  return {
    look: async () => {
      const mutex = new Mutex(redis, 'o', { ...options, acquireAttemptsLimit: 1 })
      return await mutex.tryAcquire() ? held(mutex) : null
    },
    take: async () => {
      const mutex = new Mutex(redis, 'o', options)
      await mutex.acquire()
      return held(mutex)
    },
    close: () => redis.disconnect(),
  }
}

async function universal(adapter, close) {
  const make = (more) => createLock({ adapter, key: 'o', ttl: lease, ...more })
  const held = (lock) => (handle) => async () => {
    if (!await lock.release(handle)) throw new Error('release returned false')
  }
  const once = make({ retryAttempts: 0 })
  const often = make({ retryAttempts: wait / 100 })
  return {
    look: () => once.acquire().then(held(once), refused((err) => err instanceof LockAcquisitionError)),
    take: () => often.acquire().then(held(often)),
    close,
  }
}

async function universalByIoredis(addr, name) {
  const redis = await byIoredis(Redis6, addr, name)
  return universal(new IoredisAdapter(redis), () => redis.disconnect())
}

async function universalByNodeRedis(addr, name) {
  const redis = await byNodeRedis(addr, name)
  return universal(new NodeRedisAdapter(redis), () => redis.destroy())
}

// simple-redis-mutex keeps one subscriber for the whole process, so each worker loads the library anew.
async function simple(addr, name) {
  const redis = await byNodeRedis(addr, name)
  const subscribers = []
  const duplicate = redis.duplicate.bind(redis)
  redis.duplicate = (...args) => {
    subscribers.push(duplicate(...args))
    return subscribers.at(-1)
  }
  const path = require.resolve('simple-redis-mutex')
  delete require.cache[path]
  const { lock, tryLock } = require(path)
  return {
    look: async () => {
      const [got, release] = await tryLock(redis, 'o', { timeout: lease })
      return got ? release : null
    },
    take: () => lock(redis, 'o', { timeout: lease, failAfter: wait }),
    close: () => {
      for (const s of subscribers) if (s.isOpen) s.destroy()
      if (redis.isOpen) redis.destroy()
    },
  }
}

const ioredis5 = `(ioredis ${version('ioredis-5')})`
const ioredis6 = `(ioredis ${version('ioredis')})`
const nodeRedis = `(node-redis ${version('redis')})`
const timeout = `new Redis({ commandTimeout: ${silence} })`
const socketTimeout = `createClient({ socket: { socketTimeout: ${silence} } })`
const releases = '@simple-redis-mutex:locks-releases'

export const clients = [
  { name: 'redlock-4', version: `${version('redlock-4')} ${ioredis5}`, open: redlock4,
    arguments: [timeout, 'new Redlock([redis])', `acquire(key, ${lease})`] },
  { name: 'redlock-5', version: `${version('redlock-5')} ${ioredis5}`, open: redlock5,
    arguments: [timeout, 'new Redlock([redis])', `acquire([key], ${lease})`] },
  { name: 'redis-semaphore', version: `${version('redis-semaphore')} ${ioredis6}`, open: semaphore,
    arguments: [timeout, `new Mutex(redis, key, { lockTimeout: ${lease}, acquireTimeout: ${wait} })`] },
  { name: 'redlock-universal-ioredis', version: `${version('redlock-universal')} ${ioredis6}`, open: universalByIoredis,
    arguments: [timeout, `createLock({ adapter, key, ttl: ${lease}, retryAttempts: ${wait / 100} })`] },
  { name: 'redlock-universal-node-redis', version: `${version('redlock-universal')} ${nodeRedis}`, open: universalByNodeRedis,
    arguments: [socketTimeout, `createLock({ adapter, key, ttl: ${lease}, retryAttempts: ${wait / 100} })`] },
  { name: 'simple-redis-mutex', version: `${version('simple-redis-mutex')} ${nodeRedis}`, open: simple, wakes: releases,
    arguments: [socketTimeout, `lock(redis, key, { timeout: ${lease}, failAfter: ${wait} })`] },
]
