// terms.js explains words by a click: marked makes buttons of them in a text, and explain listens.

import { el } from './svg.js';
import { add, t } from './i18n.js';
import texts from './text/terms.js';

add(texts);

// WORDS are the terms, and how the texts of both languages write them.
export const WORDS = {
  epoll_wait: 'epoll_wait', eventfd: 'eventfd', EAGAIN: 'EAGAIN', 'Recv-Q': 'Recv-Q', 'Send-Q': 'Send-Q', barrier: 'barrier|屏障', backlog: 'backlog|积压缓冲区', fd: '\\bfd\\b|descriptors?\\b|描述符',
};
const ANY = new RegExp(`(${Object.values(WORDS).join('|')})`);

// termOf returns the term that a piece of text is, or undefined.
const termOf = (text) => Object.keys(WORDS).find((name) => new RegExp(`^(?:${WORDS[name]})$`).test(text));

// marked cuts a text into strings and buttons. A term is a button where it stands first.
export function marked(text) {
  const seen = new Set();
  return text.split(ANY).filter(Boolean).map((piece) => {
    const name = termOf(piece);
    if (!name || seen.has(name)) return piece;
    seen.add(name);
    return el('button', { type: 'button', class: 'term', 'data-term': name, title: t('term.what', { word: piece }) }, piece);
  });
}

// glossary lists all terms.
export const glossary = () => el('dl', { class: 'glossary' }, Object.keys(WORDS).flatMap((name) => [el('dt', { class: 'mono' }, name), el('dd', {}, t(`term.${name}`))]));

// explain shows what a term means when it is clicked, beside it. The click has no other meaning.
export function explain() {
  const note = el('div', { id: 'term', popover: 'auto', role: 'status' });
  document.body.append(note);
  addEventListener('click', (e) => {
    const of = e.target.closest?.('[data-term]'), name = of?.dataset.term;
    if (!(name in WORDS)) return;
    e.stopPropagation();
    note.hidePopover();
    note.replaceChildren(el('b', { class: 'mono' }, name), el('p', {}, t(`term.${name}`)));
    note.showPopover();
    const r = of.getBoundingClientRect(), mine = note.getBoundingClientRect();
    const below = r.bottom + 8 + mine.height < innerHeight;
    note.style.left = `${Math.max(8, Math.min(r.left, innerWidth - mine.width - 8))}px`;
    note.style.top = `${below ? r.bottom + 8 : Math.max(8, r.top - mine.height - 8)}px`;
  }, true);
}
