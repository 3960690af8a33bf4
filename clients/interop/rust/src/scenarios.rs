//! The scenarios of a plain lock.

use crate::cell::{Cell, Outcome};
use crate::owner::{Library, Owner, Result};
use crate::server::{addr, Server};
use std::thread;
use std::time::{Duration, Instant};

const SHORT: Duration = Duration::from_millis(300);
const LONG: Duration = Duration::from_secs(60);
const PATIENCE: Duration = Duration::from_secs(5);
const WORKERS: i64 = 16;
const ROUNDS: i64 = 5;

pub fn cells(library: Library) -> Vec<Cell> {
    let mut cells = Vec::new();
    let mut add =
        |scenario: &'static str, lease: Duration, protocol: u8, run: fn(Scene) -> Outcome| {
            let (client, library) = (library.client.clone(), library.clone());
            let run = move || run(Scene::new(library, scenario, lease, protocol)?);
            cells.push(Cell {
                client,
                scenario,
                run: Box::new(run),
            });
        };
    add("acquire-release", LONG, 0, acquire_release);
    add("contention", LONG, 0, contention);
    add("expiry", SHORT, 0, expiry);
    add("watchdog", SHORT, 0, watchdog);
    add("stranger", LONG, 0, stranger);
    add("try-timeout", LONG, 0, try_timeout);
    add("script-lost", LONG, 0, script_lost);
    add("reconnect", LONG, 0, reconnect);
    for (protocol, scenario) in library.protocols {
        add(scenario, LONG, *protocol, acquire_release);
    }
    cells
}

/// What most scenarios need: two owners that want the same lock, and a view of the server.
struct Scene {
    library: Library,
    key: String,
    lease: Duration,
    server: Server,
    a: Box<dyn Owner>,
    b: Box<dyn Owner>,
}

impl Scene {
    fn new(library: Library, scenario: &str, lease: Duration, protocol: u8) -> Result<Scene> {
        let key = format!(
            "interop:{}:{scenario}:{}",
            library.client,
            std::process::id()
        );
        let a = (library.open)(&key, lease, protocol)?;
        let b = (library.open)(&key, lease, protocol)?;
        Ok(Scene {
            server: Server::dial(&addr())?,
            library,
            key,
            lease,
            a,
            b,
        })
    }

    fn take(&mut self) -> Outcome {
        if self.a.acquire(PATIENCE)? {
            return Ok(());
        }
        Err("a lock that was free was not got".into())
    }

    fn refused(&mut self, when: &str) -> Outcome {
        if self.b.acquire(Duration::ZERO)? {
            return Err(format!("{when} another one got the lock").into());
        }
        Ok(())
    }

    fn take_and_release(&mut self) -> Outcome {
        self.take()?;
        self.server.want_key(&self.key, true, "while held")?;
        self.a.release()?;
        self.server.want_key(&self.key, false, "after the release")
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = self.server.forget(&self.key);
    }
}

fn acquire_release(mut s: Scene) -> Outcome {
    s.take_and_release()?;
    s.take()?;
    s.refused("while it was held")?;
    s.a.release()
}

fn contention(mut s: Scene) -> Outcome {
    let counter = format!("{}:counter", s.key);
    let workers: Vec<_> = (0..WORKERS)
        .map(|_| {
            let (library, key, counter) = (s.library.clone(), s.key.clone(), counter.clone());
            thread::spawn(move || -> Outcome {
                let mut server = Server::dial(&addr())?;
                let mut owner = (library.open)(&key, LONG, 0)?;
                for _ in 0..ROUNDS {
                    if !owner.acquire(PATIENCE)? {
                        return Err("the lock was not got in time".into());
                    }
                    server.increment(&counter)?;
                    owner.release()?;
                }
                Ok(())
            })
        })
        .collect();
    for worker in workers {
        worker.join().map_err(|_| "a worker panicked")??;
    }
    let n: i64 = redis::cmd("GETDEL").arg(&counter).query(&mut s.server.0)?;
    if n != WORKERS * ROUNDS {
        return Err(format!("{} updates were lost", WORKERS * ROUNDS - n).into());
    }
    Ok(())
}

fn expiry(mut s: Scene) -> Outcome {
    let began = Instant::now();
    s.take()?;
    s.refused("before the lease was over")?;
    if !s.b.acquire(PATIENCE)? {
        return Err("the lock was not free after its lease".into());
    }
    // Expiry is kept in whole milliseconds, and the client began its own a little earlier.
    if began.elapsed() + Duration::from_millis(5) < s.lease {
        return Err(format!(
            "the lock was free after {:?}, its lease is {:?}",
            began.elapsed(),
            s.lease
        )
        .into());
    }
    s.b.release()
}

fn watchdog(mut s: Scene) -> Outcome {
    s.take()?;
    let began = Instant::now();
    while began.elapsed() < 3 * s.lease {
        thread::sleep(s.lease / 3);
        s.a.extend()?;
        s.refused("while the lock was being renewed")?;
    }
    s.a.release()
}

/// The lock passes to another owner; the first one, who thinks it still holds it, must not be able to release it.
fn stranger(mut s: Scene) -> Outcome {
    s.take()?;
    redis::cmd("SET")
        .arg(&s.key)
        .arg("of a stranger")
        .exec(&mut s.server.0)?;
    let _ = s.a.release(); // not every library tells
    s.server
        .want_key(&s.key, true, "after a stranger's release")
}

fn try_timeout(mut s: Scene) -> Outcome {
    let limit = Duration::from_millis(300);
    s.take()?;
    let began = Instant::now();
    if s.b.acquire(limit)? {
        return Err("got a lock that is held".into());
    }
    let waited = began.elapsed();
    if waited < limit || waited > 10 * limit {
        return Err(format!("gave up after {waited:?}, with a limit of {limit:?}").into());
    }
    s.a.release()
}

fn script_lost(mut s: Scene) -> Outcome {
    for _ in 0..2 {
        s.take_and_release()?;
        s.server.lose_scripts()?;
    }
    s.take()?;
    s.server.lose_scripts()?;
    s.a.release()?;
    s.server
        .want_key(&s.key, false, "after a release without its script")
}

fn reconnect(mut s: Scene) -> Outcome {
    s.take_and_release()?;
    s.server.kill_others()?;
    // A client that does not retry may notice only now that its connection is gone.
    if s.a.acquire(Duration::ZERO).unwrap_or(false) {
        s.a.release()?;
    }
    s.server.forget(&s.key)?;
    s.take_and_release()
}
