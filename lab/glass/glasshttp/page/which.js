// which.js is the switch "Which Redis?": what Redis 6.0 to 7.2, Redis 8, Valkey and this server do at a step. The texts
// are the table of docs/threading-model.md, and no more.

import { el } from './svg.js';
import { add, remember, remembered, t } from './i18n.js';
import texts from './text/which.js';

add(texts);

export const VERSIONS = ['r7', 'r8', 'v8', 'mini'];
export const ALL = ['owner', 'queue', 'reads', 'writes', 'executes', 'barrier', 'meanwhile', 'idle', 'count', 'waits', 'prefetch', 'advised'];

// AT has the questions that a point of the loop raises, and OF those of a claim. Some are ABOUT_THREADS.
const AT = {
  w: ['waits'], h: ['owner'], a: ['owner'], g: ['count'], t: ['owner', 'count'], j: ['barrier', 'meanwhile'], r: ['reads'], p: ['reads', 'queue'],
  x: ['executes', 'queue'], y: ['writes'], m: ['writes'], o: ['writes'], s: ['waits', 'idle'], b: ['executes'],
};
const ABOUT_THREADS = ['barrier', 'meanwhile', 'idle', 'count'];
export const OF = { 1: ['queue', 'executes'], 2: ['waits'], 6: ['reads', 'writes'], 7: ['advised', 'count'], 19: ['owner', 'queue', 'reads', 'executes'] };

const known = remembered('version');
let version = VERSIONS.includes(known) ? known : 'r7';

export const chosen = () => version;

// asked returns the questions that a point raises. Nobody asks about the I/O threads of a server that has none.
export const asked = (point, threads) => (AT[point] ?? []).filter((q) => threads > 1 || !ABOUT_THREADS.includes(q));

// which returns the switch with the answers to some questions. after is called when another version is chosen.
export function which(questions, after) {
  const choose = (v) => () => { version = v; remember('version', v); after(); };
  return el('section', { class: 'wh', 'aria-label': t('which.title') },
    el('h4', { title: t('which.read') }, t('which.title')),
    el('div', { class: 'wh-switch', role: 'group', 'aria-label': t('which.title') }, VERSIONS.map((v) => el('button', {
      type: 'button', 'data-version': v, 'data-focus': `version-${v}`, 'aria-pressed': String(v === version), click: choose(v),
    }, t(`which.${v}`)))),
    el('dl', { class: 'wh-says', 'aria-live': 'polite' }, questions.map((q) => [el('dt', {}, t(`which.${q}`)), el('dd', {}, coded(t(`which.${q}.${version}`)))]).flat()));
}

// coded marks what stands between backquotes.
export const coded = (text) => text.split(/(`[^`]+`)/).map((p) => (p.startsWith('`') ? el('code', { class: 'mono' }, p.slice(1, -1)) : p));
