//! Lab 4: the reactor. Fill in accept, read, parse, write and ask.
//!
//! ```text
//! epoll_wait ──> listening socket is readable ──> accept
//!     ^     ├──> a client is readable         ──> read ──> parse ──> execute ──> write
//!     │     └──> a client has room again      ──> write
//!     └── no client is ready: sleep here, and nowhere else
//! ```
use std::collections::HashMap;
use std::io;
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::thread;
use std::time::Duration;

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
    pub const ERR: u32 = 8;
    pub const HUP: u32 = 16;
    pub const ADD: i32 = 1;
    pub const MOD: i32 = 3;

    extern "C" {
        pub fn epoll_create1(flags: i32) -> i32;
        pub fn epoll_ctl(epoll: i32, op: i32, fd: i32, event: *mut Event) -> i32;
        pub fn epoll_wait(epoll: i32, events: *mut Event, most: i32, timeout: i32) -> i32;
    }
}

/// A client: its socket, and what waits in either direction.
#[allow(dead_code)] // until you use it
struct Conn {
    stream: TcpStream,
    input: Vec<u8>,  // bytes that are no complete request yet
    output: Vec<u8>, // replies that the socket has not taken yet
    ended: bool,     // the client will send no more: it has ended its half
}

/// The loop and its data. One thread does everything.
struct Server {
    epoll: i32,
    listener: TcpListener,
    conns: HashMap<i32, Conn>, // by descriptor
    data: HashMap<Vec<u8>, Vec<u8>>,
}

impl Server {
    fn new(port: &str) -> io::Result<Server> {
        let listener = TcpListener::bind(format!("127.0.0.1:{port}"))?;
        listener.set_nonblocking(true)?;
        let epoll = unsafe { epoll::epoll_create1(0) };
        let server = Server { epoll, listener, conns: HashMap::new(), data: HashMap::new() };
        server.control(epoll::ADD, server.listener.as_raw_fd(), epoll::IN);
        Ok(server)
    }

    /// epoll_ctl: says which events of a descriptor end epoll_wait.
    fn control(&self, op: i32, fd: i32, events: u32) {
        let mut event = epoll::Event { events, data: fd as u64 };
        let result = unsafe { epoll::epoll_ctl(self.epoll, op, fd, &mut event) };
        assert!(result == 0, "epoll_ctl: {}", io::Error::last_os_error());
    }

    /// The loop. Each turn is one pass over what is ready.
    fn run(&mut self) {
        let mut fired = [epoll::Event { events: 0, data: 0 }; 128];
        loop {
            let n = unsafe { epoll::epoll_wait(self.epoll, fired.as_mut_ptr(), fired.len() as i32, -1) };
            for event in fired.iter().take(n.max(0) as usize) {
                let (fd, events) = (event.data as i32, event.events);
                if fd == self.listener.as_raw_fd() {
                    self.accept();
                } else if let Some(mut c) = self.conns.remove(&fd) {
                    // A connection that is not put back ends: its socket closes, and the kernel takes it out of epoll.
                    if self.handle(&mut c, events).is_ok() && !(c.ended && c.output.is_empty()) {
                        self.ask(&c);
                        self.conns.insert(fd, c);
                    }
                }
            }
        }
    }

    /// Serves one client as far as possible without waiting for it.
    fn handle(&mut self, c: &mut Conn, events: u32) -> io::Result<()> {
        if events & (epoll::IN | epoll::HUP | epoll::ERR) != 0 {
            read(c)?;
        }
        while let Some(words) = parse(&mut c.input) {
            let reply = self.execute(&words);
            c.output.extend(reply);
        }
        write(c)
    }

    /// Takes all connections that wait. The listening socket does not block.
    fn accept(&mut self) {
        // TODO: until ErrorKind::WouldBlock: self.listener.accept, set_nonblocking, a Conn into self.conns, and
        // self.control to ask for epoll::IN
        todo!("accept")
    }

    /// Tells epoll what c waits for: input, or room for output, or both.
    fn ask(&self, _c: &Conn) {
        // TODO: self.control(epoll::MOD, ...). Ask for nothing that you do not need, or the loop never sleeps.
        let _ = (epoll::MOD, epoll::OUT);
        todo!("ask")
    }

    /// Executes a command and returns its reply. This is complete.
    fn execute(&mut self, words: &[Vec<u8>]) -> Vec<u8> {
        match (words[0].to_ascii_uppercase().as_slice(), words.len()) {
            (b"PING", _) => b"+PONG\r\n".to_vec(),
            (b"ECHO", 2) => bulk(Some(&words[1])),
            (b"SET", 3) => {
                self.data.insert(words[1].clone(), words[2].clone());
                b"+OK\r\n".to_vec()
            }
            (b"GET", 2) => bulk(self.data.get(&words[1])),
            (b"DEBUG", 3) => {
                let seconds = String::from_utf8_lossy(&words[2]).parse().unwrap_or(0.0);
                thread::sleep(Duration::from_secs_f64(seconds)); // DEBUG SLEEP seconds
                b"+OK\r\n".to_vec()
            }
            _ => b"-ERR unknown command\r\n".to_vec(),
        }
    }
}

/// Reads what there is into c.input. At the end of input it sets c.ended. An error means that the connection is
/// broken: WouldBlock is no such error.
fn read(_c: &mut Conn) -> io::Result<()> {
    // TODO: read of the stream returns WouldBlock when nothing is left, and 0 at the end of input
    todo!("read")
}

/// Takes one request out of input and returns its words, or None while it is not complete.
///
/// `*2\r\n$4\r\nECHO\r\n$5\r\nhello\r\n` is ECHO hello. A word may have any bytes in it, `\r\n` as well: only its
/// length says where it ends.
fn parse(_input: &mut Vec<u8>) -> Option<Vec<Vec<u8>>> {
    // TODO
    todo!("parse")
}

/// Sends as much of c.output as the socket takes, and keeps the rest. An error means that the connection is
/// broken: WouldBlock is no such error.
fn write(_c: &mut Conn) -> io::Result<()> {
    // TODO: write of the stream returns how many bytes it took, and WouldBlock when there is no room
    todo!("write")
}

fn bulk(value: Option<&Vec<u8>>) -> Vec<u8> {
    match value {
        Some(v) => [format!("${}\r\n", v.len()).as_bytes(), v.as_slice(), b"\r\n"].concat(),
        None => b"$-1\r\n".to_vec(),
    }
}

fn main() -> io::Result<()> {
    Server::new(&std::env::var("PORT").expect("PORT"))?.run();
    Ok(())
}
