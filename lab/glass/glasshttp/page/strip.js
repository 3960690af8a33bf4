// strip.js draws one pass as a flame strip: the phases above, their events below.

import { s, text, title, width } from './svg.js';
import { lang, t } from './i18n.js';
import { kindOf, short } from './narrate.js';
import { changed, frames, go, hello, naming, passOf, who } from './store.js';

const H = 65;

export function strip() {
  const svg = s('svg', { class: 'strip', role: 'list' });
  const me = { svg, wide: 0, render: (i) => render(me, i) };
  new ResizeObserver(() => { me.wide = 0; changed(); }).observe(svg);
  return me;
}

// weight gives an event its width: long events are wider, but short ones stay visible.
const weight = (e) => (e.point === 's' ? 2 : 1.8 + Math.log2(1 + e.dur) * 0.6 + (e.point === 'x' ? 1.5 : 0));

const NAMES = { sleep: 'kind.sleep', wait: 'kind.wait', accept: 'kind.accept', read: 'kind.read', parse: 'kind.parse', execute: 'kind.execute', expire: 'kind.expire', write: 'kind.write', close: 'kind.close' };

// phase is what the row above says: read and parse belong together.
const phase = (e) => ('hwtj'.includes(e.point) ? 'wait' : e.point === 'c' ? 'close' : e.thread > 0 && e.point === 'p' ? 'read' : kindOf(e));

function render(me, cursor) {
  const { svg } = me;
  if (!frames[cursor]) { svg.replaceChildren(); svg.dataset.key = ''; return; }
  if (!me.wide) { // measured once for each size: measuring makes the browser lay out the page
    me.wide = Math.max(300, Math.round(svg.clientWidth / svg.clientHeight * H) || 1256);
    svg.setAttribute('viewBox', `0 0 ${me.wide} ${H}`);
  }
  const W = me.wide;
  const { from, to } = passOf(cursor);
  const most = 160;
  const first = to - from > most ? Math.max(from, Math.min(40 * Math.floor((cursor - most / 2) / 40), to - most)) : from;
  const shown = frames.slice(first, Math.min(to, first + most) + 1);
  const key = [W, lang, naming, first, frames[first].e.seq, shown.length, shown.at(-1).e.seq, frames[first].e.pass].join();
  if (key !== svg.dataset.key) {
    svg.dataset.key = key;
    draw(svg, shown, first, W);
  }
  for (const g of svg.querySelectorAll('.event')) {
    const i = Number(g.dataset.frame);
    g.classList.toggle('current', i === cursor);
    g.classList.toggle('ahead', i > cursor);
  }
}

function draw(svg, shown, first, W) {
  const total = shown.reduce((n, f) => n + weight(f.e), 0);
  const unit = Math.min(58, W / total);
  const rows = (hello?.threads?.length ?? 1) - 1, out = [];
  let x = 0, start = 0, run = null;
  const close = (end) => { if (run) out.push(band(run, start, end)); };
  shown.forEach((f, k) => {
    const w = weight(f.e) * unit;
    if (phase(f.e) !== run) { close(x); run = phase(f.e); start = x; }
    out.push(block(f.e, x, w, first + k, rows));
    x += w;
  });
  close(x);
  svg.replaceChildren(...out);
}

function band(kind, x, end) {
  const w = end - x - 2, name = t(NAMES[kind]);
  return s('g', { class: `band ${kind === 'close' ? 'accept' : kind}` }, s('rect', { x, y: 0, width: Math.max(1, w), height: 22, rx: 4 }),
    width(name) + 10 < w ? text(x + 6, 15.5, name, { bold: true, max: w - 8 }) : null, title(name));
}

// block is one event. The events of an I/O thread lie in the row of their thread.
function block(e, x, w, i, rows) {
  const kind = kindOf(e), mono = e.point === 'x', label = mono ? e.text : t('point.' + e.point);
  const whose = e.client ? who(e.client) : null, lane = e.thread > 0 && rows > 1 && e.point !== 't' && e.point !== 'j';
  const h = lane ? 38.5 / rows : 38.5, y = lane ? 25 + h * (e.thread - 1) : 25;
  const g = s('g', { class: `event ${kind}`, role: 'listitem', 'data-frame': i, click: () => go(i) },
    s('rect', { x: x + 0.5, y, width: Math.max(1, w - 2), height: h - (lane ? 1 : 0), rx: 4 }), title(short(e)));
  if (lane) {
    if (whose && w > 15 && h > 12) g.append(s('circle', { cx: x + 10, cy: y + h / 2, r: 6, class: `c${whose.hue}` }));
    if (whose && w > 34 && h > 15) g.append(text(x + 19, y + h / 2 + 4.5, whose.mark, { bold: true, max: w - 22 }));
    return g;
  }
  if (mono ? w > 30 : width(label) + 6 <= w) g.append(text(x + 5, 40, label, { max: w - 8, mono }));
  if (whose && w > 15) g.append(s('circle', { cx: x + 10, cy: 53, r: 6, class: `c${whose.hue}` }));
  if (whose && w > 34) g.append(text(x + 19, 57.5, whose.mark, { bold: true, max: w - 22 }));
  return g;
}
