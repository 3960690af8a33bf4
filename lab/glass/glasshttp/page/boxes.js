// boxes.js fills the boxes of the picture with the state of the server.

import { badge, badges, radius, s, term, text, title, width, wrap } from './svg.js';
import { lang, number, t, waitCall } from './i18n.js';
import { hello, naming, who } from './store.js';
import { isHeld } from './fold.js';

export const ROWS = [22, 152, 282];

// draw fills the boxes of a scene. A box whose state is the same as before stays: states share what
// did not change.
export function draw(scene, frame, state, how) {
  const old = (scene.drawn ??= {}), e = frame?.e, { clients, lists, lent } = state;
  const part = (name, needs, make, to = scene.boxes[name].body) => {
    const now = [lang, hello, naming, ...needs];
    if (old[name]?.length === now.length && now.every((x, i) => x === old[name][i])) return;
    old[name] = now;
    to.replaceChildren(...make().flat());
  };
  const { boxes } = scene;
  part('epoll', [state.woke, how.asleep, how.busy, how.works], () => epoll(boxes.epoll, frame, state, how));
  part('array', [state.fired, state.woke], () => array(boxes.array, state));
  part('dispatcher', [state.fired], () => dispatcher(boxes.dispatcher, state, e));
  part('read', [clients, lists.pendingReads, lists.nextRead, lent], () => reading(boxes.read, state, how));
  part('parse', [clients, e?.client], () => parser(boxes.parse, state, e));
  part('execute', [clients, state.exec, state.stack], () => executor(boxes.execute, state));
  part('keys', [state.keys, state.keysMore, state.known], () => keys(scene, boxes.keys, state));
  part('output', [clients], () => output(boxes.output, state));
  part('file', [fileOf(state)], () => file(boxes.file, fileOf(state)));
  part('stream', [state.stream], () => stream(boxes.stream, state.stream));
  part('write', [lists.pendingWrites, lent], () => writing(boxes.write, state));
  part('sockets', [clients, state.more, ...how.terminals], () => sockets(scene, state, how), scene.sockets);
}

function epoll(b, frame, state, how) {
  const x = b.x + b.w / 2, y = b.y + b.h / 2 - 1;
  const note = (words, cls) => text(x, b.y + 90, words, { anchor: 'middle', cls, max: b.w - 6 });
  const name = term(waitCall(), text(x, b.y + 108, waitCall(), { bold: true, anchor: 'middle', max: b.w - 4 }));
  if (how.asleep) {
    return [s('path', { d: `M${x + 3} ${b.y + 10} a12 12 0 1 0 10 18 a10 10 0 0 1 -10 -18 Z`, class: 'moon' }), note(t('now.asleep'), 'strong'), name];
  }
  const woke = state.woke, returned = woke ? (woke.why === 'event' ? t('now.woke', { n: woke.n }) : t('now.timer')) : '';
  return [s('circle', { cx: x, cy: y, r: 10, class: 'sun' }), note(how.works ? t(`now.${how.works}`) : how.busy ? t('now.busy') : returned, 'dim'), name];
}

// array is what epoll_wait returned, with the cursor of the dispatcher.
function array(b, state) {
  const { list, at } = state.fired;
  if (!list.length) return [text(b.x + 10, b.y + 44, t('now.none'), { cls: 'dim' })];
  const walk = ['poll', 'select'].includes(hello?.multiplexer) && !state.stack.some((x) => x.look), rows = walk ? 2 : 3;
  const first = Math.max(0, Math.min(at - 1, list.length - rows));
  return [...(walk ? walked(b, list, state.woke?.looked ?? list.length) : []), ...list.slice(first, first + rows).map((f, k) => {
    const i = first + k, y = b.y + 27 + 25 * k;
    const g = s('g', { class: `cell ${i === at ? 'current' : i < at ? 'done' : ''}` },
      s('rect', { x: b.x + 8, y, width: b.w - 16, height: 22, rx: 4 }), text(b.x + 11, y + 15.5, `${i}`, { mono: true, cls: 'dim', max: 18 }));
    if (f.client) g.append(badge(b.x + 41, y + 11, who(f.client), 7.5));
    g.append(text(b.x + 54, y + 15.5, `fd ${f.fd}`, { mono: true, max: b.w - 62 }), title(`fd ${f.fd} ${f.mask}`));
    if (i === at) g.append(s('path', { d: `M${b.x + 1} ${y + 5} l7 6 l-7 6 Z`, class: 'pointer' }));
    return g;
  })];
}

// walked draws all descriptors that the loop has looked at, and among them those that were ready: what poll and
// select cost. For select a cell is the number of a descriptor, for poll only the share counts.
function walked(b, list, looked) {
  const w = b.w - 16, most = Math.min(looked, 32), ready = new Set();
  for (const [k, f] of list.entries()) ready.add(hello.multiplexer === 'select' ? Math.min(most - 1, Math.floor(f.fd * most / looked)) : k);
  const cells = Array.from({ length: most }, (_, i) => s('rect', { x: b.x + 8 + i * w / most, y: b.y + 80, width: Math.max(1, w / most - 1), height: 7, rx: 1, class: ready.has(i) ? 'level' : 'bar' }));
  return [...cells, text(b.x + 8, b.y + 99, t('now.walk', { n: number(looked) }), { cls: 'dim', max: w })];
}

function dispatcher(b, state, e) {
  const { list, at } = state.fired;
  if (!list.length || at < 0) return [];
  const x = b.x + b.w / 2;
  return [text(x, b.y + 68, t('now.of', { i: at + 1, of: '', n: list.length }), { anchor: 'middle', cls: 'strong', max: b.w - 8 }),
    s('rect', { x: b.x + 10, y: b.y + 80, width: b.w - 20, height: 8, rx: 4, class: 'bar' }),
    s('rect', { x: b.x + 10, y: b.y + 80, width: (b.w - 20) * (at + 1) / list.length, height: 8, rx: 4, class: 'level' })];
}

// lanes shows the threads that have borrowed clients, and the barrier where main waits for them.
function lanes(b, y, state, phase, room) {
  const threads = (hello?.threads ?? ['main']).slice(1);
  const lent = state.lent?.phase === phase ? state.lent : null;
  const h = Math.min(21, (room - 2) / Math.max(1, threads.length));
  const shown = threads.slice(0, Math.floor((room - 2) / h));
  const out = shown.map((name, i) => {
    const top = y + i * h, ids = lent?.threads?.[i + 1] ?? [];
    return s('g', { class: `lane ${ids.length && !lent.joined ? 'busy' : ''}` },
      s('rect', { x: b.x + 8, y: top, width: b.w - 32, height: h - 3, rx: 4 }),
      text(b.x + 13, top + h / 2 + 2, name, { mono: true, cls: 'dim', max: 44 }), badges(b.x + 58, top + h / 2 - 1.5, ids.map(who), b.w - 92, Math.min(8, h / 2 - 2)));
  });
  const x = b.x + b.w - 17;
  out.push(s('g', { class: `barrier ${lent && !lent.joined ? 'shut' : ''}` }, s('path', { d: `M${x} ${y - 2} V${y + h * shown.length}` }), title(t('now.barrier'))));
  if (lent && !lent.joined) out.push(text(x + 7, y + 8, '', {}));
  return out;
}

function reading(b, state, how) {
  const pending = (state.lists.pendingReads ?? []).slice(state.lists.nextRead ?? 0); // those before have had their turn
  const out = [text(b.x + 10, b.y + 42, t('now.pending') + ':', { cls: 'dim', max: 70 })];
  const from = b.x + 18 + width(t('now.pending') + ':');
  out.push(pending.length ? badges(from, b.y + 38, pending.map(who), b.x + b.w - from - 8) : text(from, b.y + 42, '–', { cls: 'dim' }));
  if ((hello?.threads?.length ?? 1) > 1) {
    const wait = state.lent?.phase === 'read' && !state.lent.joined;
    out.push(term('barrier', text(b.x + b.w - 10, b.y + 19, wait ? t('now.mainwaits') : t('now.barrier'), { anchor: 'end', cls: wait ? 'strong' : 'dim', max: 110 })));
    return [...out, ...lanes(b, b.y + 54, state, 'read', 86)];
  }
  const busy = state.clients.filter((c) => c.buffered > 0 || (c.input && c.state !== 'idle')).slice(0, 3);
  if (!busy.length) out.push(text(b.x + 10, b.y + 72, t('now.oneread'), { cls: 'dim', max: b.w - 20 }));
  busy.forEach((c, i) => {
    const y = b.y + 56 + 28 * i;
    out.push(badge(b.x + 18, y + 11, who(c.id)), s('rect', { x: b.x + 32, y, width: b.w - 42, height: 22, rx: 4, class: 'paper' }),
      text(b.x + 38, y + 15.5, c.input || t('now.buffered', { n: c.buffered }), { max: b.w - 52, mono: Boolean(c.input) }));
  });
  return out;
}

// tokens draws words as small cells, as the parser sees them.
function tokens(x, y, words, room, lines, cls) {
  return wrap(words, room, lines, {}).flatMap((line, i) => line.map((w) => s('g', { class: `token ${cls} ${w.cls ?? ''}` },
    s('rect', { x: x + w.x, y: y + 24 * i, width: w.w, height: 21, rx: 4 }),
    text(x + w.x + w.w / 2, y + 24 * i + 15, w.text, { mono: true, anchor: 'middle', max: w.w - 4 }))));
}

const lengths = (word) => (/^[*$]-?\d+$/.test(word) ? 'length' : '');

// isDue reports whether the commands of a client run in their turn: nothing holds it back, and it is not blocked.
const isDue = (c) => !isHeld(c) && c.state !== 'blocked';

function parser(b, state, e) {
  const c = state.clients.find((x) => x.id === e?.client && x.partial) ?? state.clients.find((x) => x.partial);
  const ready = state.clients.filter(isDue).reduce((n, x) => n + x.commands, 0);
  const out = [];
  if (ready) out.push(text(b.x + b.w - 10, b.y + 19, t('now.ready', { n: number(ready) }), { anchor: 'end', cls: 'strong', max: 126 }));
  if (!c) return [...out, text(b.x + 10, b.y + 44, t('now.oneparse'), { cls: 'dim', max: b.w - 20 })];
  out.push(badge(b.x + 18, b.y + 43, who(c.id)));
  const words = c.partial.split(' ').filter(Boolean);
  const first = Math.max(0, words.length - 7);
  out.push(...tokens(b.x + 32, b.y + 32, words.slice(first).map((w) => ({ text: w, cls: lengths(w) + (w.endsWith('_') ? ' open' : '') })), b.w - 38, 2, 'parse'));
  return out;
}

function executor(b, state) {
  const exec = state.exec, waiting = state.clients.filter((c) => c.commands > 0 && isDue(c));
  const out = [];
  if (exec) {
    const c = exec.client ? who(exec.client) : null;
    if (c) out.push(badge(b.x + b.w - 18, b.y + 15, c));
    const outer = around(state), down = outer.length ? 24 : 0, in_ = outer.length ? 12 : 0;
    if (outer.length) out.push(...enclosing(b, outer, waiting.length ? 60 : 92));
    out.push(...tokens(b.x + 9 + in_, b.y + 29 + down, words(exec.argv).map((w, i) => ({ text: w, cls: i ? '' : 'verb' })), b.w - 16 - 2 * in_, (waiting.length ? 2 : 4) - (down ? 1 : 0), exec.done ? 'past' : 'execute'));
  } else out.push(text(b.x + 10, b.y + 44, t('now.noexec'), { cls: 'dim', max: b.w - 20 }));
  if (!waiting.length) return out;
  out.push(text(b.x + 10, b.y + 97, t('now.behind'), { cls: 'dim', max: 60 }));
  const from = b.x + 16 + width(t('now.behind'));
  waiting.slice(0, 2).forEach((c, i) => {
    const y = b.y + 93 + 23 * i;
    const more = c.commands > 1 ? ` ×${c.commands}` : '';
    out.push(badge(from + 8, y, who(c.id)), text(from + 21, y + 4.5, (c.next?.[0] ?? '') + more, { mono: true, max: b.x + b.w - from - 28 }));
  });
  if (waiting.length > 2) out.push(text(b.x + 10, b.y + 120, `+${waiting.length - 2}`, { cls: 'dim' }));
  return out;
}

// around returns what encloses the current command: a transaction, a script, a second look in the middle of one.
const around = (state) => state.stack.filter((x) => x !== state.exec);

// enclosing draws it: a ring around the current command, with the names on it.
function enclosing(b, outer, height) {
  const names = outer.filter((x) => !x.look).map((x) => words(x.argv)[0]);
  const label = names.join(' › ') + (outer.some((x) => x.look) ? ' ↻' : '');
  const last = outer.findLast((x) => x.client);
  return [s('rect', { x: b.x + 6, y: b.y + 29, width: b.w - 12, height, rx: 10, class: 'enclosing' }), ...(last ? [badge(b.x + 20, b.y + 40, who(last.client), 7)] : []),
    text(b.x + 32, b.y + 44, label, { mono: true, cls: 'strong', max: b.w - 50 })];
}

// words splits a command as redis-cli types it. A quoted word stays one word.
export const words = (command) => command.match(/"(?:[^"\\]|\\.)*"?|\S+/g) ?? [];

export function lease(ms) {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 120e3) return `${(ms / 1000).toFixed(ms < 100e3 ? 1 : 0)} s`;
  if (ms < 7200e3) return `${Math.round(ms / 60e3)} min`;
  return ms < 172800e3 ? `${Math.round(ms / 3600e3)} h` : `${Math.round(ms / 86400e3)} d`;
}

function keys(scene, b, state) {
  const top = (scene.longest ??= new Map());
  if (!state.keys.length) return [text(b.x + 10, b.y + 44, t(state.known ? 'now.nokeys' : 'now.keyslater'), { cls: 'dim', max: b.w - 20 })];
  const all = state.keys.length + (state.keysMore ?? 0);
  const out = [text(b.x + b.w - 10, b.y + 19, number(all), { anchor: 'end', cls: 'dim' })];
  state.keys.slice(0, 12).forEach((k, i) => {
    const y = b.y + 29 + 18.6 * i;
    const g = s('g', { class: 'keyrow', 'data-key-name': k.k });
    const wide = k.by ? 2 * radius(who(k.by), 7) - 14 : 0;
    if (k.by) g.append(badge(b.x + 16 + wide / 2, y + 8, who(k.by), 7));
    g.append(text(b.x + 29 + wide, y + 12.5, k.k, { mono: true, max: (k.ttl >= 0 ? 76 : 92) - wide }), title(`${k.k} = ${k.v} (${k.type})`));
    if (k.ttl >= 0) {
      const most = Math.max(top.get(k.k) ?? 0, k.ttl, 1);
      top.set(k.k, most);
      g.append(s('rect', { x: b.x + 110, y: y + 4, width: 46, height: 8, rx: 4, class: 'bar' }),
        s('rect', { x: b.x + 110, y: y + 4, width: Math.max(1, 46 * k.ttl / most), height: 8, rx: 4, class: k.by ? `c${who(k.by).hue}` : 'level' }),
        text(b.x + b.w - 8, y + 12.5, lease(k.ttl), { anchor: 'end', max: 52 }));
    } else {
      top.delete(k.k);
      g.append(text(b.x + b.w - 8, y + 12.5, k.v ?? k.type, { mono: true, anchor: 'end', cls: 'dim', max: 88 }));
    }
    out.push(g);
  });
  return out;
}

function output(b, state) {
  const full = state.clients.filter((c) => c.output > 0);
  if (!full.length) return [text(b.x + 10, b.y + 44, t('now.noout'), { cls: 'dim', max: b.w - 20 })];
  const out = full.slice(0, 4).map((c, i) => {
    const y = b.y + 30 + 25 * i, size = bytesText(c.output);
    const w = width(size) + 8;
    return s('g', {}, badge(b.x + 18, y + 11, who(c.id)), s('rect', { x: b.x + 31, y, width: b.w - 40, height: 22, rx: 4, class: 'paper' }),
      text(b.x + 37, y + 15.5, c.out, { mono: true, max: b.w - 54 - w }), text(b.x + b.w - 14, y + 15.5, size, { anchor: 'end', cls: 'dim' }));
  });
  const note = full.length > 4 ? `+${full.length - 4} · ` : '';
  out.push(text(b.x + 10, b.y + b.h - 9, note + t('now.notsent'), { cls: 'warn', max: b.w - 20 }));
  return out;
}

function writing(b, state) {
  const pending = state.lists.pendingWrites ?? [];
  const out = [pending.length ? badges(b.x + 10, b.y + 37, pending.map(who), b.w - 20) : text(b.x + 10, b.y + 42, '–', { cls: 'dim' })];
  if ((hello?.threads?.length ?? 1) > 1) out.push(...lanes(b, b.y + 53, state, 'write', 64));
  else out.push(text(b.x + 10, b.y + 70, t('now.onewrite'), { cls: 'dim', max: b.w - 20 }));
  return out;
}

// fileOf returns what is known of the append only file, null if there is none.
const NEW_FILE = { policy: '', unsynced: 0 };
export const fileOf = (state) => state.file ?? (hello?.appends ? NEW_FILE : null);

function file(b, f) {
  if (!f) return [];
  const words = f.unsynced ? t('now.unsynced', { n: bytesText(f.unsynced) }) : t('now.ondisk');
  if (b.h < 40) return [text(b.x + 7, b.y + 31, words, { cls: f.unsynced ? 'strong' : 'dim', max: b.w - 12 })];
  return [text(b.x + 7, b.y + 40, f.policy, { mono: true, cls: 'dim', max: b.w - 12 }), text(b.x + 7, b.y + 62, words, { cls: f.unsynced ? 'strong' : 'dim', max: b.w - 12 })];
}

// stream is the replication stream: how long it is, and what the slowest replica has not acknowledged.
function stream(b, st) {
  if (!st) return [];
  const left = st.offset - st.acked;
  const words = st.role === 'replica' ? t('now.link', { state: st.link || '–' }) : st.replicas < 1 || st.acked < 0 ? t('now.kept', { n: bytesText(st.kept) })
    : left > 0 ? t('now.unacked', { n: bytesText(left) }) : t('now.acked');
  const strong = st.role === 'master' && st.acked >= 0 && left > 0;
  const line = (y, string, cls) => text(b.x + 7, b.y + y, string, { cls, max: b.w - 12 });
  if (b.h < 40) return [line(31, words, strong ? 'strong' : 'dim')];
  return [line(40, t('now.offset', { n: number(st.offset) }), 'strong'), line(62, words, strong ? 'strong' : 'dim')];
}

// sockets: one for each terminal, and small ones for the others.
function sockets(scene, state, how) {
  const out = [];
  scene.rows = new Map();
  how.terminals.forEach((id, i) => {
    const c = state.clients.find((x) => x.id === id), y = ROWS[i];
    if (id) scene.rows.set(id, y + 62);
    out.push(socket(c, y));
  });
  const others = state.clients.filter((c) => !how.terminals.includes(c.id));
  if (!others.length) return out;
  out.push(text(250, 430, t('box.others'), { cls: 'dim', max: 100 }));
  others.slice(0, 5).forEach((c, i) => {
    const y = 440 + 23 * i;
    scene.rows.set(c.id, y + 10);
    out.push(badge(266, y + 10, who(c.id)), ...queue(288, y + 1, 60, c.recvq, 'read'), ...queue(288, y + 11, 60, c.sendq, 'write'));
  });
  const more = others.length - 5 + (state.more ?? 0);
  if (more > 0) out.push(text(250, 570, t('box.more', { n: number(more) }), { cls: 'dim', max: 100 }));
  return out;
}

// bytesText writes a number of bytes shortly.
const bytesText = (n) => (n < 10000 ? `${number(n)} B` : n < 1e6 ? `${number(n / 1000)} kB` : `${(n / 1e6).toFixed(n < 1e7 ? 1 : 0)} MB`);

const level = (bytes) => (bytes > 0 ? Math.min(1, 0.08 + Math.log2(1 + bytes) / 22) : 0);

function queue(x, y, w, bytes, cls) {
  return [s('rect', { x, y, width: w, height: 8, rx: 4, class: 'bar' }),
    s('rect', { x, y, width: w * level(bytes), height: 8, rx: 4, class: `queue ${cls}` }, title(`${number(bytes)} B`))];
}

function socket(c, y) {
  const g = s('g', { class: `box socket ${c ? '' : 'off'}`, 'data-box': 'socket' }, s('rect', { x: 250, y: y + 8, width: 100, height: 108, rx: 9, class: 'frame' }));
  if (!c) return g;
  g.append(badge(264, y + 24, who(c.id)), term('fd', text(278, y + 29, `fd ${c.fd}`, { mono: true, max: 66 })));
  const row = (label, bytes, top, cls) => g.append(term(label, text(255, top, label, { max: 52 })), text(346, top, bytes < 0 ? (c.state === 'full' ? t('now.full') : '–') : bytesText(bytes), { anchor: 'end', cls: bytes > 0 ? '' : 'dim', max: 44 }),
    ...queue(257, top + 5, 87, bytes < 0 && c.state === 'full' ? 4e6 : bytes, cls));
  row('Recv-Q', c.recvq, y + 54, 'read');
  row('Send-Q', c.sendq, y + 92, 'write');
  return g;
}
