// loop.js is screen 1: the loop as one picture, the source beside it, the pass below.

import { el } from './svg.js';
import { t } from './i18n.js';
import * as store from './store.js';
import { H, W, create } from './scene.js';
import { camera } from './camera.js';
import { cast, terminals } from './terminals.js';
import { strip } from './strip.js';
import { counted, phaseOf } from './narrate.js';
import { asleep, busy, fail, motion, works } from './shared.js';
import { asked, chosen, which } from './which.js';

// point is a click on a box: the server stops there from now on. A recording goes there.
function point(name) {
  if (store.mode === 'recording') {
    const i = store.find([name], 1);
    if (i >= 0) store.go(i);
  } else store.toggleBreak(name).catch(fail);
}

// picture is the scene with its terminals. The screens for the loop and for recordings share it.
export function picture() {
  const scene = create(point), clients = terminals(), view = camera(scene, W, H);
  const root = el('div', { class: 'picture' }, scene.svg, view.root, clients.root);
  let before = -1;
  return {
    root,
    render() {
      const at = store.cursor, frame = store.frame();
      const how = {
        state: store.view(), terminals: cast(), asleep: asleep(), busy: busy(), works: works(), forward: at >= before,
        motion: motion() && Math.abs(at - before) <= 4 ? (store.sample ? 90 : 420) : 0,
      };
      before = at;
      scene.render(frame, how);
      view.render(frame, scene.station);
      clients.render(how);
    },
  };
}

let parts = null;
let sources = null;

export function mount(root) {
  const source = el('aside', { class: 'source', 'data-label': 'box.source' });
  parts = { picture: picture(), strip: strip(), source, title: el('h3', { class: 'passtitle' }), legend: legend(), shown: '' };
  root.append(parts.picture.root, source, el('section', { class: 'below' }, el('header', {}, parts.title, parts.legend), parts.strip.svg));
  if (!sources) fetchSources();
}

async function fetchSources() {
  sources = {};
  const within = document.getElementById('sources');
  try { sources = within ? JSON.parse(within.textContent) : await (await fetch('/watch/sources')).json(); } catch { /* the place stays empty */ }
  parts.shown = '';
  store.changed();
}

const KINDS = ['wait', 'accept', 'read', 'parse', 'execute', 'expire', 'write', 'sleep'];

function legend() {
  return el('ul', { class: 'legend' }, KINDS.map((k) => el('li', {}, el('i', { class: k }), el('span', { 'data-t': k === 'accept' ? 'kind.accepts' : 'kind.' + k }))));
}

export function render() {
  const frame = store.frame();
  parts.picture.render();
  parts.strip.render(store.cursor);
  if (frame) {
    const { from, to } = store.passOf(store.cursor);
    const events = store.frames.slice(from, to + 1).map((f) => f.e), found = counted(events);
    parts.title.textContent = t(found.part ? 'strip.part' : 'strip.of', { pass: frame.e.pass, n: events.length, ...found });
  } else parts.title.textContent = t('box.pass');
  showSource(frame);
}

// showSource shows the function that made the event, with Redis's name, and what other versions do at that point.
function showSource(frame) {
  const point = frame ? (asleep() ? 's' : phaseOf(frame.e)) : 's';
  const info = store.hello?.points?.[point];
  const text = sources?.[info?.name] ?? sources?.[point];
  const questions = asked(point, store.hello?.threads?.length ?? 1);
  const key = `${point}|${info?.go}|${Boolean(text)}|${t('source.redis')}|${chosen()}|${questions}`;
  if (key === parts.shown) return;
  parts.shown = key;
  if (!info) { parts.source.replaceChildren(el('p', { class: 'dim' }, t('source.none'))); return; }
  const code = el('pre', { class: 'code mono', tabindex: '0', 'aria-label': info.go }, text ? paint(text.go) : '');
  parts.source.replaceChildren(el('h3', { class: 'mono' }, info.go), el('p', { class: 'file mono' }, `${text?.file ?? info.file}${text?.line ? ':' + text.line : ''}`),
    el('p', { class: 'redis' }, `${t('source.redis')}: `, el('b', { class: 'mono' }, info.c || '–')), questions.length ? which(questions, store.changed) : '', code);
}

const GO = /(\/\/[^\n]*)|("(?:[^"\\\n]|\\.)*"|`[^`]*`)|\b(func|return|if|else|for|range|switch|case|default|defer|go|var|const|type|struct|nil|true|false|break|continue|select|chan|map)\b/g;

// paint marks comments, strings and words of Go.
export function paint(text) {
  const out = [];
  let at = 0;
  for (const m of text.matchAll(GO)) {
    out.push(text.slice(at, m.index), el('span', { class: m[1] ? 'comment' : m[2] ? 'string' : 'word' }, m[0]));
    at = m.index + m[0].length;
  }
  out.push(text.slice(at));
  return el('code', {}, out);
}
