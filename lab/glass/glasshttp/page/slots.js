// slots.js draws who serves which slot, as each node of a cluster believes it: a bar for each node, in the colours of the
// owners.

import { t } from './i18n.js';
import { s, badge, narrow, text, title } from './svg.js';
import { SLOTS, moves } from './nodes.js';

const ROW = 26, TOP = 8, BAR = 16;
const MOST = 12; // nodes that are drawn, unless their maps differ from that of the others
const THIN = 4; // a range that would be thinner is drawn so wide

// range names slots.
export const range = (from, to) => t(from === to ? 'tp.slot' : 'tp.range', { from, to, slot: from });

export const hue = (node) => (node + 7) % 8;

// mark is what badge draws for a node.
export const mark = (n) => ({ name: t('tp.node', { n: n.node }), mark: String(n.node), hue: hue(n.node) });

// slotBars returns the drawing. apart has for each node the ranges in which its map differs from that of most nodes.
export function slotBars(nodes, apart) {
  const [wide, left] = narrow() ? [380, 40] : [900, 40];
  const shown = nodes.filter((n, i) => i < MOST || apart.get(n.node)?.length);
  const x = (slot) => left + ((wide - left - 8) * slot) / SLOTS;
  const svg = s('svg', { viewBox: `0 0 ${wide} ${TOP + ROW * shown.length + 16}`, class: 'tp-bars', role: 'img', 'aria-label': t('tp.bars') });
  const moving = moves(nodes);
  shown.forEach((n, i) => svg.append(row(n, apart.get(n.node) ?? [], moving, TOP + ROW * i, x)));
  for (const [slot, anchor] of [[0, 'start'], [SLOTS / 2, 'middle'], [SLOTS - 1, 'end']]) {
    svg.append(text(x(slot), TOP + ROW * shown.length + 9, String(slot), { anchor, cls: 'dim', size: 12 }));
  }
  return svg;
}

// row is the map of one node. What differs from the others has a frame, and a slot that moves has an arrow.
function row(n, apart, moving, y, x) {
  const g = s('g', { class: `tp-map${n.state === 'up' ? '' : ' tp-off'}`, 'data-map': n.node, 'data-apart': apart.length },
    badge(18, y + BAR / 2, mark(n), 9), s('rect', { x: x(0), y, width: x(SLOTS) - x(0), height: BAR, class: 'tp-none' }));
  const ranges = [...(n.slots ?? [])].sort((a, b) => b[1] - b[0] - a[1] + a[0]); // wide ones first, so that thin ones are seen
  for (const [from, to, owner] of ranges) g.append(piece(x, y, from, to, `c${hue(owner)}`, t('tp.piece', { slots: range(from, to), m: owner }), owner));
  for (const d of apart) {
    const at = x(d.from), wide = Math.max(x(d.to + 1) - at, THIN);
    g.append(s('rect', { x: at - 2, y: y - 3, width: wide + 4, height: BAR + 6, rx: 3, class: 'tp-apart' }));
  }
  for (const m of moving.filter((o) => (o.migrating && o.from === n.node) || (o.importing && o.to === n.node))) {
    const at = x(m.slot), out = m.from === n.node;
    g.append(s('path', { d: out ? `M${at - 6} ${y - 5}h12l-6 9z` : `M${at - 6} ${y + BAR + 5}h12l-6 -9z`, class: 'tp-arrow' }, title(t(out ? 'tp.out' : 'tp.in', { slot: m.slot }))));
  }
  return g;
}

function piece(x, y, from, to, cls, says, owner) {
  const at = x(from), wide = x(to + 1) - at;
  return s('g', {}, s('rect', { x: at, y, width: Math.max(wide, THIN), height: BAR, class: cls }, title(says)),
    wide > 24 ? text(at + wide / 2, y + 12.5, String(owner), { anchor: 'middle', cls: 'on', bold: true, size: 12 }) : null);
}
