// scene.js draws the picture of the loop: the road that the one thread travels, and the boxes of its
// stations. The road is inside, the bytes travel outside. boxes.js fills the boxes.

import { s, text, title as heading, width } from './svg.js';
import { t } from './i18n.js';
import { kindOf, phaseOf } from './narrate.js';
import { breaks, mode, who } from './store.js';
import { draw, fileOf } from './boxes.js';

export const W = 928, H = 582;
export const ROWS = [22, 152, 282]; // tops of the terminals and their sockets
export const ROW = 124;

const ROAD = 'M412 295 V176 A26 26 0 0 1 438 150 H670 A26 26 0 0 1 696 176 V414 A26 26 0 0 1 670 440 H438 A26 26 0 0 1 412 414 Z';

// BOXES: x, y, width, height, kind, text of the title.
export const BOXES = {
  array: [378, 26, 112, 104, 'wait', 'box.array'],
  dispatcher: [502, 26, 84, 104, 'wait', 'box.dispatcher'],
  accept: [598, 26, 112, 31, 'accept', 'box.accept'],
  readHandler: [598, 62.5, 112, 31, 'read', 'box.read'],
  reply: [598, 99, 112, 31, 'write', 'box.reply'],
  read: [724, 26, 202, 144, 'read', 'box.reading'],
  parse: [724, 182, 202, 86, 'parse', 'box.parse'],
  execute: [724, 280, 202, 134, 'execute', 'box.execute'],
  output: [724, 426, 202, 154, 'execute', 'box.output'],
  keys: [462, 168, 220, 254, 'key', 'box.keys'],
  expire: [628, 462, 82, 32, 'expire', 'box.expire'],
  write: [446, 462, 170, 118, 'write', 'box.write'],
  close: [378, 462, 56, 32, 'accept', 'box.close'],
  file: [628, 504, 82, 76, 'write', 'box.file'],
  stream: [628, 504, 82, 76, 'write', 'box.stream'],
  epoll: [372, 238, 80, 116, 'sleep', null],
};

// INNER is the ring inside the ring: a slow script looks for other clients.
const INNER = 'M424 295 V186 A24 24 0 0 1 448 162 H660 A24 24 0 0 1 684 186 V404 A24 24 0 0 1 660 428 H448 A24 24 0 0 1 424 404 Z';

const STATION = {
  epoll: [412, 295], array: [446, 150], dispatcher: [544, 150], handler: [654, 150], read: [688.4, 157.6], parse: [696, 225],
  execute: [696, 346], output: [688.4, 432.4], expire: [664, 440], file: [622, 440], stream: [584, 440], write: [540, 440], close: [440, 440],
};
const KINDS = {
  epoll: 'sleep', array: 'wait', dispatcher: 'wait', handler: 'wait', read: 'read', parse: 'parse', execute: 'execute', output: 'execute',
  expire: 'expire', file: 'write', stream: 'write', write: 'write', close: 'accept',
};
const LINKS = ['M688.4 157.6 H724', 'M696 225 H724', 'M696 346 H724', 'M688.4 432.4 L724 446', 'M664 440 V462', 'M540 440 V462', 'M440 440 L424 462',
  'M446 150 V130', 'M544 150 V130', 'M654 150 V130'];
const ARROWS = ['M490 78 H500', 'M586 78 H596', 'M710 78 H722', 'M826 170 V180', 'M826 268 V278', 'M826 414 V424'];

// The replies leave the output buffers for write: behind the fsync of an append only file, and behind the backlog.
const LEAVE = { without: ['M724 540 H618'], with: ['M724 540 H712', 'M628 540 H618'] };

// BREAK is the point at which a click on a box stops the server.
const BREAK = { array: 'w', accept: 'a', readHandler: 'h', read: 'r', parse: 'p', execute: 'x', output: 'y', expire: 'e', file: 'd', stream: 'k', write: 'o', close: 'c', epoll: 's' };

const AT = { w: 'array', h: 'handler', a: 'handler', g: 'read', r: 'read', p: 'parse', x: 'execute', y: 'output', e: 'expire', d: 'file', k: 'stream', v: 'output', i: 'read', q: 'write', o: 'write', c: 'close', s: 'epoll', l: 'array', b: 'execute', m: 'output', f: 'execute' };
const ACTIVE = {
  w: ['epoll', 'array'], h: ['array', 'dispatcher'], a: ['accept'], g: ['read'], r: ['read'], p: ['parse'], x: ['execute', 'keys'], y: ['output', 'execute'],
  e: ['expire', 'keys'], d: ['file'], k: ['stream'], v: ['output', 'stream'], i: ['read'], q: ['write'], o: ['write'], c: ['close'], s: ['epoll'], l: ['epoll', 'array'], b: ['execute'], m: ['output'], f: ['execute'],
};
const HANDLER = { accept: 'accept', read: 'readHandler', link: 'readHandler', reply: 'reply' };

// create builds the picture once and returns {svg, render(frame, how)}.
export function create(onpoint) {
  const svg = s('svg', { viewBox: `0 0 ${W} ${H}`, class: 'scene', role: 'group', 'aria-labelledby': 'now' });
  const scene = { svg, boxes: {}, titles: {}, breakable: {}, onpoint, dynamic: s('g'), sockets: s('g'), top: s('g'), inner: s('g', { class: 'inner' }) };
  svg.append(defs(), kernel(scene), road(), scene.inner, s('g', { class: 'links' }, LINKS.map((d) => s('path', { d }))),
    s('g', { class: 'arrows' }, ARROWS.map(arrow)), leaving(scene), lines());
  for (const [name, spec] of Object.entries(BOXES)) svg.append(box(scene, name, spec));
  svg.append(keyLink(scene), scene.sockets, stations(scene), cursor(scene), scene.top);
  scene.render = (frame, how) => render(scene, frame, how);
  return scene;
}

function defs() {
  const tip = (id, cls) => s('marker', { id, class: cls, viewBox: '0 0 8 8', refX: 6, refY: 4, markerWidth: 9, markerHeight: 9, markerUnits: 'userSpaceOnUse', orient: 'auto' },
    s('path', { d: 'M0 0 L8 4 L0 8 Z' }));
  return s('defs', {}, tip('tip', 'tip'), tip('tip-read', 'tip read'), tip('tip-write', 'tip write'), tip('tip-execute', 'tip execute'));
}

function kernel(scene) {
  scene.titles['box.sockets'] = text(306, 15, '', { cls: 'heading', bold: true, anchor: 'middle' });
  scene.titles['box.clients'] = text(2, 15, '', { cls: 'heading', bold: true });
  return s('g', {}, s('rect', { x: 238, y: 1, width: 136, height: H - 2, rx: 12, class: 'kernel' }), scene.titles['box.sockets'], scene.titles['box.clients']);
}

const arrow = (d) => s('path', { d, 'marker-end': 'url(#tip)' });

// leaving has the two ways from the output buffers to write. Only one of them is shown.
function leaving(scene) {
  scene.leave = Object.fromEntries(Object.entries(LEAVE).map(([name, paths]) => [name, s('g', { class: 'arrows' }, paths.map(arrow))]));
  scene.slotLinks = { file: s('path'), stream: s('path') };
  return s('g', {}, s('g', { class: 'links' }, Object.values(scene.slotLinks)), ...Object.values(scene.leave));
}

// slots shows the append only file and the replication stream, or hides them. Both share the room of one.
function slots(scene, has) {
  const key = `${Boolean(has.file)}${Boolean(has.stream)}`, both = has.file && has.stream;
  if (scene.slots === key) return;
  scene.slots = key;
  for (const [name, from] of [['file', 'M622 440'], ['stream', 'M584 440 V453 H622']]) {
    const b = scene.boxes[name], [, top, , full] = BOXES[name], frame = b.g.querySelector('.frame');
    Object.assign(b, { h: both ? 36 : full, y: top + (both && name === 'stream' ? 40 : 0) });
    frame.setAttribute('y', b.y);
    frame.setAttribute('height', b.h);
    scene.titles[`box.${name}`].setAttribute('y', b.y + (both ? 15 : 19));
    b.g.querySelector('.stop').setAttribute('cy', b.y + 1);
    scene.slotLinks[name].setAttribute('d', `${from} V${b.y + 16} H628`);
    for (const g of [b.g, scene.stations[name], scene.slotLinks[name]]) g.classList.toggle('absent', !has[name]);
    delete scene.drawn?.[name];
  }
  scene.leave.with.classList.toggle('absent', !has.file && !has.stream);
  scene.leave.without.classList.toggle('absent', Boolean(has.file || has.stream));
}

// road is the way of the thread: a wide band with a line of small arrows in it.
function road() {
  const g = s('g', { class: 'road' }, s('path', { d: ROAD, class: 'band' }), s('path', { d: ROAD, class: 'middle' }));
  for (const [x, y, turn] of [[412, 215, -90], [495, 150, 0], [600, 150, 0], [696, 290, 90], [696, 388, 90], [600, 440, 180], [485, 440, 180], [412, 390, -90]]) {
    g.append(s('path', { d: 'M-4 -4.5 L4 0 L-4 4.5', class: 'chevron', transform: `translate(${x} ${y}) rotate(${turn})` }));
  }
  return g;
}

// lines are the ways of the bytes: from the sockets to read, and from write to the sockets.
const inbound = (y) => [[352, y], [358, y], [358, 12], [826, 12], [826, 24]];
const outbound = (y) => [[446, 560], [366, 560], [366, y], [354, y]];
const points = (list) => 'M' + list.map((p) => p.join(' ')).join(' L');

function lines() {
  const g = s('g', { class: 'bytes' });
  for (const y of ROWS) {
    g.append(s('path', { d: `M352 ${y + 50} H358`, class: 'read' }), s('path', { d: `M366 ${y + 96} H354`, class: 'write', 'marker-end': 'url(#tip-write)' }));
    g.append(s('path', { d: `M224 ${y + 62} H248`, class: 'cable' }));
  }
  g.append(s('path', { d: points(inbound(ROWS[2] + 50)), class: 'read', 'marker-end': 'url(#tip-read)' }), s('path', { d: points(outbound(ROWS[0] + 96)), class: 'write' }));
  return g;
}

function box(scene, name, [x, y, w, h, kind, title]) {
  const small = h < 40;
  const body = s('g');
  const g = s('g', { class: `box ${kind}`, 'data-box': name }, s('rect', { x, y, width: w, height: h, rx: 9, class: 'frame' }), body);
  const point = BREAK[name];
  if (point) {
    scene.breakable[point] = { g, node: heading() };
    const act = () => scene.onpoint(point);
    g.append(scene.breakable[point].node, s('circle', { cx: x + 1, cy: y + 1, r: 6, class: 'stop' }));
    g.setAttribute('tabindex', '0');
    g.setAttribute('role', 'button');
    g.addEventListener('click', act);
    g.addEventListener('keydown', (e) => { if (e.key === 'Enter') act(); });
  }
  if (title) {
    const node = text(small ? x + w / 2 : x + (w < 90 ? 7 : 10), y + (small ? 20.5 : 19), '', { bold: !small, size: small ? 13 : 14, anchor: small ? 'middle' : undefined, cls: 'title' });
    scene.titles[title] = node;
    g.append(node);
  }
  scene.boxes[name] = { g, body, x, y, w, h };
  return g;
}

// keyLink is the only way to the keys: from the executor, across the road.
function keyLink(scene) {
  scene.keyLink = s('path', { d: 'M722 312 H690', class: 'keylink', 'marker-end': 'url(#tip-execute)' });
  return s('g', {}, scene.keyLink);
}

function stations(scene) {
  const g = s('g', { class: 'stations' });
  scene.stations = {};
  for (const [name, [cx, cy]] of Object.entries(STATION)) {
    if (name === 'epoll') continue;
    scene.stations[name] = s('circle', { cx, cy, r: 6, class: KINDS[name] });
    g.append(scene.stations[name]);
  }
  return g;
}

// cursor is the thread on its road. It wears the colour of the client it works for.
function cursor(scene) {
  const path = s('path', { d: ROAD });
  const total = path.getTotalLength();
  const places = [];
  for (let l = 0; l < total; l += 1) places.push(path.getPointAtLength(l));
  const near = ([x, y]) => places.reduce((best, p, i) => ((p.x - x) ** 2 + (p.y - y) ** 2 < (places[best].x - x) ** 2 + (places[best].y - y) ** 2 ? i : best), 0);
  scene.lengths = Object.fromEntries(Object.entries(STATION).map(([name, p]) => [name, near(p)]));
  scene.places = places;
  scene.at = 0;
  scene.thread = s('g', { class: 'thread' }, s('circle', { r: 15, class: 'halo' }), s('circle', { r: 10, class: 'body' }));
  scene.mark = s('g');
  scene.thread.append(scene.mark);
  return scene.thread;
}

function place(scene, length) {
  const n = scene.places.length;
  scene.at = ((length % n) + n) % n;
  const p = scene.places[Math.floor(scene.at)] ?? scene.places[0];
  scene.thread.setAttribute('transform', `translate(${p.x} ${p.y})`);
}

export function stationOf(e) {
  if (e.point === 't' || (e.thread > 0 && e.point === 'p')) return phaseOf(e) === 'o' ? 'write' : 'read'; // main waits there
  return AT[e.point] ?? 'epoll';
}

// render shows a frame. how has motion (ms, 0 for none), forward, asleep, state of the server.
function render(scene, frame, how) {
  for (const [key, node] of Object.entries(scene.titles)) retitle(node, t(key), key);
  for (const [point, b] of Object.entries(scene.breakable)) {
    const label = t(mode === 'recording' ? 'stop.next' : breaks.has(point) ? 'stop.off' : 'stop.on', { point: t('point.' + point) });
    b.g.setAttribute('aria-label', label);
    b.g.classList.toggle('breaks', breaks.has(point));
    b.node.textContent = label;
  }
  const state = how.state;
  const e = frame?.e ?? null;
  const lent = state.lent?.phase === 'write' ? 'o' : 'r';
  const station = how.asleep || !e ? 'epoll' : e.point === 'j' ? (lent === 'o' ? 'write' : 'read') : stationOf(e);
  const active = new Set(how.asleep || !e ? ['epoll'] : ACTIVE[e.point] ?? [station]);
  if (e?.point === 'h' && !how.asleep && HANDLER[e.text]) active.add(HANDLER[e.text]);
  for (const [name, b] of Object.entries(scene.boxes)) b.g.classList.toggle('active', active.has(name));
  for (const [name, c] of Object.entries(scene.stations)) c.classList.toggle('active', name === station);
  scene.keyLink.classList.toggle('active', active.has('keys') && e?.point === 'x');
  inner(scene, state, how);
  slots(scene, { file: fileOf(state), stream: state.stream });
  draw(scene, frame, state, how);
  const client = e?.client && !how.asleep && e.thread <= 0 ? who(e.client) : null;
  scene.thread.setAttribute('class', `thread ${client ? 'c' + client.hue : ''} ${e && !how.asleep ? kindOf(e) : 'sleep'}`);
  scene.mark.replaceChildren(client ? text(0, 4.5, client.mark, { size: 13, bold: true, anchor: 'middle', cls: 'on' }) : '');
  scene.thread.childNodes[1].setAttribute('r', 10 + 3.5 * Math.max(0, (client?.mark.length ?? 0) - 2));
  travel(scene, scene.lengths[station], how);
  scene.station = station;
  if (e && frame !== scene.shown && how.motion && how.forward) packet(scene, e, state, how);
  scene.shown = frame;
}

// inner draws the ring inside the ring, as long as a slow script looks for other clients.
function inner(scene, state, how) {
  const look = how.asleep ? null : state.stack.findLast((x) => x.look);
  if (scene.looks === look) return;
  scene.looks = look;
  scene.inner.replaceChildren(...(look ? [s('path', { d: INNER })] : []));
}

function retitle(node, string, key) {
  if (node.textContent === string) return;
  node.textContent = string;
  const room = { 'box.array': 92, 'box.dispatcher': 68, 'box.accept': 106, 'box.read': 106, 'box.reply': 106 }[key];
  if (key === 'box.dispatcher') return twoLines(node, string);
  if (!room) return;
  const w = width(string, Number(node.getAttribute('font-size')), false, node.classList.contains('bold'));
  if (w > room) { node.setAttribute('textLength', room); node.setAttribute('lengthAdjust', 'spacingAndGlyphs'); } else node.removeAttribute('textLength');
}

// twoLines breaks a Chinese name that is too wide. An English word is drawn closer instead.
function twoLines(node, string) {
  const wide = width(string, 14, false, true) >= 72, word = /^[\x20-\x7e]+$/.test(string);
  const words = wide && !word ? [string.slice(0, 4), string.slice(4)] : [string];
  const closer = wide && word ? { textLength: 70, lengthAdjust: 'spacingAndGlyphs' } : {};
  const x = node.getAttribute('x');
  node.replaceChildren(...words.map((w, i) => { const n = s('tspan', { x, dy: i ? 18 : 0, ...closer }); n.textContent = w; return n; }));
}

// travel moves the thread along its road: forward with the arrows, backward against them.
function travel(scene, target, how) {
  cancelAnimationFrame(scene.moving);
  const n = scene.places.length;
  let way = (target - scene.at + n) % n;
  if (!how.forward) way -= way === 0 ? 0 : n;
  if (!how.motion || way === 0) { place(scene, target); return; }
  const from = scene.at, begin = performance.now();
  const turn = (now) => {
    const done = Math.min(1, (now - begin) / how.motion);
    place(scene, from + way * (1 - (1 - done) ** 3));
    if (done < 1) scene.moving = requestAnimationFrame(turn);
  };
  scene.moving = requestAnimationFrame(turn);
}

// socketOf returns the middle of the socket of a client.
export function rowOf(scene, id) { return scene.rows?.get(id) ?? 500; }

// packet lets the bytes of an event travel: a small box in the colour of the client.
function packet(scene, e, state, how) {
  const y = e.client ? rowOf(scene, e.client) : 500;
  const way = {
    r: e.a > 0 && inbound(y - 12), o: e.a > 0 && outbound(y + 34), p: e.a > 0 && [[826, 150], [826, 200]], x: [[826, 240], [826, 310]],
    y: e.a > 0 && [[826, 390], [826, 446]], m: e.a > 0 && e.b === 0 && [[826, 390], [826, 446]], v: [[712, 520], [744, 520]], i: e.client > 0 && inbound(y - 12), q: e.client > 0 && outbound(y + 34), a: [[560, 12], [654, 12], [654, 40]], h: e.text === 'read' && [[654, 78], [740, 70]],
  }[e.point];
  if (!way) return;
  const label = { r: `${e.a} B`, o: `${e.a} B`, y: `${e.a} B`, m: `${e.a} B`, v: `${e.a} B`, i: `${e.a} B`, q: `${e.a} B` }[e.point] ?? '';
  const c = who(e.client);
  const g = s('g', { class: 'packet' }, s('rect', { x: -9 - 3.6 * label.length, y: -10, width: 18 + 7.2 * label.length, height: 20, rx: 5, class: `c${c.hue}` }),
    text(0, 4.5, label || c.mark, { bold: true, anchor: 'middle', cls: 'on' }));
  scene.top.replaceChildren(g);
  const lengths = way.slice(1).map((p, i) => Math.hypot(p[0] - way[i][0], p[1] - way[i][1]));
  const total = lengths.reduce((a, b) => a + b, 0), begin = performance.now(), time = Math.max(how.motion * 1.4, 60);
  const turn = (now) => {
    const done = Math.min(1, (now - begin) / time);
    let left = total * (done < 0.5 ? 2 * done * done : 1 - (2 - 2 * done) ** 2 / 2), i = 0;
    while (i < lengths.length - 1 && left > lengths[i]) left -= lengths[i++];
    const part = lengths[i] ? left / lengths[i] : 1;
    g.setAttribute('transform', `translate(${way[i][0] + (way[i + 1][0] - way[i][0]) * part} ${way[i][1] + (way[i + 1][1] - way[i][1]) * part})`);
    if (done < 1) requestAnimationFrame(turn);
    else g.remove();
  };
  turn(begin);
}
