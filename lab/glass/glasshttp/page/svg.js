// svg.js draws: elements of HTML and SVG, text that fits its room, badges of clients.

const NS = 'http://www.w3.org/2000/svg';

// el makes an HTML element. A function as attribute is a listener, and null leaves one out.
export function el(tag, attrs = {}, ...children) {
  return fill(document.createElement(tag), attrs, children);
}

// s makes an SVG element.
export function s(tag, attrs = {}, ...children) {
  return fill(document.createElementNS(NS, tag), attrs, children);
}

function fill(node, attrs, children) {
  for (const [name, value] of Object.entries(attrs)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') node.addEventListener(name, value);
    else node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.flat().filter((c) => c !== null && c !== undefined));
  return node;
}

// narrow reports whether the screen is that of a phone: see phone.css.
export const narrow = () => innerWidth <= 700;

const canvas = document.createElement('canvas').getContext('2d');
export const MONO = '"DejaVu Sans Mono", "SF Mono", Menlo, Consolas, "Noto Sans Mono CJK SC", monospace';
export const SANS = '"Segoe UI", "Helvetica Neue", "Noto Sans", "Liberation Sans", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif';
const widths = new Map();

// width returns how many units a text takes at a size.
export function width(text, size = 13, mono = false, bold = false) {
  const key = `${size}${mono}${bold}|${text}`;
  let w = widths.get(key);
  if (w === undefined) {
    canvas.font = `${bold ? 600 : 400} ${size}px ${mono ? MONO : SANS}`;
    w = canvas.measureText(text).width;
    if (widths.size > 5000) widths.clear();
    widths.set(key, w);
  }
  return w;
}

// fit shortens a text to a room and puts an ellipsis at its end, or at its start with 'left'.
export function fit(text, room, { size = 13, mono = false, bold = false, side = 'right' } = {}) {
  text = String(text);
  if (width(text, size, mono, bold) <= room) return text;
  let low = 0, high = text.length;
  const cut = (n) => (side === 'left' ? '…' + text.slice(text.length - n) : text.slice(0, n) + '…');
  while (low < high) {
    const mid = (low + high + 1) >> 1;
    if (width(cut(mid), size, mono, bold) <= room) low = mid;
    else high = mid - 1;
  }
  return cut(low);
}

// text writes one line that is not wider than max.
export function text(x, y, string, { max = 1e4, size = 13, mono = false, bold = false, side, cls = '', anchor } = {}) {
  const shown = fit(string, max, { size, mono, bold, side });
  const node = s('text', {
    x, y, class: `${cls} ${mono ? 'mono' : ''} ${bold ? 'bold' : ''}`.trim() || null,
    'font-size': size, 'text-anchor': anchor,
  });
  node.textContent = shown;
  if (shown !== String(string)) node.append(title(string));
  return node;
}

// term lets a click on a text explain it: see terms.js.
export function term(name, node) {
  node.dataset.term = name;
  return node;
}

export function title(string) {
  const node = s('title');
  node.textContent = string;
  return node;
}

// badge is the mark of a client: a disc of its colour with its letter or number.
export function badge(x, y, who, r = 8, cls = '') {
  const w = radius(who, r);
  return s('g', { class: `badge ${cls}` },
    s('rect', { x: x - w, y: y - r, width: 2 * w, height: 2 * r, rx: r, class: `c${who.hue}` }),
    text(x, y + 4.6, who.mark, { size: 13, bold: true, anchor: 'middle', cls: 'on' }),
    title(who.name));
}

export const radius = (who, r) => r + 3.5 * (who.mark.length - 1);

// badges draws clients side by side and returns the group. Clients without room become "+ n".
export function badges(x, y, whos, room, r = 8) {
  const g = s('g');
  let at = x;
  for (let i = 0; i < whos.length; i++) {
    const w = 2 * radius(whos[i], r);
    const rest = whos.length - i;
    if (at + w > x + room - (rest > 1 ? 30 : 0)) {
      g.append(text(at, y + 4.5, `+${rest}`, { cls: 'dim' }));
      break;
    }
    g.append(badge(at + w / 2, y, whos[i], r));
    at += w + 3;
  }
  return g;
}

// wrap breaks a list of words into lines of a width. Each word is {text, cls}.
export function wrap(words, room, lines, { size = 13, mono = true, gap = 6 } = {}) {
  const out = [[]];
  let at = 0;
  for (const word of words) {
    const w = Math.min(width(word.text, size, mono) + 2 * gap, room);
    if (at > 0 && at + w > room) {
      if (out.length === lines) {
        out.at(-1).push({ text: '…', x: at, w: 16 });
        return out;
      }
      out.push([]);
      at = 0;
    }
    out.at(-1).push({ ...word, x: at, w });
    at += w + 3;
  }
  return out;
}
