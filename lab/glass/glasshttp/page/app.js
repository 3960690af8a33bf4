// app.js is the shell of the page: screens, keys, language, theme, motion, and the controls of the
// loop. A screen is a module with mount(root) and render(). A button with data-key is pressed by
// that key.

import { el } from './svg.js';
import { add, lang, number, remember, remembered, setLang, t, translate } from './i18n.js';
import * as store from './store.js';
import { kindOf, lasting, parts, sentence } from './narrate.js';
import { asleep, busy, fail, motion, setMotion, works } from './shared.js';
import { explain, glossary, marked } from './terms.js';
import texts from './text/app.js';

add(texts);

// SCREENS: name, key, module, and whether the controls of the loop stand above it.
const SCREENS = [
  { id: 'loop', key: '1', loop: true, load: () => import('./loop.js') },
  { id: 'timeline', key: '2', loop: true, load: () => import('./timeline.js') },
  { id: 'claims', key: '3', load: () => import('./claims.js') },
  { id: 'locks', key: '4', load: () => import('./locks.js') },
  { id: 'models', key: '5', load: () => import('./models.js') },
  { id: 'labs', key: '6', load: () => import('./labs.js') },
  { id: 'replay', key: '7', loop: true, load: () => import('./replay.js') },
  { id: 'topology', key: '8', load: () => import('./topology.js') }, // of several servers
];

// screens are all, or in a saved file those that need no server.
const screens = () => SCREENS.filter((s) => s.loop || !$('recording'));

const $ = (id) => document.getElementById(id);
let screen = null; // {id, loop, module}
let playing = null; // timer of a recording that plays

const frozen = () => ['stopped', 'armed', 'asleep'].includes(store.state.state);

const end = () => store.go(store.frames.length - 1);

// toggle is the space bar: pause or go on. A recording plays or stops.
async function toggle() {
  if (store.mode === 'recording') { play(); return; }
  const goOn = frozen();
  await store.step(goOn ? 'CONTINUE' : 'PAUSE');
  if (goOn) end();
}

function play() {
  if (playing) { clearInterval(playing); playing = null; store.changed(); return; }
  if (store.cursor >= store.frames.length - 1) store.go(0);
  playing = setInterval(() => {
    if (store.cursor >= store.frames.length - 1 || store.mode !== 'recording') { clearInterval(playing); playing = null; store.changed(); return; }
    store.go(store.cursor + 1);
  }, 900);
  store.changed();
}

// next goes to the next event, command or pass: among the frames while they last, then in the server.
async function next(unit, points) {
  const running = store.mode === 'live' && store.live && store.state.state === 'running';
  const i = running ? -1 : points ? store.find(points, 1) : store.cursor + 1;
  if (i >= 0 && i < store.frames.length) { store.go(i); return; }
  if (store.mode !== 'live') { store.go(store.frames.length - 1); return; }
  await store.step('NEXT', unit);
}

// forward goes on among what has happened. Before an audience it goes on in the server, too.
function forward() {
  if (big() && store.mode === 'live' && store.cursor >= store.frames.length - 1) return next('EVENT');
  return store.go(store.cursor + 1);
}

const CONTROLS = [
  { key: ' ', id: 'toggle', act: toggle },
  { key: 'n', id: 'event', act: () => next('EVENT') },
  { key: 'c', id: 'command', act: () => next('COMMAND', ['x']) },
  { key: 'p', id: 'pass', act: () => next('PASS', ['w']) },
  { key: 'ArrowLeft', id: 'back', act: () => store.go(store.cursor - 1) },
  { key: 'ArrowRight', id: 'forward', act: forward },
];

function controls() {
  for (const c of CONTROLS) {
    const arrow = c.key.startsWith('Arrow');
    const hint = el('kbd', {}, c.key === ' ' ? '␣' : arrow ? (c.id === 'back' ? '←' : '→') : c.key);
    $('controls').append(el('button', {
      type: 'button', id: c.id, class: `control ${c.id}`, 'data-key': c.key, 'data-label': `do.${c.id}`, click: () => Promise.resolve(c.act()).catch(fail),
    }, arrow ? null : el('span', { 'data-t': `do.${c.id}.short` }), hint));
    if (c.id === 'forward') $('controls').append(el('button', { type: 'button', id: 'place', class: 'place', 'data-key': 'End', 'data-label': 'do.end', click: end }));
  }
  const slow = el('select', { id: 'slow', 'data-label': 'do.slow', change: () => store.step('SLOW', slow.value).catch(fail) },
    [0, 100, 300, 1000].map((ms) => el('option', { value: ms, 'data-t': `slow.${ms}` })));
  $('controls').append(slow, el('button', { type: 'button', id: 'small', 'data-key': 'Escape', 'data-label': 'set.small', click: project }, '×'));
}

function settings() {
  const button = (id, key, act) => el('button', { type: 'button', id: `set-${id}`, 'data-key': key, 'data-label': `set.${id}`, click: act }, el('span', { 'data-t': `set.${id}.short` }));
  $('settings').append(
    el('select', { id: 'masters', 'data-label': 'set.master', hidden: true, change: (e) => store.connect(Number(e.target.value)) }),
    button('tour', 't', tour),
    button('lang', 'l', () => { setLang(lang === 'en' ? 'zh' : 'en'); store.changed(); }),
    button('theme', 'd', () => theme(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark')),
    button('motion', 'm', () => { setMotion(!motion()); applyMotion(); }),
    button('big', 'f', project), button('help', '?', help));
}

// tour opens the tour. A saved file has no server, and so no tour.
async function tour() { (await import('./tour.js')).toggle(); }

// project is the mode for an audience: a big sentence, the picture, and the arrows move on.
function project() {
  document.documentElement.dataset.projector = big() ? 'off' : 'on';
  store.changed();
}

const big = () => document.documentElement.dataset.projector === 'on';

function theme(name) {
  document.documentElement.dataset.theme = name;
  remember('theme', name);
}

function applyMotion() {
  document.documentElement.dataset.motion = motion() ? 'on' : 'off';
  $('set-motion').setAttribute('aria-pressed', String(motion()));
}

function tabs() {
  for (const s of screens()) {
    $('tabs').append(el('a', { href: `#${s.id}`, 'data-key': s.key, 'data-label': `screen.${s.id}`, id: `tab-${s.id}` }, el('kbd', {}, s.key), el('span', { 'data-t': `screen.${s.id}` })));
  }
}

// help lists every button that has a key.
function help() {
  const dialog = $('help');
  if (dialog.open) { dialog.close(); return; }
  const rows = [...document.querySelectorAll('[data-key]')].filter((b) => b.offsetParent).map((b) => {
    const key = { ' ': t('key.space'), ArrowLeft: '←', ArrowRight: '→' }[b.dataset.key] ?? b.dataset.key;
    return el('li', {}, el('kbd', {}, key), ' ', b.getAttribute('aria-label') ?? b.textContent);
  });
  dialog.replaceChildren(el('h2', { tabindex: -1, autofocus: '' }, t('help.title')), el('p', {}, t('help.road')), el('p', {}, t('help.bytes')), el('p', {}, t('help.stop')), el('p', {}, t('help.past')),
    el('ul', { class: 'keylist' }, rows), el('h3', {}, t('term.title')), glossary(), el('form', { method: 'dialog' }, el('button', {}, t('help.close'))));
  dialog.showModal();
}

// REMOTE has the keys of a remote control for slides.
const REMOTE = { PageDown: 'ArrowRight', PageUp: 'ArrowLeft' };

// The keys: a key presses the visible button with its name. Fields keep their keys, but Escape leaves them.
function key(e) {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  const typing = e.target.matches('input:not([type=range]), textarea, select');
  if (e.key === 'Escape' && typing) { e.target.blur(); return; }
  if (typing || (e.target.type === 'range' && e.key.startsWith('Arrow'))) return;
  if ($('help').open && e.key !== '?') return;
  if (e.key === ' ' && e.target.matches('button, a, summary')) e.target.blur();
  const name = (big() && REMOTE[e.key]) || e.key;
  const button = [...document.querySelectorAll('[data-key]')].find((b) => b.dataset.key === name && b.offsetParent && !b.disabled);
  if (!button) return;
  e.preventDefault();
  button.click();
}

// shared opens the recording in the address. It reports whether there is one.
async function shared() {
  if (!location.hash.startsWith('#rec=') || $('recording')) return false;
  if (location.hash === shared.last) return true;
  shared.last = location.hash;
  await import('./text/replay.js').then((m) => add(m.default));
  try {
    const { read } = await import('./link.js'), { lines, at } = await read(location.hash);
    store.load(lines, t('rp.shared'));
    store.go(Math.max(0, store.frames.findIndex((f) => f.e.seq >= at)));
  } catch { fail(new Error(t('rp.wrong'))); }
  return true;
}

async function route() {
  const asked = (await shared()) ? 'replay' : location.hash.slice(1);
  const spec = screens().find((s) => s.id === asked) ?? SCREENS.find((s) => s.id === (store.mode === 'recording' ? 'replay' : 'loop'));
  if (screen?.id === spec.id) return;
  try {
    const module = await spec.load();
    const root = el('div', { class: `screen ${spec.id}` });
    $('screen').replaceChildren(root);
    screen = { ...spec, module };
    store.showTopology(spec.id === 'topology');
    module.mount(root);
  } catch (err) { fail(err); return; }
  translate(document);
  for (const s of screens()) $(`tab-${s.id}`).toggleAttribute('aria-current', s.id === spec.id);
  render();
}

// words are the sentence under the controls: the state of the server, or the event at the cursor.
function words() {
  const s = store.state.state, f = store.frame();
  if (store.mode === 'none' || s === 'none') return t('say.none');
  if (store.mode === 'recording' || !store.live) return sentence(f, store.hello);
  if (s === 'asleep') return t('say.asleep');
  if (busy()) return lasting(f, store.state.pass);
  if (s === 'armed' && (!f || f.e.point === 's')) return t('say.armed');
  if (s !== 'running') return sentence(f, store.hello);
  const r = store.rates();
  if (r && r.passes > 12) return t('say.running', { commands: number(r.commands), passes: number(r.passes), of: number(Math.max(1, r.passes / r.samples)) });
  if (works()) return t(`say.work.${works()}`);
  if (asleep()) return t(store.frames.length ? 'say.quiet' : 'say.nothing');
  return sentence(f, store.hello);
}

// say writes the sentence. Clients wear their colours in it.
function say(sentence) {
  if (sentence === say.last) return;
  say.last = sentence;
  $('now').replaceChildren(...parts(sentence).map((p) => (p.client ? el('b', { class: `disc c${p.client.hue}` }, p.text) : p.code ? el('code', { class: 'mono' }, p.text) : marked(p.text))).flat());
  $('now').className = '';
  if ($('now').scrollHeight > $('now').clientHeight + 2) $('now').className = 'small';
}

// hear tells a screen reader the sentence. A server that runs would speak ten times a second: then it hears the state.
function hear(shown) {
  const words = ['running', 'playing'].includes(shown) && !asleep() && !busy() ? pill() : $('now').textContent;
  if ($('heard').textContent !== words) $('heard').textContent = words;
}

function pill() {
  if (store.mode === 'recording') return t('pill.recording', { name: store.name });
  const s = store.state;
  if (!store.live && s.state !== 'none') return t('pill.past');
  if (s.state === 'running' && s.busy) return t('pill.busy');
  const own = /^page-(\w)$/.exec(s.breakpoint ?? '')?.[1];
  return t(s.breakpoint ? 'pill.break' : `pill.${s.state}`, { name: own ? t(`point.${own}`) : s.breakpoint });
}

function render() {
  const f = store.frame();
  const shown = store.mode === 'recording' ? (playing ? 'playing' : 'recording') : store.live ? store.state.state : 'past';
  $('state').textContent = pill();
  $('state').title = pill();
  say(words());
  hear(shown);
  $('place').textContent = store.frames.length ? `${number(store.cursor + 1)} / ${number(store.frames.length)}` : '';
  const run = store.mode === 'recording' ? (playing ? 'do.toggle.short' : 'do.play.short') : frozen() ? 'do.continue.short' : 'do.toggle.short';
  const label = $('toggle').firstChild;
  label.dataset.t = run;
  label.textContent = t(run);
  $('back').disabled = store.cursor <= 0;
  $('forward').disabled = store.cursor >= store.frames.length - 1 && !(big() && store.mode === 'live');
  $('slow').hidden = store.mode === 'recording';
  if (document.activeElement !== $('slow')) $('slow').value = String(store.state.slow ?? 0);
  masters();
  $('set-tour').hidden = store.mode !== 'live';
  $('set-tour').classList.toggle('first', remembered('tour') === null);
  document.querySelector('.now').hidden = screen ? !screen.loop : false;
  screen?.module.render();
  const body = document.body.dataset;
  body.state = shown;
  body.seq = f ? f.e.seq : 0;
  body.stop = shown === 'stopped' ? store.state.seq : 0; // its snapshot is here by then
  document.querySelector('.now').className = `now ${f && !asleep() ? kindOf(f.e) : 'sleep'}`;
  body.screen = screen?.id ?? '';
  body.lang = lang;
}

function masters() {
  const n = store.hello?.masters ?? 1, replicas = store.hello?.replicas ?? 0, first = n / (1 + replicas), select = $('masters');
  select.hidden = n < 2;
  $('tab-topology')?.toggleAttribute('hidden', n < 2 || store.mode !== 'live');
  if (select.options.length === n) return;
  const name = (i) => (i < first ? `M${i + 1}` : `M${1 + Math.floor((i - first) / replicas)} R${1 + (i - first) % replicas}`);
  select.replaceChildren(...Array.from({ length: n }, (_, i) => el('option', { value: i + 1 }, name(i))));
  select.value = String(store.currentMaster());
}

// follow lets the cursor walk through what a running server has sent, faster when much has come.
function follow() {
  const behind = store.frames.length - 1 - store.cursor;
  let wait = 250;
  if (store.mode === 'live' && store.live && store.state.state === 'running' && behind > 0) {
    const last = store.passOf(store.frames.length - 1);
    if (!motion()) store.show(last.to);
    else if (behind > 24 && store.cursor < last.from) store.show(last.from);
    else store.show(store.cursor + 1 + Math.floor((last.to - last.from) / 40));
    wait = behind <= 6 ? 260 : behind < 25 ? 130 : 60;
  }
  setTimeout(follow, wait);
}

async function start() {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const paint = () => { document.documentElement.dataset.theme = remembered('theme') ?? (dark.matches ? 'dark' : 'light'); };
  paint();
  dark.addEventListener('change', paint);
  tabs(); controls(); settings(); applyMotion(); explain();
  setLang(lang);
  store.on(render);
  addEventListener('hashchange', route);
  addEventListener('keydown', key);
  addEventListener('language', render);
  addEventListener('resize', store.changed);
  const query = new URLSearchParams(location.search), within = $('recording');
  try {
    if (within) store.load(within.textContent, document.title);
    else if (query.has('recording')) await store.open(`recordings/${query.get('recording')}.loop.gz`, query.get('recording'));
    else if (!(await shared()) || store.mode !== 'recording') store.connect(Number(query.get('master') ?? 1));
    if (query.has('at')) store.go(store.frames.findIndex((f) => f.e.seq >= Number(query.get('at'))));
  } catch (err) { fail(err); }
  await route();
  follow();
  setInterval(() => { if (store.state.state === 'running') store.changed(); }, 250);
}

start();
