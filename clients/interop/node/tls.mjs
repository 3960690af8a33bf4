// A lock over TLS with each client, for clients/interop/tls. ../README.md describes the interface.
import { readFileSync } from 'node:fs'
import Redis5 from 'ioredis-5'
import Redis6 from 'ioredis'
import { createClient } from 'redis'
import { check } from './cell.mjs'
import { version } from './clients.mjs'

const [host, port] = process.env.REDIS_ADDR.split(':')
const file = (name) => readFileSync(`${process.env.REDIS_TLS}/${name}`)
const files = { ca: file('ca.crt'), cert: file('client.crt'), key: file('client.key') }
const unlock = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end"

// lock is the scenario. take and release send SET NX PX and the script.
const lock = async (take, release) => {
  check(await take('one'), 'the lock is taken')
  check(!(await take('two')), 'a second owner gets the lock')
  check((await release('two')) === 0, 'a stranger releases the lock')
  check((await release('one')) === 1, 'the owner does not release the lock')
}

const byIoredis = (Redis, key) => async () => {
  const redis = new Redis({ host, port: Number(port), tls: files, maxRetriesPerRequest: 0 })
  redis.on('error', () => {})
  try {
    await lock(
      (token) => redis.set(key, token, 'PX', 30_000, 'NX'),
      (token) => redis.eval(unlock, 1, key, token),
    )
  } finally {
    redis.disconnect()
  }
}

const byNodeRedis = async () => {
  const key = 'tls:node-redis'
  const redis = createClient({ socket: { host, port: Number(port), tls: true, reconnectStrategy: false, ...files } })
  redis.on('error', () => {})
  await redis.connect()
  try {
    await lock(
      (token) => redis.set(key, token, { PX: 30_000, NX: true }),
      (token) => redis.eval(unlock, { keys: [key], arguments: [token] }),
    )
  } finally {
    redis.destroy()
  }
}

const clients = [
  [`ioredis ${version('ioredis-5')}`, byIoredis(Redis5, 'tls:ioredis-5')],
  [`ioredis ${version('ioredis')}`, byIoredis(Redis6, 'tls:ioredis')],
  [`node-redis ${version('redis')}`, byNodeRedis],
]

for (const [client, scenario] of clients) {
  const saw = await scenario().then(
    () => 'ok',
    (err) => `error: ${err.name}: ${err.message}`,
  )
  console.log(JSON.stringify({ client, saw }))
}
