import Redlock4 from 'redlock-4'
import Redlock5, { ExecutionError, ResourceLockedError } from 'redlock-5'
import { respOf, version } from './clients.mjs'
import { NotHeld, Taken } from './scenarios.mjs'

const delay = 10

// retries turns a time limit into the number of attempts that these libraries count.
const retries = (limit) => Math.ceil(limit / delay)

// redlock 4 throws LockError for every reason. An event has the reason.
export const redlock4 = (client) => library(`redlock ${version('redlock-4')} (${client.name})`, client, (connections, lease) => {
  const redlock = new Redlock4(connections, { retryDelay: delay, retryJitter: 0 })
  let broken = null
  redlock.on('clientError', (err) => { broken = err })
  const or = (Refusal) => (err) => {
    const cause = broken
    broken = null
    throw cause || (err.name === 'LockError' ? new Refusal(err.message) : err)
  }
  return {
    take: async (names, limit) => {
      broken = null
      const lock = await redlock.acquireWithOptions(names, lease, { retryCount: retries(limit) }).catch(or(Taken))
      return { release: () => lock.unlock().catch(or(NotHeld)), extend: () => lock.extend(lease) }
    },
  }
})

export const redlock5 = (client) => library(`redlock ${version('redlock-5')} (${client.name})`, client, (connections, lease) => {
  const redlock = new Redlock5(connections, { retryDelay: delay, retryJitter: 0, automaticExtensionThreshold: lease / 3 })
  const or = (Refusal) => async (err) => {
    if (!(err instanceof ExecutionError)) throw err
    for (const attempt of err.attempts) {
      for (const vote of (await attempt).votesAgainst.values()) {
        if (!(vote instanceof ResourceLockedError)) throw vote
      }
    }
    throw new Refusal(err.message)
  }
  return {
    take: async (names, limit) => {
      const lock = await redlock.acquire(names, lease, { retryCount: retries(limit) }).catch(or(Taken))
      return { release: () => redlock.release(lock, { retryCount: 0 }).catch(or(NotHeld)) }
    },
    using: (names, fn) => redlock.using(names, lease, { retryCount: 0 }, fn),
  }
})

function library(name, client, make) {
  const over = async (addrs, { lease, protocol }) => {
    const connections = await Promise.all(addrs.map((addr) => client.connect(addr, { protocol })))
    const { take, using } = make(connections, lease)
    return {
      take: (name, limit) => take([name], limit),
      try: (name) => take([name], 0),
      takeAll: take,
      using: using && ((name, fn) => using([name], fn)),
      key: (name) => name,
      resp: () => respOf(client, connections[0]),
      close: () => connections.forEach(client.close),
    }
  }
  return { client: name, multi: true, protocols: client.protocols, open: (addr, o) => over([addr], o), openOnAll: over }
}
