import { check, sleep } from './cell.mjs'
import { nameOf, Taken } from './scenarios.mjs'
import { Server } from './server.mjs'

const lease = 60_000

// objectCells are the scenarios of everything beside a plain lock. Their lockers also have:
//
//   takeAll(names, limit)          one lock on several names: all of them or none
//   trySemaphore(name, count)      one of count places
//   tryPermits(name, count, some)  some of count places
//   token                          of what take returns: a number that grows with each lock
//
// and the library has openOnAll(addrs, o), a locker on several servers at once.
export function objectCells(library) {
  const cell = (scenario, run) => ({ client: library.client, scenario, run: (env) => run(library, env, nameOf(library, scenario)) })
  const cells = []
  if (library.openOnAll) cells.push(cell('redlock', redlock))
  if (library.multi) cells.push(cell('multi', withTwo(multi)))
  if (library.semaphores) cells.push(cell('semaphore', withTwo(semaphore)), cell('permits', withTwo(permits)))
  if (library.fences) cells.push(cell('fencing', withTwo(fencing)))
  return cells
}

// withTwo opens two lockers and a view of the server, and clears the keys away.
function withTwo(run) {
  return async (library, env, name) => {
    const server = new Server(env.addr)
    const a = await library.open(env.addr, { lease })
    const b = await library.open(env.addr, { lease })
    const keys = await run({ server, a, b, name }).finally(() => { a.close(); b.close() })
    await server.do('DEL', ...keys)
    server.close()
  }
}

async function refusal(promise, what) {
  try {
    await promise
  } catch (err) {
    if (err instanceof Taken) return
    throw err
  }
  throw new Error(what)
}

// redlock: two of three servers are enough, one is not.
async function redlock(library, env, name) {
  check(env.masters.length >= 3, 'REDIS_MASTERS names fewer than 3 servers')
  const servers = env.masters.map((addr) => new Server(addr))
  const locker = await library.openOnAll(env.masters, { lease })
  const key = locker.key(name)
  try {
    // All of them agree.
    const all = await locker.take(name, 5000)
    for (const s of servers) await soon(() => s.wantKey(key, true, 'while held'))
    await all.release()
    for (const s of servers) await soon(() => s.wantKey(key, false, 'after the release'))

    // One of three is somebody else's.
    await servers[0].do('SET', key, 'of a stranger')
    const two = await locker.try(name)
    await two.release()
    await servers[0].wantKey(key, true, 'after the release of the others')
    await soon(() => servers[1].wantKey(key, false, 'after the release'))

    // Two are: the lock is refused, and the third is given back.
    await servers[1].do('SET', key, 'of a stranger')
    await refusal(locker.try(name), 'one of three was enough')
    await soon(() => servers[2].wantKey(key, false, 'after the refusal'))
  } finally {
    locker.close()
    for (const s of servers) {
      await s.do('DEL', key)
      s.close()
    }
  }
}

// soon is for what happens after the majority has answered.
async function soon(look) {
  for (const end = Date.now() + 2000; ; await sleep(10)) {
    try {
      return await look()
    } catch (err) {
      if (Date.now() > end) throw err
    }
  }
}

async function multi({ server, a, b, name }) {
  const names = [`${name}:1`, `${name}:2`]
  const keys = names.map((n) => a.key(n))
  const held = await a.takeAll(names, 5000)
  for (const key of keys) await server.wantKey(key, true, 'while held')
  await refusal(b.try(names[1]), 'a part of a lock was free')
  await held.release()
  for (const key of keys) await server.wantKey(key, false, 'after the release')

  const part = await b.try(names[1])
  await refusal(a.takeAll(names, 0), 'a lock was got of which a part was held')
  await server.wantKey(keys[0], false, 'after the refusal')
  await part.release()
  return keys
}

async function semaphore({ server, a, b, name }) {
  const held = [await a.trySemaphore(name, 3), await b.trySemaphore(name, 3), await a.trySemaphore(name, 3)]
  await refusal(b.trySemaphore(name, 3), 'a fourth one got in')
  await held.shift().release()
  held.push(await b.trySemaphore(name, 3))
  await refusal(a.trySemaphore(name, 3), 'a fourth one got in')
  for (const h of held) await h.release()
  await server.wantKey(a.semaphoreKey(name), false, 'after the release')
  return [a.semaphoreKey(name)]
}

async function permits({ server, a, b, name }) {
  const three = await a.tryPermits(name, 5, 3)
  await refusal(b.tryPermits(name, 5, 3), 'six of five permits were given')
  const two = await b.tryPermits(name, 5, 2)
  await refusal(a.tryPermits(name, 5, 1), 'six of five permits were given')
  await three.release()
  await (await b.tryPermits(name, 5, 3)).release()
  await two.release()
  await server.wantKey(a.semaphoreKey(name), false, 'after the release')
  return [a.semaphoreKey(name)]
}

async function fencing({ a, b, name }) {
  let last = 0
  for (const locker of [a, b, a, b]) {
    const held = await locker.take(name, 5000)
    check(held.token > last, `token ${held.token} after ${last}`)
    last = held.token
    await held.release()
  }
  return [a.key(name)]
}
