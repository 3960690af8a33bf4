// locks.js is the screen of locks: a row for each client, a bar for each lease, and buttons that break
// things. What it shows is the log of the lab, and so also shows clients that are not the page's.

import * as store from './store.js';
import { add, has, keyOf, lang, t } from './i18n.js';
import { el, narrow } from './svg.js';
import { fail, steady } from './shared.js';
import { KEY, LEASE, commands, quorums, storiesOf } from './stories.js';
import { leases } from './lease.js';
import { bars } from './bars.js';
import texts from './text/locks.js';
import reasons from './text/doctor.js';

add(texts);
add(reasons);

const CLIENTS = ['A', 'B', 'C'];
const POLL = 700; // ms between two looks at the log
const DAWN = 1700000000000;

let root = null;
let drawn = '';
let timer = 0;
let busy = false;
let logs = [[]]; // of each master
let now = DAWN;
let findings = [];
let story = null; // {of: a story, at: steps done}
let begun = false; // the lab is ours: clock frozen, keys watched
let changes = 0;
let pressed = null; // reports whether a button is down
const cut = new Set(); // clients behind a partition
const opened = new Set(); // connections that this screen has named

export function mount(at) {
  root = at;
  drawn = '';
  pressed = steady(root, render);
  clearInterval(timer);
  timer = setInterval(() => (root?.isConnected ? look() : clearInterval(timer)), POLL);
  look();
  render();
}

const masters = () => (store.hello?.masters ?? 1) / (1 + (store.hello?.replicas ?? 0)); // replicas get no requests here
const live = () => store.mode === 'live';
const stopped = () => ['stopped'].includes(store.state.state);

// lab executes a verb of LAB on a master, or on all of them.
async function lab(master, ...words) {
  const answer = await fetch(`/lab?master=${masters() === 1 ? 1 : master}`, {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ args: words }),
  });
  const reply = await answer.json();
  if (!reply.ok) throw new Error(reply.error);
  return masters() > 1 && master === 'all' ? reply.result : [reply.result];
}

// look reads the log, the clock and the doctor. A loop that stands still cannot answer.
async function look() {
  if (!live() || stopped() || busy) return;
  try {
    const [log, clock, doctor] = await Promise.all([lab('all', 'LOG'), lab('all', 'CLOCK'), lab('all', 'DOCTOR')]);
    const key = JSON.stringify([log, clock, doctor]);
    if (key === look.last) return;
    look.last = key;
    logs = log.map((l) => (Array.isArray(l) ? l : []));
    now = Math.max(...clock.map((c) => c['unix-ms'] ?? 0));
    findings = unique(doctor.flat().filter((f) => f.pattern));
    change();
  } catch { /* the server ends, or the loop has just stopped */ }
}

function unique(list) {
  const seen = new Set();
  return list.filter((f) => !seen.has(f.pattern + f.key) && seen.add(f.pattern + f.key));
}

function change() {
  changes++;
  render();
}

// begin takes over the lab: no rules, a clock that stands still, a log of the locks, no keys.
async function begin() {
  opened.clear();
  cut.clear();
  await lab('all', 'RESET', 'AT', String(DAWN));
  await lab('all', 'LOG', 'WATCH', 'lock:*');
  await say('A', 'flush');
  await lab('all', 'LOG', 'RESET');
  await lab('all', 'DOCTOR', 'RESET');
  begun = true;
  look.last = '';
}

const encode = (words) => `*${words.length}\r\n` + words.map((w) => `$${w.length}\r\n${w}\r\n`).join('');

const nameOn = (who, master) => (masters() === 1 ? who : `${who}-${master}`);

// alive reports whether a connection of the page has received something and not ended since.
const alive = (name) => store.replies.has(name) && !store.replies.get(name).closed;

const WAIT = 20; // ms between two looks for news

// until waits for news of the server, for some seconds at most.
async function until(ready) {
  for (let i = 0; i < 300 && !(await ready(i)); i++) await new Promise((r) => setTimeout(r, WAIT));
}

// connection opens a connection of a client to a master, and says who it is. The terminals may have left
// one of that name blocked, so that it would never answer: it is closed first.
async function connection(who, master) {
  const name = nameOn(who, master);
  if (opened.has(name) && alive(name)) return name;
  const order = (what) => store.post('/watch/clients', { do: what, name, master });
  if (!opened.has(name)) {
    await order('open'); // an open one stays as it is
    store.replies.delete(name);
    await order('close');
    await until(() => store.replies.get(name)?.closed);
  }
  await order('open');
  opened.add(name);
  await exchange(name, ['CLIENT', 'SETNAME', who], master);
  return name;
}

// KEPT are the outcomes of a request whose reply does not come now.
const KEPT = ['held', 'delayed', 'reply late', 'reply lost'];

// exchange sends a command and waits for its reply, for the end of the connection, or until a rule keeps it. It asks
// for rules now and then only, since a reply is quick.
async function exchange(name, words, master) {
  const replies = () => store.replies.get(name), before = replies();
  const log = async () => (await lab(master, 'LOG'))[0], last = (await log()).at(-1)?.seq ?? 0;
  const kept = async () => (await log()).some((e) => e.seq > last && KEPT.includes(e.outcome));
  await store.post('/watch/clients', { do: 'send', name, data: encode(words) });
  await until(async (i) => replies() !== before || (i % 10 === 9 && kept()));
}

// say lets a client send a command to one master, or to all.
async function say(who, what, master = 0, wait = true) {
  const words = what === 'flush' ? ['FLUSHALL'] : commands[what](who);
  for (let m = 1; m <= masters(); m++) {
    if (master && m !== master) continue;
    const name = await connection(who, m);
    if (wait && !cut.has(who)) await exchange(name, words, m);
    else await store.post('/watch/clients', { do: 'send', name, data: encode(words) });
  }
}

// play does the orders of a step.
async function play(orders) {
  for (const [verb, ...words] of orders) {
    if (verb === 'say') await say(words[0], words[1], words[2]);
    else if (verb === 'start') await say(words[0], words[1], words[2], false);
    else if (verb === 'advance') await lab('all', 'CLOCK', 'ADVANCE', String(words[0]));
    else if (verb === 'labOf') await lab(words[0], ...words.slice(1));
    else await lab('all', ...words);
  }
}

// act does something that a button asks for, one at a time.
async function act(do_) {
  if (busy) return;
  busy = true;
  change();
  try {
    if (!begun) await begin();
    await do_();
  } catch (error) { fail(error); }
  busy = false;
  look.last = '';
  await look();
  change();
}

const tell = (chosen) => act(async () => {
  await begin();
  story = { of: chosen, at: 0 };
});

const next = () => act(async () => {
  const [, ...orders] = story.of.steps[story.at];
  await play(orders);
  story.at++;
});

export function render() {
  const key = `${lang}|${changes}|${store.mode}|${store.state.state}|${masters()}|${narrow()}`;
  if (!root || pressed() || key === drawn) return;
  drawn = key;
  const focused = document.activeElement?.closest?.('[data-focus]')?.dataset.focus;
  root.replaceChildren(el('div', { class: 'lk', 'data-busy': String(busy) }, ...(live() ? screen() : [el('p', { class: 'lead' }, t('locks.off'))])));
  if (focused) root.querySelector(`[data-focus="${focused}"]`)?.focus({ preventScroll: true });
}

function screen() {
  const found = leases(logs, KEY, now);
  return [
    el('section', { class: 'lk-main' }, stories(), notice(), bars(found, CLIENTS, masters()), people(), breaks()),
    el('aside', { class: 'lk-side' }, verdict(found), doctor(), history()),
  ];
}

function notice() {
  if (!stopped()) return null;
  return el('p', { class: 'lk-notice', role: 'status' }, t('locks.stopped'), ' ',
    el('button', { 'data-focus': 'continue', click: () => store.step('CONTINUE').catch(fail) }, t('locks.continue')));
}

function button(name, label, do_, more = {}) {
  return el('button', { 'data-focus': name, 'data-do': name, disabled: busy || stopped(), click: do_, ...more }, label);
}

let told = { n: 0, list: [] };

// fitting are the stories for so many masters.
function fitting() {
  if (told.n !== masters()) told = { n: masters(), list: storiesOf(masters()) };
  return told.list;
}

// cast names the masters of a story.
function cast() {
  const { a, b, both } = quorums(masters()), list = (of) => of.join(lang === 'zh' ? '、' : ', ');
  return { a: list(a), b: list(b), both: list(both), k: both.length };
}

function stories() {
  const known = fitting(), pick = known.map((s) => button(`story-${s.name}`, t(`locks.story.${s.name}`), () => tell(s),
    { 'aria-pressed': String(story?.of.name === s.name), class: 'chip' }));
  return el('header', { class: 'lk-stories' },
    el('p', { class: 'lead' }, t('locks.lead')),
    el('div', { class: 'lk-chips', role: 'group', 'aria-label': t('locks.stories') }, pick),
    story ? caption() : logs.some((log) => log.length) ? null : first(known[0]));
}

// first is what to press on a screen that is still empty.
const first = (one) => el('div', { class: 'lk-caption lk-first' }, el('p', { class: 'lk-told' }, t('locks.first')),
  button('first', t('locks.on', { what: t('locks.start'), on: t(`locks.story.${one.name}`) }), () => tell(one), { class: 'cl-primary', 'data-key': 'n' }));

function caption() {
  const { of, at } = story;
  const over = at === of.steps.length;
  const text = at === 0 ? '' : t(`locks.${of.steps[at - 1][0]}`, cast());
  return el('div', { class: 'lk-caption', 'aria-live': 'polite', 'data-step': at },
    el('p', { class: 'dim' }, t('locks.step', { n: at, all: of.steps.length })),
    el('p', { class: 'lk-told' }, text || t('locks.story.' + of.name)),
    over ? el('p', { class: 'dim' }, t('locks.over'))
      : button('next', at === 0 ? t('locks.start') : t('locks.next'), next, { class: 'cl-primary', 'data-key': 'n' }));
}

// people has the buttons of each client.
function people() {
  const one = (who, i) => el('div', { class: 'lk-person', role: 'group', 'aria-label': t('locks.row', { who }) },
    el('b', { class: `disc c${i}` }, who),
    button(`take-${who}`, t('locks.take'), () => act(() => say(who, 'take'))),
    button(`renew-${who}`, t('locks.renew'), () => act(() => say(who, 'renew'))),
    button(`release-${who}`, t('locks.release'), () => act(() => say(who, 'release'))),
    button(`del-${who}`, t('locks.del'), () => act(async () => { await say(who, 'get'); await say(who, 'del'); })),
    button(`setnx-${who}`, t('locks.setnx'), () => act(() => say(who, 'setnx'))),
    button(`cut-${who}`, t(cut.has(who) ? 'locks.heal' : 'locks.partition', { who }), () => act(() => partition(who)),
      { 'aria-pressed': String(cut.has(who)) }));
  return el('div', { class: 'lk-people' }, CLIENTS.map(one));
}

async function partition(who) {
  const on = !cut.has(who);
  await connection(who, 1);
  await lab('all', 'PARTITION', 'CLIENT', who, on ? 'ON' : 'OFF');
  cut[on ? 'add' : 'delete'](who);
}

function breaks() {
  const held = logs.some((log) => log.findLast((e) => e.event === 'hold')?.outcome === 'held');
  const rule = (...words) => act(() => replace(...words));
  const last = masters(), victim = quorums(last).both[0];
  const on = (what) => t('locks.on', { what: t(`locks.${what}`), on: t('locks.lane', { n: victim }) });
  return el('div', { class: 'lk-breaks', role: 'group', 'aria-label': t('locks.break') },
    el('span', { class: 'cl-label' }, t('locks.break')),
    button('lose', t('locks.lose'), () => rule('lose', 'NTH', '1', 'ACTION', 'DROP-REPLY'), { class: 'lk-danger' }),
    held ? button('unhold', t('locks.unhold'), () => act(() => lab('all', 'HOLD', 'RELEASE', 'hold')), { class: 'cl-primary' })
      : button('hold', t('locks.hold'), () => hold(), { class: 'lk-danger' }),
    button('clock1', t('locks.clock1'), () => act(() => play([['advance', 10000]]))),
    button('clock2', t('locks.clock2'), () => act(() => play([['advance', LEASE + 1]]))),
    last > 1 ? button('jump', on('clock2'),
      () => act(() => lab(victim, 'CLOCK', 'ADVANCE', String(LEASE + 1))), { class: 'lk-danger' }) : null,
    button('crash', last > 1 ? on('crash') : t('locks.crash'),
      () => act(() => lab(victim, 'CRASH')), { class: 'lk-danger' }),
    button('reset', t('locks.reset'), () => { story = null; act(begin); }));
}

// hold makes the next release of any kind wait: DEL, or EVAL of an unlock script.
const hold = () => act(() => replace('hold', 'KEY', KEY, 'CMD', 'DEL', 'TIMES', '1', 'ACTION', 'HOLD'));

// replace adds a rule. An older one of that name goes first.
async function replace(name, ...words) {
  const rules = (await lab('all', 'FAULT', 'LIST')).flat();
  if (rules.some((r) => r.name === name)) await lab('all', 'FAULT', 'DEL', name);
  await lab('all', 'FAULT', 'ADD', name, ...words);
}

// view is a link to a view of LAB VERDICT, which judges all masters and all watched keys.
const view = (kind) => el('a', { href: `/lab/verdict.${kind}?lang=${lang}`, target: '_blank', rel: 'noopener' }, t(`locks.view.${kind}`));

function verdict(found) {
  const both = found.overlaps[0];
  const blind = found.terms.find((x) => !x.knows), endless = found.terms.find((x) => x.to === Infinity);
  const kind = both ? 'two' : blind ? 'unknown' : endless ? 'forever' : found.terms.length ? 'one' : 'none';
  const vars = both ? { a: both.owners[0], b: both.owners[1] } : { a: (blind ?? endless)?.owner };
  return el('section', { class: `card lk-verdict lk-${kind}`, 'data-verdict': kind, role: 'status' },
    el('h3', {}, t('locks.verdict')), el('p', {}, t(`locks.verdict.${kind}`, vars)),
    el('p', {}, view('svg'), ' · ', view('html')));
}

function doctor() {
  const one = (f) => {
    const key = `doctor.${f.pattern}`;
    return el('li', { 'data-pattern': f.pattern },
      el('b', {}, has(key) ? t(key) : f.pattern), el('code', {}, f.pattern), el('p', { class: 'dim' }, t(keyOf(`${key}.`, f.why) ?? f.why)));
  };
  return el('section', { class: 'card lk-doctor' }, el('h3', {}, t('locks.doctor')),
    findings.length ? el('ul', {}, findings.map(one)) : el('p', { class: 'dim' }, t('locks.doctor.none')));
}

// outcome is the reply, and what became of it.
const outcome = (e) => [e.reply, ['executed', 'error'].includes(e.outcome) ? '' : t(`locks.outcome.${e.outcome}`)].filter(Boolean).join(' · ');

function history() {
  const all = logs.flatMap((log, i) => log.map((e) => ({ ...e, master: i + 1 })).filter((e) => i === 0 || e.event !== 'clock'));
  const last = all.sort((a, b) => a.time - b.time || a.master - b.master || a.seq - b.seq).slice(-40).reverse();
  const one = (e) => {
    const who = e.client > 0 ? e.name || `#${e.client}` : '';
    return el('li', { class: e.outcome === 'executed' ? '' : 'lk-odd' },
      el('span', { class: 'dim' }, `+${((e.time - DAWN) / 1000).toFixed(e.time % 1000 ? 3 : 0)} s`),
      el('b', {}, masters() > 1 ? `${who} ${e.master}` : who),
      el('code', { title: e.cmd }, e.cmd || `${t(`locks.event.${e.event}`)} ${e.key}`), el('span', { class: 'lk-reply' }, e.event === 'clock' ? '' : outcome(e)));
  };
  return el('section', { class: 'card lk-history' }, el('h3', {}, t('locks.log')), el('ol', { tabindex: 0 }, last.map(one)));
}
