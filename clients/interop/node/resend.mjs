// Single requests whose reply does not come, at the word of ../resend. ../README.md describes the interface.
import { createInterface } from 'node:readline'
import Redis5 from 'ioredis-5'
import Redis6 from 'ioredis'
import { createClient } from 'redis'
import { version } from './clients.mjs'

const patience = 1000 // milliseconds that a client waits for a reply
const lease = 30_000
const [host, port] = process.env.REDIS_ADDR.split(':')

const byIoredis = (Redis, settings) => async (key) => {
  const redis = new Redis({ host, port: Number(port), commandTimeout: patience, ...settings })
  redis.on('error', () => {})
  try {
    return await redis.set(key, 'token', 'PX', lease, 'NX')
  } finally {
    redis.disconnect()
  }
}

const byNodeRedis = async (key) => {
  const redis = createClient({ socket: { host, port: Number(port) }, commandOptions: { timeout: patience } })
  redis.on('error', () => {})
  await redis.connect()
  try {
    return await redis.set(key, 'token', { PX: lease, NX: true })
  } finally {
    redis.destroy()
  }
}

// A client, the setting after which it sends a request only once, and the function that sends.
const once = { autoResendUnfulfilledCommands: false }
const onceInWords = 'autoResendUnfulfilledCommands: false'
const senders = [
  [`ioredis ${version('ioredis-5')}`, '', byIoredis(Redis5)],
  [`ioredis ${version('ioredis-5')}`, onceInWords, byIoredis(Redis5, once)],
  [`ioredis ${version('ioredis')}`, '', byIoredis(Redis6)],
  [`ioredis ${version('ioredis')}`, onceInWords, byIoredis(Redis6, once)],
  [`node-redis ${version('redis')}`, '', byNodeRedis],
]

const outcome = (send, key) =>
  send(key).then(
    (reply) => reply ?? 'nil',
    (err) => `error: ${err.name}: ${err.message}`,
  )

const orders = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
for (const [client, setting, send] of senders) {
  for (const fault of ['lost', 'late']) {
    console.log(JSON.stringify({ client, setting, fault, saw: '' }))
    const { value: key } = await orders.next()
    console.log(JSON.stringify({ client, setting, fault, saw: await outcome(send, key) }))
  }
}
process.exit(0)
