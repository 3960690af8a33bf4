// A lock through Sentinel while the master is lost, for clients/interop/sentinel. ../README.md describes the interface.
import { randomUUID } from 'node:crypto'
import { createInterface } from 'node:readline'
import Redis5 from 'ioredis-5'
import Redis6 from 'ioredis'
import Valkey from 'iovalkey'
import { createSentinel } from 'redis'
import { check, sleep } from './cell.mjs'
import { version } from './clients.mjs'

const patience = 1000 // milliseconds that a client waits for a reply
const lease = 300_000
const pause = 20 // milliseconds between two locks
const unlock = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end"
const master = process.env.SENTINEL_MASTER
const sentinels = () => process.env.SENTINELS.split(',').map((address) => {
  const [host, port] = address.split(':')
  return { host, port: Number(port) }
})

class SecondOwner extends Error {}

// A client takes a lock by SET NX PX, and releases it by the script.
const byIoredis = (Redis) => async () => {
  const redis = new Redis({
    sentinels: sentinels(), name: master, connectTimeout: patience, commandTimeout: patience, failoverDetector: true,
  })
  redis.on('error', () => {})
  return {
    take: async (key, token) => await redis.set(key, token, 'PX', lease, 'NX') === 'OK',
    release: (key, token) => redis.eval(unlock, 1, key, token),
  }
}

const byNodeRedis = async () => {
  const redis = await createSentinel({
    name: master,
    sentinelRootNodes: sentinels(),
    nodeClientOptions: { socket: { connectTimeout: patience }, commandOptions: { timeout: patience } },
    sentinelClientOptions: { socket: { connectTimeout: patience }, commandOptions: { timeout: patience } },
  }).on('error', () => {}).connect()
  return {
    take: async (key, token) => await redis.set(key, token, { PX: lease, NX: true }) === 'OK',
    release: (key, token) => redis.eval(unlock, { keys: [key], arguments: [token] }),
  }
}

const clients = {
  'ioredis-5': [`ioredis ${version('ioredis-5')}`, byIoredis(Redis5)],
  ioredis: [`ioredis ${version('ioredis')}`, byIoredis(Redis6)],
  iovalkey: [`iovalkey ${version('iovalkey')}`, byIoredis(Valkey)],
  'node-redis': [`node-redis ${version('redis')}`, byNodeRedis],
}

// lockOnce takes a lock with a key of its own, is refused a second time, and releases it.
const lockOnce = async (client, key) => {
  const token = randomUUID()
  check(await client.take(key, token), 'a new lock is taken')
  if (await client.take(key, randomUUID())) throw new SecondOwner()
  check(await client.release(key, token) === 1, 'the owner does not release the lock')
}

// lockUntilBack returns how many milliseconds it took until a lock succeeded that began after the master was lost.
const lockUntilBack = async (client, name, down) => {
  for (let n = 1; ; n++) {
    await sleep(pause)
    const lost = down.at
    try {
      await lockOnce(client, `sentinel:${name}:${n}`)
      if (lost) return performance.now() - lost
    } catch (err) {
      if (err instanceof SecondOwner) throw err
    }
  }
}

const play = async (name, client, open) => {
  const say = (saw, stuck = 0) => console.log(JSON.stringify({ client, saw, stuck: Math.round(stuck) }))
  const opened = await open()
  const [kept, token] = [`sentinel:${name}:kept`, randomUUID()]
  check(await opened.take(kept, token), 'the first lock is taken')
  await lockOnce(opened, `sentinel:${name}:0`)
  const down = { at: 0 }
  createInterface({ input: process.stdin }).once('line', () => { down.at = performance.now() })
  say('ready')
  try {
    const stuck = await lockUntilBack(opened, name, down)
    if (await opened.take(kept, randomUUID())) throw new SecondOwner()
    check(await opened.release(kept, token) === 1, 'the owner does not release the lock that was held')
    say('ok', stuck)
  } catch (err) {
    say(`error: ${err.name}: ${err.message}`)
  }
  process.exit(0)
}

const name = process.argv[2]
if (name) await play(name, ...clients[name])
else console.log(Object.keys(clients).join('\n'))
