// narrate.js says in one sentence what an event did. The sentence comes from the event, from what it is inside of
// (fold.js: stack), and from how the server waits. The texts are in text/say.js.

import { who as client } from './store.js';
import { add, number, span, t } from './i18n.js';
import { elements } from './reply.js';
import texts from './text/loop.js';
import sentences from './text/say.js';

add(texts);
add(sentences);

// KIND gives the colour of each point, and STATION its place on the road.
export const KIND = {
  w: 'sleep', h: 'wait', a: 'accept', g: 'wait', t: 'wait', j: 'wait', r: 'read', p: 'parse', x: 'execute',
  y: 'execute', e: 'expire', o: 'write', c: 'accept', s: 'sleep', l: 'wait', b: 'execute', m: 'execute', f: 'expire', d: 'write', k: 'write',
  v: 'write', i: 'read', q: 'write',
};

// SOURCE gives the source whose text stands beside the picture.
export const phaseOf = (e) => (e.point === 't' || e.point === 'j' ? (e.text.startsWith('write') ? 'o' : 'r') : e.point);

export function kindOf(e) {
  if (e.point === 'h') return { accept: 'accept', read: 'read', connected: 'read', link: 'read', reply: 'write' }[e.text] ?? 'wait';
  return KIND[e.point] ?? 'wait';
}

// need returns how many bytes the parser lacks at least, as far as a partial command shows it.
export function need(partial) {
  const words = partial.replace(/_$/, '').trim().split(' ');
  for (let i = words.length - 1; i >= 0; i--) {
    const m = /^\$(\d+)$/.exec(words[i]);
    if (!m) continue;
    const rest = words.slice(i + 1).join(' ');
    return Number(m[1]) - rest.length;
  }
  return 0;
}

// figure is a number in the text of the end of a pass.
const figure = (e, name) => Number(new RegExp(` ${name}=(\\d+)`).exec(e.text)?.[1] ?? 0);

// counted says how many commands a pass has run: requests, and beside them those that EXEC or a script runs, and those
// that have waited. The end of a pass knows them. Before it the events are counted. part says that the server has told a
// part of the events only.
export function counted(events) {
  const run = events.filter((e) => e.point === 'x'), inside = run.filter((e) => e.b === 1 || e.b === 2).length, waited = run.filter((e) => e.b === 4).length;
  const commands = run.length - inside - waited, end = events.findLast((e) => e.point === 's');
  if (end) return { commands: end.b, more: beside(figure(end, 'inside'), figure(end, 'waited')), part: commands < end.b };
  return { commands, more: beside(inside, waited), part: false };
}

const beside = (inside, waited) => (inside ? t('say.s.more', { n: inside }) : '') + (waited ? t('say.s.waited', { n: waited }) : '');

// threadName names a thread by its number: main has one in each language. The executor of --exec queue is -1.
export const threadName = (n, hello) => (n < 0 ? t('say.executor') : n === 0 ? t('say.main') : hello?.threads?.[n] ?? `io ${n}`);

const shown = (bytes, most = 40) => {
  const text = bytes.replace(/(\\r\\n)+$/, '');
  return text.length > most ? text.slice(0, most) + '…' : text;
};

// ERRORS are the names of the errors that a socket has, on Linux and macOS.
const ERRORS = { 32: 'EPIPE', 54: 'ECONNRESET', 60: 'ETIMEDOUT', 104: 'ECONNRESET', 110: 'ETIMEDOUT', 113: 'EHOSTUNREACH' };
const errno = (n) => ERRORS[-n] ?? `errno ${-n}`;

// BY has the name of a text for each kind of a command: see trace.ByClient and its like.
const BY = ['client', 'exec', 'script', 'internal', 'after', 'toqueue', 'refused', 'master', 'file'];
const ANSWER = ['ok', 'error', 'queued', 'blocked', 'held', 'nil', 'none', 'unblocked', 'master'];

// request chooses the text for a client's command that runs.
function request(e, state) {
  const [verb, word] = e.text.toLowerCase().split(' ');
  if (verb === 'replconf' && word === 'ack') return 'ack';
  if (state.stack.some((s) => s.look)) return 'beside';
  if (/^(eval|fcall)/.test(verb)) return 'eval';
  if (e.thread < 0) return 'queue';
  return { exec: 'run', multi: 'multi' }[verb] ?? 'client';
}

// FED names what a replica gets: see trace.FedStream and its like.
const FED = ['stream', 'keys', 'answer', 'mark'];

// fed chooses the text for bytes that a master sends. In front of the keys it says where they end, and shows that it is there.
function fed(e) {
  const text = e.text ?? '';
  if (e.b === 2 && /^\+FULLRESYNC .*\\r\\n\$/.test(text)) return 'both';
  if (e.b !== 0 && text === '\\n') return 'alive';
  return e.b !== 0 && text.startsWith('$') ? 'begin' : FED[e.b];
}

// steps are the requests of a handshake that go out together.
const steps = (text) => text.split(/(?=\*\d+\\r\\n)/).map((one) => elements(one).join(' ')).filter(Boolean).join(', ') || text;

// PAYS is how many clients pay for waking a thread (ioworkers/threads.go: perThread).
const PAYS = 8;

// RULES names the text for each action of the lab.
const RULES = {
  'DROP-BEFORE': 'before', 'RESET-BEFORE': 'before', ERROR: 'error', HOLD: 'hold', 'DELAY-EXEC': 'delay', 'DROP-REPLY': 'lost', 'RESET-AFTER': 'lost',
  SILENT: 'silent', 'DELAY-REPLY': 'late', 'ERROR-AFTER': 'after', CUT: 'cut', BANDWIDTH: 'slow', JITTER: 'slow', SLICE: 'slow', 'SKIP-PUSH': 'skip', 'DELAY-PUSH': 'push',
};

const say = {
  w(e, state, hello) {
    const why = e.text.split(' ')[0], looked = Number(/ looked=(\d+)/.exec(e.text)?.[1] ?? e.a);
    if (why === 'event') return [`say.w.${['poll', 'select', 'io_uring'].includes(hello?.multiplexer) ? hello.multiplexer : 'epoll'}`, { n: e.a, looked }];
    return [why === 'posted' ? 'say.w.posted' : 'say.w.timer', {}];
  },
  h(e, state) {
    const of = state.fired.list.length, kind = state.idle || e.text;
    return [`say.h.${['accept', 'read', 'noted', 'own', 'connected', 'link', 'reply'].includes(kind) ? kind : 'wake'}`, { i: e.a + 1, of: Math.max(of, e.a + 1) }];
  },
  a: (e) => [e.b === 1 ? 'say.a.link' : 'say.a', { fd: e.a, addr: e.text }],
  l(e, state) {
    const old = state.fired.list.filter((f) => state.lists.pendingReads.includes(f.client)).length, fresh = e.a - old;
    return [e.b === 1 ? 'say.l.script' : old === 0 ? 'say.l.gather' : fresh ? 'say.l.some' : 'say.l.same', { n: e.a, fresh, old }];
  },
  b: (e) => ['say.b', { n: e.a }],
  g: (e) => [e.a < PAYS ? 'say.g.few' : 'say.g', { n: e.a, waited: span(e.b) }],
  t: (e) => [`say.t.${e.text.startsWith('write') ? 'write' : 'read'}${e.a < PAYS ? '.few' : ''}`, { n: e.a }],
  j: (e, state, hello) => [state.lent?.phase === 'write' ? 'say.j.write' : hello?.exec === 'queue' ? 'say.j.queue' : 'say.j.read', { n: e.a }],
  r(e) {
    if (e.a === 0) return ['say.r.eof', {}];
    if (e.a === -11) return ['say.r.again', {}];
    if (e.a < 0) return ['say.r.error', { name: errno(e.a) }];
    return [e.b > 0 ? 'say.r.more' : e.thread > 0 ? 'say.r.thread' : 'say.r', { n: e.a, left: e.b }];
  },
  p(e) {
    if (e.b < 0) return ['say.p.wrong', { why: code(shown(e.text, 60)) }];
    const missing = need(e.text);
    if (e.a === 0 && e.b === 0) return ['say.p.nothing', {}];
    if (e.a === 0) return [missing > 0 ? 'say.p.need' : 'say.p.none', { n: missing, have: e.b }];
    return [e.b > 0 ? 'say.p.some' : e.a > 1 ? 'say.p.many' : 'say.p.one', { n: e.a, left: e.b }];
  },
  x(e, state) {
    const by = BY[e.b] ?? 'client', busy = by === 'refused' && state.stack.some((s) => s.look);
    return [`say.x.${by === 'client' ? request(e, state) : busy ? 'busy' : by}`, { cmd: code(shown(e.text, 48)) }];
  },
  y(e, state) {
    const kind = ANSWER[e.b] ?? 'ok', by = state.exec?.by, vars = { n: e.a, reply: code(shown(e.text)) };
    if (e.client < 0 && !(by === 1 || by === 2)) return [kind === 'blocked' || kind === 'held' ? 'say.y.waits' : 'say.y.internal', vars];
    if (kind === 'master' || kind === 'blocked' || kind === 'held' || kind === 'unblocked') return [`say.y.${kind}`, vars];
    if (by === 1 || by === 2) return [`say.y.${by === 1 ? 'exec' : 'script'}${kind === 'error' ? 'error' : ''}`, vars];
    if (kind === 'none' && /^p?sync\b/i.test(state.exec?.argv ?? '')) return ['say.y.sync', vars];
    return [by === 4 && kind !== 'none' ? 'say.y.late' : `say.y.${kind}`, vars];
  },
  m(e) {
    const words = elements(e.text), kind = words[0] ?? '';
    const vars = { n: e.a, words: code(shown(words.join(' ') || e.text, 48)) };
    if (e.text[0] === '+') return ['say.m.monitor', vars];
    if (e.b === 1) return ['say.m.behind', vars];
    if (kind === 'invalidate' || words[1] === '__redis__:invalidate') return ['say.m.tracking', vars];
    return [/^[ps]?message$/.test(kind) ? 'say.m.subscribed' : 'say.m.other', vars];
  },
  f(e) {
    const [rule, action] = e.text.split(' ', 2), what = e.text.slice(rule.length + action.length + 2);
    return [`say.f.${RULES[action] ?? 'before'}`, { rule: code(rule), what: code(shown(what, 48)), ms: number(e.a) }];
  },
  k: (e) => [e.b ? 'say.k' : 'say.k.alone', { n: e.a, k: e.b, offset: number(Number(e.text)) }],
  v: (e) => [`say.v.${fed(e)}`, { n: e.a, words: code(shown(e.text)) }],
  i(e) {
    const key = fed(e), words = key === 'answer' ? e.text : e.text.split('\\r\\n')[0];
    return [`say.i.${key}`, { n: e.a, words: code(shown(words)) }];
  },
  q: (e) => [e.b >= 0 ? 'say.q.ack' : e.text === '\\n' ? 'say.q.alive' : 'say.q.ask', { n: e.a, offset: number(e.b), words: code(shown(steps(e.text), 80)) }],
  e: (e) => [e.b === 1 ? 'say.e.evicted' : 'say.e', { n: e.a, keys: code(shown(e.text)) }],
  d(e) {
    const [policy, why] = e.text.split(/ (.*)/), vars = { n: e.a, policy: code(policy), why: code(why ?? '') };
    if (e.b === 2) return [policy === 'always' ? 'say.d.end' : 'say.d.failed', vars];
    return [e.b === 0 ? 'say.d.written' : policy === 'always' ? 'say.d.always' : 'say.d.everysec', vars];
  },
  o(e) {
    if (e.a === -11) return ['say.o.again', { left: e.b }];
    if (e.a < 0) return ['say.o.error', { name: errno(e.a) }];
    return [e.text === 'limit' ? 'say.o.limit' : e.b > 0 ? 'say.o.part' : e.thread > 0 ? 'say.o.thread' : 'say.o', { n: e.a, left: e.b }];
  },
  c(e) {
    const [cause, name] = e.text.split(/: (.*)/), key = 'why.' + (cause === 'reading failed' ? cause : e.text).replaceAll(' ', '-'), known = t(key, { name });
    return ['say.c', { why: known === key ? e.text : known }];
  },
  s(e) {
    const inside = figure(e, 'inside'), waited = figure(e, 'waited');
    const until = t(e.a < 0 ? 'say.s.ever' : e.a === 0 ? 'say.s.not' : 'say.s.for', { ms: number(e.a) });
    return [e.b + inside + waited > 0 ? 'say.s.did' : 'say.s.idle', { n: e.b, until, more: beside(inside, waited) }];
  },
};

// sentence returns the words for a frame. '{who}' and '{thread}' in a text are the frame's own.
export function sentence(frame, hello) {
  if (!frame) return t('say.nothing');
  const { e, state } = frame;
  const [key, vars] = say[e.point]?.(e, state, hello) ?? ['say.unknown', {}];
  const who = e.client ? `\u0001${e.client}\u0002` : t('say.server');
  return t(key, { who, thread: threadName(e.thread, hello), ...vars });
}

// lasting returns the words for a pass that lasts: the command that runs, as far as it was told.
export function lasting(frame, pass) {
  const { stack, looked } = frame?.e.pass === pass ? frame.state : { stack: [] };
  if (!stack.length) return t('say.busy.pass');
  const { client, argv } = stack[0];
  return t(looked ? 'say.busy.script' : 'say.busy.run', { who: client ? `\u0001${client}\u0002` : t('say.server'), cmd: code(shown(argv, 48)) });
}

// parts cuts a sentence into its words, its clients and its commands: [{text, client, code}].
export function parts(words) {
  return words.split(/(\u0001-?\d+\u0002|\u0003[^\u0004]*\u0004)/).filter(Boolean).map((p) => {
    if (p[0] === '\u0001') return { text: client(Number(p.slice(1, -1))).name, client: client(Number(p.slice(1, -1))) };
    return p[0] === '\u0003' ? { text: p.slice(1, -1), code: true } : { text: p };
  });
}

const code = (text) => `\u0003${text}\u0004`;

// short names an event for a list or a tooltip: 'read A 10 B'.
export function short(e) {
  const name = t('point.' + e.point);
  const whose = e.client ? ' ' + client(e.client).name : '';
  const what = { x: e.text, y: shown(e.text, 30), r: e.a > 0 ? `${e.a} B` : '', o: e.a > 0 ? `${e.a} B` : '', d: `${e.a} B`, k: `${e.a} B`, v: `${e.a} B`, i: `${e.a} B`, q: `${e.a} B`, p: e.text, h: e.text, m: elements(e.text).join(' '), f: e.text }[e.point];
  return `${name}${whose}${what ? ' · ' + shown(what, 60) : ''}`;
}
