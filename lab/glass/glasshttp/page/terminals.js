// terminals.js is the clients' side of the picture: three terminals on real connections, and the
// ways in which a client can send.

import { el } from './svg.js';
import { t, number } from './i18n.js';
import * as store from './store.js';
import { fail } from './shared.js';
import { words } from './boxes.js';
import { pretty } from './reply.js';

const NAMES = ['A', 'B', 'C'];
const EXAMPLES = ['SET lock:a {n} NX PX 30000', 'GET lock:a', 'DEL lock:a', 'PTTL lock:a', 'SETNX lock:b {n}', 'INCR visits', 'LPUSH queue job', 'BLPOP queue 0',
  'MULTI', 'EXEC', 'WATCH lock:a', 'SUBSCRIBE news', 'PUBLISH news hello', 'MGET a b c', 'SETRANGE big 4000000 x', 'GET big', 'PING',
  `EVAL "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end" 1 lock:a {n}`];
const CHIPS = [['SET lock:a A NX PX 30000', 'INCR visits'], ['SET lock:a B NX PX 30000', 'GET lock:a'], ['BLPOP queue 0', 'MULTI']];

// encode writes a command as RESP: an array of bulk strings.
export function encode(command) {
  const args = words(command).map((w) => (w.startsWith('"') ? w.slice(1, -1).replace(/\\(.)/g, '$1') : w));
  const size = (s) => new TextEncoder().encode(s).length;
  return args.length ? `*${args.length}\r\n` + args.map((a) => `$${size(a)}\r\n${a}\r\n`).join('') : '';
}

// memory outlives a change of the screen: how the clients send, and what they have not sent yet.
const memory = { active: 'A', cut: 9, count: 16, rest: null, loading: false, addrs: new Map(), sent: new Map(), draw: () => {} };

// terminals makes the elements. They lie over the picture, and render fills them.
export function terminals() {
  const ui = memory;
  ui.rest ??= kept();
  ui.list = NAMES.map((name, i) => terminal(ui, name, i));
  ui.tools = tools(ui);
  ui.root = el('div', { class: 'clients' }, ui.list.map((x) => x.root), ui.tools.root);
  ui.render = (how) => render(ui, how);
  return ui;
}

function terminal(ui, name, i) {
  const input = el('input', {
    class: 'mono', list: `examples-${name}`, autocomplete: 'off', spellcheck: 'false',
    focus: () => { ui.active = name; ui.draw(); }, input: () => ui.draw(),
  });
  const log = el('ol', { class: 'log mono' });
  const badge = el('button', { type: 'button', class: `disc c${i}`, 'data-key': name, click: () => input.focus() }, name);
  const mood = el('span', { class: 'mood' });
  const form = el('form', { submit: (e) => { e.preventDefault(); ui.active = name; send(ui, 'whole'); } }, el('span', { class: 'prompt mono', 'aria-hidden': 'true' }, '›'), input,
    el('datalist', { id: `examples-${name}` }, EXAMPLES.map((x) => el('option', { value: x.replace('{n}', name) }))));
  const chips = el('div', { class: 'chips' }, CHIPS[i].map((c) => el('button', {
    type: 'button', class: 'chip mono', click: () => { ui.active = name; input.value = c; send(ui, 'whole'); },
  }, c)));
  const root = el('section', { class: `terminal at${i}`, 'data-client': name }, el('header', {}, badge, mood), log, chips, form);
  return { name, root, input, log, mood, chips, badge };
}

function tools(ui) {
  const title = el('h3');
  const wire = el('div', { class: 'wire mono' });
  const slider = el('input', { type: 'range', min: 1, max: 20, value: ui.cut, input: () => { ui.cut = Number(slider.value); ui.draw(); } });
  const count = el('select', { change: () => { ui.count = Number(count.value); ui.draw(); } }, [2, 4, 16, 64].map((n) => el('option', { value: n, selected: n === ui.count }, `× ${n}`)));
  const button = (way, cls = '') => el('button', { type: 'button', class: cls, 'data-way': way, click: () => send(ui, way) });
  const buttons = Object.fromEntries(['whole', 'bytes', 'cut', 'pipe', 'reading', 'half', 'reset', 'load'].map((w) => [w, button(w)]));
  const replay = el('div', { class: 'note' });
  const live = el('div', { class: 'ways' }, wire, slider, el('div', { class: 'row' }, buttons.whole, buttons.cut, buttons.bytes),
    el('div', { class: 'row' }, el('span', { class: 'pair' }, buttons.pipe, count), buttons.reading), el('div', { class: 'row' }, buttons.half, buttons.reset, buttons.load));
  const root = el('section', { class: 'tools' }, title, live, replay);
  return { root, title, wire, slider, count, buttons, live, replay };
}

const client = (ui) => ui.list.find((x) => x.name === ui.active);
const typed = (ui) => client(ui).input.value.trim() || CHIPS[NAMES.indexOf(ui.active)][0];

// on names the connection of a client. Client A of master 2 is connection A-2.
const on = (name) => (store.currentMaster() > 1 ? `${name}-${store.currentMaster()}` : name);

// say gives the server an order for a connection.
const say = (name, what, more = {}) => store.post('/watch/clients', { do: what, name: on(name), master: store.currentMaster(), ...more });

// open connects a client, if it is not connected yet.
async function open(ui, name) {
  const { addr } = await say(name, 'open');
  if (ui.addrs.get(name) === addr) return;
  store.called(addr, name);
  ui.addrs.set(name, addr);
  const rest = kept();
  ui.rest = rest?.name === name && rest.addr === addr ? rest : ui.rest?.name === name ? null : ui.rest;
}

// forget notes that a connection has ended: the next one begins anew.
function forget(ui, name) {
  ui.addrs.delete(name);
  if (ui.rest?.name === name) keep(ui, null);
}

// keep notes the bytes of a client that are not sent yet. They outlive a reload of the page, as the connection does.
function keep(ui, rest) {
  ui.rest = rest;
  try { rest?.left ? sessionStorage.setItem(KEPT, JSON.stringify(rest)) : sessionStorage.removeItem(KEPT); } catch { /* a page from a file */ }
}

const KEPT = 'watch.rest';

function kept() {
  try { return JSON.parse(sessionStorage.getItem(KEPT)); } catch { return null; }
}

// send does what a button says, for the client whose terminal is active.
async function send(ui, way) {
  const name = ui.active, bytes = encode(typed(ui));
  if (store.mode !== 'live') return;
  try {
    if (way === 'load') await load(ui);
    else if (way === 'reading') {
      await open(ui, name);
      await say(name, 'reading', { on: store.deaf.has(on(name)) });
    } else if (way === 'half' || way === 'reset') {
      await open(ui, name);
      await say(name, way === 'half' ? 'halfclose' : 'reset');
      if (way === 'reset') forget(ui, name);
    } else {
      await open(ui, name);
      await ways[way](ui, name, bytes);
    }
  } catch (err) { keep(ui, null); fail(err); }
  ui.draw();
}

// load lets 50 connections of the server's own send SET, or ends that.
async function load(ui) {
  if (ui.loading) { await store.post('/watch/load', { stop: true }); return; }
  ui.loading = true;
  ui.draw();
  try { await store.post('/watch/load', { clients: 50, requests: 200000, pipeline: 1, master: store.currentMaster() }); } finally { ui.loading = false; }
}

const data = (name, bytes) => say(name, 'send', { data: bytes });

const ways = {
  async whole(ui, name, bytes) {
    if (ui.rest?.name === name) { // the command that has begun comes first
      const { left } = ui.rest;
      keep(ui, null);
      await data(name, left);
      return;
    }
    ui.sent.set(name, typed(ui));
    store.replies.delete(name);
    await data(name, bytes);
    client(ui).input.value = '';
  },
  async cut(ui, name, bytes) {
    if (ui.rest?.name === name) {
      const { left } = ui.rest;
      keep(ui, null);
      await data(name, left);
      return;
    }
    await data(name, bytes.slice(0, ui.cut));
    keep(ui, { name, left: bytes.slice(ui.cut), addr: ui.addrs.get(name) });
  },
  pipe: (ui, name, bytes) => data(name, bytes.repeat(ui.count)),
  async bytes(ui, name, bytes) {
    if (ui.rest) return;
    keep(ui, { name, left: bytes, addr: ui.addrs.get(name) });
    while (ui.rest?.left) {
      await data(name, ui.rest.left[0]);
      keep(ui, { ...ui.rest, left: ui.rest.left.slice(1) });
      ui.draw();
      await new Promise((done) => setTimeout(done, 300));
    }
    keep(ui, null);
  },
};

// connected reports whether the server has a connection of that name.
const connected = (name) => store.view().clients.some((c) => store.who(c.id).name === name && store.who(c.id).page);

// cast returns the clients of the terminals: the page's own ones, or a recording's first ones.
export function cast() {
  const all = store.view().clients;
  const named = NAMES.map((n) => all.find((c) => store.who(c.id).name === n)?.id ?? 0);
  if (store.mode === 'live' || named.some(Boolean)) return named;
  const ids = (store.frames.at(-1)?.state.clients ?? []).map((c) => c.id).sort((a, b) => a - b);
  return NAMES.map((_, i) => ids[i] ?? 0);
}

function render(ui, how) {
  const state = store.view();
  ui.draw = () => drawTools(ui);
  ui.list.forEach((x, i) => {
    const id = how.terminals[i], c = state.clients.find((y) => y.id === id);
    const mood = c ? `state.${c.state || 'idle'}` : 'state.off';
    x.root.className = `terminal at${i} ${c ? c.state : 'off'}`;
    x.badge.textContent = id ? store.who(id).mark : x.name;
    x.badge.className = `disc c${id ? store.who(id).hue : i}`;
    const multi = c && c.multi >= 0 ? ` · MULTI ${c.multi}` : '';
    x.mood.textContent = t(mood) + (c?.on ? ` · ${c.on}` : '') + multi;
    for (const node of [x.input, x.badge]) node.setAttribute('aria-label', t('send.input', { name: x.name }));
    x.input.placeholder = i === 0 && store.mode === 'live' ? t('send.hint') : '';
    x.input.disabled = store.mode !== 'live';
    const log = [...(state.logs[id] ?? []), ...unseen(ui, x.name)];
    const shown = log.slice(-3), same = x.shown?.length === shown.length && shown.every((l, k) => l === x.shown[k]);
    if (!same) x.log.replaceChildren(...shown.map(line));
    x.shown = shown;
    x.chips.hidden = log.length > 0 || store.mode !== 'live';
  });
  drawTools(ui);
}

// unseen is the last command of a client while the server is too busy to tell every pass.
function unseen(ui, name) {
  if (!ui.sent.has(name) || !store.live || !(store.rates()?.passes > 12)) return [];
  const got = store.replies.get(name)?.got;
  return [{ cmd: ui.sent.get(name), out: got ?? '', kind: got ? 0 : undefined, sent: true }];
}

function line(entry) {
  const waits = entry.kind === 3 || entry.kind === 4;
  const answer = entry.lost ? t('now.lost') : entry.kind === undefined ? '' : waits ? '…' : pretty(entry.out);
  return el('li', { class: entry.sent ? 'sent' : entry.lost ? 'lost' : 'unsent', title: `${entry.cmd} → ${answer}` }, el('span', { class: 'cmd' }, entry.cmd), answer ? el('span', { class: 'answer' }, `→ ${answer}`) : null);
}

// visible shows the bytes that nobody sees: the ends of lines.
const visible = (bytes) => bytes.replaceAll('\r', '\\r').replaceAll('\n', '\\n');

function drawTools(ui) {
  const { tools } = ui, live = store.mode === 'live';
  tools.live.hidden = !live;
  tools.replay.hidden = live;
  tools.title.textContent = live ? t('send.how', { name: ui.active }) : t('send.legend');
  if (!live) tools.replay.replaceChildren(...['thread', 'inward', 'outward'].map((k) => el('p', { class: `sign ${k}` }, t(`send.${k}`))), el('p', { class: 'unsent' }, t('send.sign')), el('p', {}, t('send.replay')));
  for (const x of ui.list) x.root.classList.toggle('picked', live && x.name === ui.active);
  if (!live) return;
  const bytes = encode(typed(ui)), rest = ui.rest?.name === ui.active ? ui.rest.left : null;
  tools.slider.max = Math.max(1, bytes.length - 1);
  ui.cut = Math.min(ui.cut, Math.max(1, bytes.length - 1));
  tools.slider.value = ui.cut;
  tools.slider.setAttribute('aria-label', t('send.moves'));
  tools.count.setAttribute('aria-label', t('send.count'));
  tools.wire.title = t('send.wire');
  const sent = rest === null ? bytes.slice(0, ui.cut) : '', later = rest ?? bytes.slice(ui.cut);
  const near = sent.length > 10 ? '…' + visible(sent.slice(-9)) : visible(sent);
  tools.wire.replaceChildren(el('span', { class: 'first' }, near), el('b', {}, '┃'), el('span', { class: 'later' }, visible(later.slice(0, 24))));
  const label = {
    whole: t(rest === null ? 'send.whole' : 'send.rest'), bytes: t('send.bytes'), cut: rest === null ? t('send.cut') : t('send.rest'), pipe: t('send.write'), load: t(ui.loading ? 'load.stop' : 'load.start'), reset: t('send.reset'), half: t('send.half'),
    reading: t(store.deaf.has(on(ui.active)) ? 'send.again' : 'send.reading'),
  };
  for (const [way, button] of Object.entries(tools.buttons)) if (button.textContent !== label[way]) button.textContent = label[way];
  for (const way of ['reading', 'half', 'reset']) tools.buttons[way].disabled = !connected(ui.active);
  tools.buttons.cut.classList.toggle('on', rest !== null);
  tools.buttons.reading.classList.toggle('on', store.deaf.has(on(ui.active)));
  tools.title.append(rest !== null ? ` · ${t('send.left', { n: number(rest.length) })}` : '');
}
