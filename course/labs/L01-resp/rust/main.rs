//! Lab 1: RESP by hand. Fill in parse and execute.
//!
//! ```text
//! a request         *2\r\n$4\r\nECHO\r\n$5\r\nhello\r\n
//! a simple string   +OK\r\n
//! an error          -ERR unknown command\r\n
//! a bulk string     $5\r\nhello\r\n
//! no value          $-1\r\n
//! ```
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

type Data = HashMap<Vec<u8>, Vec<u8>>;

/// Returns the words of the first request in buffer, and how many bytes they took. Returns None while the
/// request is not complete.
fn parse(_buffer: &[u8]) -> Option<(Vec<Vec<u8>>, usize)> {
    // TODO
    None
}

/// Executes a command and returns the reply.
fn execute(_data: &mut Data, words: &[Vec<u8>]) -> Vec<u8> {
    match words[0].to_ascii_uppercase().as_slice() {
        b"PING" => b"+PONG\r\n".to_vec(),
        // TODO: ECHO, SET, GET, and an error for everything else
        _ => Vec::new(),
    }
}

/// Serves one client until it leaves.
fn serve(mut stream: TcpStream, data: &mut Data) -> std::io::Result<()> {
    let mut buffer = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let n = stream.read(&mut chunk)?;
        if n == 0 {
            return Ok(());
        }
        buffer.extend_from_slice(&chunk[..n]);
        while let Some((words, taken)) = parse(&buffer) {
            buffer.drain(..taken);
            stream.write_all(&execute(data, &words))?;
        }
    }
}

fn main() {
    let port = std::env::var("PORT").expect("PORT");
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).expect("listen");
    let mut data = Data::new();
    for stream in listener.incoming().flatten() {
        let _ = serve(stream, &mut data); // an error is a client that has left
    }
}
