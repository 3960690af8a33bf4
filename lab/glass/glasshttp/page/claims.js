// claims.js: sentences that articles repeat. Predict, let a private server play the story, look at the
// events that decide.

import * as store from './store.js';
import { add, lang, t } from './i18n.js';
import { el } from './svg.js';
import { eventRows } from './rows.js';
import { OF, which } from './which.js';
import { marked } from './terms.js';
import { steady } from './shared.js';
import texts from './text/claims.js';

add(texts);

// The right answer to each question.
const ANSWERS = {
  1: 'b', 2: 'b', 3: 'a', 4: 'b', 5: 'a', 6: 'b', 7: 'b', 8: 'a', 9: 'b', 10: 'b', 11: 'b', 12: 'b', 13: 'b', 14: 'b',
  15: 'b', 16: 'b', 17: 'b', 18: 'b', 19: 'b', 20: 'b', 21: 'b', 22: 'b', 23: 'b', 24: 'b', 25: 'b', 26: 'b', 27: 'b', 28: 'b', 29: 'b',
};
const SHOWN = 14; // rows of evidence

let root = null;
let drawn = '';
let chosen = 1;
let numbers = []; // of the claims that the server can run
let changes = 0;
let pressed = null; // reports whether a button is down
const cards = new Map(); // n -> {guess, running, result, failed}; guess is made before the result is known

export function mount(at) {
  root = at;
  drawn = '';
  pressed = steady(root, render);
  if (!numbers.length) list();
  render();
}

async function list() {
  numbers = Object.keys(ANSWERS).map(Number);
  try {
    const answer = await (await fetch('/watch/claims')).json();
    numbers = (answer.result ?? answer).map((c) => c.n);
  } catch { /* a page from a file has no server: the sentences stay readable */ }
  if (!numbers.includes(chosen)) chosen = numbers[0];
  change();
}

function change() {
  changes++;
  render();
}

const card = (n) => {
  if (!cards.has(n)) cards.set(n, {});
  return cards.get(n);
};

function choose(n, focus) {
  chosen = n;
  change();
  if (focus) root.querySelector(`[data-claim="${n}"]`)?.focus();
}

async function run(n, guess) {
  const c = card(n);
  if (c.running) return;
  if (!c.result) c.guess ??= guess;
  Object.assign(c, { running: true, failed: '' });
  change();
  try {
    c.result = await store.post('/watch/claims', { n });
  } catch (error) {
    c.failed = error.message;
  }
  c.running = false;
  change();
  root?.querySelector('.cl-result')?.scrollIntoView({ block: 'nearest' });
}

// runAll runs what has no result yet. It stops where an experiment fails, so that the reason stays on the screen.
async function runAll() {
  for (const n of numbers) {
    if (card(n).result) continue;
    choose(n);
    await run(n);
    if (card(n).failed) return;
  }
}

export function render() {
  const key = `${lang}|${chosen}|${changes}`;
  if (!root || pressed() || key === drawn) return;
  drawn = key;
  const focused = document.activeElement?.closest?.('[data-focus]')?.dataset.focus;
  const scrolled = root.querySelector('.cl-list')?.scrollTop ?? 0;
  root.replaceChildren(el('div', { class: 'cl' }, index(), detail(chosen)));
  root.querySelector('.cl-list').scrollTop = scrolled;
  if (focused) root.querySelector(`[data-focus="${focused}"]`)?.focus({ preventScroll: true });
}

// index is the list of all claims.
function index() {
  const done = numbers.filter((n) => cards.get(n)?.result).length;
  const { right, all } = score();
  const row = (n) => {
    const result = cards.get(n)?.result;
    return el('li', {},
      el('button', {
        class: 'cl-row', 'data-claim': n, 'data-focus': `claim${n}`, 'aria-current': n === chosen ? 'true' : null,
        tabindex: n === chosen ? 0 : -1, click: () => choose(n, true),
      },
      el('span', { class: 'cl-n' }, String(n)),
      el('span', { class: 'cl-text' }, t(`claims.${n}.claim`)),
      result ? mark(result.verdict) : null));
  };
  const list = el('ol', { class: 'cl-list', keydown: arrows }, numbers.map(row));
  return el('nav', { class: 'cl-index', 'aria-label': t('claims.title') },
    el('p', { class: 'lead' }, t('claims.lead')), list,
    el('div', { class: 'cl-foot' },
      el('span', { class: 'dim' }, t('claims.done', { n: done, all: numbers.length })),
      el('button', { 'data-focus': 'all', 'data-run': 'all', click: runAll }, t('claims.all'))),
    el('div', { class: 'cl-foot' },
      el('span', { class: 'dim', 'data-score': right }, t('claims.score', { right, n: all })),
      el('button', { 'data-focus': 'export', 'data-export': 'results', disabled: !all, click: save }, t('claims.export'))));
}

// predicted returns the claims that were predicted before their experiment, and whether each was right.
const predicted = () => numbers.filter((n) => cards.get(n)?.result && cards.get(n).guess)
  .map((n) => ({ n, right: cards.get(n).guess === ANSWERS[n] }));

function score() {
  const all = predicted();
  return { right: all.filter((p) => p.right).length, all: all.length };
}

// results has the form of miniredisd grade --results: each claim is a test of one point.
export function results() {
  const tests = numbers.map((n) => {
    const c = card(n);
    const known = predicted().find((p) => p.n === n);
    const output = !known ? t('claims.unasked')
      : `${told(n, c)} ${t(`claims.verdict.${c.result.verdict}`)}. ${t(`claims.${n}.so`)}`;
    return {
      name: t(`claims.${n}.claim`), number: String(n), score: known?.right ? 1 : 0, max_score: 1,
      status: known?.right ? 'passed' : 'failed', output,
    };
  });
  const { right, all } = score();
  return { score: right, output: t('claims.score', { right, n: all }), tests };
}

function save() {
  const url = URL.createObjectURL(new Blob([JSON.stringify(results(), null, 2) + '\n'], { type: 'application/json' }));
  el('a', { href: url, download: 'results.json' }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

const SIGNS = { true: '✓', false: '✗', history: '✗', partly: '½' };

function mark(verdict) {
  return el('span', { class: `cl-mark cl-${verdict}`, title: t(`claims.verdict.${verdict}`) }, SIGNS[verdict]);
}

function arrows(event) {
  const step = { ArrowDown: 1, ArrowUp: -1, Home: -99, End: 99 }[event.key];
  if (!step) return;
  event.preventDefault();
  event.stopPropagation();
  const at = numbers.indexOf(chosen) + step;
  choose(numbers[Math.max(0, Math.min(at, numbers.length - 1))], true);
}

function detail(n) {
  if (!n) return el('article', { class: 'cl-card card' });
  const c = card(n);
  return el('article', { class: 'cl-card card', 'data-n': n, 'aria-live': 'polite' },
    el('header', {},
      el('p', { class: 'cl-label' }, `${t('claims.claim')} ${n}`),
      el('blockquote', {}, t(`claims.${n}.claim`))),
    question(n, c),
    c.failed ? el('p', { class: 'cl-failed', role: 'alert' }, t('claims.failed', { why: c.failed })) : null,
    c.result ? outcome(n, c) : null);
}

function question(n, c) {
  const letters = ['a', 'b', 'c'].filter((l) => l + n in keysOf(n));
  if (n % 2 === 0 && letters.length === 2) letters.reverse(); // or b would be right too often
  const answer = (letter, i) => {
    const known = c.result && c.guess; // an answer without a prediction is not marked
    const state = known && letter === ANSWERS[n] ? 'cl-right' : known && letter === c.guess ? 'cl-wrong' : '';
    return el('button', {
      class: `cl-answer ${state}`, 'data-answer': letter, 'data-focus': `answer${letter}`, 'data-key': 'abc'[i],
      'aria-pressed': String(c.guess === letter), disabled: c.running, click: () => run(n, letter),
    }, el('kbd', {}, 'abc'[i]), el('span', {}, t(`claims.${n}.${letter}`)));
  };
  return el('section', { class: 'cl-question' },
    el('p', { class: 'cl-label' }, t('claims.predict')),
    el('p', { class: 'cl-ask' }, t(`claims.${n}.ask`)),
    el('div', { class: 'cl-answers', role: 'group', 'aria-label': t('claims.predict') }, letters.map(answer)),
    c.running ? el('p', { class: 'dim running' }, t('claims.running')) : null);
}

// keysOf returns the answers that claim n has.
function keysOf(n) {
  const keys = {};
  for (const l of ['a', 'b', 'c']) if (`claims.${n}.${l}` in texts.en) keys[l + n] = true;
  return keys;
}

function outcome(n, c) {
  const { verdict, facts, evidence, recording, beside } = c.result;
  const lines = recording ?? [];
  return el('section', { class: 'cl-result', 'data-verdict': verdict },
    el('div', { class: `cl-verdict cl-${verdict}` },
      el('span', { class: 'cl-stamp' }, t(`claims.verdict.${verdict}`)),
      el('div', {}, el('p', { class: 'dim', 'data-told': '' }, told(n, c)), el('p', { class: 'cl-so' }, marked(t(`claims.${n}.so`))))),
    Object.keys(facts).length ? measured(facts) : null,
    OF[n] ? which(OF[n], change) : null,
    lines.length ? proof(n, evidence, lines) : el('p', { class: 'dim' }, t('claims.history')),
    (beside ?? []).map((b) => besides(b)),
    el('p', { class: 'cl-actions' },
      lines.length ? el('button', { class: 'cl-primary', 'data-open': n, 'data-focus': 'open', 'data-key': 'o', click: () => open(n, lines) },
        t('claims.open')) : null,
      el('button', { 'data-focus': 'again', click: () => run(n) }, t('claims.again'))));
}

// told says how the prediction went, and why.
function told(n, c) {
  if (!c.guess) return t('claims.unasked');
  if (c.guess === ANSWERS[n]) return t('claims.right');
  return t('claims.wrong', { answer: t(`claims.${n}.${c.guess}`), right: t(`claims.${n}.${ANSWERS[n]}`) });
}

function measured(facts) {
  const value = (v) => (v === true ? '✓' : v === false ? '✗' : String(v));
  // The order of the texts is the order of the facts.
  const names = Object.keys(texts.en).filter((k) => k.startsWith('claims.f.')).map((k) => k.slice(9));
  const known = names.filter((name) => name in facts);
  return el('dl', { class: 'cl-facts', 'aria-label': t('claims.facts') }, known.map((name) =>
    el('div', {}, el('dt', {}, t(`claims.f.${name}`)), el('dd', { 'data-fact': name }, value(facts[name])))));
}

function proof(n, evidence, lines) {
  const { rows, all } = eventRows(lines, evidence);
  return el('div', { class: 'cl-evidence' },
    el('p', { class: 'cl-label' }, t('claims.evidence', { n: Math.min(rows.length, SHOWN), all })),
    el('ol', {}, rows.slice(0, SHOWN)));
}

// besides lists the events of another act.
function besides({ act, evidence, recording }) {
  const { rows } = eventRows(recording, evidence), key = `claims.act.${act}`;
  return el('div', { class: 'cl-evidence', 'data-act': act },
    el('p', { class: 'cl-label' }, t('claims.beside', { act: key in texts[lang] ? t(key) : act })),
    el('ol', {}, rows.slice(0, SHOWN)));
}

function open(n, lines) {
  store.load(lines.map((l) => (typeof l === 'string' ? l : JSON.stringify(l))).join('\n'), t(`claims.${n}.claim`));
  location.hash = 'replay';
}
