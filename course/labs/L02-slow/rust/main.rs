//! Lab 2: one slow client. This server works, but it serves one client after another. Change that.
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

type Data = HashMap<Vec<u8>, Vec<u8>>;

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

/// Executes a command and returns the reply.
fn execute(data: &mut Data, words: &[Vec<u8>]) -> Vec<u8> {
    match (words[0].to_ascii_uppercase().as_slice(), words.len()) {
        (b"PING", _) => b"+PONG\r\n".to_vec(),
        (b"SET", 3) => {
            data.insert(words[1].clone(), words[2].clone());
            b"+OK\r\n".to_vec()
        }
        (b"GET", 2) => bulk(data.get(&words[1])),
        (b"DEL", 2) => format!(":{}\r\n", u8::from(data.remove(&words[1]).is_some())).into_bytes(),
        _ => b"-ERR unknown command\r\n".to_vec(),
    }
}

/// Serves one client until it leaves.
fn serve(mut stream: TcpStream, data: &mut Data) -> std::io::Result<()> {
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
            stream.write_all(&execute(data, &words))?;
        }
    }
}

fn main() {
    let port = std::env::var("PORT").expect("PORT");
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).expect("listen");
    let mut data = Data::new();
    for stream in listener.incoming().flatten() {
        let _ = serve(stream, &mut data); // TODO: nobody is accepted meanwhile
    }
}
