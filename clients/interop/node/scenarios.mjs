import { check, sleep } from './cell.mjs'
import { Server } from './server.mjs'

// What a library says in its own words, in ours. Anything else it says is a failure: a lock that
// is not got because the server knows no SET must not pass for one that is held.
export class Taken extends Error {}
export class NotHeld extends Error {}

const shortLease = 300
const renewedLease = 600 // a busy machine may be late by more than half of a short one
const longLease = 60_000
const workers = 16
const rounds = 5

// A library is {client, open, ...}: open(env.addr, {lease, protocol}) makes a locker, and two of
// them share nothing, like two processes. A locker is
//
//   take(name, limit)  waits for the lock, limit ms at most; try(name) does not wait.
//                      Both throw Taken.
//   key(name)          where the lock of that name is kept on the server
//   using(name, fn)    holds the lock while fn runs, and renews it, where the library has that
//   resp()             the protocol in use, where the client can choose
//   close()
//
// What take returns has release(), which throws NotHeld when the lock was lost (silent: a library
// that says nothing then), extend(), where the library does not renew by itself, and abandon(),
// where it does: it ends the renewal as a crash would.
//
// wakes says that a waiter hears of the release; protocols are those that the client can be told;
// renewedLease is for a library that renews late.
export function lockCells(library) {
  const cell = (scenario, options, run) => ({
    client: library.client, scenario, run: (env) => onScene(library, env, scenario, options, run),
  })
  const cells = [
    cell('acquire-release', {}, acquireRelease),
    cell('contention', {}, contention),
    cell('expiry', { lease: shortLease }, expiry),
    cell('watchdog', { lease: library.renewedLease || renewedLease }, watchdog),
    cell('stranger', {}, stranger),
    cell('try-timeout', {}, tryTimeout),
    cell('script-lost', {}, scriptLost),
    cell('reconnect', {}, reconnect),
  ]
  if (library.wakes) cells.push(cell('wakeup', {}, wakeup))
  for (const protocol of library.protocols || []) cells.push(cell(`resp${protocol}`, { protocol }, speaks))
  return cells
}

// onScene opens what most scenarios need, two lockers that want the same lock and a view of the
// server, and clears it away whatever happens.
async function onScene(library, env, scenario, options, run) {
  const open = []
  const s = { library, env, lease: longLease, ...options, name: nameOf(library, scenario) }
  try {
    open.push(s.server = new Server(env.addr))
    open.push(s.a = await library.open(env.addr, s))
    open.push(s.b = await library.open(env.addr, s))
    s.key = s.a.key(s.name)
    s.counter = s.name + ':counter'
    await run(s)
  } finally {
    await s.server.do('DEL', s.key, s.counter).catch(() => {})
    for (const o of open.reverse()) await o.close()
  }
}

export const nameOf = (library, scenario) => `interop:${library.client}:${scenario}:${process.pid}`

async function takeAndRelease(s) {
  const held = await s.a.take(s.name, 5000)
  await s.server.wantKey(s.key, true, 'while held')
  await held.release()
  await s.server.wantKey(s.key, false, 'after the release')
}

// refused wants the lock to be taken in the eyes of the other one.
async function refused(s, when) {
  try {
    await s.b.try(s.name)
  } catch (err) {
    if (err instanceof Taken) return
    throw err
  }
  throw new Error(`${when} another one got the lock`)
}

async function acquireRelease(s) {
  await takeAndRelease(s)
  const held = await s.a.take(s.name, 5000)
  await refused(s, 'while it was held')
  await held.release()
}

// contention has half of its workers on each locker.
async function contention(s) {
  const work = async (locker) => {
    for (let i = 0; i < rounds; i++) {
      const held = await locker.take(s.name, 9000)
      await s.server.increment(s.counter)
      await held.release()
    }
  }
  await Promise.all(Array.from({ length: workers }, (_, i) => work(i % 2 ? s.a : s.b)))
  const n = Number(await s.server.do('GET', s.counter))
  check(n === workers * rounds, `${workers * rounds - n} updates were lost`)
}

async function expiry(s) {
  const began = Date.now()
  const held = await s.a.take(s.name, 5000)
  held.abandon?.()
  await refused(s, 'before the lease was over')
  const next = await s.b.take(s.name, 5000)
  const waited = Date.now() - began
  check(waited >= shortLease - 5, `the lock was free after ${waited} ms, its lease is ${shortLease}`)
  next.abandon?.()
  await next.release()
}

async function watchdog(s) {
  if (s.a.using) return s.a.using(s.name, () => stillHeld(s))
  const held = await s.a.take(s.name, 5000)
  await stillHeld(s, held.extend)
  await held.release()
}

async function stillHeld(s, extend) {
  for (const began = Date.now(); Date.now() - began < 2 * s.lease; await sleep(s.lease / 4)) {
    await extend?.()
    await refused(s, 'while the lock was being renewed')
  }
}

// stranger has the lock pass to another owner; the first one, who thinks it still holds it, must
// not be able to release it.
async function stranger(s) {
  const held = await s.a.take(s.name, 5000)
  await s.server.do('SET', s.key, 'of a stranger')
  let refusal = null
  try {
    await held.release()
  } catch (err) {
    refusal = err
  }
  if (refusal ? !(refusal instanceof NotHeld) : !s.library.silent) {
    throw new Error(`release of a stranger's lock: ${refusal}`)
  }
  await s.server.wantKey(s.key, true, "after a stranger's release")
}

async function tryTimeout(s) {
  const limit = 300
  const held = await s.a.take(s.name, 5000)
  const began = Date.now()
  let refusal = null
  try {
    await s.b.take(s.name, limit)
  } catch (err) {
    refusal = err
  }
  const waited = Date.now() - began
  check(refusal, 'got a lock that is held')
  if (!(refusal instanceof Taken)) throw refusal
  check(waited >= limit / 2 && waited <= 10 * limit, `gave up after ${waited} ms, with a limit of ${limit}`)
  await held.release()
}

async function scriptLost(s) {
  for (let i = 0; i < 2; i++) {
    await takeAndRelease(s)
    await s.server.loseScripts()
  }
  const held = await s.a.take(s.name, 5000)
  await s.server.loseScripts()
  await held.release()
  await s.server.wantKey(s.key, false, 'after the release')
}

async function reconnect(s) {
  await takeAndRelease(s)
  await s.server.killOthers()
  // A client that does not retry may notice only now that its connection is gone.
  await s.a.try(s.name).then((held) => held.release()).catch(() => {})
  await s.server.do('DEL', s.key)
  await takeAndRelease(s)
}

// wakeup lets a waiter hear of the release. The library polls, if at all, every ten seconds.
async function wakeup(s) {
  const held = await s.a.take(s.name, 5000)
  let got = false
  const waiter = s.b.take(s.name, 9000).then((h) => { got = true; return h })
  await sleep(200)
  check(!got, 'the waiter did not wait')
  await held.release()
  const late = sleep(2000).then(() => { throw new Error('the waiter was not woken within 2 s of the release') })
  const next = await Promise.race([waiter, late])
  late.catch(() => {})
  await next.release()
}

async function speaks(s) {
  await takeAndRelease(s)
  const resp = await s.a.resp()
  check(resp === s.protocol, `the connection speaks RESP${resp}`)
}
