// fold.js rebuilds the state of the server from its events. A snapshot of the server replaces what
// was rebuilt. Between two snapshots, the page knows only what the events say.

const EMPTY = {
  clock: 0, still: false, pass: 0, clients: [], more: 0, fired: { list: [], at: -1 },
  lists: { pendingReads: [], nextRead: 0, resumed: [], pendingWrites: [], deferred: 0, closing: [] },
  threads: [], keys: [], keysMore: 0, counters: {}, exec: null, lent: null, woke: null, logs: {}, known: false, stack: [], file: null, stream: null,
  idle: '', looked: false,
};

export const empty = () => EMPTY;

// event gives the fields of a wire event names.
export function event(e) {
  const [seq, pass, point, thread, client, us, dur, a, b, text] = e;
  return { seq, pass, point, thread, client, us, dur, a, b, text: text ?? '' };
}

const without = (list, x) => list.filter((y) => y !== x);
const withOne = (list, x) => (list.includes(x) ? list : [...list, x]);

const fresh = (id) => ({
  id, name: '', fd: -1, addr: '', recvq: 0, sendq: -1, buffered: 0, commands: 0, output: 0, state: 'idle', on: '',
  multi: -1, watch: 0, db: 0, partial: '', next: [], out: '', thread: 0,
});

// put returns a state with changed fields of one client.
function put(state, id, change) {
  if (id <= 0) return state; // the server's own requests have negative numbers
  const i = state.clients.findIndex((c) => c.id === id);
  const old = i < 0 ? fresh(id) : state.clients[i];
  const c = { ...old, ...change(old) };
  const clients = i < 0 ? [...state.clients, c] : state.clients.with(i, c);
  return { ...state, clients };
}

// size counts the bytes of an escaped text.
const size = (text) => text.replace(/\\x[0-9a-f]{2}|\\./g, '.').length;

const lists = (state, change) => ({ ...state, lists: { ...state.lists, ...change } });

// log keeps the last commands of a client and what became of their replies.
function log(state, id, change) {
  if (id <= 0) return state;
  return { ...state, logs: { ...state.logs, [id]: change(state.logs[id] ?? []).slice(-6) } };
}

// stream returns a state with changed fields of the replication stream.
const NO_STREAM = { role: 'master', offset: 0, kept: 0, replicas: 0, acked: -1, link: '' };
const stream = (st, change) => ({ ...st, stream: { ...(st.stream ?? NO_STREAM), ...change } });

// fired reads the array of ready descriptors: "event 7r 9rw".
function fired(st, text) {
  return [...text.matchAll(/ (\d+)([rwh]*)(?= |$)/g)].map(([, fd, mask]) => ({
    fd: Number(fd), mask, client: st.clients.find((c) => c.fd === Number(fd))?.id ?? 0,
  }));
}

// The stack says what is inside of what. An entry is a command that runs, or with look a second look at the sockets in
// the middle of a slow script: {client, argv, by} or {client, look, fired}.
const push = (st, entry) => ({ ...st, stack: [...st.stack, entry] });

// ends returns a state without the innermost command, which is done.
function ends(st) {
  const top = st.stack.at(-1);
  if (!top || top.look) return { ...st, exec: st.exec && { ...st.exec, done: true } };
  return { ...st, stack: st.stack.slice(0, -1), exec: { ...top, done: true } };
}

// A request that is held back stays at the head of its client's list until it runs.
export const isHeld = (c) => c.state === 'held' || c.state === 'paused';
const taken = (c) => ({ commands: Math.max(0, c.commands - 1), next: c.next.slice(1) });

const WAITS = 3, HELD = 4, OVER = 7, TO_MASTER = 8; // b of a reply: see trace.ReplyOK and its like
const isInside = (by) => by === 1 || by === 2;
const BY_MASTER = 7, BY_FILE = 8; // b of a command

// request puts a command into the log of its client. One that has waited is there already.
function request(st, e) {
  return log(st, e.client, (l) => {
    const waits = e.b === 4 && l.findLastIndex((x) => x.kind === WAITS || x.kind === HELD);
    return waits === false || waits < 0 ? [...l, { cmd: e.text, out: '', sent: false }] : l.with(waits, { cmd: l[waits].cmd, out: '', sent: false });
  });
}

// answer puts a reply into the log: to the command that waits if its wait is over, else to the last one.
function answer(st, e) {
  const reply = { out: e.text, kind: e.b, sent: false };
  return log(st, e.client, (l) => {
    if (e.b === HELD) return [...l, { cmd: e.text, out: '', kind: HELD, sent: false }];
    const at = e.b === OVER ? l.findLastIndex((x) => x.kind === WAITS) : l.findLastIndex((x) => x.kind === undefined);
    if (at < 0) return l.length ? l.with(-1, { ...l.at(-1), ...reply }) : [{ cmd: '', ...reply }];
    return l.with(at, { ...l[at], ...reply });
  });
}

// why says why the read handler of a client has nothing to do, '' if it has: the client is on the list already, or its
// script looks for others.
const why = (st, id) => (st.lists.pendingReads.includes(id) ? 'noted' : st.stack.some((x) => x.look && x.client === id) ? 'own' : '');

// newName returns the name that a command gives to its client, or ''.
export const newName = (e) => (e.point === 'x' && e.b === 0 && /^client setname (\S+)$/i.exec(e.text)?.[1]) || '';

const points = {
  w(st, e) {
    const [why] = e.text.split(' '), list = fired(st, e.text);
    const clients = st.clients.map((c) => (c.input && !c.buffered ? { ...c, input: '' } : c));
    return lists({ ...st, clients, pass: e.pass, fired: { list, at: -1 }, exec: null, stack: [], lent: null, looked: false, woke: { n: e.a, slept: e.b, why, looked: Number(/ looked=(\d+)/.exec(e.text)?.[1] ?? e.a) } },
      { pendingReads: [], nextRead: 0, pendingWrites: [], resumed: [], closing: [] });
  },
  h(st, e) {
    const list = st.fired.list.map((f, i) => (i === e.a && e.client ? { ...f, client: e.client } : f));
    st = { ...st, fired: { list, at: e.a }, idle: e.text === 'read' ? why(st, e.client) : '' };
    if (e.text !== 'read' || !e.client) return st;
    st = put(st, e.client, () => ({ state: 'readable', fd: e.b }));
    return lists(st, { pendingReads: withOne(st.lists.pendingReads, e.client) });
  },
  a: (st, e) => put(st, e.client, () => ({ fd: e.a, addr: e.text, ...(e.b === 1 && { role: 'master' }) })),
  g: (st) => st,
  t(st, e) {
    const [phase, ...ids] = e.text.split(' ');
    const threads = { ...(st.lent?.phase === phase ? st.lent.threads : {}), [e.thread]: ids.map(Number) };
    return { ...st, lent: { phase, threads, joined: false } };
  },
  j: (st) => (st.lent ? { ...st, lent: { ...st.lent, joined: true } } : st),
  r: (st, e) => put(st, e.client, (c) => ({
    state: e.a === 0 ? 'closing' : 'reading', thread: e.thread, input: e.text,
    buffered: c.buffered + Math.max(0, e.a), recvq: e.b >= 0 ? e.b : Math.max(0, c.recvq - Math.max(0, e.a)),
  })),
  p: (st, e) => put(st, e.client, (c) => ({ commands: c.commands + e.a, buffered: e.b, partial: e.text })),
  x(st, e) {
    if (e.b === BY_FILE) return { ...st, exec: { client: 0, argv: e.text, by: e.b, done: true } };
    const first = e.b === 0 || e.b === 5 || e.b === 6;
    st = put(st, e.client, (c) => ({ state: 'executing', on: '', name: newName(e) || c.name, ...(first || (e.b === 4 && isHeld(c)) ? taken(c) : {}) }));
    const exec = { client: e.client, argv: e.text, by: e.b, done: false };
    st = push({ ...st, exec }, exec);
    const ack = /^replconf ack (\d+)/i.exec(e.text);
    if (ack && st.stream?.replicas === 1) st = stream(st, { acked: Number(ack[1]) });
    if (e.b === BY_MASTER) st = put(st, e.client, () => ({ role: 'master' }));
    else if (!isInside(e.b)) st = request(st, e);
    return lists(st, { pendingReads: without(st.lists.pendingReads, e.client) });
  },
  y(st, e) {
    if (e.b !== HELD && e.b !== OVER) st = ends(st);
    if (isInside(st.exec?.by) && e.b !== HELD && e.b !== OVER) return st;
    if (e.b === TO_MASTER) return put(st, e.client, () => ({ state: 'idle' }));
    st = put(st, e.client, (c) => ({
      output: c.output + (c.role === 'replica' ? 0 : e.a), out: e.b === HELD ? c.out : (c.out + e.text).slice(0, 256), state: e.b === WAITS ? 'blocked' : e.b === HELD ? 'held' : 'idle', on: '',
    }));
    st = answer(st, e);
    return e.a > 0 && e.client > 0 ? lists(st, { pendingWrites: withOne(st.lists.pendingWrites, e.client) }) : st;
  },
  l(st, e) {
    const list = fired(st, e.text), now = { ...st, fired: { list, at: -1 } };
    if (e.b === 1) return push({ ...now, looked: true }, { client: e.client, look: true, fired: st.fired });
    return now;
  },
  b(st) {
    const at = st.stack.findLastIndex((x) => x.look);
    if (at < 0) return st;
    const stack = st.stack.slice(0, at);
    return { ...st, stack, fired: st.stack[at].fired, exec: stack.at(-1) ?? st.exec };
  },
  m(st, e) {
    if (e.b !== 0) return st;
    st = put(st, e.client, (c) => ({ output: c.output + e.a, out: (c.out + e.text).slice(0, 256) }));
    return e.client > 0 ? lists(st, { pendingWrites: withOne(st.lists.pendingWrites, e.client) }) : st;
  },
  f(st, e) {
    const [rule, action] = e.text.split(' ', 2), held = action === 'HOLD' || action === 'DELAY-EXEC';
    if (held) {
      st = put(st, e.client, () => ({ state: 'held', on: rule }));
      return log(st, e.client, (l) => [...l, { cmd: e.text.slice(rule.length + action.length + 2), out: '', kind: HELD, sent: false }]);
    }
    if (action === 'DROP-BEFORE' || action === 'RESET-BEFORE') return put(st, e.client, taken);
    if (!['DROP-REPLY', 'RESET-AFTER', 'SILENT'].includes(action)) return st;
    const reply = e.text.slice(rule.length + action.length + 2);
    st = put(st, e.client, (c) => ({ output: Math.max(0, c.output - size(reply)), out: c.out.endsWith(reply) ? c.out.slice(0, -reply.length) : '' }));
    return log(st, e.client, (l) => (l.length ? l.with(-1, { ...l.at(-1), lost: true }) : l));
  },
  e(st, e) {
    const gone = e.text.split(' '), keys = st.keys.filter((k) => !gone.includes(k.k));
    return { ...st, keys, keysMore: Math.max(0, st.keysMore - (e.a - (st.keys.length - keys.length))) };
  },
  d(st, e) {
    const unsynced = e.b === 1 ? 0 : (st.file?.unsynced ?? 0) + Math.max(0, e.a);
    return { ...st, file: { policy: e.text.split(' ')[0], unsynced } };
  },
  k: (st, e) => stream(st, { role: st.stream?.role ?? 'master', offset: Number(e.text), replicas: e.b, kept: (st.stream?.kept ?? 0) + e.a }),
  v(st, e) {
    st = put(st, e.client, (c) => ({ role: 'replica', output: c.output + e.a, out: (c.out + e.text).slice(0, 256) }));
    return lists(st, { pendingWrites: withOne(st.lists.pendingWrites, e.client) });
  },
  i: (st, e) => stream(put(st, e.client, () => ({ role: 'master', state: 'reading', input: e.text })), { role: 'replica' }),
  q: (st, e) => stream(st, e.b < 0 ? { role: 'replica' } : { role: 'replica', offset: e.b }),
  o(st, e) {
    st = put(st, e.client, (c) => ({
      output: e.b, sendq: -1, out: e.b === 0 ? '' : c.out, thread: e.thread, state: e.b > 0 ? 'full' : c.state === 'full' ? 'idle' : c.state,
    }));
    if (e.b === 0) st = log(st, e.client, (l) => l.map((x) => (x.sent || x.kind === undefined || x.kind === WAITS || x.kind === HELD ? x : { ...x, sent: true })));
    return lists(st, { pendingWrites: without(st.lists.pendingWrites, e.client) });
  },
  c: (st, e) => ({ ...st, clients: st.clients.filter((c) => c.id !== e.client) }),
  s: (st) => lists({ ...st, exec: null, stack: [], lent: null, clients: st.clients.map((c) => (c.state === 'reading' || c.state === 'readable' ? { ...c, state: 'idle' } : c)) },
    { pendingReads: [], nextRead: 0, pendingWrites: [], resumed: [], closing: [] }),
};

// fold returns the state after an event.
export function fold(state, e) {
  const step = points[e.point];
  return step ? step(state, e) : state;
}

// merge puts a snapshot of the server over a rebuilt state.
export function merge(state, snap) {
  if (!snap) return state;
  if (snap.partOf) {
    for (const c of snap.clients ?? []) state = put(state, c.id, () => c);
    return state;
  }
  const { exec, stack, lent, woke, logs, idle, looked } = state, inputs = new Map(state.clients.map((c) => [c.id, c.input]));
  return {
    ...EMPTY, ...snap, known: true, exec, stack, lent, woke, logs, idle, looked,
    clients: (snap.clients ?? []).map((c) => ({ ...c, input: inputs.get(c.id), state: c.state === 'idle' && stack.some((x) => x.argv && x.client === c.id) ? 'executing' : c.state })), keys: snap.keys ?? [], threads: snap.threads ?? [],
    fired: { list: snap.fired?.list ?? [], at: snap.fired?.at ?? -1 },
    lists: { ...EMPTY.lists, ...withoutNull(snap.lists) },
  };
}

const withoutNull = (o) => Object.fromEntries(Object.entries(o ?? {}).filter(([, v]) => v !== null));

// settled is a state after events that were not told: nothing is under way any more.
export const settled = (st) => ({
  ...st, clients: st.clients.map((c) => (c.state === 'blocked' || c.state === 'full' || isHeld(c) || c.partial ? c : { ...c, commands: 0, buffered: 0, output: 0, out: '', state: 'idle' })),
});

// rested is a state whose pass is over, although its end was not told.
export const rested = (st) => points.s(settled(st));
