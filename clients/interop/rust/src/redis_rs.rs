//! redis-rs itself, with the lock that its users write: SET NX PX and two scripts.

use crate::owner::{version, Library, Owner, Result};
use crate::server::{addr, url};
use redis::{cmd, Client, Connection, Script};
use std::thread;
use std::time::{Duration, Instant};

const POLL: Duration = Duration::from_millis(10);

pub fn library() -> Library {
    Library {
        client: format!("redis-rs {}", version("redis")),
        open,
        protocols: &[(2, "resp2"), (3, "resp3")],
    }
}

fn open(key: &str, lease: Duration, protocol: u8) -> Result<Box<dyn Owner>> {
    let client = Client::open(url(&addr(), protocol))?;
    let mut connection = client.get_connection()?;
    if protocol != 0 {
        let info: String = cmd("CLIENT").arg("INFO").query(&mut connection)?;
        if !info.contains(&format!(" resp={protocol}")) {
            return Err(format!("the connection does not speak RESP{protocol}: {info}").into());
        }
    }
    let token = format!("{}-{:?}", std::process::id(), &connection as *const _);
    Ok(Box::new(Plain {
        client,
        connection,
        key: key.to_string(),
        token,
        lease,
    }))
}

struct Plain {
    client: Client,
    connection: Connection,
    key: String,
    token: String,
    lease: Duration,
}

impl Plain {
    /// A connection that was lost is not made anew by the library.
    fn connection(&mut self) -> Result<&mut Connection> {
        if !redis::ConnectionLike::is_open(&self.connection) {
            self.connection = self.client.get_connection()?;
        }
        Ok(&mut self.connection)
    }

    fn owned(&mut self, then: &str) -> Result<()> {
        let (key, token, lease) = (
            self.key.clone(),
            self.token.clone(),
            self.lease.as_millis() as u64,
        );
        let script = Script::new(&format!(
            "if redis.call('get', KEYS[1]) == ARGV[1] then return {then} else return 0 end"
        ));
        let done: i64 = script
            .key(key)
            .arg(token)
            .arg(lease)
            .invoke(self.connection()?)?;
        if done == 1 {
            Ok(())
        } else {
            Err("not the holder".into())
        }
    }
}

impl Owner for Plain {
    fn acquire(&mut self, limit: Duration) -> Result<bool> {
        let end = Instant::now() + limit;
        let (key, token, lease) = (
            self.key.clone(),
            self.token.clone(),
            self.lease.as_millis() as u64,
        );
        loop {
            let set = cmd("SET")
                .arg(&key)
                .arg(&token)
                .arg("NX")
                .arg("PX")
                .arg(lease)
                .to_owned();
            if set.query::<redis::Value>(self.connection()?)? == redis::Value::Okay {
                return Ok(true);
            }
            if Instant::now() >= end {
                return Ok(false);
            }
            thread::sleep(POLL);
        }
    }

    fn release(&mut self) -> Result<()> {
        self.owned("redis.call('del', KEYS[1])")
    }

    fn extend(&mut self) -> Result<()> {
        self.owned("redis.call('pexpire', KEYS[1], ARGV[2])")
    }
}
