// camera.js shows the picture of the loop on a narrow screen: one box at a time, the one where something happens. A
// row of buttons looks at the others. On a wide screen all of it is in view.

import { el, narrow } from './svg.js';
import { t, waitCall } from './i18n.js';

// ROOM is what a narrow screen shows of the picture.
const ROOM = { w: 336, h: 270 };

// PLACES are the boxes with a button, and their titles. The sockets are no box.
const PLACES = {
  sockets: 'box.sockets', epoll: null, array: 'box.array', dispatcher: 'box.dispatcher', readHandler: 'box.read', read: 'box.reading', parse: 'box.parse',
  execute: 'box.execute', keys: 'box.keys', output: 'box.output', write: 'box.write',
};
const SOCKETS = { x: 240, y: 0, w: 130, h: 270 };

// camera makes the row of buttons: {root, render(frame, station)}. It moves the viewBox of the scene's svg.
export function camera(scene, W, H) {
  const buttons = Object.keys(PLACES).map((name) => el('button', { type: 'button', 'data-place': name, click: () => { me.looks = name; me.aim(me.station); } }));
  const me = { looks: '', shown: null, station: 'epoll', root: el('div', { class: 'places', role: 'group', 'data-label': 'box.places' }, buttons) };
  const fit = (at, room, from, to) => Math.min(Math.max(at, from), Math.max(from, to - room));
  me.aim = (station) => {
    if (!narrow()) { scene.svg.setAttribute('viewBox', `0 0 ${W} ${H}`); return; }
    const name = me.looks || (station === 'handler' ? 'readHandler' : station), b = scene.boxes[name] ?? SOCKETS;
    const x = fit(b.x + b.w / 2 - ROOM.w / 2, ROOM.w, 236, W), y = fit(b.y + b.h / 2 - ROOM.h / 2, ROOM.h, 0, H);
    scene.svg.setAttribute('viewBox', `${x} ${y} ${ROOM.w} ${ROOM.h}`);
    for (const button of buttons) button.setAttribute('aria-pressed', String(button.dataset.place === name));
  };
  me.render = (frame, station) => {
    for (const button of buttons) button.textContent = PLACES[button.dataset.place] ? t(PLACES[button.dataset.place]) : waitCall();
    if (frame !== me.shown || station !== me.station) me.looks = '';
    Object.assign(me, { shown: frame, station });
    me.aim(station);
  };
  return me;
}
