// bars.js draws leases over time: a row for each client, a bar for each lease, overlaps in red, and below
// them a lane for each master.

import { t } from './i18n.js';
import { s, badge, narrow, text, width } from './svg.js';

let WIDTH = 860, LEFT = 92;
const RIGHT = 28, TOP = 34, ROW = 60, LANE = 26;

// bars returns the drawing of what lease.js has found.
export function bars(found, clients, masters) {
  [WIDTH, LEFT] = narrow() ? [380, 76] : [860, 92];
  const names = [...clients, ...found.owners.filter((o) => !clients.includes(o))].slice(0, 6);
  const lanes = masters > 1 ? masters : 0;
  const height = TOP + ROW * names.length + (lanes ? LANE * lanes + 16 : 0) + 26;
  const x = scale(found);
  const svg = s('svg', { viewBox: `0 0 ${WIDTH} ${height}`, class: 'lk-bars', role: 'img', 'aria-label': t('locks.picture') });
  svg.append(axis(found, x, height));
  for (const o of found.overlaps) svg.append(overlap(o, names, x));
  names.forEach((name, i) => svg.append(row(found, name, hue(name, names), TOP + ROW * i, x)));
  for (let i = 0; i < lanes; i++) {
    svg.append(lane(found, i, TOP + ROW * names.length + 14 + LANE * i, x, names));
  }
  svg.append(present(found, x, height));
  return svg;
}

const hue = (name, names) => names.indexOf(name) % 8;

// scale maps the lab's time to the drawing. A lease without an end reaches the right border. A pause of a
// year would flatten everything else, so what is longer than all leases together is cut out.
function scale(found) {
  const times = new Set([found.from, found.now]);
  for (const term of found.terms) {
    times.add(term.from);
    if (Number.isFinite(term.to)) times.add(term.to);
  }
  for (const m of found.marks) times.add(m.time);
  const sorted = [...times].sort((a, b) => a - b);
  const most = 60_000; // ms of a stretch that are drawn
  const at = [0];
  for (let i = 1; i < sorted.length; i++) at.push(at[i - 1] + Math.min(sorted[i] - sorted[i - 1], most));
  const end = Math.max(at.at(-1), 30_000) * 1.04;
  const room = WIDTH - LEFT - RIGHT;
  const x = (time) => {
    if (!Number.isFinite(time)) return WIDTH - RIGHT + 14;
    let i = sorted.findLastIndex((v) => v <= time);
    if (i < 0) i = 0;
    return LEFT + room * ((at[i] + Math.min(time - sorted[i], most)) / end);
  };
  x.cuts = sorted.flatMap((v, i) => (i && v - sorted[i - 1] > most ? [{ from: sorted[i - 1], to: v }] : []));
  x.end = sorted[0] + end;
  return x;
}

// axis draws a line for each ten seconds of the lab's clock, as far as nothing is cut out.
function axis(found, x, height) {
  const g = s('g', { class: 'lk-axis' });
  const last = x.cuts.length ? x.cuts[0].from : Infinity;
  let before = -100;
  for (let time = found.from, i = 0; i < 40 && x(time) < WIDTH - RIGHT && time <= last + 30_000; time += 10_000, i++) {
    const at = x(time);
    if (at - before < 40) continue;
    before = at;
    g.append(s('line', { x1: at, x2: at, y1: TOP - 6, y2: height - 22 }),
      text(at, TOP - 14, `${(time - found.from) / 1000} s`, { anchor: 'middle', cls: 'dim' }));
  }
  for (const cut of x.cuts) {
    const at = (x(cut.from) + x(cut.to)) / 2;
    g.append(s('rect', { x: at - 24, y: TOP - 28, width: 48, height: 18, class: 'lk-hole' }), text(at, TOP - 14, long(cut.to - cut.from), { anchor: 'middle', cls: 'dim' }));
  }
  return g;
}

const DAY = 24 * 3600 * 1000;

const UNITS = [['years', 365 * DAY], ['days', DAY], ['minutes', 60000]];

function long(ms) {
  const [name, unit] = UNITS.find(([, u]) => ms >= u) ?? UNITS.at(-1);
  return t(`locks.${name}`, { n: Math.round(ms / unit) });
}

function row(found, name, colour, y, x) {
  const g = s('g', { class: 'lk-row', 'data-row': name },
    s('line', { x1: LEFT, x2: WIDTH - RIGHT, y1: y + ROW - 4, y2: y + ROW - 4, class: 'lk-base' }),
    badge(LEFT - 46, y + ROW / 2 - 4, { name, mark: name, hue: colour }, 11));
  for (const term of found.terms.filter((o) => o.owner === name)) g.append(bar(term, colour, y + 6, x, x(found.now)));
  return g;
}

// bar draws a lease. The line of the present does not cross its label where there is room beside it.
function bar(term, colour, y, x, now) {
  const from = x(term.from), wide = Math.max(x(term.to) - from, 3);
  const label = !term.knows ? t('locks.nobody') : Number.isFinite(term.to) ? `${(term.to - term.from) / 1000} s` : t('locks.forever');
  const long = 12 + width(label), crossed = now > from + 4 && now < from + long && from + wide > now + long;
  const at = crossed ? now + 6 : from + 9;
  return s('g', { class: `lk-bar${term.knows ? '' : ' lk-unknown'}`, 'data-bar': term.owner },
    s('rect', { x: from, y, width: wide, height: ROW - 20, rx: 5, class: `c${colour}` }),
    wide > 40 ? text(at, y + 25, label, { max: from + wide - at - 5, cls: term.knows ? 'on' : '' }) : null);
}

// lane draws who held the key on one master.
function lane(found, i, y, x, names) {
  const g = s('g', { class: 'lk-lane', 'data-lane': i + 1 },
    text(8, y + 16, t('locks.lane', { n: i + 1 }), { max: LEFT - 14, cls: 'dim' }),
    s('line', { x1: LEFT, x2: WIDTH - RIGHT, y1: y + 11, y2: y + 11, class: 'lk-base' }));
  for (const h of found.lanes[i] ?? []) {
    const from = x(h.from), wide = Math.max(x(h.to) - from, 16);
    if (h.until > h.to) g.append(s('rect', { x: from, y: y + 3, width: x(h.until) - from, height: LANE - 9, rx: 4, class: `lk-rest c${hue(h.owner, names)}` }));
    g.append(s('rect', { x: from, y: y + 3, width: wide, height: LANE - 9, rx: 4, class: `c${hue(h.owner, names)}` }),
      text(from + 5, y + 16, h.owner, { max: wide - 4, cls: 'on', bold: true }));
  }
  for (const m of found.marks.filter((o) => o.master === i && o.kind === 'crash')) {
    const at = x(m.time);
    g.append(s('path', { d: `M${at - 6} ${y + 4}l12 14m0 -14l-12 14`, class: 'lk-cross' }));
  }
  return g;
}

// overlap marks the time in which two clients believe to hold the lock.
function overlap(o, names, x) {
  const rows = o.owners.map((name) => names.indexOf(name)).sort();
  const from = x(o.from), wide = Math.max(x(o.to) - from, 3);
  const y = TOP + ROW * rows[0], height = ROW * (rows[1] - rows[0] + 1) - 6;
  return s('rect', { x: from, y, width: wide, height, rx: 6, class: 'lk-overlap', 'data-overlap': o.owners.join(' ') });
}

function present(found, x, height) {
  const at = x(found.now);
  return s('g', { class: 'lk-now' }, s('line', { x1: at, x2: at, y1: TOP - 8, y2: height - 20 }),
    text(Math.min(at, WIDTH - 24), height - 5, t('locks.now'), { anchor: 'middle', bold: true }));
}
