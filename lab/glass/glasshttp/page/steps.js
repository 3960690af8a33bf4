// steps.js has the six steps of the tour: on which screen, which answer is right, and what the reader presses. A press
// is {say, light, done}: its text, the control that is lit, and whether it is done since {seq, b}, the newest
// event and the replies of B when the press before was done. It draws nothing.

import * as store from './store.js';

const $ = (selector) => document.querySelector(selector);
const is = (...states) => states.includes(store.state.state);
const since = (mark, points) => store.frames.filter((f) => f.e.seq > mark.seq && points.includes(f.e.point)).map((f) => f.e);
const ofPage = (e, name) => store.who(e.client).page && store.who(e.client).name === name;

// The presses that several steps need. One that keeps its begin belongs to the next one.
const pause = { say: () => (is('stopped') ? 'go' : 'pause'), light: '#toggle', done: () => is('asleep') };
const goOn = { say: 'go', light: '#toggle', done: () => is('running') };
const pick = (who) => ({ say: 'pick', who, light: `[data-client=${who}] .disc`, done: () => $(`[data-client=${who}].picked`) });

// stops reports whether the loop stands at an event of A with this point, or behind it.
const stops = (mark, point, of = ofPage) => !is('running') && since(mark, [point]).some((e) => e.seq <= store.state.seq && of(e, 'A'));
const wakes = (mark) => stops(mark, 'w', () => true);

// now is where a press begins.
export const now = () => ({ seq: store.frames.at(-1)?.e.seq ?? 0, b: store.replies.get('B')?.got });

// passed returns the reads and writes for A since its pipeline was sent.
export function passed(mark) {
  const mine = (points) => since(mark, points).filter((e) => ofPage(e, 'A') && e.a > 0);
  return { reads: mine(['r']).length, n: mine(['p']).reduce((n, e) => n + e.a, 0), writes: mine(['o']).length };
}

const history = (who) => [...document.querySelectorAll('.lk-history li')].some((li) => li.querySelector('b').textContent === who);

export const STEPS = [
  { id: 'sleep', screen: 'loop', right: 'b', presses: [goOn, pause] },
  { id: 'reply', screen: 'loop', right: 'b', presses: [
    pause, pick('A'),
    { say: 'send', light: '[data-way=whole]', keeps: true, done: wakes },
    { say: 'events', light: '#event', keeps: true, done: (mark) => stops(mark, 'p') },
    { say: 'command', light: '#command', keeps: true, done: (mark) => stops(mark, 'x') },
    { say: 'event', light: '#event', done: (mark) => stops(mark, 'y') },
  ] },
  { id: 'half', screen: 'loop', right: 'b', presses: [
    goOn, pick('A'),
    { say: 'cut', light: '[data-way=cut]', done: () => $('[data-way=cut].on') },
    pick('B'),
    { say: 'sendB', light: '[data-way=whole]', done: (mark) => store.replies.get('B')?.got && store.replies.get('B').got !== mark.b },
    pick('A'),
    { say: 'rest', light: '[data-way=cut]', done: () => $('[data-client=A].picked') && !$('[data-way=cut].on') },
  ] },
  { id: 'pipe', screen: 'loop', right: 'b', presses: [
    pause, pick('A'),
    { say: 'pipe', light: '[data-way=pipe]', keeps: true, done: wakes },
    { say: 'pass', light: '#pass', done: (mark) => !is('running') && passed(mark).writes > 0 },
  ] },
  { id: 'lock', screen: 'loop', right: 'b', presses: [
    goOn,
    { say: 'locks', light: '#tab-locks', done: () => document.body.dataset.screen === 'locks' },
    { say: 'again', light: '[data-do=reset]', done: () => $('.lk[data-busy=false] [data-verdict=none]') },
    { say: 'takeA', light: '[data-do=take-A]', done: () => $('[data-bar=A]') },
    { say: 'takeB', light: '[data-do=take-B]', done: () => $('[data-bar=A]') && history('B') },
  ] },
  { id: 'del', screen: 'locks', right: 'b', presses: [
    { say: 'story', light: '[data-do=story-del]', done: () => $('[data-do=story-del][aria-pressed=true]') },
    { say: 'next', light: '[data-do=next]', done: () => $('.lk[data-busy=false] [data-step="6"]') && $('[data-verdict=two]') },
  ] },
];
