// stories.js tells how locks go wrong, step by step. A step is a text and what is done.

export const KEY = 'lock:a';
export const LEASE = 30000;

const UNLOCK = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";
const RENEW = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0";
const YEAR = 365 * 24 * 3600 * 1000;

// commands are what a client can say.
export const commands = {
  take: (who) => ['SET', KEY, `token-${who}`, 'NX', 'PX', String(LEASE)],
  setnx: (who) => ['SETNX', KEY, `token-${who}`],
  expire: () => ['EXPIRE', KEY, '30'],
  get: () => ['GET', KEY],
  del: () => ['DEL', KEY],
  release: (who) => ['EVAL', UNLOCK, '1', KEY, `token-${who}`],
  renew: (who) => ['EVAL', RENEW, '1', KEY, `token-${who}`, String(LEASE)],
};

// Each step: [text, order, ...]. An order is a list of words for play in locks.js.
export const STORIES = [
  { name: 'del', masters: 1, steps: [
    ['del.1', ['say', 'A', 'take']],
    ['del.2', ['lab', 'FAULT', 'ADD', 'late', 'CMD', 'DEL', 'ACTION', 'HOLD'], ['say', 'A', 'get'], ['start', 'A', 'del'],
      ['lab', 'HOLD', 'WAIT', 'late', '5000']],
    ['del.3', ['advance', LEASE + 1]],
    ['del.4', ['say', 'B', 'take']],
    ['del.5', ['advance', 5000], ['lab', 'HOLD', 'RELEASE', 'late'], ['lab', 'FAULT', 'DEL', 'late']],
    ['del.6', ['advance', 3000], ['say', 'C', 'take']],
  ] },
  { name: 'script', masters: 1, steps: [
    ['del.1', ['say', 'A', 'take']],
    ['script.2', ['lab', 'FAULT', 'ADD', 'late', 'CMD', 'EVAL', 'ACTION', 'HOLD'], ['start', 'A', 'release'],
      ['lab', 'HOLD', 'WAIT', 'late', '5000']],
    ['del.3', ['advance', LEASE + 1]],
    ['del.4', ['say', 'B', 'take']],
    ['script.5', ['advance', 5000], ['lab', 'HOLD', 'RELEASE', 'late'], ['lab', 'FAULT', 'DEL', 'late']],
    ['script.6', ['advance', 3000], ['say', 'C', 'take']],
  ] },
  { name: 'lost', masters: 1, steps: [
    ['lost.1', ['lab', 'FAULT', 'ADD', 'lost', 'CMD', 'SET', 'NTH', '1', 'ACTION', 'DROP-REPLY']],
    ['lost.2', ['say', 'A', 'take']],
    ['lost.3', ['advance', 5000], ['say', 'A', 'take']],
    ['lost.4', ['advance', 5000], ['say', 'B', 'take']],
    ['lost.5', ['advance', LEASE + 1]],
  ] },
  { name: 'crash', masters: 1, steps: [
    ['crash.1', ['lab', 'FAULT', 'ADD', 'dies', 'CMD', 'EXPIRE', 'ACTION', 'DROP-BEFORE']],
    ['crash.2', ['say', 'A', 'setnx'], ['say', 'A', 'expire']],
    ['crash.3', ['advance', YEAR]],
    ['crash.4', ['say', 'B', 'setnx']],
  ] },
  { name: 'redlock', masters: 5, steps: [
    ['redlock.1', ['say', 'A', 'take', 1], ['say', 'A', 'take', 2], ['say', 'A', 'take', 3]],
    ['redlock.2', ['advance', 4000], ['labOf', 3, 'CRASH']],
    ['redlock.3', ['advance', 4000], ['say', 'B', 'take', 3], ['say', 'B', 'take', 4], ['say', 'B', 'take', 5]],
  ] },
  { name: 'jump', masters: 5, steps: [
    ['redlock.1', ['say', 'A', 'take', 1], ['say', 'A', 'take', 2], ['say', 'A', 'take', 3]],
    ['jump.2', ['advance', 4000], ['labOf', 3, 'CLOCK', 'ADVANCE', String(LEASE + 1)]],
    ['redlock.3', ['advance', 4000], ['say', 'B', 'take', 3], ['say', 'B', 'take', 4], ['say', 'B', 'take', 5]],
  ] },
];
