// topology.js is the screen of many servers: masters and replicas, what Sentinels believe, and who serves which slot in
// the eyes of each node. It shows LAB TOPOLOGY, which the stream brings while this screen is open.

import * as store from './store.js';
import { add, lang, number, t, translate } from './i18n.js';
import { el, narrow } from './svg.js';
import { fail, steady } from './shared.js';
import { compared, disputed, beliefs, held, isSentinel, lag, lanes, moves, news, slotOf, stepOf } from './nodes.js';
import { hue, range, slotBars } from './slots.js';
import { deeds, line, mover } from './deeds.js';
import texts from './text/topology.js';

add(texts);

const POLL = 700; // ms between two looks at the logs
const MOST = 12; // rows of a list, and nodes side by side
const LANES = 50;
const KEPT = 60; // changes
const STEPS = ['IMPORTING', 'MIGRATING', 'KEYS', 'NODE'];

let ui = {};
let drawn = '';
let timer = 0;
let seen = null; // the last answer that was not empty
let chosen = 1; // the node that the buttons are about
let logs = [];
let standing = []; // numbers of nodes whose loop stands still
const asked = new Set(); // verbs whose replies are to come
let happened = []; // {at, text} of the last changes, the newest first
let changes = 0;
let pressed = null; // reports whether a button is down

export function mount(at) {
  const root = el('div', { class: 'tp' });
  at.replaceChildren(root);
  drawn = '';
  ui = { root, main: el('section', { class: 'tp-main' }), deeds: el('div'), mover: el('div'), news: el('ol', { tabindex: 0 }) };
  root.append(ui.main, el('aside', { class: 'tp-side' }, ui.deeds, ui.mover, line(order),
    el('section', { class: 'card tp-news', role: 'log', 'aria-live': 'polite' }, el('h3', { 'data-t': 'tp.news' }), ui.news)));
  pressed = steady(root, render);
  clearInterval(timer);
  timer = setInterval(look, POLL);
  look();
  render();
}

const live = () => store.mode === 'live';
const many = () => (store.hello?.masters ?? 1) > 1;
const waits = () => Boolean(store.topology?.waits) || store.state.state === 'stopped';

const ask = (...words) => store.post('/lab', { args: words });

// order sends words of LAB, and looks at the logs again. A node that the words are about is named by MASTER.
async function order(...words) {
  const reply = await ask(...words);
  look();
  return reply;
}

// look reads the logs of the nodes, or asks which loop stands still: that one has not told its log.
function look() {
  if (!ui.root?.isConnected) { clearInterval(timer); return; }
  if (!live() || !many()) return;
  if (waits()) once('STEP', (all) => { standing = all.flatMap((s, i) => (s.state === 'stopped' ? [i + 1] : [])); });
  else once('LOG', (all) => { [standing, logs] = [[], all.map((l) => (Array.isArray(l) ? l : []))]; });
}

// once asks all nodes for something unless they have been asked and one of them has not replied.
async function once(verb, keep) {
  if (asked.has(verb)) return;
  asked.add(verb);
  try {
    const before = JSON.stringify([logs, standing]);
    keep(await ask('ALL', verb));
    if (before !== JSON.stringify([logs, standing])) { changes++; render(); }
  } catch { /* the server ends */ }
  asked.delete(verb);
}

// take keeps a new answer, and notes what has changed.
function take() {
  const nodes = store.topology?.nodes;
  if (!nodes || nodes === seen) return;
  const at = new Date().toTimeString().slice(0, 8);
  if (seen) happened = [...news(seen, nodes).map((v) => ({ at, v })).reverse(), ...happened].slice(0, KEPT);
  seen = nodes;
  if (!nodes.some((n) => n.node === chosen)) chosen = 1;
}

export function render() {
  take();
  const key = JSON.stringify([lang, changes, chosen, store.mode, store.topology, store.state.state, narrow(), many(), happened.length]);
  if (!ui.root || pressed() || key === drawn) return;
  drawn = key;
  const focused = document.activeElement?.closest?.('[data-focus]')?.dataset.focus;
  const shown = live() && many() && seen;
  ui.root.classList.toggle('tp-empty', !shown);
  ui.main.replaceChildren(...(shown ? screen() : [el('p', { class: 'lead' }, t(!live() ? 'tp.off' : many() ? 'tp.asks' : 'tp.alone'))]));
  if (shown) {
    const node = seen.find((n) => n.node === chosen);
    ui.deeds.replaceChildren(deeds(node, seen, act));
    mover(ui.mover, seen, act);
    tell();
    translate(ui.root);
  }
  if (focused) ui.root.querySelector(`[data-focus="${focused}"]`)?.focus({ preventScroll: true });
}

// tell adds what is new to the list of changes. What stands there stays: a screen reader would read it again.
function tell() {
  if (ui.lang !== lang) {
    [ui.lang, ui.told] = [lang, new Set()];
    ui.news.replaceChildren();
  }
  for (const h of happened.toReversed().filter((o) => !ui.told.has(o))) {
    ui.told.add(h);
    ui.news.prepend(el('li', {}, el('span', { class: 'dim' }, h.at), ' ', told(h.v)));
  }
  while (ui.news.children.length > KEPT) ui.news.lastChild.remove();
}

const act = (...words) => order(...words).catch(fail);

const portOf = (number) => seen.find((n) => n.node === number)?.port ?? '?';

// told is a sentence of the list of changes.
const told = ({ key, state, from, to, ...v }) => t(`tp.did.${key}`, { ...v, p: portOf(v.n), state: state && t(`tp.state.${state}`), slots: from === undefined ? '' : range(from, to) });

function screen() {
  const nodes = seen.filter((n) => !isSentinel(n)), sentinels = seen.filter(isSentinel), cluster = nodes.filter((n) => n.slots);
  return [
    el('p', { class: 'lead' }, t('tp.lead')), notice(), card('nodes', every(lanes(nodes), LANES, (of) => lane(of, nodes)), 'tp-lanes'),
    sentinels.length ? watchers(sentinels) : null, cluster.length ? slots(cluster) : null, locks(nodes, cluster.length > 0),
  ].filter(Boolean);
}

const card = (name, rows, list, ...more) => el('section', { class: 'card', 'data-part': name }, el('h3', {}, t(`tp.${name}`)), more, el('ul', { class: list }, rows));

function notice() {
  const error = store.topology?.error;
  if (error) return el('p', { class: 'lk-notice', role: 'status' }, error);
  if (!waits()) return null;
  return el('p', { class: 'lk-notice', role: 'status', 'data-waits': standing.join(' ') }, t(standing.length ? 'tp.stands' : 'tp.waits', { n: standing.join(', ') }), ' ',
    standing.length ? el('button', { 'data-focus': 'continue', click: () => Promise.all(standing.map((n) => act('MASTER', String(n), 'STEP', 'CONTINUE'))) }, t('tp.continue')) : null);
}

const disc = (n, copy = false) => {
  const says = t(copy ? 'tp.copy' : 'tp.node', { n });
  return el('b', { class: `disc c${hue(n)}${copy ? ' tp-copy' : ''}`, role: 'img', 'aria-label': says, title: says }, String(n || '?'));
};

// stateOf is the state for the eye: a loop that stands still cannot say it itself.
const stateOf = (n) => (n.state === 'up' && standing.includes(n.node) ? 'stopped' : n.state);

const pill = (n) => el('span', { class: `tp-pill tp-${stateOf(n)}` }, t(`tp.state.${stateOf(n)}`));

// lane is a master with those that follow it.
const lane = (of, nodes) => el('li', { class: 'tp-lane' }, every(of, MOST, (n, i) => [
  i ? el('span', { class: `tp-link${n.link === 'connected' ? '' : ' tp-broken'}`, 'aria-hidden': 'true' }, '→') : null, node(n, nodes)], 'span'));

// node is a button: what stands at the side is about the node that was pressed last.
function node(n, nodes, ...more) {
  const behind = lag(n, nodes), role = t(`tp.role.${n.role || 'none'}`);
  const facts = [n.epoch === undefined ? null : t('tp.epoch', { n: n.epoch }), n.offset === undefined ? null : t('tp.offset', { n: number(n.offset) })].filter(Boolean);
  return el('button', {
    class: `tp-node tp-at-${stateOf(n)}`, 'data-node': n.node, 'data-role': n.role, 'data-state': stateOf(n), 'data-focus': `node-${n.node}`, 'aria-pressed': String(n.node === chosen),
    click: () => { chosen = n.node; changes++; render(); },
  }, el('span', { class: 'tp-head' }, disc(n.node), el('b', {}, `:${n.port}`), el('span', { class: `tp-role tp-${n.role}` }, role), pill(n), n.stale ? el('span', { class: 'tp-pill tp-old' }, t('tp.old')) : null),
  el('span', { class: 'tp-facts' }, facts.join(' · ')),
  n.role === 'replica' ? el('span', { class: `tp-facts${n.link === 'connected' && !behind ? '' : ' tp-warn'}` }, t(behind ? 'tp.behind' : n.follows ? 'tp.follows' : 'tp.lost', { port: n.follows, link: n.link, n: number(behind) })) : null,
  n.down?.length ? el('span', { class: 'tp-facts tp-warn' }, t('tp.unreached', { n: n.down.join(', ') })) : null, ...more.flat());
}

// watchers are the Sentinels. Each wears the mark of the master that it names.
function watchers(sentinels) {
  const first = seen.find((n) => isSentinel(n)).node;
  const rows = every(sentinels, MOST, (n) => el('li', {}, node(n, [], beliefs(n).map((b) => {
    const at = seen.find((m) => m.port === b.port && !isSentinel(m));
    return el('span', { class: 'tp-belief', 'data-believes': b.port }, `${t('tp.sentinel', { n: n.node - first + 1 })}: `, t('tp.names', { name: b.name }), ' ', at ? disc(at.node) : null, ` :${b.port} `,
      b.flags.flatMap((f) => [el('span', { class: `tp-pill tp-${f}` }, f), ' ']));
  }))));
  const split = disputed(sentinels);
  return card('sentinels', rows, 'tp-lanes tp-watchers', split ? el('p', { class: 'tp-warn', role: 'status', 'data-disputed': '' }, t('tp.disputed')) : null);
}

function slots(nodes) {
  const apart = compared(nodes), odd = nodes.filter((n) => apart.get(n.node).length), moving = moves(nodes);
  return el('section', { class: 'card', 'data-part': 'slots' }, el('h3', {}, t('tp.slots')), slotBars(nodes, apart),
    odd.length ? el('ul', { class: 'tp-odd', role: 'status' }, every(odd, MOST, (n) => el('li', { 'data-odd': n.node }, disc(n.node), ' ', t(n.stale ? 'tp.oddstale' : 'tp.odd', { n: n.node }), ' ', differs(apart.get(n.node))))) : null,
    moving.length ? el('ul', { class: 'tp-moving' }, every(moving, MOST, move)) : null);
}

// every draws the first of many, and says how many are left out.
const every = (all, most, draw, tag = 'li') => [...all.slice(0, most).flatMap(draw), all.length > most ? el(tag, { class: 'dim' }, t('tp.more', { n: all.length - most })) : null];

const owner = (n) => (n ? t('tp.node', { n }) : t('tp.nobody'));

const differs = (ranges) => ranges.slice(0, 3).map((d) => t('tp.differs', { slots: range(d.from, d.to), own: owner(d.own), most: owner(d.most) })).join(' ') + (ranges.length > 3 ? ' …' : '');

// move is a slot that moves, with its steps, and what a client meets now.
function move(m) {
  const step = stepOf(m), done = { IMPORTING: m.importing, MIGRATING: m.migrating, KEYS: step === 'KEYS' };
  return el('li', { 'data-slot': m.slot, 'data-step': step }, el('b', {}, t('tp.slot', { slot: m.slot })), ' ', disc(m.from), ' → ', disc(m.to), ' ',
    el('span', { class: 'tp-steps' }, STEPS.map((name) => el('span', { class: `tp-step${done[name] ? ' tp-done' : ''}`, 'aria-current': name === step ? 'step' : null }, name))),
    el('span', { class: 'tp-meets' }, t(`tp.meets.${step}`, { from: m.from, to: m.to }), ' ', t('tp.keys', { left: m.left ?? '?', got: m.got ?? '?', from: m.from, to: m.to })));
}

// locks are the watched keys: where they are, and who has written their values.
function locks(nodes, cluster) {
  const all = held(logs), masters = nodes.filter((n) => n.role === 'master').map((n) => n.node);
  const rows = every(all, MOST, ({ key, values }) => {
    const two = values.filter((v) => v.value !== '?' && v.nodes.some((n) => masters.includes(n))).length > 1;
    return el('li', { 'data-key-at': key, 'data-two': String(two), class: two ? 'tp-two' : null }, el('code', {}, key || t('tp.others')), cluster && key ? el('span', { class: 'dim' }, ` ${t('tp.slot', { slot: slotOf(key) })} `) : ' ',
      values.map((v) => el('span', { class: 'tp-value' }, el('code', {}, v.value), v.by ? ` ${t('tp.by', { name: v.by })} ` : ' ', v.nodes.flatMap((n) => [disc(n, !masters.includes(n)), ' ']))),
      two ? el('b', { class: 'tp-warn' }, t('tp.two')) : null);
  });
  return card('locks', rows, 'tp-locks', all.length ? null : el('p', { class: 'dim' }, t('tp.nolocks'), ' ',
    el('button', { 'data-focus': 'watch', 'data-do': 'watch', click: () => act('ALL', 'LOG', 'WATCH', 'lock:*') }, 'LAB ALL LOG WATCH lock:*')));
}
