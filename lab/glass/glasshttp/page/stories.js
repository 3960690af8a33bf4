// stories.js tells how locks go wrong, step by step. A step is a text and what is done.

export const KEY = 'lock:a';
const STOCK = `${KEY}:stock`; // what the lock protects
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
  stock: (who) => ['SET', STOCK, `by-${who}`],
  del: () => ['DEL', KEY],
  release: (who) => ['EVAL', UNLOCK, '1', KEY, `token-${who}`],
  renew: (who) => ['EVAL', RENEW, '1', KEY, `token-${who}`, String(LEASE)],
};

// Each step: [text, order, ...]. An order is a list of words for play in locks.js.
const STORIES = [
  { name: 'del', steps: [
    ['del.1', ['say', 'A', 'take']],
    ['del.2', ['lab', 'FAULT', 'ADD', 'late', 'CMD', 'DEL', 'ACTION', 'HOLD'], ['say', 'A', 'get'], ['start', 'A', 'del'],
      ['lab', 'HOLD', 'WAIT', 'late', '5000']],
    ['del.3', ['advance', LEASE + 1]],
    ['del.4', ['say', 'B', 'take']],
    ['del.5', ['advance', 5000], ['lab', 'HOLD', 'RELEASE', 'late'], ['lab', 'FAULT', 'DEL', 'late']],
    ['del.6', ['advance', 3000], ['say', 'C', 'take']],
  ] },
  { name: 'script', steps: [
    ['del.1', ['say', 'A', 'take']],
    ['script.2', ['lab', 'FAULT', 'ADD', 'late', 'CMD', 'EVAL', 'ACTION', 'HOLD'], ['start', 'A', 'release'],
      ['lab', 'HOLD', 'WAIT', 'late', '5000']],
    ['del.3', ['advance', LEASE + 1]],
    ['del.4', ['say', 'B', 'take']],
    ['script.5', ['advance', 5000], ['lab', 'HOLD', 'RELEASE', 'late'], ['lab', 'FAULT', 'DEL', 'late']],
    ['script.6', ['advance', 3000], ['say', 'C', 'take']],
  ] },
  { name: 'lost', steps: [
    ['lost.1', ['lab', 'FAULT', 'ADD', 'lost', 'CMD', 'SET', 'NTH', '1', 'ACTION', 'DROP-REPLY']],
    ['lost.2', ['say', 'A', 'take']],
    ['lost.3', ['advance', 5000], ['say', 'A', 'take']],
    ['lost.4', ['advance', 5000], ['say', 'B', 'take']],
    ['lost.5', ['advance', LEASE + 1]],
  ] },
  { name: 'crash', steps: [
    ['crash.1', ['lab', 'FAULT', 'ADD', 'dies', 'CMD', 'EXPIRE', 'ACTION', 'DROP-BEFORE']],
    ['crash.2', ['say', 'A', 'setnx'], ['say', 'A', 'expire']],
    ['crash.3', ['advance', YEAR]],
    ['crash.4', ['say', 'B', 'setnx']],
  ] },
];

// quorums returns the masters on which A takes the lock, those on which B does, and those that both need.
export function quorums(n) {
  const most = Math.floor(n / 2) + 1, all = Array.from({ length: n }, (_, i) => i + 1);
  return { a: all.slice(0, most), b: all.slice(n - most), both: all.slice(n - most, most) };
}

// redlock tells how a lock on several masters goes wrong: by a crash, by a clock, and by a pause.
function redlock(n) {
  const { a, b, both } = quorums(n);
  const first = a.map((m) => ['say', 'A', 'take', m]), second = b.map((m) => ['say', 'B', 'take', m]);
  return [
    { name: 'redlock', steps: [
      ['redlock.1', ...first],
      ['redlock.2', ['advance', 4000], ...both.map((m) => ['labOf', m, 'CRASH'])],
      ['redlock.3', ['advance', 4000], ...second],
    ] },
    { name: 'jump', steps: [
      ['redlock.1', ...first],
      ['jump.2', ['advance', 4000], ...both.map((m) => ['labOf', m, 'CLOCK', 'ADVANCE', String(LEASE + 1)])],
      ['redlock.3', ['advance', 4000], ...second],
    ] },
    { name: 'pause', steps: [
      ['redlock.1', ...first],
      ['pause.2', ['labOf', 1, 'FAULT', 'ADD', 'late', 'CMD', 'SET', 'KEY', STOCK, 'CLIENT', 'A', 'ACTION', 'HOLD'], ['start', 'A', 'stock', 1],
        ['labOf', 1, 'HOLD', 'WAIT', 'late', '5000']],
      ['del.3', ['advance', LEASE + 1]],
      ['pause.4', ...second, ['say', 'B', 'stock', 1]],
      ['pause.5', ['advance', 5000], ['labOf', 1, 'HOLD', 'RELEASE', 'late'], ['labOf', 1, 'FAULT', 'DEL', 'late']],
    ] },
  ];
}

// storiesOf returns the stories for a number of masters.
export const storiesOf = (n) => (n === 1 ? STORIES : redlock(n));
