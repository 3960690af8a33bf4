//! One lock client again and again, for ../../explore. ../../README.md describes the interface.

use crate::owner::{version, Result};
use redis::{aio::ConnectionManager, aio::ConnectionManagerConfig, cmd, Client, Script};
use rslock::{Lock, LockError, LockManager};
use std::io::{stdin, BufRead};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

const LEASE: Duration = Duration::from_secs(30);
const SILENCE: Duration = Duration::from_secs(1); // how long a client waits for a reply
const WAIT: Duration = Duration::from_secs(2); // how long a worker waits for the lock
const POLL: Duration = Duration::from_millis(100);
const TURN: Duration = Duration::from_millis(600); // how long it waits for the other one, where it usually need not
const KEY: &str = "lock:o";

/// One owner of the lock.
trait Worker {
    /// Tries without waiting.
    fn look(&mut self) -> Result<bool>;
    fn release(&mut self) -> Result<()>;

    /// Waits.
    fn take(&mut self) -> Result<()> {
        let end = Instant::now() + WAIT;
        while !self.look()? {
            if Instant::now() >= end {
                return Err("not acquired".into());
            }
            thread::sleep(POLL);
        }
        Ok(())
    }
}

struct Explored {
    name: &'static str,
    version: String,
    arguments: &'static [&'static str],
    open: fn(&str) -> Result<Box<dyn Worker>>,
}

fn clients() -> [Explored; 2] {
    let redis_rs = version("redis");
    [
        Explored {
            name: "rslock",
            version: format!("{} (redis-rs {redis_rs})", version("rslock")),
            arguments: &[
                "set_retry(1, 100 ms)",
                "lock(key, 30 s)",
                "again each 100 ms",
            ],
            open: |addr| Ok(Box::new(RsLock::open(addr)?)),
        },
        Explored {
            name: "redis-rs",
            version: format!("{redis_rs} by hand"),
            arguments: &[
                "ConnectionManagerConfig::set_response_timeout(1 s)",
                "SET key token NX PX 30000",
                "Script(compareAndDelete)",
            ],
            open: |addr| Ok(Box::new(ByHand::open(addr)?)),
        },
    ]
}

struct RsLock {
    runtime: Runtime,
    manager: LockManager,
    lock: Option<Lock>,
}

impl RsLock {
    fn open(addr: &str) -> Result<RsLock> {
        let mut manager = LockManager::new(vec![format!("redis://{addr}")]);
        manager.set_retry(1, POLL);
        Ok(RsLock {
            runtime: Runtime::new()?,
            manager,
            lock: None,
        })
    }
}

impl Worker for RsLock {
    fn look(&mut self) -> Result<bool> {
        match self.runtime.block_on(self.manager.lock(KEY, LEASE)) {
            Ok(lock) => self.lock = Some(lock),
            Err(LockError::Unavailable) => return Ok(false),
            Err(e) => return Err(e.into()),
        }
        Ok(true)
    }

    /// Tells nothing: the library does not say what the server answered.
    fn release(&mut self) -> Result<()> {
        let lock = self.lock.take().ok_or("nothing to release")?;
        self.runtime.block_on(self.manager.unlock(&lock));
        Ok(())
    }
}

struct ByHand {
    runtime: Runtime,
    connection: ConnectionManager,
    unlock: Script,
    attempts: u64,
    token: String,
}

impl ByHand {
    fn open(addr: &str) -> Result<ByHand> {
        let runtime = Runtime::new()?;
        let client = Client::open(format!("redis://{addr}"))?;
        let config = ConnectionManagerConfig::new().set_response_timeout(Some(SILENCE));
        let connection = runtime.block_on(ConnectionManager::new_with_config(client, config))?;
        let unlock = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";
        Ok(ByHand {
            runtime,
            connection,
            unlock: Script::new(unlock),
            attempts: 0,
            token: String::new(),
        })
    }
}

impl Worker for ByHand {
    fn look(&mut self) -> Result<bool> {
        self.attempts += 1;
        self.token = format!("{:p}-{:?}-{}", self, thread::current().id(), self.attempts);
        let mut set = cmd("SET");
        set.arg(KEY)
            .arg(&self.token)
            .arg("NX")
            .arg("PX")
            .arg(LEASE.as_millis() as u64);
        let reply: Option<String> = self
            .runtime
            .block_on(set.query_async(&mut self.connection))?;
        Ok(reply.is_some())
    }

    fn release(&mut self) -> Result<()> {
        let mut unlock = self.unlock.key(KEY);
        let deleted: i64 = self
            .runtime
            .block_on(unlock.arg(&self.token).invoke_async(&mut self.connection))?;
        if deleted != 1 {
            return Err("no longer held".into());
        }
        Ok(())
    }
}

/// What one worker waits for and the other one sets.
#[derive(Default)]
struct Event(Mutex<bool>, Condvar);

impl Event {
    fn set(&self) {
        *self.0.lock().unwrap() = true;
        self.1.notify_all();
    }

    fn wait(&self, limit: Duration) {
        let guard = self.0.lock().unwrap();
        drop(self.1.wait_timeout_while(guard, limit, |set| !*set));
    }
}

#[derive(Default)]
struct Events {
    open: Event,
    has: Event,
    tried: Event,
    done: Event,
}

/// a takes the lock, b tries, a releases, b takes. Each waits a moment for the other, and then goes on alone.
fn scenario(open: fn(&str) -> Result<Box<dyn Worker>>, addr: &str) -> String {
    let events = Arc::new(Events::default());
    let (at, theirs) = (addr.to_string(), events.clone());
    let a = thread::spawn(move || {
        let said = failure("a", play_a(open, &at, &theirs));
        for event in [&theirs.open, &theirs.has, &theirs.tried, &theirs.done] {
            event.set();
        }
        said
    });
    let (at, theirs) = (addr.to_string(), events);
    let b = thread::spawn(move || {
        let said = failure("b", play_b(open, &at, &theirs));
        theirs.tried.set();
        said
    });
    let crashed = |_| "a worker crashed".to_string();
    let said = [
        a.join().unwrap_or_else(crashed),
        b.join().unwrap_or_else(crashed),
    ];
    said.join(" ").trim().to_string()
}

fn failure(name: &str, result: Result<()>) -> String {
    match result {
        Ok(()) => String::new(),
        Err(e) => format!("{name}: {e};"),
    }
}

fn play_a(open: fn(&str) -> Result<Box<dyn Worker>>, addr: &str, events: &Events) -> Result<()> {
    let mut worker = open(addr)?;
    events.open.set();
    worker.take()?;
    events.has.set();
    events.tried.wait(TURN);
    worker.release()
}

fn play_b(open: fn(&str) -> Result<Box<dyn Worker>>, addr: &str, events: &Events) -> Result<()> {
    let mut worker = open(addr)?;
    events.open.wait(20 * TURN);
    events.has.wait(TURN);
    let taken = worker.look()?;
    events.tried.set();
    if !taken {
        events.done.wait(TURN);
        worker.take()?;
    }
    events.done.wait(TURN);
    worker.release()
}

pub fn run(name: Option<String>) {
    let Some(name) = name else {
        let all = clients().map(
            |c| serde_json::json!({"name": c.name, "version": c.version, "arguments": c.arguments}),
        );
        println!("{}", serde_json::json!(all));
        return;
    };
    let client = clients().into_iter().find(|c| c.name == name);
    let open = client.expect("a client of this name").open;
    for line in stdin().lock().lines().map_while(std::io::Result::ok) {
        let failed = scenario(open, line.trim());
        println!("{}", serde_json::json!({ "failed": failed }));
    }
}
