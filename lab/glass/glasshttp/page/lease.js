// lease.js reads the log of the lab and says who held a lock, and who believed so. It draws nothing.

// leases returns what the logs of all masters say about a key: {terms, lanes, overlaps, marks, owners, from, now}.
//   terms: {owner, from, to, knows}, what a client believes. to is Infinity without a TTL. A client
//          whose reply was lost does not know that it holds the lock.
//   lanes: for each master, {owner, from, to, until}: who held the key there, and until when the lease runs
//   overlaps: {from, to, owners}: two clients believe at once
//   marks: {master, time, kind}: crash, expired, jump, held, lost
export function leases(logs, key, now) {
  const lanes = logs.map((log) => lane(log.filter((e) => e.key === key || !e.key), now));
  const terms = logs.length === 1 ? lanes[0].terms : majorities(lanes.map((l) => l.terms), logs.length);
  const all = logs.flat().map((e) => e.time);
  return {
    terms, lanes: lanes.map((l) => l.held), marks: lanes.flatMap((l, i) => l.marks.map((m) => ({ ...m, master: i }))),
    overlaps: overlaps(terms), owners: [...new Set(terms.map((x) => x.owner))], from: Math.min(now, ...all), now,
  };
}

// ownerOf names a client. A client of the page has a connection to each master: ... are all A.
export const ownerOf = (e) => (e.name ? e.name.replace(/^page:/, '').replace(/^([A-P])-\d+$/, '$1') : `#${e.client}`);

const DONE = ['executed', 'reply lost', 'reply late', 'reply cut'];

// lane plays the log of one master.
function lane(log, now) {
  const terms = [], held = [], marks = [];
  let holder = null;
  const end = (time) => {
    if (holder) holder.to = holder.until = time;
    holder = null;
  };
  const own = (owner) => terms.findLast((x) => x.owner === owner && x.to > x.from && !x.over);
  for (const e of log) {
    const words = (e.cmd ?? '').split(' '), verb = words[0].toUpperCase(), owner = ownerOf(e);
    if (e.event === 'expired') { end(e.time); marks.push({ time: e.time, kind: 'expired' }); continue; }
    if (e.event === 'crash') { if (e.reply !== 'keys kept') end(e.time); marks.push({ time: e.time, kind: 'crash' }); continue; }
    if (e.event === 'clock') { marks.push({ time: e.time, kind: 'clock' }); continue; }
    if (e.outcome === 'held') { marks.push({ time: e.time, kind: 'held', owner }); continue; }
    if (!DONE.includes(e.outcome)) continue;
    const lost = e.outcome === 'reply lost';
    if (lost) marks.push({ time: e.time, kind: 'lost', owner });
    const ttl = taken(verb, words, e.reply);
    if (ttl) {
      end(e.time);
      holder = { owner, from: e.time, to: Infinity, until: e.time + ttl };
      held.push(holder);
      terms.push({ owner, from: e.time, to: e.time + ttl, knows: !lost });
    } else if (/^P?EXPIRE$/.test(verb) && e.reply === '1') {
      const mine = own(owner), to = e.time + Number(words[2]) * (verb === 'EXPIRE' ? 1000 : 1);
      if (mine) mine.to = to;
      if (holder) holder.until = to;
    } else if ((verb === 'DEL' || verb === 'UNLINK') && e.reply === '1') {
      end(e.time);
      const mine = own(owner);
      if (mine && mine.to > e.time) Object.assign(mine, { to: e.time, over: true });
    }
  }
  for (const h of held) h.to = Math.min(h.to, Math.max(now, h.from));
  return { terms, held, marks };
}

// taken returns the lease in ms of a command that took a lock, or 0.
function taken(verb, words, reply) {
  const upper = words.map((w) => w.toUpperCase());
  if (verb === 'SETNX') return reply === '1' ? Infinity : 0;
  if (verb !== 'SET' || reply !== 'OK') return 0;
  const px = upper.indexOf('PX'), ex = upper.indexOf('EX');
  if (px > 2) return Number(words[px + 1]);
  if (ex > 2) return 1000 * Number(words[ex + 1]);
  return Infinity;
}

// majorities returns the terms of clients that got most of the masters.
function majorities(byMaster, n) {
  const owners = [...new Set(byMaster.flat().map((x) => x.owner))];
  const out = [];
  for (const owner of owners) {
    const votes = byMaster.map((terms) => terms.filter((x) => x.owner === owner)).filter((v) => v.length);
    if (votes.length <= n / 2) continue;
    const last = votes.map((v) => v.at(-1)).sort((a, b) => a.from - b.from);
    const need = Math.floor(n / 2);
    out.push({ owner, from: last[0].from, to: Math.min(...last.slice(0, need + 1).map((x) => x.to)), knows: true });
  }
  return out;
}

function overlaps(terms) {
  const out = [];
  for (let i = 0; i < terms.length; i++) {
    for (let j = i + 1; j < terms.length; j++) {
      const a = terms[i], b = terms[j];
      if (a.owner === b.owner) continue;
      const from = Math.max(a.from, b.from), to = Math.min(a.to, b.to);
      if (from < to) out.push({ from, to, owners: [a.owner, b.owner] });
    }
  }
  return out;
}
