// fold.js rebuilds the state of the server from its events. A snapshot of the server replaces what
// was rebuilt. Between two snapshots, the page knows only what the events say.

const EMPTY = {
  clock: 0, still: false, pass: 0, clients: [], more: 0, fired: { list: [], at: -1 },
  lists: { pendingReads: [], nextRead: 0, resumed: [], pendingWrites: [], deferred: 0, closing: [] },
  threads: [], keys: [], keysMore: 0, counters: {}, exec: null, lent: null, woke: null, logs: {}, known: false,
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

const lists = (state, change) => ({ ...state, lists: { ...state.lists, ...change } });

// log keeps the last commands of a client and what became of their replies.
function log(state, id, change) {
  if (id <= 0) return state;
  return { ...state, logs: { ...state.logs, [id]: change(state.logs[id] ?? []).slice(-6) } };
}

const points = {
  w(st, e) {
    const [why, ...fired] = e.text.split(' ');
    const list = fired.filter(Boolean).map((word) => {
      const [, fd, mask] = /^(\d+)(\w*)$/.exec(word) ?? [0, 0, ''];
      return { fd: Number(fd), mask, client: st.clients.find((c) => c.fd === Number(fd))?.id ?? 0 };
    });
    const clients = st.clients.map((c) => (c.input && !c.buffered ? { ...c, input: '' } : c));
    return lists({ ...st, clients, pass: e.pass, fired: { list, at: -1 }, exec: null, lent: null, woke: { n: e.a, slept: e.b, why } },
      { pendingReads: [], pendingWrites: [], resumed: [], closing: [] });
  },
  h(st, e) {
    const list = st.fired.list.map((f, i) => (i === e.a && e.client ? { ...f, client: e.client } : f));
    st = { ...st, fired: { list, at: e.a } };
    if (e.text !== 'read' || !e.client) return st;
    st = put(st, e.client, () => ({ state: 'readable', fd: e.b }));
    return lists(st, { pendingReads: withOne(st.lists.pendingReads, e.client) });
  },
  a: (st, e) => put(st, e.client, () => ({ fd: e.a, addr: e.text })),
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
    st = put(st, e.client, (c) => ({
      state: 'executing', commands: e.b === 0 ? Math.max(0, c.commands - 1) : c.commands, next: c.next.slice(e.b === 0 ? 1 : 0),
    }));
    st = { ...st, exec: { client: e.client, argv: e.text, by: e.b, done: false } };
    if (e.b === 0 || e.b === 4) st = log(st, e.client, (l) => [...l, { cmd: e.text, out: '', sent: false }]);
    return lists(st, { pendingReads: without(st.lists.pendingReads, e.client) });
  },
  y(st, e) {
    st = put(st, e.client, (c) => ({
      output: c.output + e.a, out: (c.out + e.text).slice(0, 256),
      state: e.b === 3 ? 'blocked' : e.b === 4 ? 'held' : 'idle',
    }));
    st = { ...st, exec: st.exec && { ...st.exec, done: true } };
    const answer = { out: e.text, kind: e.b, sent: false };
    st = log(st, e.client, (l) => (l.length ? l.with(-1, { ...l.at(-1), ...answer }) : [{ cmd: '', ...answer }]));
    return e.a > 0 && e.client > 0 ? lists(st, { pendingWrites: withOne(st.lists.pendingWrites, e.client) }) : st;
  },
  e(st, e) {
    const gone = e.text.split(' ');
    return { ...st, keys: st.keys.filter((k) => !gone.includes(k.k)) };
  },
  o(st, e) {
    st = put(st, e.client, (c) => ({
      output: e.b, sendq: -1, out: e.b === 0 ? '' : c.out, thread: e.thread, state: e.b > 0 ? 'full' : c.state === 'full' ? 'idle' : c.state,
    }));
    if (e.b === 0) st = log(st, e.client, (l) => l.map((x) => (x.sent ? x : { ...x, sent: true })));
    return lists(st, { pendingWrites: without(st.lists.pendingWrites, e.client) });
  },
  c: (st, e) => ({ ...st, clients: st.clients.filter((c) => c.id !== e.client) }),
  s: (st) => ({ ...st, exec: null, lent: null, clients: st.clients.map((c) => (c.state === 'reading' || c.state === 'readable' ? { ...c, state: 'idle' } : c)) }),
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
  const { exec, lent, woke, logs } = state, inputs = new Map(state.clients.map((c) => [c.id, c.input]));
  return {
    ...EMPTY, ...snap, known: true, exec, lent, woke, logs,
    clients: (snap.clients ?? []).map((c) => ({ ...c, input: inputs.get(c.id) })), keys: snap.keys ?? [], threads: snap.threads ?? [],
    fired: { list: snap.fired?.list ?? [], at: snap.fired?.at ?? -1 },
    lists: { ...EMPTY.lists, ...withoutNull(snap.lists) },
  };
}

const withoutNull = (o) => Object.fromEntries(Object.entries(o ?? {}).filter(([, v]) => v !== null));

// settled is a state after events that were not told: nothing is under way any more.
export const settled = (st) => ({
  ...st, clients: st.clients.map((c) => (c.state === 'blocked' || c.state === 'full' || c.partial ? c : { ...c, commands: 0, buffered: 0, output: 0, out: '', state: 'idle' })),
});
