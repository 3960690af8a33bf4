// labs.js shows the thirteen labs: the task, the commands that begin and grade it, and the hints one by one.
// The last grade is not here: the grader is a process of its own and tells this server nothing.

import { add, lang, t } from './i18n.js';
import { el } from './svg.js';
import texts from './text/labs.js';

add(texts);

// The commands that start the skeletons, as package course/labs has them.
export const COMMANDS = {
  python: ['Python', '', 'python3 main.py'], java: ['Java', 'javac -d out *.java && ', 'java -cp out Main'],
  node: ['JavaScript', '', 'node main.mjs'], go: ['Go', '', 'go run .'],
  c: ['C', 'cc -O2 -Wall -pthread -o main *.c && ', './main'], rust: ['Rust', 'rustc --edition 2021 -O main.rs && ', './main'],
};

let root = null;
let drawn = '';
let chosen = 'L04';
let language = 'python';
let changes = 0;
let failed = '';
let copied = ''; // the command that was copied last
const labs = { en: null, zh: null };
const shown = new Map(); // id -> number of hints that are open

export function mount(at) {
  root = at;
  drawn = '';
  render();
}

function change() {
  changes++;
  render();
}

async function load(which) {
  labs[which] = [];
  try {
    const answer = await (await fetch(`/watch/labs?lang=${which}`)).json();
    labs[which] = answer.result;
  } catch (error) { failed = error.message; }
  change();
}

export function render() {
  if (!labs[lang]) { load(lang); return; }
  const key = `${lang}|${chosen}|${language}|${changes}`;
  if (!root || key === drawn) return;
  drawn = key;
  const focused = document.activeElement?.closest?.('[data-focus]')?.dataset.focus;
  const scrolled = root.querySelector('.lb-cards')?.scrollTop ?? 0;
  const lab = labs[lang].find((l) => l.id === chosen) ?? labs[lang][0];
  root.replaceChildren(el('div', { class: 'lb' }, index(), lab ? detail(lab) : el('p', { role: 'alert' }, failed && t('labs.failed', { why: failed }))));
  root.querySelector('.lb-cards').scrollTop = scrolled;
  if (focused) root.querySelector(`[data-focus="${focused}"]`)?.focus({ preventScroll: true });
}

// index is the list of cards.
function index() {
  const card = (l) => el('button', {
    class: 'lb-row', 'data-lab': l.id, 'data-focus': l.id, 'aria-current': l.id === chosen ? 'true' : null, click: () => { chosen = l.id; change(); },
  },
  el('b', {}, `${l.id.replace('L0', 'L')} ${l.title}`), el('span', { class: 'lb-idea' }, l.idea),
  el('span', { class: 'lb-facts' }, el('span', {}, t('labs.minutes', { n: l.minutes })), stars(l.level)));
  return el('nav', { class: 'lb-index', 'aria-label': t('labs.title') }, el('p', { class: 'lead' }, t('labs.lead')), el('div', { class: 'lb-cards' }, labs[lang].map(card)));
}

const stars = (level) => el('span', { class: 'lb-stars', role: 'img', 'aria-label': t('labs.level', { n: level }) }, '●'.repeat(level) + '○'.repeat(5 - level));

function detail(lab) {
  const n = shown.get(lab.id) ?? 0;
  return el('article', { class: 'lb-card card', 'data-n': lab.id, 'aria-live': 'polite' },
    el('header', {}, el('h2', {}, `${lab.id.replace('L0', 'L')} ${lab.title}`), el('p', { class: 'dim' }, lab.idea)),
    section('labs.task', prose(lab.task)), begin(lab), section('labs.judged', prose(lab.judged)),
    el('section', { class: 'lb-text' }, el('h3', {}, t('labs.hints')),
      lab.hints.slice(0, n).map((text, i) => el('div', { class: 'lb-hint' }, el('b', {}, t('labs.hint', { n: i + 1 })), prose(text))),
      n < lab.hints.length ? el('button', { class: 'lb-more', 'data-focus': 'more', 'data-key': 'h', click: () => { shown.set(lab.id, n + 1); change(); } },
        t('labs.more', { n: n + 1 }), ' ', el('kbd', {}, 'h')) : null));
}

const section = (title, content) => el('section', { class: 'lb-text' }, el('h3', {}, t(title)), content);

// begin has the two commands, for one language.
function begin(lab) {
  const [, build, run] = COMMANDS[language], id = lab.id.replace('L0', 'L');
  const command = (text) => el('div', { class: 'lb-command' }, el('code', { class: 'mono', tabindex: 0 }, text),
    el('button', { class: 'lb-copy', 'data-focus': text, click: () => copy(text) }, t(copied === text ? 'labs.copied' : 'labs.copy')));
  return el('section', { class: 'lb-start' }, el('h3', {}, t('labs.start')),
    el('div', { class: 'lb-langs', role: 'group', 'aria-label': t('labs.language') }, Object.entries(COMMANDS).map(([name, [title]]) =>
      el('button', { 'aria-pressed': String(name === language), 'data-focus': name, click: () => { language = name; change(); } }, title))),
    command(`miniredisd grade ${id} --template ${language} ${id}`),
    command(`cd ${id} && ${build}miniredisd grade ${id} -- ${run}`),
    el('p', { class: 'dim' }, t('labs.after')));
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    copied = text;
    change();
  } catch { /* the browser does not allow it: the text can be marked */ }
}

// prose turns the little Markdown of the labs into elements: paragraphs, numbered lists, tables, code.
function prose(text) {
  return text.split(/\n\n+/).map((part) => {
    const lines = part.split('\n');
    if (lines[0].startsWith('|')) return table(lines);
    if (/^1\. /.test(lines[0])) return el('ol', {}, part.split(/\n(?=\d+\. )/).map((item) => el('li', {}, inline(item.replace(/^\d+\. /, '')))));
    return el('p', {}, inline(part));
  });
}

function table(lines) {
  const cells = (line) => line.replace(/^\||\|$/g, '').split('|').map((c) => el('td', {}, inline(c.trim())));
  return el('table', {}, lines.filter((l) => !/^\|[-|]+\|$/.test(l)).map((l) => el('tr', {}, cells(l))));
}

// inline marks code. A line end is a blank in English, and nothing between Chinese characters.
function inline(text) {
  const joined = text.replace(/([\u3000-\u9fff\uff00-\uffef])\n\s*(?=[\u3000-\u9fff\uff00-\uffef])/g, '$1').replace(/\n\s*/g, ' ');
  return joined.split(/(`[^`]+`)/).map((p) => (p.startsWith('`') ? el('code', { class: 'mono' }, p.slice(1, -1)) : p.replace(/\*\*/g, '')));
}
