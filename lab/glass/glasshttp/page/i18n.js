// i18n.js holds the texts of the page in English and Chinese. Each screen adds its own.

const texts = { en: {}, zh: {} };

export let lang = pick();

function pick() {
  const asked = new URLSearchParams(location.search).get('lang') ?? remembered('lang');
  if (asked === 'en' || asked === 'zh') return asked;
  const own = document.getElementById('recording') ? document.documentElement.lang : navigator.language;
  return (own || 'en').startsWith('zh') ? 'zh' : 'en';
}

// remembered reads a setting. A page from a file may have no storage.
export function remembered(name) {
  try { return localStorage.getItem('watch.' + name); } catch { return null; }
}

export function remember(name, value) {
  try { localStorage.setItem('watch.' + name, value); } catch { /* a page from a file */ }
}

// add takes the texts of a screen: {en: {key: text}, zh: {key: text}}.
export function add(more) {
  for (const l of ['en', 'zh']) Object.assign(texts[l], more[l]);
}

// common has variables that every text may use: see calls.
let common = { wait: 'epoll_wait', mux: 'epoll' };

// calls sets the names of the call by which the server waits.
export function calls(multiplexer) {
  common = { mux: multiplexer, wait: { poll: 'poll(2)', select: 'select(2)', io_uring: 'io_uring_enter' }[multiplexer] ?? 'epoll_wait' };
}

export const waitCall = () => common.wait;

// t returns a text with its variables: t('passes', {n: 3}) fills {n}. {n|one|many} picks a form by
// number. A key without a text is returned as it is.
export function t(key, vars = {}) {
  const text = texts[lang][key] ?? texts.en[key] ?? key;
  return text.replace(/\{(\w+)(?:\|([^|}]*)\|([^}]*))?\}/g, (_, name, one, many) => {
    if (many === undefined) return vars[name] ?? common[name] ?? '';
    return Number(vars[name]) === 1 ? one : many;
  });
}

export const has = (key) => key in texts.en;

// keyOf returns the key of a text that the server has said in English, among the keys that begin with a prefix.
export const keyOf = (prefix, english) => Object.keys(texts.en).find((key) => key.startsWith(prefix) && texts.en[key] === english);

export function setLang(next) {
  lang = next;
  document.documentElement.lang = next === 'zh' ? 'zh-CN' : 'en';
  remember('lang', next);
  translate(document);
  dispatchEvent(new Event('language'));
}

// translate fills the elements that name their text: data-t is the text, data-label the label.
export function translate(root) {
  for (const node of root.querySelectorAll('[data-t]')) node.textContent = t(node.dataset.t);
  for (const node of root.querySelectorAll('[data-label]')) {
    const label = t(node.dataset.label);
    node.setAttribute('aria-label', label);
    const key = node.dataset.key;
    node.title = key ? `${label}  [${key === ' ' ? t('key.space') : key}]` : label;
  }
}

// number writes a count: 12,345 in English, 1.2万 is left to nobody, so Chinese uses the same form.
export const number = (n) => Math.round(n).toLocaleString('en-US');

// span writes a time given in µs.
export function span(us) {
  if (us < 1000) return `${us < 10 ? Math.round(us * 10) / 10 : Math.round(us)} µs`;
  if (us < 1e6) return `${trim(us / 1000)} ms`;
  return `${trim(us / 1e6)} s`;
}

const trim = (x) => (x < 10 ? x.toFixed(1).replace(/\.0$/, '') : number(x));
