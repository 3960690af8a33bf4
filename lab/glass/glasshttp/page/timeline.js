// timeline.js is screen 2: the last passes side by side in time. A brush picks some of them, each
// thread has a lane, each request a line with its life, and two passes can be compared.

import { badge, el, narrow, s, text, title } from './svg.js';
import { add, number, span, t } from './i18n.js';
import * as store from './store.js';
import { counted, kindOf, short, threadName } from './narrate.js';
import { fail } from './shared.js';
import texts from './text/timeline.js';

add(texts);

const MOST = 160;
let W = 1228, LEFT = 170;
let ui = null;
let from = 0, count = 6, followed = true; // the brush, as numbers of passes in the list
let pinned = 0; // the pass that others are compared with

export function mount(root) {
  const button = (key, label, act) => el('button', { type: 'button', 'data-key': key, 'data-label': `tl.${label}`, click: () => { act(); render(); } }, el('span', { 'data-t': `tl.${label}.short` }), el('kbd', {}, key));
  ui = { overview: svg(64), lanes: svg(60), lives: svg(60), pair: el('div', { class: 'pair' }), hint: el('p', { class: 'dim' }) };
  brushing(ui.overview);
  ui.first = el('section', { class: 'card tl-first' }, el('p', { 'data-t': 'tl.none' }),
    el('button', { type: 'button', class: 'cl-primary', 'data-do': 'ping', click: () => ping().catch(fail) }, el('span', { 'data-t': 'tl.ping' })));
  ui.cards = [el('section', { class: 'card' },
    el('header', {}, el('h3', { 'data-t': 'tl.passes' }), ui.hint,
      el('span', { class: 'keys' }, button('[', 'earlier', () => move(-1)), button(']', 'later', () => move(1)), button('+', 'fewer', () => size(-1)), button('-', 'more', () => size(1)), button('a', 'pin', pin))),
    ui.overview),
  el('section', { class: 'card' }, el('h3', { 'data-t': 'tl.lanes' }), ui.lanes),
  el('section', { class: 'card' }, el('h3', { 'data-t': 'tl.lives' }), ui.lives),
  el('section', { class: 'card' }, el('h3', { 'data-t': 'tl.pair' }), ui.pair)];
  root.append(ui.first, ...ui.cards);
}

// ping lets client A send a command: the first step on an empty timeline.
async function ping() {
  const master = store.currentMaster(), name = master > 1 ? `A-${master}` : 'A';
  await store.post('/watch/clients', { do: 'open', name, master });
  await store.post('/watch/clients', { do: 'send', name, master, data: '*1\r\n$4\r\nPING\r\n' });
}

const svg = (height) => s('svg', { viewBox: `0 0 ${W} ${height}`, class: 'chart' });

function move(by) { followed = false; from += by; }
function size(by) { count = Math.max(1, Math.min(40, count + by * Math.ceil(count / 4))); }
function pin() { pinned = store.frame()?.e.pass ?? 0; }

// passes groups the frames: {pass, from, to, commands, ns by kind}. The server has told a part of some only.
function passes() {
  const all = [];
  store.frames.forEach((f, i) => {
    let p = all.at(-1);
    if (!p || p.pass !== f.e.pass) all.push(p = { pass: f.e.pass, from: i, to: i, commands: 0, part: false, us: {} });
    p.to = i;
    if (f.e.point === 'x') p.commands += counted([f.e]).commands;
    else if (f.e.point === 's') Object.assign(p, { part: p.commands < f.e.b, commands: f.e.b });
    const k = kindOf(f.e);
    if (f.e.point !== 's' && f.e.point !== 'j') p.us[k] = (p.us[k] ?? 0) + f.e.dur;
  });
  return all.slice(-MOST);
}

function brushing(node) {
  const at = (e) => {
    const box = node.getBoundingClientRect(), n = passes().length;
    return Math.floor((e.clientX - box.left) / box.width * W / unit(n));
  };
  let begin = null;
  node.addEventListener('pointerdown', (e) => { begin = at(e); node.setPointerCapture(e.pointerId); drag(e); });
  const drag = (e) => {
    if (begin === null) return;
    followed = false;
    const now = at(e);
    from = Math.min(begin, now);
    count = Math.max(1, Math.abs(now - begin) + 1);
    render();
  };
  node.addEventListener('pointermove', drag);
  node.addEventListener('pointerup', () => { begin = null; });
}

const unit = (n) => Math.min(56, W / Math.max(1, n));

export function render() {
  [W, LEFT] = narrow() ? [380, 92] : [1228, 170];
  const all = passes();
  ui.first.hidden = all.length > 0;
  for (const card of ui.cards) card.hidden = !all.length;
  if (!all.length) return;
  count = Math.max(1, Math.min(count, all.length || 1));
  const mine = all.findIndex((p) => p.pass === store.frame()?.e.pass);
  if (followed) from = Math.min(Math.max(0, mine - count + 1), Math.max(0, all.length - count));
  if (mine === all.length - 1 && from + count >= all.length) followed = true;
  from = Math.max(0, Math.min(from, all.length - count));
  const chosen = all.slice(from, from + count);
  ui.hint.textContent = all.length ? t('tl.hint', { n: all.length, from: chosen[0].pass, to: chosen.at(-1).pass }) : t('tl.none');
  overview(all, mine);
  const events = layout(chosen);
  lanes(chosen, events);
  lives(chosen, events);
  compare(all, mine);
}

function overview(all, mine) {
  const u = unit(all.length), most = Math.max(1, ...all.map((p) => p.to - p.from + 1));
  const bars = all.map((p, i) => {
    const h = 6 + 46 * (p.to - p.from + 1) / most, sum = Object.values(p.us).reduce((a, b) => a + b, 0) || 1;
    let y = 58;
    const parts = Object.entries(p.us).map(([k, us]) => { const part = h * us / sum; y -= part; return s('rect', { x: i * u + 1, y, width: Math.max(1, u - 2), height: part, class: `part ${k}` }); });
    return s('g', { class: i === mine ? 'here' : '' }, parts, s('rect', { x: i * u, y: 0, width: u, height: 64, class: 'hit' }), title(t(p.part ? 'tl.part' : 'tl.pass', { pass: p.pass, n: p.to - p.from + 1, commands: p.commands })));
  });
  ui.overview.setAttribute('viewBox', `0 0 ${W} 64`);
  ui.overview.replaceChildren(...bars, s('rect', { x: from * u, y: 1, width: count * u, height: 62, rx: 5, class: 'brush' }),
    mine >= 0 ? s('path', { d: `M${mine * u + u / 2} 64 l-5 0 l5 -7 l5 7 Z`, class: 'mark' }) : '');
}

// layout gives every event a place in time. Threads work side by side as they did. Times in which
// nobody works are cut: a loop that stands still for a reader is not slow.
function layout(chosen) {
  const events = new Map();
  let x = 0;
  for (const p of chosen) {
    const ends = new Map();
    let cut = 0, last = 0;
    const list = [];
    for (let i = p.from; i <= p.to; i++) {
      const { e } = store.frames[i], dur = e.point === 's' ? 0 : e.dur;
      const long = Math.max(0.6, e.point === 'j' || e.point === 'g' ? Math.min(dur, 12) : Math.min(dur, 400));
      list.push({ i, e, long, begin: e.us - long });
    }
    list.sort((a, b) => a.begin - b.begin);
    for (const v of list) {
      if (v === list[0]) cut = v.begin;
      const at = Math.max(v.begin - cut, ends.get(v.e.thread) ?? 0);
      const gap = Math.max(0, at - last - 3);
      cut += gap;
      events.set(v.i, { x: x + at - gap, width: v.long, e: v.e });
      ends.set(v.e.thread, at - gap + v.long);
      last = Math.max(last, at - gap + v.long);
    }
    x += last + 4;
  }
  const scale = (W - LEFT - 4) / Math.max(1, x);
  for (const v of events.values()) { v.x = LEFT + v.x * scale; v.width = Math.max(1, v.width * scale - 0.8); }
  return events;
}

const click = (i) => () => store.go(i);

function lanes(chosen, events) {
  const names = (store.hello?.threads ?? ['main']).map((_, n) => threadName(n, store.hello));
  if (store.hello?.exec === 'queue') names.push(t('box.execute'));
  const h = names.length > 2 ? 34 : 46, height = names.length * (h + 4) + 18;
  const lane = (thread) => (thread < 0 ? names.length - 1 : Math.min(thread, names.length - 1));
  const out = names.map((name, i) => s('g', {}, s('rect', { x: LEFT, y: 16 + i * (h + 4), width: W - LEFT, height: h, rx: 4, class: 'ground' }), text(4, 21 + h / 2 + i * (h + 4), name, { mono: true, max: LEFT - 8 })));
  for (const p of chosen) {
    const mine = [...events].filter(([i]) => i >= p.from && i <= p.to).map(([, v]) => v);
    const x = Math.min(...mine.map((v) => v.x));
    out.push(s('path', { d: `M${x - 2} 2 V${height}`, class: 'rule' }));
    const room = Math.max(...mine.map((v) => v.x + v.width)) - x;
    if (room > 24) out.push(text(x + 2, 12, String(p.pass), { cls: 'dim', max: room }));
  }
  for (const [i, v] of events) {
    const g = s('g', { class: `event ${kindOf(v.e)} ${i === store.cursor ? 'current' : ''}`, click: click(i) },
      s('rect', { x: v.x, y: 17 + lane(v.e.thread) * (h + 4), width: v.width, height: h - 2, rx: 3 }), title(`${short(v.e)} · ${span(v.e.dur)}`));
    if (v.width > 22 && v.e.client) g.append(badge(v.x + v.width / 2, 16 + h / 2 + lane(v.e.thread) * (h + 4), store.who(v.e.client), 7));
    out.push(g);
  }
  resize(ui.lanes, height);
  ui.lanes.replaceChildren(...out);
}

function resize(node, height) { node.setAttribute('viewBox', `0 0 ${W} ${height}`); }

// requests follows every command of the chosen passes from its bytes to its reply.
function requests(events) {
  const all = [], reading = new Map(), open = new Map();
  for (const [i, { e }] of events) {
    const mine = open.get(e.client) ?? [];
    if (e.point === 'r' && e.a > 0) reading.set(e.client, { r: i });
    if (e.point === 'p') reading.set(e.client, { ...reading.get(e.client), p: i });
    if (e.point === 'x' && (e.b === 0 || e.b === 4)) {
      const q = { client: e.client, cmd: e.text, x: i, ...reading.get(e.client) };
      all.push(q);
      open.set(e.client, [...mine, q]);
    }
    const last = mine.findLast((q) => q.y === undefined);
    if (e.point === 'y' && last) last.y = i;
    if (e.point === 'o') { for (const q of mine) q.o = i; open.delete(e.client); }
  }
  return all;
}

function lives(chosen, events) {
  const all = requests(events), shown = all.slice(store.hello?.threads.length > 2 ? -9 : -12), h = 21;
  const end = (i) => events.get(i).x + events.get(i).width;
  const out = shown.map((q, n) => {
    const y = 4 + n * h;
    const part = (a, b, cls) => (a === undefined || b === undefined || b <= a ? '' : s('rect', { x: a, y: y + 2, width: Math.max(1, b - a), height: h - 7, rx: 3, class: `life ${cls}` }));
    const x = (i) => events.get(i)?.x;
    const stop = (i) => (i === undefined ? undefined : end(i));
    return s('g', { class: 'request', click: click(q.x) }, badge(14, y + 9, store.who(q.client), 7.5), text(27, y + 13.5, q.cmd, { mono: true, max: LEFT - 32 }), title(q.cmd),
      part(x(q.r), stop(q.r), 'read'), part(x(q.p), stop(q.p), 'parse'), part(stop(q.p), x(q.x), 'waits'), part(x(q.x), stop(q.y) ?? stop(q.x), 'execute'), part(stop(q.y), x(q.o), 'waits'), part(x(q.o), stop(q.o), 'write'));
  });
  if (!all.length) out.push(text(4, 20, t('tl.norequests'), { cls: 'dim' }));
  else if (all.length > shown.length) out.push(text(4, shown.length * h + 18, t('box.more', { n: all.length - shown.length }), { cls: 'dim' }));
  resize(ui.lives, Math.max(30, shown.length * h + 24));
  ui.lives.replaceChildren(...out);
}

const COLUMNS = ['read', 'parse', 'execute', 'write', 'expire', 'wait'];

// compare puts two passes beside each other: the pinned one, or the one before, and the current one.
function compare(all, mine) {
  const right = all[mine], left = all.find((p) => p.pass === pinned && p !== right) ?? all[mine - 1] ?? all[mine + 1];
  if (!left || !right) { ui.pair.replaceChildren(el('p', { class: 'dim' }, t('tl.two'))); return; }
  const total = (p) => Object.values(p.us).reduce((a, b) => a + b, 0);
  const most = Math.max(total(left), total(right), 1);
  ui.pair.replaceChildren(...[left, right].map((p) => {
    let x = 0;
    const bars = COLUMNS.map((k) => {
      const w = 600 * (p.us[k] ?? 0) / most, bar = w > 0 ? s('rect', { x, y: 2, width: Math.max(1, w - 1), height: 26, rx: 3, class: `solid ${k}` }, title(`${t('kind.' + k)}: ${span(p.us[k])}`)) : '';
      x += w;
      return bar;
    });
    const figures = COLUMNS.filter((k) => p.us[k]).map((k) => el('li', {}, el('i', { class: k }), `${t('kind.' + k)} ${span(p.us[k])}`));
    return el('div', {}, el('p', {}, el('b', {}, t(p.part ? 'tl.part' : 'tl.pass', { pass: p.pass, n: number(p.to - p.from + 1), commands: number(p.commands) })), ` · ${span(total(p))}`, p.pass === pinned ? ` · ${t('tl.pinned')}` : ''),
      s('svg', { viewBox: '0 0 600 30', class: 'chart' }, bars), el('ul', { class: 'legend' }, figures));
  }));
}
