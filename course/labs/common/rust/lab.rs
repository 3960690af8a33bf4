//! What every lab about lock clients shares: a small client of Redis, and the orders of the grader.
use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Error, ErrorKind, Read, Write};
use std::net::TcpStream;

/// A reply of the server. An error of the server is an `Err` with its text.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    Nothing,
    Number(i64),
    Text(String),
    List(Vec<Reply>),
}

/// One connection. It connects when it is used, and again after it was lost.
pub struct Redis {
    address: String,
    name: String,
    stream: Option<BufReader<TcpStream>>,
}

impl Redis {
    /// Sends a command and returns its reply. The error is one of the server, or the connection is lost.
    pub fn call(&mut self, words: &[&str]) -> io::Result<Reply> {
        if self.stream.is_none() {
            self.stream = Some(BufReader::new(TcpStream::connect(&self.address)?));
            let name = self.name.clone();
            self.call(&["CLIENT", "SETNAME", &name])?;
        }
        let mut request = format!("*{}\r\n", words.len());
        for word in words {
            request += &format!("${}\r\n{}\r\n", word.len(), word);
        }
        let stream = self.stream.as_mut().expect("connected above");
        let sent = stream.get_mut().write_all(request.as_bytes());
        match sent.and_then(|()| read_reply(stream)) {
            Ok(Err(text)) => Err(Error::new(ErrorKind::Other, text)),
            Ok(Ok(reply)) => Ok(reply),
            Err(lost) => {
                self.stream = None;
                Err(lost)
            }
        }
    }
}

/// Reads a reply. The inner error is one of the server.
fn read_reply(stream: &mut BufReader<TcpStream>) -> io::Result<Result<Reply, String>> {
    let mut line = String::new();
    stream.read_line(&mut line)?;
    if !line.ends_with("\r\n") {
        return Err(Error::new(ErrorKind::UnexpectedEof, "the connection is lost"));
    }
    let (kind, rest) = line.trim_end().split_at(1);
    let n = rest.parse::<i64>().unwrap_or(0);
    Ok(match kind {
        "-" => Err(rest.to_string()),
        ":" => Ok(Reply::Number(n)),
        "$" | "*" if n < 0 => Ok(Reply::Nothing),
        "$" => {
            let mut text = vec![0; n as usize + 2];
            stream.read_exact(&mut text)?;
            text.truncate(n as usize);
            Ok(Reply::Text(String::from_utf8_lossy(&text).into_owned()))
        }
        "*" => {
            let mut all = Vec::new();
            for _ in 0..n {
                match read_reply(stream)? {
                    Ok(reply) => all.push(reply),
                    Err(text) => return Ok(Err(text)),
                }
            }
            Ok(Reply::List(all))
        }
        _ => Ok(Reply::Text(rest.to_string())),
    })
}

/// What the lock of an owner needs to know.
pub struct Owner {
    pub name: String,
    pub masters: Vec<Redis>,
    pub key: String,
    pub lease_ms: u64,
}

/// What you write. Both methods return false if the lock is not yours.
pub trait Lock {
    fn take(&mut self) -> io::Result<bool> {
        unimplemented!("take")
    }
    fn release(&mut self) -> io::Result<bool> {
        unimplemented!("release")
    }
    /// Lab 5 only, as the next one.
    fn count(&mut self, _pattern: &str) -> io::Result<i64> {
        unimplemented!("count")
    }
    fn purge(&mut self, _pattern: &str) -> io::Result<i64> {
        unimplemented!("purge")
    }
}

/// Obeys the orders of the grader.
pub fn run<L: Lock>(name: &str, new_lock: impl Fn(Owner) -> L) {
    println!("{name}");
    let mut locks: HashMap<String, L> = HashMap::new();
    for line in io::stdin().lines() {
        let line = line.expect("an order");
        let words: Vec<&str> = line.split_whitespace().collect();
        if words[0] == "open" {
            for owner in ["a", "b"] {
                locks.insert(owner.to_string(), new_lock(open(owner, &words)));
            }
            println!("ok");
            continue;
        }
        if words[0] == "close" {
            locks.clear();
            println!("ok");
            continue;
        }
        let lock = locks.get_mut(words[1]).expect("open comes first");
        println!("{}", match words[0] {
            "take" => outcome("held", "refused", lock.take()),
            "release" => outcome("released", "failed", lock.release()),
            "count" => number("found", lock.count(words[2])),
            "purge" => number("deleted", lock.purge(words[2])),
            _ => String::new(),
        });
    }
}

fn open(owner: &str, words: &[&str]) -> Owner {
    let redis = |address: &str| Redis { address: address.to_string(), name: owner.to_string(), stream: None };
    Owner {
        name: owner.to_string(),
        masters: words[1].split(',').map(redis).collect(),
        key: words[2].to_string(),
        lease_ms: words[3].parse().expect("milliseconds"),
    }
}

fn outcome(yes: &str, no: &str, result: io::Result<bool>) -> String {
    match result {
        Ok(true) => yes.to_string(),
        Ok(false) => no.to_string(),
        Err(why) => format!("{no} {why}"),
    }
}

fn number(word: &str, result: io::Result<i64>) -> String {
    match result {
        Ok(n) => format!("{word} {n}"),
        Err(why) => format!("failed {why}"),
    }
}
