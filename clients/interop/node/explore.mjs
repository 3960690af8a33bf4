// Runs one lock client again and again, for clients/interop/explore. ../README.md describes the interface.
//
//   node explore.mjs          the clients, as a JSON array
//   node explore.mjs CLIENT   for each address on a line: the scenario, and how it ended
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { clients } from './explored.mjs'
import { Server } from './server.mjs'
import { sleep } from './cell.mjs'

const turn = 600 // milliseconds that a worker waits for the other one, where it usually need not wait

// An error that a library throws where nobody can catch it fails the scenario that is running.
let stray = []
process.on('unhandledRejection', (err) => stray.push(err))
process.on('uncaughtException', (err) => stray.push(err))
console.error = () => {} // libraries report what the scenario hears of as well

// event is what one worker waits for and the other one sets.
function event() {
  let set
  const happened = new Promise((resolve) => { set = resolve })
  return { set, wait: (ms) => Promise.race([happened, sleep(ms)]) }
}

// scenario: a takes the lock, b tries, a releases, b takes. Each waits a moment for the other, and then goes on alone.
async function scenario(client, addr) {
  const aOpen = event(), aHas = event(), bTried = event(), aDone = event()
  const failed = []
  const guarded = async (name, work) => {
    try {
      const worker = await client.open(addr, name)
      if (name === 'a') aOpen.set()
      try {
        await work(worker)
      } finally {
        await worker.close()
      }
    } catch (err) {
      failed.push(`${name}: ${err.name}: ${err.message}`)
    }
    bTried.set()
    if (name === 'a') {
      aOpen.set()
      aHas.set()
      aDone.set()
    }
  }
  const a = guarded('a', async (worker) => {
    const release = await worker.take()
    aHas.set()
    await bTried.wait(turn)
    if (client.wakes) await untilBWaits(addr, client.wakes)
    await release()
  })
  const b = guarded('b', async (worker) => {
    await aOpen.wait(20 * turn)
    await aHas.wait(turn)
    let release = await worker.look()
    bTried.set()
    if (!release) {
      if (!client.wakes) await aDone.wait(turn)
      release = await worker.take()
    }
    await aDone.wait(turn)
    await release()
  })
  await Promise.all([a, b])
  return failed.sort().join('; ')
}

// untilBWaits asks the server until b hears the channel. Without an answer a goes on.
async function untilBWaits(addr, channel) {
  const server = new Server(addr)
  try {
    for (let i = 0; i < 20; i++) {
      const [, listeners] = await server.do('PUBSUB', 'NUMSUB', channel)
      if (listeners >= 2) break // a listens, too
      await sleep(turn / 20)
    }
  } catch {
    // the server may be restarting
  }
  server.close()
}

const say = (value) => writeSync(1, JSON.stringify(value) + '\n')

const name = process.argv[2]
if (!name) {
  say(clients.map(({ name, version, arguments: args }) => ({ name, version, arguments: args })))
} else {
  const client = clients.find((c) => c.name === name)
  for await (const line of createInterface({ input: process.stdin })) {
    stray = []
    let failed = await scenario(client, line.trim())
    if (stray.length > 0) failed = [failed, `nobody could catch: ${stray[0]?.message}`].filter(Boolean).join('; ')
    say({ failed: failed.replaceAll('\n', ' ') })
  }
}
process.exit(0)
