import { writeSync } from 'node:fs'

// cellLimit is the time limit of a cell. A cell that reaches it has failed, and the next one
// begins.
const cellLimit = 10_000

// An error that a library throws where nobody can catch it fails the cell that is running.
let stray = null
process.on('unhandledRejection', (err) => { stray ??= err })
process.on('uncaughtException', (err) => { stray ??= err })

export async function runCell({ client, scenario, run }, env) {
  stray = null
  const began = Date.now()
  let timer
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done after ${cellLimit} ms`)), cellLimit)
  })
  let error = null
  try {
    await Promise.race([run(env), late])
  } catch (err) {
    error = err
  }
  clearTimeout(timer)
  error ??= stray
  const detail = error ? String(error.message || error).split('\n')[0] : ''
  const line = { client, scenario, outcome: error ? 'fail' : 'pass', ms: Date.now() - began, detail }
  writeSync(1, JSON.stringify(line) + '\n')
}

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

export function check(ok, message) {
  if (!ok) throw new Error(message)
}
