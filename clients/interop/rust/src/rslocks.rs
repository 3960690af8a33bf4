//! rslock: Redlock with one master as a plain lock, and with three masters, its purpose.

use crate::cell::Cell;
use crate::owner::{version, Library, Owner, Result};
use crate::server::{addr, masters, url, Server};
use rslock::{Lock, LockError, LockManager};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

const POLL: Duration = Duration::from_millis(20); // at most; it waits a random part of it

pub fn library() -> Library {
    let client = format!(
        "rslock {} (redis-rs {})",
        version("rslock"),
        version("redis")
    );
    Library {
        client,
        open: |key, lease, _| over(&[addr()], key, lease),
        protocols: &[],
    }
}

fn over(addrs: &[String], key: &str, lease: Duration) -> Result<Box<dyn Owner>> {
    let mut manager = LockManager::new(addrs.iter().map(|a| url(a, 0)).collect());
    manager.set_retry(1, POLL);
    Ok(Box::new(Locker {
        runtime: Runtime::new()?,
        manager,
        key: key.to_string(),
        lease,
        lock: None,
    }))
}

struct Locker {
    runtime: Runtime,
    manager: LockManager,
    key: String,
    lease: Duration,
    lock: Option<Lock>,
}

impl Owner for Locker {
    fn acquire(&mut self, limit: Duration) -> Result<bool> {
        let end = Instant::now() + limit;
        loop {
            match self
                .runtime
                .block_on(self.manager.lock(self.key.as_str(), self.lease))
            {
                Ok(lock) => {
                    self.lock = Some(lock);
                    return Ok(true);
                }
                Err(LockError::Unavailable) if Instant::now() >= end => return Ok(false),
                Err(LockError::Unavailable) => std::thread::sleep(POLL / 2),
                Err(e) => return Err(e.into()),
            }
        }
    }

    /// Tells nothing: the library asks every master and does not say what they answered.
    fn release(&mut self) -> Result<()> {
        let lock = self.lock.take().ok_or("nothing to release")?;
        self.runtime.block_on(self.manager.unlock(&lock));
        Ok(())
    }

    fn extend(&mut self) -> Result<()> {
        let lock = self.lock.as_ref().ok_or("nothing to extend")?;
        self.lock = Some(
            self.runtime
                .block_on(self.manager.extend(lock, self.lease))?,
        );
        Ok(())
    }
}

/// Two of three masters are enough, one is not.
pub fn redlock() -> Cell {
    let client = library().client;
    let key = format!("interop:{client}:redlock:{}", std::process::id());
    let run = move || {
        let mut owner = over(&masters(), &key, Duration::from_secs(60))?;
        let mut servers = Vec::new();
        for addr in masters() {
            servers.push(Server::dial(&addr)?);
        }
        for (taken, wanted) in [(0, true), (1, true), (2, false), (3, false)] {
            for server in &mut servers[..taken] {
                redis::cmd("SET")
                    .arg(&key)
                    .arg("of a stranger")
                    .exec(&mut server.0)?;
            }
            let got = owner.acquire(Duration::ZERO)?;
            if got {
                owner.release()?;
            }
            for server in &mut servers {
                server.forget(&key)?;
            }
            if got != wanted {
                return Err(format!("with {taken} masters taken: got it is {got}").into());
            }
        }
        Ok(())
    };
    Cell {
        client,
        scenario: "redlock",
        run: Box::new(run),
    }
}
