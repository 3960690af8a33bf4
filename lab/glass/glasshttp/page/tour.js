// tour.js is the tour of ten minutes: six steps. Each asks for a prediction, lights the next control, and says what
// was to see. How far the reader has come is kept in the browser.

import { el } from './svg.js';
import { add, lang, remember, remembered, t } from './i18n.js';
import * as store from './store.js';
import { marked } from './terms.js';
import { steady } from './shared.js';
import { STEPS, now, passed } from './steps.js';
import texts from './text/tour.js';

add(texts);

const LETTERS = ['a', 'b', 'c'];

let card = null;
let timer = 0;
let drawn = '';
let pressed = null; // reports whether a button of the card is down
let press = 0; // of the step: how many presses are done
let mark = null; // where the next press begins: see now
let listens = false;
let lit = null; // the control that is marked
let next = null; // the press that is next
const watcher = new MutationObserver(() => light()); // a screen that draws itself anew loses the mark
let progress = read(); // {at, guesses: {step: letter}, seen: {step: values}}

// read returns what the browser has kept, as far as it makes sense.
function read() {
  const fresh = { at: 0, guesses: {}, seen: {} };
  try {
    const kept = JSON.parse(remembered('tour'));
    return Number.isInteger(kept.at) && kept.at >= 0 && kept.at <= STEPS.length ? { ...fresh, ...kept } : fresh;
  } catch { return fresh; }
}

const keep = () => remember('tour', JSON.stringify(progress));

// toggle opens the tour where the reader has left it, or closes it.
export function toggle() {
  if (card) { close(); return; }
  card = el('aside', { id: 'tour', class: 'card', 'data-label': 'tour.title', 'aria-label': t('tour.title') });
  pressed = steady(card, look);
  document.getElementById('screen').after(card);
  keep(); // the reader has seen it
  begin(Math.min(progress.at, STEPS.length));
  timer = setInterval(() => { if (!store.stale()) look(); }, 200); // the card is never ahead of the picture
  watcher.observe(document.getElementById('screen'), { childList: true, subtree: true, attributes: true, attributeFilter: ['class'] });
  if (!listens) store.on(look);
  listens = true;
  card.querySelector('button')?.focus({ preventScroll: true });
}

function close() {
  clearInterval(timer);
  watcher.disconnect();
  next = null;
  light();
  card.remove();
  card = null;
  drawn = '';
  document.getElementById('set-tour').focus();
}

function begin(at) {
  progress.at = at;
  press = 0;
  mark = now();
  keep();
  const step = STEPS[at];
  if (step && !['loop', 'locks'].includes(document.body.dataset.screen)) location.hash = step.screen;
  look();
}

// look finds out what the reader has pressed, lights the next control, and draws the card.
function look() {
  if (!card) return;
  const step = STEPS[progress.at], usable = store.mode === 'live' && (store.hello?.masters ?? 1) === 1;
  next = step && usable && progress.guesses[step.id] ? advance(step) : null;
  light();
  const key = [lang, progress.at, progress.guesses[step?.id], press, next?.say, usable].join();
  if (pressed() || key === drawn) return;
  drawn = key;
  card.replaceChildren(...(usable ? draw(step) : [head(t('tour.title')), el('p', {}, t('tour.live'))]));
  card.dataset.say = next?.say ?? '';
  card.dataset.step = progress.at;
  card.dataset.press = step && press >= step.presses.length ? 'done' : press;
}

// advance counts the presses that are done, and returns the one that is next.
function advance(step) {
  while (press < step.presses.length && step.presses[press].done(mark)) {
    const { keeps } = step.presses[press];
    press++;
    if (press === step.presses.length) { progress.seen[step.id] = step.id === 'pipe' ? passed(mark) : {}; keep(); }
    if (!keeps) mark = now();
  }
  if (press === step.presses.length) return null;
  const { say, ...more } = step.presses[press], one = { ...more, say: typeof say === 'function' ? say() : say };
  if (/^(#(toggle|event|command|pass)$|\[data-way|\[data-client)/.test(one.light) && document.body.dataset.screen !== 'loop') return { say: 'loop', light: '#tab-loop' };
  if (one.light.startsWith('[data-do') && document.body.dataset.screen !== 'locks') return { say: 'locks', light: '#tab-locks' };
  return one;
}

// light marks the next control, and brings it into view.
function light() {
  const node = next && document.querySelector(next.light);
  if (node === lit && (!node || node.classList.contains('lit'))) return;
  lit?.classList.remove('lit');
  lit = node;
  if (!node) return;
  node.classList.add('lit');
  const r = node.getBoundingClientRect(), mine = card.getBoundingClientRect();
  const low = innerWidth <= 700 ? mine.top : innerHeight; // a phone has the tour at the bottom
  if (r.top < 0 || r.bottom > low) node.scrollIntoView({ block: 'center' });
}

function head(title) {
  return el('header', {}, el('h3', {}, title), el('button', { type: 'button', class: 'tour-close', 'aria-label': t('tour.close'), title: t('tour.close'), click: close }, '×'));
}

function draw(step) {
  if (!step) return over();
  const at = progress.at + 1, guess = progress.guesses[step.id], done = press >= step.presses.length;
  return [
    head(t('tour.step', { n: at, all: STEPS.length })),
    el('h4', {}, t(`tour.${step.id}.title`)),
    el('p', {}, marked(t(`tour.${step.id}.text`))),
    el('p', { class: 'tour-ask' }, marked(t(`tour.${step.id}.ask`))),
    el('div', { class: 'tour-answers', role: 'group', 'aria-label': t('tour.predict') }, LETTERS.filter((l) => `tour.${step.id}.${l}` in texts.en).map((l) => answer(step, l, guess, done))),
    el('div', { 'aria-live': 'polite' }, told(step, guess, done)),
    done ? el('button', { type: 'button', class: 'cl-primary tour-next', click: () => begin(progress.at + 1) }, t(at === STEPS.length ? 'tour.end' : 'tour.on')) : null,
  ].filter(Boolean);
}

function answer(step, letter, guess, done) {
  const verdict = !done ? '' : letter === step.right ? 'cl-right' : letter === guess ? 'cl-wrong' : '';
  return el('button', {
    type: 'button', class: `cl-answer ${verdict}`, 'data-tour': letter, 'aria-pressed': String(letter === guess), disabled: Boolean(guess),
    click: () => { progress.guesses[step.id] = letter; mark = now(); keep(); look(); },
  }, el('span', {}, t(`tour.${step.id}.${letter}`)));
}

// told says what to press next, or what was to see.
function told(step, guess, done) {
  if (!guess) return [el('p', { class: 'dim' }, t('tour.predict'))];
  if (!done) return next ? [el('p', { class: 'tour-do' }, t(`tour.do.${next.say}`, { who: next.who }))] : [];
  return [el('p', {}, el('b', {}, t(guess === step.right ? 'tour.right' : 'tour.wrong')), ' ', ...marked(t(`tour.${step.id}.so`, progress.seen[step.id] ?? {})))];
}

function over() {
  const right = STEPS.filter((s) => progress.guesses[s.id] === s.right).length;
  return [
    head(t('tour.title')), el('p', { 'data-right': right }, t('tour.score', { right, all: STEPS.length })), el('p', {}, t('tour.then')),
    el('button', { type: 'button', class: 'tour-next', click: () => { progress = { at: 0, guesses: {}, seen: {} }; location.hash = 'loop'; begin(0); } }, t('tour.again')),
  ];
}
