//! Lab 12: I/O threads. Fill in the barrier, and take accept, read, parse and write from your lab 4.
//!
//! ```text
//! epoll_wait ──> collect ──> share out ──┬── main reads and parses ──┬── barrier ──> execute ──> write
//!                                        ├── thread 1 does, too      │
//!                                        └── thread 2 does, too ─────┘
//! ```
//!
//! A client belongs to one thread at a time. Rust checks that: main gives the clients away, and gets them back at
//! the barrier. So a program without a barrier does not compile, or has lost its clients.
use std::collections::HashMap;
use std::io;
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::mpsc::{channel, Sender};
use std::thread;

/// The reply to EXPLAIN. Its first line is "cores N".
const EXPLANATION: &str =
    "cores 0\nTODO: which part of a request gets faster with more threads here, which does not, and why?";

/// epoll is not in Rust's standard library: these are functions of libc.
mod epoll {
    #[repr(C)]
    #[cfg_attr(target_arch = "x86_64", repr(packed))]
    #[derive(Clone, Copy)]
    pub struct Event {
        pub events: u32,
        pub data: u64,
    }

    pub const IN: u32 = 1;
    pub const OUT: u32 = 4;
    pub const ADD: i32 = 1;
    pub const MOD: i32 = 3;

    extern "C" {
        pub fn epoll_create1(flags: i32) -> i32;
        pub fn epoll_ctl(epoll: i32, op: i32, fd: i32, event: *mut Event) -> i32;
        pub fn epoll_wait(epoll: i32, events: *mut Event, most: i32, timeout: i32) -> i32;
    }
}

/// A client. During the phase of the threads only its thread has it, and else only main.
#[allow(dead_code)] // until you use it
struct Conn {
    stream: TcpStream,
    input: Vec<u8>,
    output: Vec<u8>,
    requests: Vec<Vec<Vec<u8>>>, // parsed, and not executed yet
    ended: bool,
    broken: bool,
}

/// The threads besides main.
struct Pool {
    work: Vec<Sender<Vec<Conn>>>, // one for each thread
                                  // TODO: what the barrier needs, such as a Receiver<Vec<Conn>>
}

impl Pool {
    fn new(threads: usize) -> Pool {
        let mut work = Vec::new();
        for _ in 1..threads {
            let (give, take) = channel::<Vec<Conn>>();
            work.push(give);
            thread::spawn(move || {
                for mut clients in take {
                    clients.iter_mut().for_each(read_and_parse);
                    // TODO: this thread has come to the barrier: give the clients back
                }
            });
        }
        Pool { work }
    }

    /// Shares clients out, serves main's own share, and returns all clients when every thread is done.
    fn run(&self, clients: Vec<Conn>) -> Vec<Conn> {
        let n = self.work.len() + 1;
        let mut shares: Vec<Vec<Conn>> = (0..n).map(|_| Vec::new()).collect();
        for (i, c) in clients.into_iter().enumerate() {
            shares[i % n].push(c);
        }
        let mut own = shares.remove(0);
        for (give, share) in self.work.iter().zip(shares) {
            give.send(share).expect("the thread lives");
        }
        own.iter_mut().for_each(read_and_parse);
        // TODO: wait here until every thread has come to the barrier, and return its clients as well
        own
    }
}

/// What the threads do for a client. It touches nothing but the client.
fn read_and_parse(c: &mut Conn) {
    c.broken = read(c).is_err();
    while let Some(words) = parse(&mut c.input) {
        c.requests.push(words);
    }
}

/// The loop and its data. Only main executes.
struct Server {
    epoll: i32,
    listener: TcpListener,
    conns: HashMap<i32, Conn>, // by descriptor
    pool: Pool,
}

impl Server {
    fn new(port: &str, threads: usize) -> io::Result<Server> {
        let listener = TcpListener::bind(format!("127.0.0.1:{port}"))?;
        listener.set_nonblocking(true)?;
        let epoll = unsafe { epoll::epoll_create1(0) };
        let server = Server { epoll, listener, conns: HashMap::new(), pool: Pool::new(threads) };
        server.control(epoll::ADD, server.listener.as_raw_fd(), epoll::IN);
        Ok(server)
    }

    fn control(&self, op: i32, fd: i32, events: u32) {
        let mut event = epoll::Event { events, data: fd as u64 };
        let result = unsafe { epoll::epoll_ctl(self.epoll, op, fd, &mut event) };
        assert!(result == 0, "epoll_ctl: {}", io::Error::last_os_error());
    }

    /// The loop. Each turn is a pass.
    fn run(&mut self) {
        let mut fired = [epoll::Event { events: 0, data: 0 }; 1024];
        loop {
            let n = unsafe { epoll::epoll_wait(self.epoll, fired.as_mut_ptr(), fired.len() as i32, -1) };
            self.pass(&fired[..n.max(0) as usize]);
        }
    }

    fn pass(&mut self, fired: &[epoll::Event]) {
        let (mut readable, mut others) = (Vec::new(), Vec::new());
        for event in fired {
            let (fd, events) = (event.data as i32, event.events);
            if fd == self.listener.as_raw_fd() {
                self.accept();
            } else if let Some(c) = self.conns.remove(&fd) {
                if events & !epoll::OUT != 0 { &mut readable } else { &mut others }.push(c);
            }
        }
        for mut c in self.pool.run(readable).into_iter().chain(others) {
            for words in std::mem::take(&mut c.requests) {
                let reply = self.execute(&words);
                c.output.extend(reply);
            }
            self.finish(c);
        }
    }

    /// Writes, and ends a connection or asks for its next events.
    fn finish(&mut self, mut c: Conn) {
        if c.broken || write(&mut c).is_err() || c.ended && c.output.is_empty() {
            return; // its socket closes, and the kernel takes it out of epoll
        }
        let input = if c.ended { 0 } else { epoll::IN };
        let output = if c.output.is_empty() { 0 } else { epoll::OUT };
        let fd = c.stream.as_raw_fd();
        self.control(epoll::MOD, fd, input | output);
        self.conns.insert(fd, c);
    }

    /// Takes all connections that wait.
    fn accept(&mut self) {
        todo!("accept: take it from your lab 4")
    }

    /// Executes a command: those of lab 4, INCR, and EXPLAIN.
    fn execute(&mut self, words: &[Vec<u8>]) -> Vec<u8> {
        if words[0] == b"EXPLAIN" {
            return format!("${}\r\n{}\r\n", EXPLANATION.len(), EXPLANATION).into_bytes();
        }
        todo!("execute: take it from your lab 4, and add INCR")
    }
}

/// Reads what there is into c.input, and sets c.ended at the end of input.
fn read(_c: &mut Conn) -> io::Result<()> {
    todo!("read: take it from your lab 4")
}

/// Takes one request out of input.
fn parse(_input: &mut Vec<u8>) -> Option<Vec<Vec<u8>>> {
    todo!("parse: take it from your lab 4")
}

/// Sends as much of c.output as the socket takes.
fn write(_c: &mut Conn) -> io::Result<()> {
    todo!("write: take it from your lab 4")
}

fn main() -> io::Result<()> {
    let variable = |name| std::env::var(name).expect(name);
    Server::new(&variable("PORT"), variable("IO_THREADS").parse().expect("a number"))?.run();
    Ok(())
}
