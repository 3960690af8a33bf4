// lanes.js has the drawn course of six requests under four threading models, and of I/O threads in four versions. Times are units of the
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
    // rest shows that the thread waits until a time. A thread that spins keeps its core busy meanwhile.
    rest(until, spins = false) {
      if (until > this.time) blocks.push({ kind: 'wait', who: '', from: this.time, to: until, idle: true, spins });
      this.time = Math.max(this.time, until);
    },
  };
}

// inline: one thread does everything, as in Redis. It reads, parses and executes client by client, and then writes to
// all (networking.c: readQueryFromClient, handleClientsWithPendingWrites).
function inline() {
  const main = lane('main', { executes: true });
  for (const who of WHO) {
    main.add('read', READ, who);
    main.add('parse', PARSE);
    main.add('execute', EXECUTE, who);
  }
  for (const who of WHO) main.add('write', WRITE, who);
  return { name: 'inline', lanes: [main], start: 'redis-server' };
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
  return { name: 'queue', lanes: [loop, executor], start: 'bench/models queue' };
}

// r7: main and two threads take a share each, as in Redis 6.0 to 7.2. Who is done with its share spins at the
// barrier. Main alone executes (networking.c: handleClientsWithPendingReadsUsingThreads, and the same for writes).
function r7() {
  const { main, io } = three(), all = [main, ...io];
  const barriers = [];
  const share = (work) => {
    const handed = main.add('wait', HAND);
    io.forEach((thread) => thread.rest(handed, true));
    WHO.forEach((who, i) => work(all[i % 3], who));
    const joined = Math.max(...all.map((thread) => thread.time)) + 1;
    main.rest(joined, true);
    barriers.push(joined);
  };
  share((thread, who) => { thread.add('read', READ, who); thread.add('parse', PARSE); });
  for (const who of WHO) main.add('execute', EXECUTE, who);
  share((thread, who) => thread.add('write', WRITE, who));
  return { name: 'r7', lanes: all, barriers, start: 'redis-server --io-threads 3 --io-threads-do-reads yes' };
}

const three = () => ({ main: lane('main', { executes: true }), io: [lane('io', { n: 1 }), lane('io', { n: 2 })] });

// own gives each thread the clients that it owns.
const own = (io) => io.map((thread, i) => ({ thread, whos: WHO.filter((_, k) => k % 2 === i) }));

// r8: each thread of Redis 8 owns clients. It hands those that have a command to main, and main hands them back
// (iothread.c: enqueuePendingClientsToMainThread, processClientsFromIOThread, handleClientsFromMainThread).
function r8() {
  const { main, io } = three(), owners = own(io);
  const sent = owners.map(({ thread, whos }) => {
    for (const who of whos) { thread.add('read', READ, who); thread.add('parse', PARSE); }
    return thread.add('wait', HAND / 2);
  });
  owners.forEach(({ thread, whos }, i) => {
    main.rest(sent[i]);
    main.add('wait', HAND / 2);
    for (const who of whos) main.add('execute', EXECUTE, who);
    thread.rest(main.add('wait', HAND / 2));
    thread.add('wait', HAND / 2);
    for (const who of whos) thread.add('write', WRITE, who);
  });
  return { name: 'r8', lanes: [main, ...io], start: 'redis-server --io-threads 3' };
}

// v8: main of Valkey 8 lends a client by a job, to read and later to write. It executes what is ready. A thread asks
// for jobs again and again (io_threads.c: trySendReadToIOThreads; networking.c: processIOThreadsReadDone).
function v8() {
  const { main, io } = three(), jobs = main.add('wait', HAND), ready = new Map(), lent = new Map();
  for (const { thread, whos } of own(io)) {
    thread.rest(jobs, true);
    for (const who of whos) { thread.add('read', READ, who); ready.set(who, thread.add('parse', PARSE)); }
  }
  for (const time of new Set(ready.values())) {
    const batch = WHO.filter((who) => ready.get(who) === time);
    for (const who of batch) main.add('execute', EXECUTE, who, time);
    const handed = main.add('wait', HAND / 2);
    for (const who of batch) lent.set(who, handed);
  }
  for (const { thread, whos } of own(io)) {
    for (const who of whos) { thread.rest(lent.get(who), true); thread.add('write', WRITE, who); }
  }
  return { name: 'v8', lanes: [main, ...io], start: 'valkey-server --io-threads 3' };
}

// mini: this server wakes a thread for every eight clients of a phase. Six wake none (ioworkers/threads.go: share).
function mini() {
  const { main, io } = three();
  for (const who of WHO) { main.add('read', READ, who); main.add('parse', PARSE); }
  for (const who of WHO) main.add('execute', EXECUTE, who);
  for (const who of WHO) main.add('write', WRITE, who);
  for (const thread of io) thread.rest(main.time);
  return { name: 'mini', lanes: [main, ...io], start: 'miniredisd --io-threads 3 --io-threads-do-reads yes' };
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

// THREADS has the drawing of each version in which.js.
export const THREADS = { r7: r7(), r8: r8(), v8: v8(), mini: mini() };
export const MODELS = [inline(), queue(), { name: 'threads', lanes: Object.values(THREADS).flatMap((m) => m.lanes) }, goroutines()];

// LAST is when the slowest of them is done.
export const LAST = Math.max(...MODELS.flatMap((m) => m.lanes.map((l) => l.time))) + 2;
