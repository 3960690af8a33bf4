// A lock in a cluster or through Sentinel, for clients/interop/topology. ../README.md describes the interface.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import Redis5 from 'ioredis-5'
import Redis6 from 'ioredis'
import Valkey from 'iovalkey'
import * as redis6 from 'redis'
import * as redis5 from 'redis-5'
import { createLock, IoredisAdapter, LockAcquisitionError } from 'redlock-universal'
import { bullmq } from './bullmq.mjs'
import { check, sleep } from './cell.mjs'
import { version } from './clients.mjs'

const patience = 2000 // milliseconds that a client waits for a reply
const recovery = 30_000 // until a client has to have found the new master
const lease = 300_000
const free = "if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('publish', ARGV[2], 'free') " +
  "return redis.call('del', KEYS[1]) end return 0"
const inCluster = process.env.MODE === 'cluster'
const addresses = () => process.env.ADDRESSES.split(',').map((address) => {
  const [host, port] = address.split(':')
  return { host, port: Number(port) }
})

const byIoredis = (Redis, hasShards = true) => async () => {
  const limits = { connectTimeout: patience, commandTimeout: patience }
  const open = () => {
    const redis = inCluster
      ? new Redis.Cluster(addresses(), { redisOptions: limits, shardedSubscribers: true })
      : new Redis({ sentinels: addresses(), name: process.env.MASTER, failoverDetector: true, ...limits })
    // The detector may disconnect while Sentinels are asked. Then the client ends, and has to be connected again by hand.
    if (!inCluster) redis.on('end', () => redis.connect().catch(() => {}))
    return redis.on('error', () => {})
  }
  const redis = open()
  return {
    redis,
    setNX: async (key, token) => await redis.set(key, token, 'PX', lease, 'NX') === 'OK',
    set: (key, value) => redis.set(key, value),
    get: (key) => redis.get(key),
    free: (key, token) => redis.eval(free, 1, key, token, `${key}:free`),
    subscribe: async (channel, heard) => {
      const listener = open()
      listener.on('message', (_, message) => heard(message))
      await listener.subscribe(channel)
    },
    ssubscribe: hasShards && (async (channels, heard) => {
      const listener = open()
      listener.on('smessage', heard)
      for (const channel of channels) await listener.ssubscribe(channel)
    }),
    spublish: (channel) => redis.spublish(channel, 'free'),
  }
}

// redlock-universal over ioredis. Its lock has no token that a caller chooses. It sends SCRIPT LOAD without a key, and
// EVALSHA with one: a Cluster sends the two to different masters, and four of nine unlocks fail. So here all get the script.
const byRedlockUniversal = async () => {
  const client = await byIoredis(Redis6)()
  if (inCluster) {
    const onAll = (words) => Promise.all(client.redis.nodes('master').map((node) => node.script(...words)))
    client.redis.script = async (...words) => (await onAll(words))[0]
  }
  const adapter = new IoredisAdapter(client.redis)
  const held = new Map()
  return {
    ...client,
    setNX: async (key, token) => {
      const lock = createLock({ adapter, key, ttl: lease, retryAttempts: 0, circuitBreaker: false })
      try {
        held.set(token, [lock, await lock.acquire()])
        return true
      } catch (err) {
        if (err instanceof LockAcquisitionError && /already (held|locked)/.test(`${err.message} ${err.cause?.message}`)) return false
        throw err
      }
    },
    free: async (key, token) => {
      const [lock, handle] = held.get(token) ?? []
      const freed = lock && await lock.release(handle)
      if (freed) await client.redis.publish(`${key}:free`, 'free')
      return Number(Boolean(freed))
    },
  }
}

const byNodeRedis = ({ createCluster, createSentinel }) => async () => {
  const limits = { socket: { connectTimeout: patience }, commandOptions: { timeout: patience } }
  const redis = inCluster
    ? createCluster({ rootNodes: addresses().map((socket) => ({ socket })), defaults: limits })
    : createSentinel({ name: process.env.MASTER, sentinelRootNodes: addresses(), nodeClientOptions: limits,
      sentinelClientOptions: limits })
  await redis.on('error', () => {}).connect()
  return {
    setNX: async (key, token) => await redis.set(key, token, { PX: lease, NX: true }) === 'OK',
    set: (key, value) => redis.set(key, String(value)),
    get: (key) => redis.get(key),
    free: (key, token) => redis.eval(free, { keys: [key], arguments: [token, `${key}:free`] }),
    subscribe: (channel, heard) => redis.subscribe(channel, heard),
    ssubscribe: async (channels, heard) => {
      for (const channel of channels) await redis.sSubscribe(channel, (_, from) => heard(from))
    },
    spublish: (channel) => redis.sPublish(channel, 'free'),
  }
}

const clients = {
  'ioredis-5': [`ioredis ${version('ioredis-5')}`, byIoredis(Redis5)],
  ioredis: [`ioredis ${version('ioredis')}`, byIoredis(Redis6)],
  iovalkey: [`iovalkey ${version('iovalkey')}`, byIoredis(Valkey, false)],
  'redlock-universal': [`redlock-universal ${version('redlock-universal')} (ioredis ${version('ioredis')})`, byRedlockUniversal],
  'node-redis': [`node-redis ${version('redis')}`, byNodeRedis(redis6)],
  'redis-5': [`node-redis ${version('redis-5')}`, byNodeRedis(redis5)],
  bullmq: bullmq('bullmq'),
  'bullmq-5': bullmq('bullmq-5'),
}

const answers = createInterface({ input: process.stdin })
const ask = async (what, key) => {
  const answer = once(answers, 'line')
  console.log(JSON.stringify({ ask: what, key }))
  await answer
}

const scenes = {
  async connect(client) {
    await client.set('connect', 1)
    check(await client.get('connect') === '1', 'a value comes back')
  },

  async lock(client) {
    const token = randomUUID()
    check(await client.setNX('lock', token), 'a free lock is taken')
    check(!await client.setNX('lock', randomUUID()), 'a held lock is refused')
    check(await client.free('lock', randomUUID()) === 0, 'a stranger does not release it')
    check(await client.free('lock', token) === 1, 'the owner does not release the lock')
  },

  async contention(client) {
    const work = async () => {
      for (let n = 0; n < 10; n++) {
        const token = randomUUID()
        while (!await client.setNX('busy', token)) await sleep(5)
        await client.set('{busy}:n', Number(await client.get('{busy}:n')) + 1)
        check(await client.free('busy', token) === 1, 'a worker lost the lock')
      }
    }
    await Promise.all([work(), work(), work(), work()])
    check(await client.get('{busy}:n') === '40', 'an update is lost')
  },

  async 'wake-up'(client) {
    let heard
    const message = new Promise((resolve, reject) => {
      heard = resolve
      setTimeout(() => reject(new Error('there is no message')), patience)
    })
    message.catch(() => {})
    await client.subscribe('woken:free', heard)
    check(await client.setNX('woken', 'a'), 'a free lock is taken')
    check(await client.free('woken', 'a') === 1, 'the owner does not release the lock')
    check(await message === 'free', 'another message')
  },

  // A connection that ends has to be made anew, with its subscriptions. Their slots differ, and so one request cannot
  // subscribe to all of them.
  async shard(client) {
    const channels = ['shard', 'a', 'b', 'c', 'd', 'e']
    const silent = new Set()
    const hear = async () => {
      channels.forEach((channel) => silent.add(channel))
      for (const end = performance.now() + recovery / 3; silent.size > 0; await sleep(100)) {
        check(performance.now() < end, `there are no messages from ${silent.size} of ${channels.length} channels`)
        for (const channel of channels) await client.spublish(channel)
      }
    }
    await client.ssubscribe(channels, (channel) => silent.delete(channel))
    await hear()
    await ask('cut', 'shard')
    await hear()
  },

  async slot(client) {
    check(await client.setNX('moved', 'a'), 'a free lock is taken')
    await ask('move', 'moved')
    check(!await client.setNX('moved', 'b'), 'a held lock is refused') // ASK
    check(await client.free('moved', 'a') === 1, 'the owner does not release the lock')
    check(await client.setNX('moved', 'a'), 'a free lock is taken')
    await ask('finish', 'moved')
    check(!await client.setNX('moved', 'b'), 'a held lock is refused') // MOVED
    check(await client.free('moved', 'a') === 1, 'the owner does not release the lock')
  },

  async failover(client) {
    check(await client.setNX('kept', 'a'), 'a free lock is taken')
    await ask('failover', 'kept')
    for (const end = performance.now() + recovery; ; await sleep(100)) {
      let taken, released
      try {
        taken = await client.setNX('kept', 'b')
        released = await client.free('kept', 'a')
      } catch (err) {
        if (performance.now() > end) throw err
        continue
      }
      check(!taken, 'a held lock is refused')
      check(released === 1, 'the owner does not release the lock')
      return
    }
  },
}

const play = async (client, open, own = scenes) => {
  let opened
  for (const [scene, act] of Object.entries(own)) {
    if (inCluster ? scene === 'outage' : scene === 'slot' || scene === 'shard') continue
    let saw = 'ok'
    try {
      opened ??= await open()
      if (scene === 'shard' && !opened.ssubscribe) continue
      await act(opened, ask)
    } catch (err) {
      saw = `error: ${err.name}: ${err.message}`
    }
    console.log(JSON.stringify({ client, scene, saw }))
  }
  process.exit(0)
}

const name = process.argv[2]
if (name) await play(...clients[name])
else console.log(Object.keys(clients).join('\n'))
