// models.js shows the same six requests under four threading models: who reads, who executes, who waits. One of them is
// drawn for the version that the reader chooses.
// The lengths are drawn, not measured. The bars beside them are measured: bench/report/models.md.

import { add, lang, t } from './i18n.js';
import { el, narrow, s, text } from './svg.js';
import { motion } from './shared.js';
import { figures } from './figures.js';
import { MODELS, THREADS, LAST } from './lanes.js';
import { ALL, chosen, which } from './which.js';
import texts from './text/models.js';

add(texts);

const LANE = 23;
let WIDTH = 800, LEFT = 96;

let root = null;
let drawn = '';
let at = LAST; // the time shown, in units of the drawing
let load = 0; // the figures shown
let timer = null;

export function mount(where) {
  root = where;
  drawn = '';
  at = LAST;
  stop();
  render();
}

function stop() {
  cancelAnimationFrame(timer);
  timer = null;
}

// play lets the time run from left to right. Without motion it jumps to the end.
function play() {
  if (timer) { stop(); sweep(); return; }
  if (!motion()) { at = LAST; sweep(); return; }
  if (at >= LAST) at = 0;
  let before = performance.now();
  const tick = (now) => {
    if (!root?.isConnected) return stop();
    at = Math.min(LAST, at + (now - before) / 110);
    before = now;
    if (at >= LAST) stop();
    else timer = requestAnimationFrame(tick);
    sweep();
  };
  timer = requestAnimationFrame(tick);
}

// sweep shows what has happened until now, without drawing anything anew.
function sweep() {
  for (const block of root.querySelectorAll('[data-from]')) {
    block.classList.toggle('md-ahead', Number(block.dataset.from) >= at && at < LAST);
  }
  for (const line of root.querySelectorAll('.md-now')) {
    line.setAttribute('x1', x(at));
    line.setAttribute('x2', x(at));
    line.classList.toggle('md-end', at >= LAST);
  }
  const slider = root.querySelector('.md-time');
  slider.value = at;
  const button = root.querySelector('.md-play');
  button.firstChild.textContent = t(timer ? 'models.pause' : 'models.play');
}

const x = (time) => LEFT + (WIDTH - LEFT - 12) * (time / LAST);

export function render() {
  const key = `${lang}|${load}|${chosen()}|${narrow()}`;
  if (!root || key === drawn) return;
  drawn = key;
  [WIDTH, LEFT] = narrow() ? [380, 78] : [800, 96];
  const scrolled = root.querySelector('.md-left')?.scrollTop ?? 0;
  const focused = document.activeElement?.closest?.('[data-focus]')?.dataset.focus;
  root.replaceChildren(el('div', { class: 'models' }, el('section', { class: 'md-left' }, head(), models().map(card)), el('div', { class: 'md-right' }, side(), el('section', { class: 'card md-which' }, which(ALL, render), el('p', { class: 'dim' }, t('which.same'))))));
  root.querySelector('.md-left').scrollTop = scrolled;
  if (focused) root.querySelector(`[data-focus="${focused}"]`)?.focus({ preventScroll: true });
  sweep();
}

// models are the drawings, with the threads of the version that is chosen.
const models = () => MODELS.map((m) => (m.name === 'threads' ? THREADS[chosen()] : m));

function head() {
  const slider = el('input', {
    type: 'range', class: 'md-time', min: 0, max: LAST, step: 0.5, value: at, 'aria-label': t('models.time'), 'data-focus': 'time',
    input: (e) => { stop(); at = Number(e.target.value); sweep(); },
  });
  return el('header', { class: 'md-head' }, el('p', { class: 'lead' }, t('models.lead')),
    el('div', { class: 'md-controls' },
      el('button', { class: 'md-play', 'data-key': ' ', 'data-focus': 'play', click: play }, el('span', {}, t('models.play')), ' ', el('kbd', {}, '␣')), slider),
    el('ul', { class: 'legend' }, ['read', 'parse', 'execute', 'write', 'wait'].map((k) =>
      el('li', {}, el('i', { class: k }), el('span', {}, t(`models.kind.${k}`)))), el('li', {}, el('i', { class: 'md-spins' }), el('span', {}, t('models.kind.spin')))));
}

// card draws the lanes of a model, with its sentence.
function card(model) {
  const height = LANE * model.lanes.length + 6;
  const svg = s('svg', { viewBox: `0 0 ${WIDTH} ${height}`, class: 'md-lanes', role: 'img', 'aria-label': t(`models.${model.name}.why`) });
  svg.append(s('defs', {}, s('pattern', { id: 'spin', width: 5, height: 5, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' }, s('rect', { width: 2, height: 5, class: 'md-hatch' }))));
  model.lanes.forEach((lane, i) => {
    const y = 3 + LANE * i;
    svg.append(text(0, y + 15.5, t(`models.lane.${lane.name}`, { n: lane.n }), { max: LEFT - 8, cls: lane.executes ? 'strong' : 'dim' }),
      s('rect', { x: LEFT, y: y + 9, width: WIDTH - LEFT - 12, height: 2, class: 'md-base' }));
    for (const b of lane.blocks) svg.append(block(b, y));
  });
  for (const time of model.barriers ?? []) {
    svg.append(s('line', { x1: x(time), x2: x(time), y1: 0, y2: height, class: 'md-barrier', 'data-from': time }));
  }
  svg.append(s('line', { x1: x(at), x2: x(at), y1: 0, y2: height, class: 'md-now' }));
  return el('article', { class: 'card md-card', 'data-model': model.name },
    el('header', {}, el('h3', {}, t(`models.${model.name}`)), el('code', { class: 'mono' }, model.start)), el('p', {}, t(`models.${model.name}.why`)), svg);
}

function block(b, y) {
  const from = x(b.from), wide = x(b.to) - from;
  const g = s('g', { class: `md-block ${b.kind}`, 'data-from': b.from },
    s('rect', { x: from + 0.5, y: y + 1, width: Math.max(wide - 1, 1), height: LANE - 4, rx: 3, class: b.spins ? 'md-spin' : b.idle ? 'md-idle' : 'solid' }));
  if (b.who && wide > 13 && !b.idle) g.append(text(from + wide / 2, y + 15.5, b.who, { anchor: 'middle', cls: 'on', bold: true }));
  return g;
}

const SHOWN = ['reactor', 'queue', 'io-threads-4', 'owners', 'rings', 'goroutines', 'redis-server', 'redis-server-io-4'];
const MOST = 60; // us: a longer bar is cut

// side has the measured figures of one load.
function side() {
  const f = figures.loads[load];
  const pick = el('select', { 'data-focus': 'load', 'aria-label': t('models.load'), change: (e) => { load = Number(e.target.value); render(); } },
    figures.loads.map((l, i) => el('option', { value: i, selected: i === load }, named(l.name))));
  return el('aside', { class: 'card md-side' },
    el('h3', {}, t('models.measured')), pick, chart(f),
    el('ul', { class: 'legend' }, el('li', {}, el('i', { class: 'execute' }), el('span', {}, t('models.executing'))), el('li', {}, el('i', { class: 'read' }), el('span', {}, t('models.other')))),
    el('p', {}, t('models.reading')),
    crowded(f) ? el('p', {}, t('models.cores')) : null,
    el('p', { class: 'dim' }, t('models.machine', { machine: figures.machine, date: figures.date })));
}

// crowded reports whether the threads of redis-server worked, on a machine with too few cores for them.
function crowded(f) {
  const [, cpu, executing] = f.rows['redis-server-io-4'];
  return cpu > executing && Number(/(\d+) cores/.exec(figures.machine)[1]) < 4;
}

// named translates the name of a load, such as GET, 50 connections, pipeline 1, values of 1 KB.
function named(name) {
  const [, command, clients, pipeline, size] = /^(\w+), (\d+) connections?, pipeline (\d+), values of (.*)$/.exec(name);
  return t('models.load.name', { command, clients, pipeline, size });
}

const us = (n) => `${n >= 100 ? Math.round(n) : n.toFixed(1)} µs`;

function chart(f) {
  const width = 400, row = 35, room = 300;
  const longest = Math.min(MOST, Math.max(...SHOWN.map((m) => f.rows[m][1])));
  const svg = s('svg', { viewBox: `0 0 ${width} ${row * SHOWN.length}`, class: 'md-chart', role: 'img', 'aria-label': t('models.measured') });
  SHOWN.forEach((name, i) => {
    const [rate, cpu, executing] = f.rows[name], y = row * i;
    const cut = cpu > longest, scale = room / (cut ? cpu : longest); // the parts of a bar that is cut keep their shares
    const long = (us) => us * scale;
    svg.append(text(0, y + 12, t(`models.bar.${name}`), { max: width }),
      s('rect', { x: 0, y: y + 17, width: long(cpu), height: 13, rx: 3, class: 'solid read' }),
      s('rect', { x: 0, y: y + 17, width: Math.max(long(executing), 2), height: 13, rx: 3, class: 'solid execute' }));
    if (cut) svg.append(s('path', { d: `M${room - 22} ${y + 33}l6 -20m5 0l-6 20`, class: 'md-cut' }), text(6, y + 28, us(executing), { cls: 'on', max: long(executing) - 8 }));
    svg.append(text(long(cpu) + 8, y + 28.5, us(cpu), { bold: true, max: width - long(cpu) - 10 }), s('title', {}, `${rate} req/s`));
  });
  return svg;
}
