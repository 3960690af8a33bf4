// lanes.js has the drawn course of six requests under four threading models. Times are units of the
// drawing: reading takes 3, parsing 1, executing 2, writing 3, and handing something over 2.

const READ = 3, PARSE = 1, EXECUTE = 2, WRITE = 3, HAND = 2;
const WHO = ['A', 'B', 'C', 'D', 'E', 'F'];

// lane collects the blocks of one thread.
function lane(name, more = {}) {
  const blocks = [];
  return {
    name, blocks, ...more, time: 0,
    // add puts a block behind the last one, or later, and returns its end.
    add(kind, length, who = '', from = 0) {
      const begin = Math.max(this.time, from);
      this.time = begin + length;
      blocks.push({ kind, who, from: begin, to: this.time });
      return this.time;
    },
    // rest shows that the thread waits until a time.
    rest(until) {
      if (until > this.time) blocks.push({ kind: 'wait', who: '', from: this.time, to: until, idle: true });
      this.time = Math.max(this.time, until);
    },
  };
}

// inline: one thread does everything. A pass reads all, executes all, writes all.
function inline() {
  const main = lane('main', { executes: true });
  for (const who of WHO) {
    main.add('read', READ, who);
    main.add('parse', PARSE);
  }
  for (const who of WHO) main.add('execute', EXECUTE, who);
  for (const who of WHO) main.add('write', WRITE, who);
  return { name: 'inline', lanes: [main], start: '--exec inline' };
}

// queue: the loop hands each command to an executor, and gets each reply back.
function queue() {
  const loop = lane('loop'), executor = lane('executor', { executes: true });
  const replies = WHO.map((who) => {
    loop.add('read', READ, who);
    loop.add('parse', PARSE);
    const sent = loop.add('wait', HAND);
    executor.rest(sent - HAND / 2);
    executor.add('wait', HAND / 2, '', sent - HAND / 2);
    executor.add('execute', EXECUTE, who);
    return executor.add('wait', HAND);
  });
  WHO.forEach((who, i) => {
    loop.rest(replies[i]);
    loop.add('wait', HAND / 2);
    loop.add('write', WRITE, who);
  });
  return { name: 'queue', lanes: [loop, executor], start: '--exec queue' };
}

// threads: two threads read and write, main executes. It waits for both at each barrier.
function threads() {
  const main = lane('main', { executes: true }), io = [lane('io', { n: 1 }), lane('io', { n: 2 })];
  const barriers = [];
  const share = (work) => {
    const rung = main.add('wait', HAND);
    io.forEach((thread) => thread.rest(rung));
    WHO.forEach((who, i) => work(io[i % 2], who));
    const joined = Math.max(...io.map((thread) => thread.time));
    main.rest(joined);
    barriers.push(joined);
  };
  share((thread, who) => { thread.add('read', READ, who); thread.add('parse', PARSE); });
  for (const who of WHO) main.add('execute', EXECUTE, who);
  share((thread, who) => thread.add('write', WRITE, who));
  return { name: 'threads', lanes: [main, ...io], barriers, start: '--io-threads 3 --io-threads-do-reads yes' };
}

// goroutines: each connection has its own, and a mutex lets one execute at a time.
function goroutines() {
  let free = 0;
  const lanes = WHO.map((who, i) => {
    const own = lane('goroutine', { n: i + 1, executes: true });
    own.add('read', READ, who);
    own.add('parse', PARSE);
    if (i > 0) {
      own.rest(free);
      own.add('wait', HAND / 2);
    }
    free = own.add('execute', EXECUTE, who);
    own.add('write', WRITE, who);
    return own;
  });
  return { name: 'goroutines', lanes, start: 'bench/models goroutines' };
}

export const MODELS = [inline(), queue(), threads(), goroutines()];

// LAST is when the slowest of them is done.
export const LAST = Math.max(...MODELS.flatMap((m) => m.lanes.map((l) => l.time))) + 2;
