//! Lab 3: threads that share a map. Each client has a thread of its own. Find the races and repair them.
//!
//! Rust has no unguarded map that threads share: it would not compile. So each access here takes the lock, and
//! no more than one access. What is between two accesses is the race.
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

#[derive(Default)]
struct Data(Mutex<HashMap<Vec<u8>, Vec<u8>>>);

impl Data {
    fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.0.lock().expect("nobody panics").get(key).cloned()
    }

    fn set(&self, key: &[u8], value: &[u8]) {
        self.0.lock().expect("nobody panics").insert(key.to_vec(), value.to_vec());
    }
}

/// Returns the words of the first request in buffer, and how many bytes they took. Returns None while the
/// request is not complete.
fn parse(buffer: &[u8]) -> Option<(Vec<Vec<u8>>, usize)> {
    let mut at = 0;
    let mut words = Vec::new();
    for _ in 0..number(buffer, &mut at)? {
        let end = number(buffer, &mut at)? + at;
        words.push(buffer.get(at..end)?.to_vec());
        buffer.get(end..end + 2)?;
        at = end + 2;
    }
    Some((words, at))
}

/// Returns the number of the line at an offset, and moves the offset behind the line.
fn number(buffer: &[u8], at: &mut usize) -> Option<usize> {
    let rest = buffer.get(*at..)?;
    let end = rest.windows(2).position(|two| two == b"\r\n")?;
    *at += end + 2;
    std::str::from_utf8(rest.get(1..end)?).ok()?.parse().ok()
}

fn bulk(value: Option<&Vec<u8>>) -> Vec<u8> {
    match value {
        Some(v) => [format!("${}\r\n", v.len()).as_bytes(), v.as_slice(), b"\r\n"].concat(),
        None => b"$-1\r\n".to_vec(),
    }
}

/// Stands for any other work of a command. Leave it in.
fn rest() {
    thread::sleep(Duration::from_millis(1));
}

/// Executes a command and returns the reply. Several threads are in here at the same time.
fn execute(data: &Data, words: &[Vec<u8>]) -> Vec<u8> {
    match (words[0].to_ascii_uppercase().as_slice(), words.len()) {
        (b"PING", _) => b"+PONG\r\n".to_vec(),
        (b"GET", 2) => bulk(data.get(&words[1]).as_ref()),
        (b"INCR", 2) => {
            let text = data.get(&words[1]).unwrap_or_default();
            let n = String::from_utf8_lossy(&text).parse().unwrap_or(0) + 1;
            rest();
            data.set(&words[1], n.to_string().as_bytes());
            format!(":{n}\r\n").into_bytes()
        }
        (b"SETNX", 3) => {
            if data.get(&words[1]).is_some() {
                return b":0\r\n".to_vec();
            }
            rest();
            data.set(&words[1], &words[2]);
            b":1\r\n".to_vec()
        }
        (b"MSET", _) => {
            for pair in words[1..].chunks_exact(2) {
                data.set(&pair[0], &pair[1]);
                rest();
            }
            b"+OK\r\n".to_vec()
        }
        (b"MGET", _) => {
            let mut reply = format!("*{}\r\n", words.len() - 1).into_bytes();
            for key in &words[1..] {
                reply.extend(bulk(data.get(key).as_ref()));
                rest();
            }
            reply
        }
        _ => b"-ERR unknown command\r\n".to_vec(),
    }
}

/// Serves one client until it leaves.
fn serve(mut stream: TcpStream, data: &Data) -> std::io::Result<()> {
    let mut buffer = Vec::new();
    let mut chunk = [0; 65536];
    loop {
        let n = stream.read(&mut chunk)?;
        if n == 0 {
            return Ok(());
        }
        buffer.extend_from_slice(&chunk[..n]);
        while let Some((words, taken)) = parse(&buffer) {
            buffer.drain(..taken);
            let reply = execute(data, &words); // TODO: somewhere here, or in Data
            stream.write_all(&reply)?;
        }
    }
}

fn main() {
    let port = std::env::var("PORT").expect("PORT");
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).expect("listen");
    let data = Arc::new(Data::default());
    for stream in listener.incoming().flatten() {
        let data = data.clone();
        thread::spawn(move || serve(stream, &data)); // an error is a client that has left
    }
}
