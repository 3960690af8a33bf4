//! A lock in a cluster or through Sentinel, for clients/interop/topology. ../../README.md describes the interface.

use crate::owner::version;
use redis::cluster::ClusterClientBuilder;
use redis::cluster_async::ClusterConnection;
use redis::sentinel::{SentinelClient, SentinelServerType};
use redis::{cmd, Cmd, Connection, FromRedisValue, ProtocolVersion, PushInfo, PushKind};
use std::env::var;
use std::error::Error;
use std::sync::mpsc::{channel, Receiver};
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

const PATIENCE: Duration = Duration::from_secs(2); // how long a client waits for a reply
const RECOVERY: Duration = Duration::from_secs(30); // until it has to have found the new master
const LEASE: u32 = 300_000; // ms
const FREE: &str =
    "if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('publish', ARGV[2], 'free') \
                    return redis.call('del', KEYS[1]) end return 0";

pub fn run(name: Option<String>) {
    if name.is_none() {
        println!("redis-rs");
        return;
    }
    let scenes: [(&str, fn(&mut Link) -> Outcome); 7] = [
        ("connect", connect),
        ("lock", lock),
        ("contention", contention),
        ("wake-up", wake_up),
        ("shard", shard),
        ("slot", slot),
        ("failover", failover),
    ];
    let mut link = None;
    for (scene, play) in scenes {
        if !in_cluster() && ["shard", "slot"].contains(&scene) {
            continue;
        }
        let saw = match open(&mut link).and_then(play) {
            Ok(()) => "ok".to_string(),
            Err(e) => format!("error: {e}"),
        };
        let client = format!("redis-rs {}", version("redis"));
        println!(
            "{}",
            serde_json::json!({"client": client, "scene": scene, "saw": saw})
        );
    }
    std::process::exit(0); // a subscription has left a thread behind
}

fn open(link: &mut Option<Link>) -> Outcome<&mut Link> {
    if link.is_none() {
        *link = Some(Link::open()?);
    }
    Ok(link.as_mut().expect("it was just opened"))
}

fn in_cluster() -> bool {
    var("MODE").as_deref() == Ok("cluster")
}

/// What a program has: the connection to a cluster, or one to the master that the Sentinels name.
enum Link {
    Cluster(Runtime, ClusterConnection, Receiver<PushInfo>),
    Sentinel(SentinelClient, Option<Connection>),
}

impl Link {
    fn open() -> Outcome<Link> {
        let addresses: Vec<String> = var("ADDRESSES")?
            .split(',')
            .map(|address| format!("redis://{address}"))
            .collect();
        if !in_cluster() {
            let kind = SentinelServerType::Master;
            return Ok(Link::Sentinel(
                SentinelClient::build(addresses, var("MASTER")?, None, kind)?,
                None,
            ));
        }
        let (sender, pushes) = channel();
        let runtime = Runtime::new()?;
        let client = ClusterClientBuilder::new(addresses)
            .use_protocol(ProtocolVersion::RESP3)
            .connection_timeout(PATIENCE)
            .response_timeout(PATIENCE)
            .push_sender(move |push| sender.send(push))
            .build()?;
        let connection = runtime.block_on(client.get_async_connection())?;
        Ok(Link::Cluster(runtime, connection, pushes))
    }

    fn ask<T: FromRedisValue>(&mut self, request: &Cmd) -> Outcome<T> {
        match self {
            Link::Cluster(runtime, connection, _) => {
                Ok(runtime.block_on(request.query_async(connection))?)
            }
            Link::Sentinel(client, connection) => {
                if connection.is_none() {
                    *connection = Some(client.get_connection()?);
                }
                let reply = request.query(connection.as_mut().expect("it was just opened"));
                if reply.is_err() {
                    *connection = None; // the master may be another one
                }
                Ok(reply?)
            }
        }
    }

    fn take(&mut self, key: &str, token: &str) -> Outcome<bool> {
        let mut set = cmd("SET");
        set.arg(key).arg(token).arg("NX").arg("PX").arg(LEASE);
        Ok(self.ask::<Option<String>>(&set)?.is_some())
    }

    fn free(&mut self, key: &str, token: &str) -> Outcome {
        let mut eval = cmd("EVAL");
        let channel = format!("{key}:free");
        eval.arg(FREE).arg(1).arg(key).arg(token).arg(channel);
        want(
            self.ask::<i64>(&eval)? == 1,
            "the owner does not release the lock",
        )
    }

    fn set(&mut self, key: &str, value: i64) -> Outcome {
        self.ask(cmd("SET").arg(key).arg(value))
    }

    fn get(&mut self, key: &str) -> Outcome<i64> {
        Ok(self
            .ask::<Option<i64>>(cmd("GET").arg(key))?
            .unwrap_or_default())
    }
}

fn want(ok: bool, what: &str) -> Outcome {
    if ok {
        Ok(())
    } else {
        Err(what.into())
    }
}

/// Lets something happen to a key.
fn ask(what: &str, key: &str) -> Outcome {
    println!("{}", serde_json::json!({"ask": what, "key": key}));
    std::io::stdin().read_line(&mut String::new())?;
    Ok(())
}

fn connect(link: &mut Link) -> Outcome {
    link.set("connect", 1)?;
    want(link.get("connect")? == 1, "a value comes back")
}

fn lock(link: &mut Link) -> Outcome {
    want(link.take("lock", "a")?, "a free lock is taken")?;
    want(!link.take("lock", "b")?, "a held lock is refused")?;
    want(link.free("lock", "b").is_err(), "a stranger releases it")?;
    link.free("lock", "a")
}

fn contention(link: &mut Link) -> Outcome {
    let work = |token: String| -> Outcome {
        let mut link = Link::open()?;
        for _ in 0..10 {
            while !link.take("busy", &token)? {
                thread::sleep(Duration::from_millis(5));
            }
            let count = link.get("{busy}:n")?;
            link.set("{busy}:n", count + 1)?;
            link.free("busy", &token)?;
        }
        Ok(())
    };
    let workers: Vec<_> = (0..4)
        .map(|n| thread::spawn(move || work(format!("worker-{n}"))))
        .collect();
    for worker in workers {
        worker.join().map_err(|_| "a worker panicked")??;
    }
    want(link.get("{busy}:n")? == 40, "an update is lost")
}

fn wake_up(link: &mut Link) -> Outcome {
    let heard = listen(link, "woken:free")?;
    want(link.take("woken", "a")?, "a free lock is taken")?;
    link.free("woken", "a")?;
    heard(link)
}

/// Subscribes. What it returns waits for a message.
fn listen(link: &mut Link, name: &str) -> Outcome<Box<dyn FnOnce(&mut Link) -> Outcome>> {
    match link {
        Link::Cluster(runtime, connection, _) => {
            runtime.block_on(connection.subscribe(name))?;
            Ok(Box::new(|link| {
                await_push(link, PushKind::Message, PATIENCE)
            }))
        }
        Link::Sentinel(client, _) => {
            let mut connection = client.get_connection()?;
            connection.set_read_timeout(Some(PATIENCE))?;
            let name = name.to_string();
            let (sender, events) = channel();
            thread::spawn(move || {
                let mut subscription = connection.as_pubsub(); // it ends with this value
                let _ = sender.send(subscription.subscribe(name));
                let _ = sender.send(subscription.get_message().map(drop));
            });
            events.recv()??;
            Ok(Box::new(move |_| Ok(events.recv()??)))
        }
    }
}

fn await_push(link: &mut Link, kind: PushKind, limit: Duration) -> Outcome {
    let Link::Cluster(_, _, pushes) = link else {
        return Err("only a cluster pushes".into());
    };
    let end = Instant::now() + limit;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        match pushes.recv_timeout(left) {
            Ok(push) if push.kind == kind => return Ok(()),
            Ok(_) => continue, // of the subscription itself
            Err(_) => return Err(format!("there is no {kind:?}").into()),
        }
    }
}

/// A connection that ends has to be made anew, with its subscription.
fn shard(link: &mut Link) -> Outcome {
    if let Link::Cluster(runtime, connection, _) = link {
        runtime.block_on(connection.ssubscribe("shard"))?;
    }
    let mut publish = cmd("SPUBLISH");
    publish.arg("shard").arg("free");
    let _: i64 = link.ask(&publish)?;
    await_push(link, PushKind::SMessage, PATIENCE)?;
    ask("cut", "shard")?;
    let end = Instant::now() + RECOVERY;
    loop {
        let _: i64 = link.ask(&publish)?;
        match await_push(link, PushKind::SMessage, Duration::from_millis(100)) {
            Err(e) if Instant::now() > end => return Err(format!("after a cut: {e}").into()),
            Err(_) => continue,
            Ok(()) => return Ok(()),
        }
    }
}

fn slot(link: &mut Link) -> Outcome {
    for step in ["move", "finish"] {
        // ASK, then MOVED
        want(link.take("moved", "a")?, "a free lock is taken")?;
        ask(step, "moved")?;
        want(!link.take("moved", "b")?, "a held lock is refused")?;
        link.free("moved", "a")?;
    }
    Ok(())
}

fn failover(link: &mut Link) -> Outcome {
    want(link.take("kept", "a")?, "a free lock is taken")?;
    ask("failover", "kept")?;
    let end = Instant::now() + RECOVERY;
    loop {
        match link.take("kept", "b") {
            Ok(taken) => {
                want(!taken, "a held lock is refused")?;
                return link.free("kept", "a");
            }
            Err(e) if Instant::now() > end => return Err(e),
            Err(_) => thread::sleep(Duration::from_millis(100)),
        }
    }
}
