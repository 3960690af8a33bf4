// rows.js writes events of a recording as rows of a list: number, point, client, thread, and what happened.

import { event, newName } from './fold.js';
import { add, has, t } from './i18n.js';
import { el } from './svg.js';
import texts from './text/loop.js';

add(texts);

// KINDS has the colour of each point, as in style.css.
export const KINDS = {
  w: 'sleep', h: 'accept', a: 'accept', g: 'wait', t: 'wait', j: 'wait', r: 'read', p: 'parse', x: 'execute', y: 'execute',
  e: 'expire', o: 'write', c: 'accept', s: 'sleep', l: 'wait', b: 'execute', m: 'execute', f: 'expire', d: 'write', k: 'write',
  v: 'write', i: 'read', q: 'write',
};

// eventRows returns the rows of the numbered events, and how many events the recording has.
export function eventRows(lines, numbers) {
  const wanted = new Set(numbers);
  const names = new Map();
  const found = new Map();
  let all = 0, last = 0, call = 'epoll_wait';
  for (const line of lines) {
    const v = typeof line === 'string' ? JSON.parse(line) : line;
    const ev = Array.isArray(v) ? v : v.stop?.event;
    if (!ev) call = { poll: 'poll', select: 'select', io_uring: 'io_uring_enter' }[v.multiplexer] ?? call; // the header
    if (!ev) continue;
    for (const c of v.stop?.snapshot?.clients ?? []) if (c.name) names.set(c.id, c.name.replace(/^page:/, ''));
    if (ev[0] !== last) all++; // a stop comes behind its event
    last = ev[0];
    const e = event(ev);
    if (newName(e)) names.set(e.client, newName(e));
    if (wanted.has(e.seq)) found.set(e.seq, e);
  }
  const rows = [...found.values()].map((e) => row(e, names, call));
  return { rows, all };
}

function row(e, names, call) {
  const who = e.client > 0 ? names.get(e.client) ?? `#${e.client}` : e.client < 0 ? t('claims.internal') : '';
  const thread = e.thread === 0 ? t('claims.main') : e.thread < 0 ? t('claims.executor') : `io_${e.thread}`;
  return el('li', { class: KINDS[e.point], 'data-seq': e.seq },
    el('span', { class: 'cl-seq' }, `#${e.seq}`),
    el('span', { class: 'cl-point' }, t(`point.${e.point}`)),
    el('span', { class: 'cl-who' }, who),
    el('span', { class: 'cl-thread' }, thread),
    el('code', { class: 'mono', title: e.text }, what(e, call)));
}

// what says in a few words what happened.
function what(e, call) {
  switch (e.point) {
    case 'w': return `${call} = ${e.a}`;
    case 'h': return `[${e.a}] ${has(`box.${e.text}`) ? t(`box.${e.text}`) : e.text}`;
    case 'r': return `read = ${e.a}`;
    case 'p': return t('row.commands', { n: e.a }) + (e.text ? ` + ${e.text}` : '');
    case 'y': return `→ ${e.text.replace(/(\\r\\n)+$/, '').replaceAll('\\r\\n', ' ')}`;
    case 'o': return `write = ${e.a}` + (e.b ? t('row.left', { n: e.b }) : '');
    default: return e.text || String(e.a);
  }
}
