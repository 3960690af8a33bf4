// Runs lock libraries for Node against one Redis server and prints one line of JSON for each cell:
// what one client made of one scenario. clients/interop/matrix starts it, with the servers in its
// environment (../README.md has the contract); by hand: REDIS_ADDR=127.0.0.1:6379 ./run
//
// The scenarios are written once, against the functions of a locker; a file for each library fills
// them in.
//
//   cell.mjs       a cell, its time limit and its line
//   server.mjs     the servers, and a connection to look behind the client's back
//   clients.mjs    ioredis 5 and 6, node-redis; a lock written by hand over each
//   scenarios.mjs  the scenarios of a plain lock, and what a lock library is to them
//   objects.mjs    the scenarios of everything else: redlock, multi, semaphore
//   compare.mjs    locks in commands that compare the token themselves
//   redlock.mjs semaphore.mjs universal.mjs simple.mjs  the libraries
import { environment } from './server.mjs'
import { byHand, ioredis5, ioredis6, nodeRedis } from './clients.mjs'
import { redlock4, redlock5 } from './redlock.mjs'
import { redisSemaphore } from './semaphore.mjs'
import { redlockUniversal } from './universal.mjs'
import { simpleRedisMutex } from './simple.mjs'
import { lockCells } from './scenarios.mjs'
import { objectCells } from './objects.mjs'
import { compareCells } from './compare.mjs'
import { runCell } from './cell.mjs'

const env = environment()
const libraries = [
  byHand(ioredis5), byHand(ioredis6), byHand(nodeRedis),
  redlock4(ioredis5), redlock5(ioredis5), redlock5(ioredis6),
  redisSemaphore(ioredis5), redisSemaphore(ioredis6),
  redlockUniversal(ioredis6), redlockUniversal(nodeRedis),
  simpleRedisMutex(nodeRedis),
]
const cells = libraries.flatMap((library) => [...lockCells(library), ...objectCells(library)])
for (const cell of [...cells, ...compareCells()]) {
  if (`${cell.client}/${cell.scenario}`.includes(env.only)) await runCell(cell, env)
}
// A client that was cut off may still be trying to come back.
process.exit(0)
