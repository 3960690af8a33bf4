// link.js puts a recording into an address, and reads one from there. Anybody may have written such an address. So what
// it holds is small, has the shape of a recording, and becomes text on the page, never elements.

const MOST_PACKED = 10 * 1024; // bytes of the recording in an address
const MOST_PLAIN = 1 << 20; // bytes when it is unpacked
const MOST_LINES = 5000;

const bad = () => { throw new Error('not a recording'); };

// write returns the part of an address behind #, for the lines of a recording and the number of an event.
export async function write(lines, seq) {
  const packed = new Uint8Array(await new Response(new Blob([clean(lines)]).stream().pipeThrough(new CompressionStream('gzip'))).arrayBuffer());
  if (packed.length > MOST_PACKED) throw new RangeError(String(packed.length));
  let binary = '';
  for (const byte of packed) binary += String.fromCharCode(byte);
  return `rec=${btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')}&at=${seq}`;
}

// read returns the lines of the recording in an address, and the number of the event: {lines, at}.
export async function read(hash) {
  const [, data, at] = /^#?rec=([\w-]+)(?:&at=(\d{1,15}))?$/.exec(hash) ?? bad();
  if (data.length > MOST_PACKED * 4 / 3 + 4) bad();
  const binary = atob(data.replaceAll('-', '+').replaceAll('_', '/'));
  const packed = Uint8Array.from(binary, (c) => c.charCodeAt(0));
  return { lines: clean(await unpack(packed)), at: Number(at ?? 0) };
}

// unpack stops at a size: a few bytes may unpack to very many.
async function unpack(packed) {
  const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip')).getReader();
  const decoder = new TextDecoder();
  let text = '', size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    size += value.length;
    if (size > MOST_PLAIN) { reader.cancel().catch(() => {}); bad(); }
    text += decoder.decode(value, { stream: true });
  }
}

// A shape is a function that returns its value, made of known parts only, or throws.
const number = (v) => (Number.isFinite(v) && Math.abs(v) <= Number.MAX_SAFE_INTEGER ? v : bad());
const flag = (v) => (typeof v === 'boolean' ? v : bad());
const text = (v) => (typeof v === 'string' && v.length <= 8192 ? v : bad());
const word = (v) => (typeof v === 'string' && /^[\w ().:-]{0,60}$/.test(v) ? v : bad());
const one = (...of) => (v) => (of.includes(v) ? v : bad());
const list = (of, most = 256) => (v) => (v === null ? [] : Array.isArray(v) && v.length <= most ? v.map((x) => of(x)) : bad());
const shape = (fields, needed = []) => (v) => {
  if (typeof v !== 'object' || v === null || Array.isArray(v) || !needed.every((name) => Object.hasOwn(v, name))) bad();
  return Object.fromEntries(Object.keys(fields).filter((name) => Object.hasOwn(v, name)).map((name) => [name, fields[name](v[name])]));
};

const STATES = ['', 'idle', 'readable', 'reading', 'executing', 'blocked', 'held', 'paused', 'full', 'closing'];
const CLIENT = {
  id: number, name: text, fd: number, addr: text, recvq: number, sendq: number, buffered: number, commands: number, output: number, state: one(...STATES), on: text,
  multi: number, watch: number, db: number, partial: text, next: list(text), out: text, thread: number,
};
const ROLE = one('replica', 'master');
const orNull = (of) => (v) => (v === null ? null : of(v));
const SNAPSHOT = {
  clock: number, still: flag, pass: number, partOf: number, clients: list(shape({ ...CLIENT, role: ROLE }, Object.keys(CLIENT))), more: number,
  fired: shape({ list: list(shape({ fd: number, mask: word, client: number }, ['fd'])), at: number }),
  lists: shape({ pendingReads: list(number), nextRead: number, resumed: list(number), pendingWrites: list(number), deferred: number, closing: list(number) }),
  threads: list(shape({ name: word, clients: list(number) })), keys: list(shape({ k: text, db: number, type: word, v: text, ttl: number, by: number }, ['k', 'type', 'ttl'])),
  keysMore: number, counters: shape({ passes: number, commands: number, connections: number }),
  file: orNull(shape({ policy: word, unsynced: number })),
  stream: orNull(shape({ role: ROLE, offset: number, kept: number, replicas: number, acked: number, link: word })),
};
const POINTS = [...'whagtjrpxyeocslbmfdkviq'];
const HEADER = shape({
  v: one(1), version: word, seed: number, threads: list(word, 65), exec: one('inline', 'queue'), multiplexer: one('epoll', 'poll', 'select', 'kqueue', 'io_uring'), appends: flag,
}, ['v', 'version', 'threads', 'exec', 'multiplexer']);
const STOP = shape({ event, why: word, snapshot: shape(SNAPSHOT) }, ['event', 'snapshot']);

function event(v) {
  if (!Array.isArray(v) || v.length < 9 || v.length > 10) bad();
  const [seq, pass, point, thread, client, us, dur, a, b, words] = v;
  const small = Number.isInteger(thread) && thread >= -1 && thread <= 64;
  return [number(seq), number(pass), one(...POINTS)(point), small ? thread : bad(), ...[client, us, dur, a, b].map(number), text(words ?? '')];
}

// clean returns a recording that has the shape of one, with nothing else in it.
export function clean(lines) {
  const all = lines.split('\n').filter((line) => line.trim());
  if (all.length < 2 || all.length > MOST_LINES) bad();
  return all.map((line, i) => {
    const v = JSON.parse(line);
    if (i === 0) return { ...HEADER(v), master: 1, masters: 1, points: {} };
    return Array.isArray(v) ? event(v) : { stop: STOP(v?.stop) };
  }).map((v) => JSON.stringify(v)).join('\n') + '\n';
}
