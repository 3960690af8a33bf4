// store.js holds what the page knows: the stream of the server or a recording, as a list of frames
// with a cursor. The server's loop never goes back. The cursor does.

import { empty, event, fold, merge, rested, settled } from './fold.js';
import { calls, t } from './i18n.js';

export let frames = []; // {e: event with names, ev: wire event, state, stop: why or ''}
export let cursor = -1;
export let live = true; // the cursor follows the stream
export let hello = null;
export let state = { state: 'none', slow: 0 };
export let sum = null;
export let sample = null; // {from, to}: frames of the last sampled pass, while the server runs
export let mode = 'none'; // none, live, recording
export let name = ''; // of the recording
export let lost = 0;
export const replies = new Map(); // what the page's own clients got: name -> {id, got, closed}
export const deaf = new Set(); // names of those that do not read
export let topology = null; // the last answer to LAB TOPOLOGY: {nodes}, {waits} or {error}

const MOST = 20000;
let newest = 0; // the highest number of an event so far
const listeners = new Set();
const names = new Map(); // id -> name
const roles = new Map(); // id -> replica, or master for the link of a replica
export let naming = 0; // grows when a client gets a name
const addresses = new Map(); // address -> name of a client of this page
export const breaks = new Set(); // points where the server shall stop
let scheduled = false;
let source = null;
let sums = []; // of the last seconds
let fading = 0; // timer of the last sum
let rest = null; // the state of a server that was too busy to tell its last passes, and is quiet now
let master = 1;
let base = empty(); // before the first frame
let showing = false; // the stream shall bring the topology

// on calls fn after each change, at most once a frame of the screen.
export function on(fn) { listeners.add(fn); }

// stale reports whether the screen does not show the last change yet.
export const stale = () => scheduled;

export function changed() {
  if (scheduled) return;
  scheduled = true;
  const run = () => { if (scheduled) { scheduled = false; for (const fn of listeners) fn(); } };
  requestAnimationFrame(run);
  setTimeout(run, 250); // a hidden tab has no frames
}

// go moves the cursor. At the last frame it follows the stream again.
export function go(i) {
  cursor = Math.min(Math.max(0, i), frames.length - 1);
  live = mode !== 'recording' && cursor === frames.length - 1;
  changed();
}

// show moves the cursor without leaving the stream: for the sampled passes of a running server.
export function show(i) { cursor = Math.max(0, Math.min(i, frames.length - 1)); changed(); }

export const frame = () => frames[cursor] ?? null;
export const view = () => (rests() && rest) || (frames[cursor]?.state ?? base);

// rests reports whether the server has gone on behind the last frame, and sleeps.
export const rests = () => live && rest !== null && !state.busy;

// find returns the next frame whose event has one of these points, or -1.
export function find(points, direction, from = cursor) {
  for (let i = from + direction; i >= 0 && i < frames.length; i += direction) {
    if (points.includes(frames[i].e.point)) return i;
  }
  return -1;
}

// passOf returns the first and the last frame of the pass of frame i.
export function passOf(i) {
  const pass = frames[i]?.e.pass;
  let from = i, to = i;
  while (from > 0 && frames[from - 1].e.pass === pass) from--;
  while (to < frames.length - 1 && frames[to + 1].e.pass === pass) to++;
  return { from, to };
}

function append(ev, snap, stop) {
  const last = frames.at(-1);
  if (last && ev[0] === last.e.seq && (snap || stop)) {
    last.state = merge(last.state, snap);
    last.stop = stop || last.stop;
    learn(last.state);
    return;
  }
  if (ev[0] <= newest) return;
  newest = ev[0];
  const e = event(ev);
  if (idle(last, e) && !stop) { frames.pop(); cursor = Math.min(cursor, frames.length - 1); return; }
  const before = last?.state ?? base;
  const next = merge(fold('ws'.includes(e.point) && e.seq !== last?.e.seq + 1 ? settled(before) : before, e), snap);
  frames.push({ e, ev, state: next, stop });
  rest = null;
  learn(next);
  if (frames.length > MOST) {
    frames.splice(0, MOST / 4);
    cursor = Math.max(0, cursor - MOST / 4);
    sample = null;
  }
}

// idle reports whether a pass did nothing but wake up for a timer. Such passes are left out.
const idle = (last, e) => e.point === 's' && e.b === 0 && last?.e.point === 'w' && last.e.pass === e.pass && last.e.a === 0 && !last.stop;

function learn(st) {
  for (const c of st.clients) {
    const known = c.name || addresses.get(c.addr);
    if (known && names.get(c.id) !== known) { names.set(c.id, known); naming++; }
    if (c.role && roles.get(c.id) !== c.role) { roles.set(c.id, c.role); naming++; }
  }
}

// called notes the name of the page's own client at an address.
export function called(addr, name) {
  addresses.set(addr, name);
  learn(view());
  changed();
}

// who describes a client for the picture: its name, its mark and the number of its colour.
export function who(id) {
  if (id < 0) return { id, name: 'LAB', mark: 'LAB', hue: 6, page: false };
  const full = (names.get(id) ?? '').replace(/^page:/, '').replace(/^([A-P])-\d+$/, '$1');
  const link = /^(replica|master)-(\d+)$/.exec(names.get(id) ?? ''), role = link?.[1] ?? (full ? '' : roles.get(id)); // the lab names links by a port
  if (role) return { id, name: t(`role.${role}`, { id: link?.[2] ?? `#${id}` }), mark: role === 'master' ? 'M' : `R${(link?.[2] ?? id) % 10}`, hue: 3 + (id % 5), page: false };
  const page = /^[A-P]$/.test(full);
  if (page) return { id, name: full, mark: full, hue: (full.charCodeAt(0) - 65) % 8, page };
  return { id, name: full || `#${id}`, mark: full && full.length < 4 ? full : String(id % 1000), hue: 3 + (id % 5), page };
}

const follow = () => { if (live && (state.state !== 'running' || state.slow > 0 || cursor < 0)) cursor = frames.length - 1; };

function receive(kind, data) {
  switch (kind) {
    case 'hello':
      if ((data.state?.seq ?? newest) < newest) clear(); // another server has started
      greet(data);
      mode = 'live';
      readBreaks();
      if (data.state) state = data.state;
      break;
    case 'ev':
      for (const ev of Array.isArray(data[0]) ? data : [data]) append(ev, null, '');
      follow();
      break;
    case 'stop': {
      const stop = data.stop ?? data;
      append(stop.event, stop.snapshot, stop.why || 'step');
      sample = null;
      if (live) cursor = frames.length - 1;
      break;
    }
    case 'sum': summed(data); break;
    case 'gap': lost += data.lost; break;
    case 'topology': topology = data; break;
    case 'state':
      state = data;
      if (data.state !== 'running') { sample = null; follow(); }
      break;
    case 'cl':
      deaf[data.stopped && !data.closed ? 'add' : 'delete'](data.name);
      if (data.got || data.closed || !replies.has(data.name)) replies.set(data.name, data);
      called(data.addr, data.name);
      break;
  }
  changed();
}

function greet(header) {
  hello = header;
  calls(header.multiplexer ?? 'epoll');
}

const FRESH = 400; // ms for which a sum says what the server does now

// rates are the commands and passes a second of the last two seconds, or null when none were counted.
export function rates() {
  const now = performance.now(), recent = sums.filter((x) => now - x.at < 2000);
  if (!recent.length || now - recent.at(-1).at > FRESH || recent.at(-1).commands === 0) return null;
  const seconds = Math.max(now - recent[0].at + 100, 400) / 1000;
  const per = (of) => recent.reduce((n, x) => n + x[of], 0) / seconds;
  return { commands: per('commands'), passes: per('passes'), samples: recent.length / seconds };
}

function summed(data) {
  const now = performance.now();
  sum = data;
  clearTimeout(fading);
  fading = setTimeout(quiet, FRESH + 50);
  sums = [...sums.filter((x) => now - x.at < 2000), { at: now, passes: data.passes ?? 0, commands: data.commands ?? 0 }];
  const from = frames.length;
  for (const ev of data.pass_events ?? []) append(ev, null, '');
  const last = frames.at(-1), before = last?.state ?? base;
  const st = trim({ ...before, keys: data.keys ?? before.keys, keysMore: data.keysMore ?? 0, known: true }, data);
  if (last) last.state = st; else base = st;
  learn(st);
  if (frames.length > from && live) sample = { from, to: frames.length - 1 };
}

// quiet notes that a server which told sums says nothing more.
function quiet() {
  const last = frames.at(-1);
  if (mode === 'live' && state.state === 'running' && last && sum && sum.pass > last.e.pass) rest = rested(last.state);
  changed();
}

// trim forgets clients that have left in a pass which the server did not tell.
function trim(st, data) {
  if (data.first) return { ...st, clients: data.first, more: data.clients - data.first.length };
  if (data.present) st = { ...st, clients: st.clients.filter((c) => data.present.includes(c.id)) };
  if (st.clients.length <= data.clients) return { ...st, more: data.clients - st.clients.length };
  const seen = new Set((data.pass_events ?? []).map((ev) => ev[4]));
  const clients = st.clients.filter((c) => who(c.id).page || seen.has(c.id));
  return { ...st, clients, more: Math.max(0, data.clients - clients.length) };
}

function clear() {
  frames = []; cursor = -1; live = true; sum = null; sample = null; lost = 0; name = ''; newest = 0; hello = null; sums = []; rest = null; base = empty(); topology = null;
  names.clear(); roles.clear(); replies.clear(); deaf.clear();
}

// connect follows the stream of a master. A broken stream is opened again.
export function connect(number = master) {
  close();
  if (mode === 'recording' || number !== master) clear();
  master = number;
  const from = frames.length ? newest + 1 : 1;
  source = new EventSource(`/watch/events?from=${from}&master=${master}${showing ? '&topology=1' : ''}`);
  for (const kind of ['hello', 'ev', 'stop', 'sum', 'gap', 'cl', 'state', 'topology']) {
    source.addEventListener(kind, (m) => receive(kind, JSON.parse(m.data)));
  }
  source.onerror = () => {
    close();
    state = { ...state, state: 'none' };
    changed();
    setTimeout(() => { if (mode !== 'recording' && !source) connect(); }, 1000);
  };
}

function close() { source?.close(); source = null; }

// showTopology lets the stream bring the topology, or not any more.
export function showTopology(on) {
  if (showing === on) return;
  showing = on;
  if (source) connect();
}

// A page that the browser keeps for the way back would keep its stream, too. A browser has six
// connections to a server.
addEventListener('pagehide', close);
addEventListener('pageshow', (e) => { if (e.persisted && mode === 'live') connect(); });

// load reads the lines of a recording.
export function load(text, called = '') {
  close();
  clear();
  mode = 'recording'; live = false; name = called;
  state = { state: 'recording', slow: 0 };
  for (const line of text.split('\n')) {
    if (!line.trim()) continue;
    const v = JSON.parse(line);
    if (Array.isArray(v)) append(v, null, '');
    else if (v.stop) append(v.stop.event, v.stop.snapshot, v.stop.why || 'step');
    else greet(v);
  }
  if (!hello || !frames.length) throw new Error('empty');
  go(0);
}

// lines writes the frames as a recording.
export function lines() {
  const out = [JSON.stringify(hello)];
  for (const f of frames) {
    if (!f.stop) { out.push(JSON.stringify(f.ev)); continue; }
    const { exec, stack, lent, woke, logs, known, idle, looked, ...snapshot } = f.state;
    out.push(JSON.stringify({ stop: { event: f.ev, why: f.stop, snapshot } }));
  }
  return out.join('\n') + '\n';
}

// open reads a recording by its address: gzip or plain lines.
export async function open(url, called) {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${answer.status} ${url}`);
  load(await unpack(await answer.arrayBuffer()), called);
}

export async function unpack(buffer) {
  const b = new Uint8Array(buffer);
  if (b[0] !== 0x1f || b[1] !== 0x8b) return new TextDecoder().decode(b);
  const stream = new Blob([b]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).text();
}

// post asks the server. It returns the result, or throws the server's error.
export async function post(path, body) {
  const many = (hello?.masters ?? 1) > 1 && path.startsWith('/lab');
  const answer = await fetch(path + (many ? `?master=${master}` : ''), {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: body === undefined ? '' : JSON.stringify(body),
  });
  const reply = await answer.json().catch(() => ({ ok: false, error: `ERR ${answer.status}` }));
  if (reply.ok === false) throw new Error(reply.error);
  return reply.result ?? reply;
}

// step sends the words of LAB STEP.
export const step = (...words) => post('/lab/step/' + words.map(encodeURIComponent).join('/'));

// toggleBreak lets the server stop at a point, or not any more.
export async function toggleBreak(point) {
  const on = !breaks.has(point), stop = `page-${point}`;
  await (on ? step('BREAK', 'ADD', stop, 'AT', hello.points[point]?.name ?? point) : step('BREAK', 'DEL', stop));
  breaks[on ? 'add' : 'delete'](point);
  changed();
}

// readBreaks asks the server which breakpoints of this page there are.
async function readBreaks() {
  const list = JSON.stringify(await step('BREAK', 'LIST').catch(() => ''));
  breaks.clear();
  for (const m of list.matchAll(/page-(\w)/g)) breaks.add(m[1]);
  changed();
}

export const currentMaster = () => master;
