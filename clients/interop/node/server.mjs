import Redis from 'ioredis-5'
import { check } from './cell.mjs'

// environment is what the runner passes: the contract of ../README.md.
export function environment() {
  const addr = process.env.REDIS_ADDR
  check(addr, 'REDIS_ADDR is not set')
  return { addr, masters: (process.env.REDIS_MASTERS || '').split(',').filter(Boolean), only: process.env.ONLY || '' }
}

export function hostAndPort(addr) {
  const [host, port] = addr.split(':')
  return { host, port: Number(port) }
}

// Server is a connection of the scenario's own, to see and change what the client does not show.
export class Server {
  constructor(addr) {
    this.redis = new Redis({ ...hostAndPort(addr), connectionName: 'interop', commandTimeout: 5000 })
    this.redis.on('error', () => {})
  }

  close() { this.redis.disconnect() }

  do(...args) { return this.redis.call(...args) }

  async wantKey(key, there, when) {
    const n = await this.do('EXISTS', key)
    check((n === 1) === there, `${when} EXISTS ${key} is ${n}`)
  }

  // loseScripts empties the script cache, as a restart would.
  loseScripts() { return this.do('SCRIPT', 'FLUSH', 'SYNC') }

  // killOthers closes every connection but this one.
  killOthers() { return this.do('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes') }

  // increment is the read-modify-write that a lock has to protect: it loses updates when two run
  // at the same time.
  async increment(key) {
    const n = Number(await this.do('GET', key) || 0)
    await this.do('SET', key, n + 1)
  }
}
