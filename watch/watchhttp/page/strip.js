// strip.js draws one pass as a flame strip: the phases above, their events below.

import { s, text, title, width } from './svg.js';
import { t } from './i18n.js';
import { kindOf, short } from './narrate.js';
import { frames, go, passOf, who } from './store.js';

const H = 65;

export function strip() {
  const svg = s('svg', { class: 'strip', role: 'list' });
  return { svg, render: (i) => render(svg, i) };
}

// weight gives an event its width: long events are wider, but short ones stay visible.
const weight = (e) => (e.point === 's' ? 2 : 1.8 + Math.log2(1 + e.dur) * 0.6 + (e.point === 'x' ? 1.5 : 0));

const NAMES = { sleep: 'kind.sleep', wait: 'kind.wait', accept: 'kind.accept', read: 'kind.read', parse: 'kind.parse', execute: 'kind.execute', expire: 'kind.expire', write: 'kind.write' };

// phase is what the row above says: read and parse belong together.
const phase = (e) => (e.point === 'h' || e.point === 'w' ? 'wait' : e.point === 't' || e.point === 'j' ? 'wait' : kindOf(e));

function render(svg, cursor) {
  if (!frames[cursor]) { svg.replaceChildren(); return; }
  const W = Math.max(600, svg.clientWidth / svg.clientHeight * H || 1256);
  svg.setAttribute('viewBox', `0 0 ${W} ${H}`);
  const { from, to } = passOf(cursor);
  const most = 160;
  const first = to - from > most ? Math.max(from, Math.min(cursor - most / 2, to - most)) : from;
  const shown = frames.slice(first, Math.min(to, first + most) + 1);
  const total = shown.reduce((n, f) => n + weight(f.e), 0);
  const unit = Math.min(58, W / total);
  const out = [];
  let x = 0, start = 0, run = null;
  const close = (end) => { if (run) out.push(band(run, start, end)); };
  shown.forEach((f, k) => {
    const w = weight(f.e) * unit, i = first + k;
    if (phase(f.e) !== run) { close(x); run = phase(f.e); start = x; }
    out.push(block(f.e, x, w, i === cursor, i > cursor, i));
    x += w;
  });
  close(x);
  svg.replaceChildren(...out);
}

function band(kind, x, end) {
  const w = end - x - 2, name = t(NAMES[kind]);
  return s('g', { class: `band ${kind}` }, s('rect', { x, y: 0, width: Math.max(1, w), height: 22, rx: 4 }),
    width(name) + 10 < w ? text(x + 6, 15.5, name, { bold: true, max: w - 8 }) : null, title(name));
}

function block(e, x, w, current, ahead, i) {
  const kind = kindOf(e), label = e.point === 'x' ? e.text : t('point.' + e.point);
  const who1 = e.client ? who(e.client) : null;
  const g = s('g', { class: `event ${kind} ${current ? 'current' : ''} ${ahead ? 'ahead' : ''}`, role: 'listitem', 'data-frame': i, click: () => go(i) },
    s('rect', { x: x + 0.5, y: 25, width: Math.max(1, w - 2), height: 38.5, rx: 4 }), title(short(e)));
  const mono = e.point === 'x';
  if (mono ? w > 30 : width(label) + 6 <= w) g.append(text(x + 5, 40, label, { max: w - 8, mono }));
  if (who1 && w > 15) g.append(s('circle', { cx: x + 10, cy: 53, r: 6, class: `c${who1.hue}` }));
  if (who1 && w > 34) g.append(text(x + 19, 57.5, who1.mark, { bold: true, max: w - 22 }));
  return g;
}
