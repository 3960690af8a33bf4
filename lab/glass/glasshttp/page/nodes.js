// nodes.js reads what LAB TOPOLOGY and the log of the lab say of many servers: who follows whom, who believes what,
// and what has changed. It draws nothing.

import { ownerOf } from './lease.js';

export const SLOTS = 16384;

export const isSentinel = (n) => n.role === 'sentinel';

// lanes returns a list for each master: first itself, then who follows it, directly or through others. A replica whose
// master is not here has a lane of its own.
export function lanes(nodes) {
  const byPort = new Map(nodes.map((n) => [n.port, n]));
  const top = (n, seen = new Set()) => {
    const next = n.role === 'replica' ? byPort.get(n.follows) : null;
    return next && !seen.has(n) ? top(next, seen.add(n)) : n;
  };
  const all = new Map();
  for (const n of nodes) all.set(top(n), [...(all.get(top(n)) ?? []), n]);
  return [...all].map(([first, of]) => [first, ...of.filter((n) => n !== first)]);
}

// lag is how much of its master's stream a replica has not got, or 0.
export function lag(n, nodes) {
  const master = nodes.find((m) => m.port === n.follows && m.state !== 'ended');
  return n.role === 'replica' && master ? Math.max(0, master.offset - n.offset) : 0;
}

// beliefs returns what a Sentinel says of each master: {name, port, flags}.
export const beliefs = (n) => Object.entries(n.believes ?? {}).map(([name, text]) => {
  const [address, flags = ''] = text.split(' ');
  return { name, port: Number(address.split(':').at(-1)), flags: flags.split(',').filter((f) => f && f !== 'master') };
});

// disputed reports whether Sentinels name different masters.
export const disputed = (sentinels) => beliefsByName(sentinels).some((ports) => ports.size > 1);

function beliefsByName(sentinels) {
  const all = new Map();
  for (const b of sentinels.flatMap(beliefs)) all.set(b.name, (all.get(b.name) ?? new Set()).add(b.port));
  return [...all.values()];
}

// map returns the owner of each slot as a node believes, 0 for none.
function map(n) {
  const owner = new Uint16Array(SLOTS);
  for (const [from, to, who] of n.slots ?? []) owner.fill(who, from, to + 1);
  return owner;
}

// compared returns for each node of a cluster the ranges in which its map differs from that of most nodes:
// {from, to, own, most}. Where as many nodes say one thing as another, the newest epoch counts.
export function compared(nodes) {
  const kinds = new Map(), text = (n) => JSON.stringify(n.slots); // maps that differ are few
  for (const n of [...nodes].sort((a, b) => b['current-epoch'] - a['current-epoch'])) {
    const kind = kinds.get(text(n)) ?? { map: map(n), count: 0 };
    kinds.set(text(n), { ...kind, count: kind.count + 1 });
  }
  const all = [...kinds.values()];
  const most = all.length < 2 ? all[0]?.map : Uint16Array.from({ length: SLOTS }, (_, slot) => popular(all.map((k) => [k.map[slot], k.count])));
  for (const kind of all) kind.ranges = differences(kind.map, most);
  return new Map(nodes.map((n) => [n.node, kinds.get(text(n)).ranges]));
}

// popular returns of pairs of a value and a count the value with the highest sum, and of several the first.
function popular(pairs) {
  const count = new Map();
  for (const [v, n] of pairs) count.set(v, (count.get(v) ?? 0) + n);
  return [...count].reduce((best, one) => (one[1] > best[1] ? one : best))[0];
}

function differences(own, most) {
  const out = [];
  for (let slot = 0; slot < SLOTS; slot++) {
    if (own[slot] === most[slot]) continue;
    const last = out.at(-1);
    if (last?.to === slot - 1 && last.own === own[slot] && last.most === most[slot]) last.to = slot;
    else out.push({ from: slot, to: slot, own: own[slot], most: most[slot] });
  }
  return out;
}

// moves returns the slots that move: {slot, from, to, importing, migrating, left, got}. left and got are the keys at the
// old owner and at the new one. A node that is not marked has none of these.
export function moves(nodes) {
  const all = new Map();
  for (const n of nodes) {
    for (const [slot, how, other, keys] of n.moving ?? []) {
      const [from, to] = how === 'migrating' ? [n.node, other] : [other, n.node], key = `${slot} ${from} ${to}`;
      const m = all.get(key) ?? { slot, from, to, importing: false, migrating: false };
      all.set(key, { ...m, [how]: true, [how === 'migrating' ? 'left' : 'got']: keys });
    }
  }
  return [...all.values()].sort((a, b) => a.slot - b.slot);
}

// stepOf returns the last step of LAB CLUSTER MOVE that is done. Without keys at the old owner KEYS has nothing to do.
export function stepOf(m) {
  if (!m.migrating) return 'IMPORTING';
  return m.importing && m.left === 0 ? 'KEYS' : 'MIGRATING';
}

// news returns what differs between two answers, as {key, ...variables} of a text.
export function news(before, after) {
  const old = new Map(before.map((n) => [n.node, n]));
  return merged(after.flatMap((n) => (old.has(n.node) ? (isSentinel(n) ? sentinelNews : nodeNews)(old.get(n.node), n) : [])));
}

// merged makes one sentence of what several nodes believe now.
function merged(all) {
  const out = [];
  for (const v of all) {
    const same = v.key === 'owner' && out.find((o) => o.key.startsWith('owner') && o.m === v.m && o.from === v.from && o.to === v.to);
    if (same) Object.assign(same, { key: 'owners', n: `${same.n}, ${v.n}` });
    else out.push(v);
  }
  return out;
}

function nodeNews(a, b) {
  const out = [], n = b.node;
  if (a.state !== b.state) out.push({ key: 'state', n, state: b.state });
  if (b.role === 'master' && a.role !== 'master') out.push({ key: 'master', n });
  else if (b.follows && a.follows !== b.follows) out.push({ key: 'replica', n, port: b.follows });
  else if (b.follows && a.link !== b.link) out.push({ key: 'link', n, link: b.link });
  if (!b.slots || !a.slots) return out;
  if (a.stale !== b.stale) out.push({ key: b.stale ? 'stale' : 'fresh', n });
  for (const m of b.down.filter((x) => !a.down.includes(x))) out.push({ key: 'lost', n, m });
  for (const m of a.down.filter((x) => !b.down.includes(x))) out.push({ key: 'found', n, m });
  for (const [slot, how, m, keys] of b.moving) {
    const was = a.moving.find((x) => x[0] === slot && x[1] === how);
    if (!was) out.push({ key: how, n, slot, m });
    else if (was[3] !== keys) out.push({ key: 'keys', n, slot, keys });
  }
  if (JSON.stringify(a.slots) === JSON.stringify(b.slots)) return out;
  const changed = differences(map(b), map(a));
  for (const { from, to, own } of changed.slice(0, 2)) out.push({ key: own ? 'owner' : 'nobody', n, from, to, m: own });
  if (changed.length > 2) out.push({ key: 'more', n, more: changed.length - 2 });
  return out;
}

function sentinelNews(a, b) {
  const out = [], n = b.node, was = new Map(beliefs(a).map((x) => [x.name, x]));
  if (a.state !== b.state) out.push({ key: 'sentinel', n, state: b.state });
  for (const now of beliefs(b)) {
    const old = was.get(now.name);
    if (!old) continue;
    if (old.port !== now.port) out.push({ key: 'believes', n, port: now.port });
    for (const flag of ['s_down', 'o_down']) {
      if (now.flags.includes(flag) !== old.flags.includes(flag)) out.push({ key: now.flags.includes(flag) ? 'flag' : 'unflag', n, flag });
    }
  }
  return out;
}

// What LAB LOG says of a key before or after a change, and of the change.
const VALUE = String.raw`(?:absent|(?:'[^']*'|\w+ of \d+(?:, too large to compare| \{[^{}]*\})?)(?: until [+-]\d+ ms)?)`;
const CHANGE = new RegExp(String.raw`^([^']*?)(?: in database (\d+))?: ${VALUE} -> (${VALUE})(?: \([^()]*\))?(?:; |$)`);

// changed returns {key, value} for each change in a text of the log. value is '?' for a key that the text does not tell
// for sure, and key is '' where the text leaves keys out.
function changed(e) {
  const out = [];
  for (let text = e.changes ?? ''; text;) {
    const [all, key, db, value] = CHANGE.exec(text) ?? [];
    if (all === undefined) return [...out, { key: /^\d+ more$/.test(text) ? '' : e.key, value: '?' }];
    out.push({ key: db ? `${key} (db ${db})` : key, value: value.replace(/ until [+-]\d+ ms/g, '') });
    text = text.slice(all.length);
  }
  return out;
}

// held returns where the watched keys are, as the logs of the nodes tell: a list of {key, values}, where values has
// {value, by, nodes}. by is the client that has written a value, '' if the log does not show it.
export function held(logs) {
  const now = logs.map(() => new Map()), writers = new Map();
  logs.forEach((log, i) => log.forEach((e) => changed(e).forEach(({ key, value }) => {
    if (value === 'absent') { now[i].delete(key); return; }
    now[i].set(key, value);
    if (e.client > 0 && value !== '?') writers.set(`${key} ${value}`, ownerOf(e));
  })));
  const all = new Map();
  now.forEach((keys, i) => keys.forEach((value, key) => {
    const values = all.get(key) ?? new Map();
    all.set(key, values.set(value, [...(values.get(value) ?? []), i + 1]));
  }));
  return [...all].map(([key, values]) => ({ key, values: [...values].map(([value, nodes]) => ({ value, by: writers.get(`${key} ${value}`) ?? '', nodes })) }));
}

// slotOf returns the slot of a key. If it has a part in braces that is not empty, only that part counts.
export function slotOf(key) {
  const tag = /^[^{]*\{([^}]+)\}/.exec(key);
  let sum = 0;
  for (const byte of new TextEncoder().encode(tag ? tag[1] : key)) {
    sum ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) sum = (sum & 0x8000 ? (sum << 1) ^ 0x1021 : sum << 1) & 0xffff;
  }
  return sum % SLOTS;
}
