// replay.js is screen 7: recordings. It opens one of the server's, or a dropped file, moves through
// it with a slider, and writes it as one HTML file that needs no server.

import { el, s } from './svg.js';
import { add, lang, number, t } from './i18n.js';
import * as store from './store.js';
import { fail } from './shared.js';
import { picture } from './loop.js';
import { write } from './link.js';
import { kindOf } from './narrate.js';
import texts from './text/replay.js';

add(texts);

// RECORDINGS are those that the server has built in.
const RECORDINGS = ['one-command', 'pipeline', 'partial-read', 'full-socket', 'blpop', 'busy-script', 'io-threads', 'get-del', 'lost-reply'];
// IMPORT finds the modules of the page, for the export. SERVED are screens that need the server.
const SERVED = ['claims', 'locks', 'models', 'tour'];
const IMPORT = /(from |import\()'\.\.?\/((?:text\/)?\w+)\.js'/g;

let ui = null;
const exported = () => document.getElementById('recording');

export function mount(root) {
  const slider = el('input', { type: 'range', min: 0, max: 1, value: 0, 'data-label': 'rp.slider', input: () => store.go(Number(slider.value)) });
  const file = el('input', { type: 'file', accept: '.gz,.loop,.ndjson,.json', 'data-label': 'rp.file', change: () => read(file.files[0]) });
  ui = { picture: picture(), slider, marks: s('svg', { class: 'marks', viewBox: '0 0 1000 12', preserveAspectRatio: 'none' }), facts: el('p', { class: 'dim' }), list: el('ul', { class: 'recordings' }), save: el('div', { class: 'save' }) };
  const side = el('aside', { class: 'source' }, el('h3', { 'data-t': 'rp.title' }), ui.facts, ui.list,
    el('label', { class: 'drop' }, el('span', { 'data-t': 'rp.drop' }), el('span', { class: 'choose', 'data-t': 'rp.choose' }), file), ui.save);
  root.classList.add('loop');
  root.append(ui.picture.root, side, el('section', { class: 'below' }, ui.marks, slider, el('div', { class: 'dim', 'data-t': 'rp.slide' })));
  root.addEventListener('dragover', (e) => e.preventDefault());
  root.addEventListener('drop', (e) => { e.preventDefault(); read(e.dataTransfer.files[0]); });
  if (!exported()) {
    ui.list.append(...RECORDINGS.map((name) => el('li', {}, el('button', { type: 'button', 'data-name': name, click: () => open(name) }, el('span', { 'data-t': `rec.${name}` })))));
    const button = (act, key) => el('button', { type: 'button', 'data-t': key, click: () => act().catch(fail) });
    ui.link = el('input', { class: 'mono rp-link', readonly: true, hidden: true, 'data-label': 'rp.link', focus: () => ui.link.select() });
    ui.save.append(button(html, 'rp.html'), button(plain, 'rp.save'), button(share, 'rp.share'), ui.link, ui.live = el('button', { type: 'button', 'data-t': 'rp.live', click: () => { history.replaceState(null, '', `${location.pathname}#replay`); store.connect(); } }));
  }
}

async function open(name) {
  try { await store.open(`recordings/${name}.loop.gz`, name); } catch (err) { fail(err); return; }
  history.replaceState(null, '', `?recording=${name}#replay`);
}

async function read(file) {
  if (!file) return;
  try { store.load(await store.unpack(await file.arrayBuffer()), file.name); } catch { fail(new Error(t('rp.bad', { name: file.name }))); }
}

function download(name, parts, type) {
  const url = URL.createObjectURL(new Blob(parts, { type }));
  const a = el('a', { href: url, download: name });
  document.body.append(a);
  a.click();
  a.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

const called = () => (store.name || 'recording').replace(/\.loop\.gz$|\.html$/, '').replace(/[^\w-]+/g, '-');

async function plain() {
  const packed = new Blob([store.lines()]).stream().pipeThrough(new CompressionStream('gzip'));
  download(called() + '.loop.gz', [await new Response(packed).arrayBuffer()], 'application/gzip');
}

// share makes an address that holds the recording and the place in it, and copies it.
async function share() {
  ui.link.hidden = true;
  let hash;
  try { hash = await write(store.lines(), store.frame()?.e.seq ?? 0); } catch (err) {
    throw err instanceof RangeError ? new Error(t('rp.large', { n: Math.ceil(Number(err.message) / 1024) })) : err;
  }
  ui.link.value = `${location.origin}/#${hash}`;
  ui.link.hidden = false;
  ui.link.focus();
  await navigator.clipboard?.writeText(ui.link.value).catch(() => {}); // if not allowed, the text is marked
}

async function html() { download(called() + '.html', [await bundle()], 'text/html'); }

const base64 = (text) => {
  let out = '';
  for (const byte of new TextEncoder().encode(text)) out += String.fromCharCode(byte);
  return btoa(out);
};

// bundle writes the page and the recording as one file. Modules become data: addresses, and an import
// map gives them their names.
export async function bundle() {
  const get = async (name) => { const a = await fetch(name); return a.ok ? a.text() : null; };
  const [page, css, phone, sources] = await Promise.all(['index.html', 'style.css', 'phone.css', '/watch/sources'].map(get));
  const imports = {}, left = ['app'];
  while (left.length) {
    const name = left.pop(), text = await get(name + '.js');
    if (text === null || imports[`page/${name}`]) continue;
    imports[`page/${name}`] = 'data:text/javascript;base64,' + base64(text.replace(IMPORT, "$1'page/$2'"));
    left.push(...[...text.matchAll(IMPORT)].map((m) => m[2]).filter((m) => !SERVED.includes(m)));
  }
  const safe = (text) => text.replaceAll('<', '\\u003c');
  const tag = (name, attrs, text) => `<${name} ${attrs}>${text}</${name}>`;
  const head = [tag('style', '', css + phone), tag('script', 'type="importmap"', safe(JSON.stringify({ imports }))), tag('script', 'type="application/x-ndjson" id="recording"', safe(store.lines())),
    tag('script', 'type="application/json" id="sources"', safe(sources ?? '{}')), tag('script', 'type="module"', "import 'page/app';")].join('\n');
  return page.replace(/<link rel="(stylesheet|icon|modulepreload)"[^>]*>\n?/g, '').replace(/<script type="module"[^>]*><\/script>/, () => head)
    .replace(/<title>[^<]*/, () => `<title>${called()}`).replace(/<html lang="\w+"/, `<html lang="${lang === 'zh' ? 'zh-CN' : 'en'}"`);
}

export function render() {
  ui.picture.render();
  ui.slider.max = Math.max(0, store.frames.length - 1);
  ui.slider.value = store.cursor;
  const h = store.hello;
  ui.facts.textContent = h ? t('rp.facts', { n: number(store.frames.length), threads: h.threads.length, exec: h.exec, multiplexer: h.multiplexer, version: h.version }) : t('rp.none');
  for (const b of ui.list.querySelectorAll('button')) b.toggleAttribute('aria-current', b.dataset.name === store.name);
  if (ui.live) ui.live.hidden = store.mode === 'live';
  marks();
}

// marks colours the slider: what happened where.
function marks() {
  const key = `${store.frames.length}|${store.frames[0]?.e.seq}|${store.name}`;
  if (key === ui.marked) return;
  ui.marked = key;
  const n = store.frames.length, w = 1000 / Math.max(1, n), step = Math.max(1, Math.floor(n / 1000));
  const out = [];
  for (let i = 0; i < n; i += step) out.push(s('rect', { x: i * w, y: 0, width: w * step, height: 12, class: `solid ${kindOf(store.frames[i].e)}` }));
  ui.marks.replaceChildren(...out);
}
