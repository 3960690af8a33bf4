// The worker of a queue, whose Sentinels go away for a moment. ../README.md describes the scene.
import { createRequire } from 'node:module'
import { check, sleep } from './cell.mjs'
import { version } from './clients.mjs'

const require = createRequire(import.meta.url)

// bullmq returns the client that is installed in a folder, as topology.mjs has clients.
export const bullmq = (folder) => [`bullmq ${version(folder)}`, () => open(require(folder)), { outage }]

async function open({ Queue, Worker }) {
  const sentinels = process.env.ADDRESSES.split(',').map((address) => {
    const [host, port] = address.split(':')
    return { host, port: Number(port) }
  })
  const connection = { sentinels, name: process.env.MASTER, maxRetriesPerRequest: null }
  const client = { done: 0 }
  client.queue = new Queue('jobs', { connection }).on('error', () => {})
  // With a drainDelay of 0.1 s a request that blocks is given up after 1.1 s.
  client.worker = new Worker('jobs', async () => client.done++, { connection, drainDelay: 0.1 }).on('error', () => {})
  await client.worker.waitUntilReady()
  return client
}

async function outage(client, ask) {
  const work = async (jobs) => {
    await client.queue.add('job', {})
    for (const end = performance.now() + 10_000; client.done < jobs; await sleep(10)) {
      check(performance.now() < end, `the worker is ${client.worker.isRunning() ? 'running' : 'not running'}, and does nothing`)
    }
  }
  await work(1)
  await ask('outage', '')
  await work(2)
}
