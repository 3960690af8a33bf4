// shared.js has what app.js and the screens both need: errors on the page, and whether the picture
// may move. It imports no screen.

import { remember, remembered } from './i18n.js';
import * as store from './store.js';

let moving = remembered('motion') ?? (matchMedia('(prefers-reduced-motion: reduce)').matches ? 'off' : 'on');

// motion reports whether the picture may move.
export const motion = () => moving === 'on';

// setMotion says whether the picture may move, now and on the next visit.
export function setMotion(on) {
  moving = on ? 'on' : 'off';
  remember('motion', moving);
}

// fail shows an error of the server for some seconds.
export function fail(err) {
  const toast = document.getElementById('toast');
  toast.textContent = err.message;
  toast.hidden = false;
  clearTimeout(fail.timer);
  fail.timer = setTimeout(() => { toast.hidden = true; }, 6000);
}

// steady keeps the elements of a node in their place while one of them is pressed: a new one there would lose the
// click. It returns whether one is pressed. again draws what has come meanwhile.
export function steady(node, again) {
  let pressed = false;
  const free = () => { pressed = false; };
  node.addEventListener('pointerdown', () => { pressed = true; });
  node.addEventListener('click', free, true);
  node.addEventListener('pointerup', () => setTimeout(() => { free(); again(); }));
  node.addEventListener('pointerleave', free);
  node.addEventListener('pointercancel', free);
  return () => pressed;
}

// present reports whether the page shows what a running server does now.
const present = () => store.mode === 'live' && store.live && store.state.state !== 'stopped';

// busy reports whether the pass under way lasts: the server says so. What it has told of the pass is shown first.
export const busy = () => present() && Boolean(store.state.busy) && store.cursor === store.frames.length - 1;

// between reports whether the last pass that was told is over.
const between = () => !store.frame() || store.frame().e.point === 's' || store.rests();

// works returns what the server does between passes, '' if it sleeps.
export const works = () => (present() && !store.state.busy && between() ? store.state.work ?? '' : '');

// asleep reports whether the loop is in epoll_wait, as far as the server has said.
export function asleep() {
  if (!present()) return false;
  return store.state.state === 'asleep' || (between() && !store.state.busy && !store.state.work);
}
