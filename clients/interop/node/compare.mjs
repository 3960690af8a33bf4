// Locks without scripts: the commands of newer servers that compare the token themselves.
import Valkey from 'iovalkey'
import { createClient } from 'redis'
import { check } from './cell.mjs'
import { version } from './clients.mjs'
import { hostAndPort, Server } from './server.mjs'

const lease = 30_000 // ms; nobody waits for its end

const nodeRedis = {
  name: `node-redis ${version('redis')}`,
  connect: (addr) => createClient({ socket: hostAndPort(addr) }).on('error', () => {}).connect(),
  close: (redis) => redis.destroy(),
  take: async (redis, key, token) => await redis.set(key, token, { PX: lease, NX: true }) === 'OK',
  renew: async (redis, key, token) =>
    await redis.set(key, token, { PX: lease, condition: 'IFEQ', matchValue: token }) === 'OK',
  release: async (redis, key, token) => await redis.delEx(key, { condition: 'IFEQ', matchValue: token }) === 1,
  several: async (redis, tokens) =>
    await redis.mSetEx(tokens, { mode: 'NX', expiration: { type: 'PX', value: lease } }) === 1,
  enter: async (redis, key, holder) =>
    await redis.hSetEx(key, { [holder]: '1' }, { mode: 'FNX', expiration: { type: 'PX', value: lease } }) === 1,
}

// Its SET takes any words. It has no methods for the commands that came after Valkey 8.0: its users send them with call.
const iovalkey = {
  name: `iovalkey ${version('iovalkey')}`,
  connect: async (addr) => new Valkey(hostAndPort(addr)).on('error', () => {}),
  close: (valkey) => valkey.disconnect(),
  take: async (valkey, key, token) => await valkey.set(key, token, 'PX', lease, 'NX') === 'OK',
  renew: async (valkey, key, token) => await valkey.set(key, token, 'IFEQ', token, 'PX', lease) === 'OK',
  release: async (valkey, key, token) => await valkey.call('DELIFEQ', key, token) === 1,
  several: async (valkey, tokens) => {
    const pairs = Object.entries(tokens).flat()
    return await valkey.call('MSETEX', pairs.length / 2, ...pairs, 'NX', 'PX', lease) === 1
  },
  enter: async (valkey, key, holder) =>
    await valkey.call('HSETEX', key, 'FNX', 'PX', lease, 'FIELDS', 1, holder, '1') === 1,
}

export function compareCells() {
  const [family] = (process.env.DIALECT ?? '').split('-')
  const clients = { redis: [nodeRedis], valkey: [iovalkey] }[family] ?? []
  return clients.map((client) => ({ client: client.name, scenario: 'compare', run: (env) => compare(client, env) }))
}

async function compare(client, env) {
  const key = `interop:${client.name}:compare:${process.pid}`
  const [other, holders] = [`${key}:other`, `${key}:holders`]
  const server = new Server(env.addr)
  const c = await client.connect(env.addr)
  const want = async (call, args, wanted, when) => {
    const got = await client[call](c, ...args)
    check(got === wanted, `${when}: ${got}`)
  }
  try {
    await want('take', [key, 'a'], true, 'nobody holds the lock')
    await want('take', [key, 'b'], false, 'a takes it, then b')
    await want('renew', [key, 'b'], false, 'b renews what a holds')
    await server.redis.pexpire(key, lease / 2)
    await want('renew', [key, 'a'], true, 'a renews')
    check(await server.redis.pttl(key) > lease / 2, 'the lease is not new')
    await want('release', [key, 'b'], false, 'b releases what a holds')
    await want('release', [key, 'a'], true, 'a releases')
    await want('release', [key, 'a'], false, 'a releases twice')
    await want('several', [{ [key]: 'a', [other]: 'a' }], true, 'two locks at once')
    await want('several', [{ [other]: 'b', [holders]: 'b' }], false, 'one of two is taken')
    await want('enter', [holders, 'a'], true, 'a enters')
    await want('enter', [holders, 'a'], false, 'a enters twice')
    await want('enter', [holders, 'b'], true, 'b enters')
    check(await server.redis.pttl(holders) === -1, 'more than fields expires')
  } finally {
    await server.redis.del(key, other, holders)
    server.close()
    client.close(c)
  }
}
