// narrate.js says in one sentence what an event did. The texts are in text/loop.js.

import { who as client } from './store.js';
import { add, number, span, t } from './i18n.js';
import texts from './text/loop.js';

add(texts);

// KIND gives the colour of each point, and STATION its place on the road.
export const KIND = {
  w: 'sleep', h: 'wait', a: 'accept', g: 'wait', t: 'wait', j: 'wait', r: 'read', p: 'parse', x: 'execute',
  y: 'execute', e: 'expire', o: 'write', c: 'accept', s: 'sleep',
};

// SOURCE gives the source whose text stands beside the picture.
export const phaseOf = (e) => (e.point === 't' || e.point === 'j' ? (e.text.startsWith('write') ? 'o' : 'r') : e.point);

export function kindOf(e) {
  if (e.point === 'h') return { accept: 'accept', read: 'read', reply: 'write' }[e.text] ?? 'wait';
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

const thread = (e, hello) => (e.thread < 0 ? t('say.executor') : hello?.threads?.[e.thread] ?? 'main');

const shown = (bytes, most = 40) => {
  const text = bytes.replace(/(\\r\\n)+$/, '');
  return text.length > most ? text.slice(0, most) + '…' : text;
};

const say = {
  w(e) {
    const why = e.text.split(' ')[0];
    if (why === 'event') return ['say.w.event', { n: e.a }];
    return [why === 'posted' ? 'say.w.posted' : 'say.w.timer', {}];
  },
  h(e, state) {
    const of = state.fired.list.length;
    return [`say.h.${['accept', 'read', 'reply'].includes(e.text) ? e.text : 'wake'}`, { i: e.a + 1, of: Math.max(of, e.a + 1) }];
  },
  a: (e) => ['say.a', { fd: e.a, addr: e.text }],
  g: (e) => ['say.g', { n: e.a, waited: span(e.b) }],
  t: (e) => [e.text.startsWith('write') ? 'say.t.write' : 'say.t.read', { n: e.a }],
  j: (e, state) => [state.lent?.phase === 'write' ? 'say.j.write' : 'say.j.read', { n: e.a }],
  r(e) {
    if (e.a === 0) return ['say.r.eof', {}];
    if (e.a === -11) return ['say.r.again', {}];
    if (e.a < 0) return ['say.r.error', { n: -e.a }];
    return [e.b > 0 ? 'say.r.more' : e.thread > 0 ? 'say.r.thread' : 'say.r', { n: e.a, left: e.b }];
  },
  p(e) {
    const missing = need(e.text);
    if (e.a === 0) return [missing > 0 ? 'say.p.need' : 'say.p.none', { n: missing, have: e.b }];
    return [e.b > 0 ? 'say.p.some' : e.a > 1 ? 'say.p.many' : 'say.p.one', { n: e.a, left: e.b }];
  },
  x: (e) => [`say.x.${[e.thread < 0 ? 'queue' : 'client', 'exec', 'script', 'internal', 'after'][e.b] ?? 'client'}`, { cmd: code(shown(e.text, 48)) }],
  y(e, state) {
    const kind = ['ok', 'error', 'queued', 'blocked', 'held', 'nil', 'none'][e.b] ?? 'ok';
    const inside = state.exec && (state.exec.by === 1 || state.exec.by === 2);
    return [e.client < 0 ? 'say.y.internal' : inside && kind === 'ok' ? 'say.y.inside' : `say.y.${kind}`, { n: e.a, reply: code(shown(e.text)) }];
  },
  e: (e) => ['say.e', { n: e.a, keys: code(shown(e.text)) }],
  o(e) {
    if (e.a === -11) return ['say.o.again', { left: e.b }];
    if (e.a < 0) return ['say.o.error', { n: -e.a }];
    return [e.b > 0 ? 'say.o.part' : e.thread > 0 ? 'say.o.thread' : 'say.o', { n: e.a, left: e.b }];
  },
  c: (e) => ['say.c', { why: e.text }],
  s(e) {
    const done = e.b > 0 ? 'say.s.did' : 'say.s.idle';
    return [done, { n: e.b, until: t(e.a < 0 ? 'say.s.ever' : e.a === 0 ? 'say.s.not' : 'say.s.for', { ms: number(e.a) }) }];
  },
};

// sentence returns the words for a frame. '{who}' and '{thread}' in a text are the frame's own.
export function sentence(frame, hello) {
  if (!frame) return t('say.nothing');
  const { e, state } = frame;
  const [key, vars] = say[e.point]?.(e, state) ?? ['say.unknown', {}];
  const who = e.client ? `\u0001${e.client}\u0002` : t('say.server');
  return t(key, { who, thread: thread(e, hello), ...vars });
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
  const what = { x: e.text, y: shown(e.text, 30), r: e.a > 0 ? `${e.a} B` : '', o: e.a > 0 ? `${e.a} B` : '', p: e.text, h: e.text }[e.point];
  return `${name}${whose}${what ? ' · ' + shown(what, 60) : ''}`;
}
