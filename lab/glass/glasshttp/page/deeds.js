// deeds.js has what one can do to the nodes of a topology: buttons for verbs of LAB, and a line for all others.

import { lang, t } from './i18n.js';
import { el } from './svg.js';
import { beliefs, isSentinel, slotOf, SLOTS } from './nodes.js';

const DOWN = 60000; // ms for which a server stays down

// deeds returns the buttons for one node. do_ sends words of LAB.
export function deeds(n, all, do_) {
  const button = (name, words, more = {}) => el('button', { 'data-do': name, 'data-focus': `do-${name}`, title: `LAB ${words.join(' ')}`, click: () => do_(...words), ...more }, t(`tp.do.${name}`, { port: more.port ?? n.port }));
  const of = (...words) => ['MASTER', String(n.node), ...words], danger = { class: 'lk-danger' };
  const own = isSentinel(n) ? sentinelDeeds(n, all, button) : [
    n.role === 'replica' ? button('promote', of('FAILOVER', 'TO', String(n.port)), { class: 'cl-primary' }) : null,
    n.role === 'replica' ? button('leave', of('FAILOVER', 'TO', String(n.port), 'LEAVE')) : null,
    n.slots ? (n.stale ? button('fresh', ['CLUSTER', 'STALE', String(n.node), 'OFF']) : button('stale', ['CLUSTER', 'STALE', String(n.node)], danger)) : null,
    n.state === 'blackhole' ? button('heal', of('BLACKHOLE', 'OFF')) : button('hole', of('BLACKHOLE', 'ON'), danger),
  ];
  return el('section', { class: 'card tp-deeds', 'data-of': n.node },
    el('h3', {}, t(isSentinel(n) ? 'tp.ofsentinel' : 'tp.ofnode', { n: n.node, port: n.port })),
    el('div', { class: 'tp-buttons' }, own, button('crash', of('CRASH', 'DOWN', String(DOWN)), danger)),
    el('h3', {}, t('tp.ofall')),
    el('div', { class: 'tp-buttons' }, button('clock10', ['ALL', 'CLOCK', 'ADVANCE', '10000']), button('clock40', ['ALL', 'CLOCK', 'ADVANCE', '40000']),
      all.some(isSentinel) ? button('reconf', ['SENTINEL', 'RECONF']) : null, button('reset', ['ALL', 'RESET'])));
}

const MOST = 6; // masters that a Sentinel can be made to believe in by a button

function sentinelDeeds(n, all, button) {
  const index = String(n.node - all.find(isSentinel).node + 1), named = beliefs(n).map((b) => b.port);
  const others = all.filter((m) => !isSentinel(m) && !named.includes(m.port)).slice(0, MOST);
  return [
    n.state === 'paused' ? button('resume', ['SENTINEL', index, 'RESUME'], { class: 'cl-primary' }) : button('pause', ['SENTINEL', index, 'PAUSE']),
    ...others.map((m) => button('believe', ['SENTINEL', index, 'BELIEVE', String(m.port)], { port: m.port, 'data-focus': `believe-${m.port}`, class: 'lk-danger' })),
  ];
}

// mover keeps the form for LAB CLUSTER MOVE in a node. It is made anew only when the nodes or the language are others,
// because one may be typing in it.
export function mover(at, all, do_) {
  const masters = all.filter((n) => n.slots && n.role === 'master').map((n) => n.node), key = `${lang} ${masters}`;
  if (at.dataset.for === key) return;
  at.dataset.for = key;
  if (!masters.length) { at.replaceChildren(); return; }
  const label = (name, field) => el('label', {}, el('span', { class: 'cl-label' }, t(`tp.move.${name}`)), field);
  const slot = el('input', { name: 'slot', autocomplete: 'off', spellcheck: 'false', placeholder: 'lock:{order}' });
  const to = el('select', { name: 'to' }, masters.map((n) => el('option', { value: n }, t('tp.node', { n }))));
  const step = el('select', { name: 'step' }, ['IMPORTING', 'MIGRATING', 'KEYS', 'NODE'].map((s) => el('option', { value: s }, s)));
  const send = (e) => {
    e.preventDefault();
    const text = slot.value.trim(), isSlot = /^\d+$/.test(text) && Number(text) < SLOTS;
    if (text) do_('CLUSTER', 'MOVE', isSlot ? text : String(slotOf(text)), 'TO', to.value, 'STEP', step.value);
  };
  at.replaceChildren(el('form', { class: 'card tp-mover', submit: send }, el('h3', {}, t('tp.move')),
    label('slot', slot), label('to', to), label('step', step), el('button', { 'data-do': 'move', class: 'cl-primary' }, t('tp.move.do'))));
}

// words splits a line as a shell does: quotes keep blanks together.
const words = (text) => [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map((m) => m[1] ?? m[2] ?? m[3]);

// line is a command line for LAB. The reply stands below it.
export function line(order) {
  const input = el('input', { autocomplete: 'off', spellcheck: 'false', 'data-label': 'tp.line', placeholder: 'REPLICATION PAUSE' });
  const reply = el('output', { class: 'mono' });
  const send = async (e) => {
    e.preventDefault();
    const asked = words(input.value.replace(/^\s*LAB\s+/i, ''));
    if (!asked.length) return;
    try { reply.textContent = shown(await order(...asked)); } catch (error) { reply.textContent = error.message; }
  };
  return el('form', { class: 'card tp-line', submit: send }, el('h3', { 'data-t': 'tp.line' }),
    el('p', {}, el('code', {}, 'LAB'), input, el('button', { 'data-t': 'tp.line.do' })), reply);
}

const shown = (reply) => (typeof reply === 'string' ? reply : JSON.stringify(reply));
