//! A lock over TLS with each client, for clients/interop/tls. ../../README.md describes the interface.

use crate::owner::version;
use crate::server::addr;
use redis::{cmd, Client, ClientTlsConfig, Script, TlsCertificates};
use rslock::LockManager;
use std::error::Error;
use std::time::Duration;

type Outcome = Result<(), Box<dyn Error>>;

const UNLOCK: &str =
    "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";

pub fn run() {
    let _ = rustls::crypto::ring::default_provider().install_default(); // fails only if there is one already
    let redis = format!("redis-rs {}", version("redis"));
    let clients: [(String, fn(Client) -> Outcome); 3] = [
        (redis.clone(), blocking),
        (format!("{redis} ConnectionManager"), managed),
        (format!("rslock {}", version("rslock")), by_rslock),
    ];
    for (client, lock) in clients {
        let saw = match open().and_then(lock) {
            Ok(()) => "ok".to_string(),
            Err(e) => format!("error: {e}"),
        };
        println!("{}", serde_json::json!({"client": client, "saw": saw}));
    }
}

fn open() -> Result<Client, Box<dyn Error>> {
    let dir = std::env::var("REDIS_TLS")?;
    let file = |name: &str| std::fs::read(format!("{dir}/{name}"));
    let certificates = TlsCertificates {
        client_tls: Some(ClientTlsConfig {
            client_cert: file("client.crt")?,
            client_key: file("client.key")?,
        }),
        root_cert: Some(file("ca.crt")?),
    };
    Ok(Client::build_with_tls(
        format!("rediss://{}", addr()),
        certificates,
    )?)
}

fn want(ok: bool, what: &str) -> Outcome {
    if ok {
        Ok(())
    } else {
        Err(what.into())
    }
}

fn take(key: &str, token: &str) -> redis::Cmd {
    let mut set = cmd("SET");
    set.arg(key).arg(token).arg("NX").arg("PX").arg(30_000);
    set
}

fn blocking(client: Client) -> Outcome {
    let mut connection = client.get_connection()?;
    let key = "tls:blocking";
    let mine: Option<String> = take(key, "one").query(&mut connection)?;
    want(mine.is_some(), "the lock is taken")?;
    let other: Option<String> = take(key, "two").query(&mut connection)?;
    want(other.is_none(), "a second owner gets the lock")?;
    let released: i64 = Script::new(UNLOCK)
        .key(key)
        .arg("one")
        .invoke(&mut connection)?;
    want(released == 1, "the owner does not release the lock")
}

fn managed(client: Client) -> Outcome {
    tokio::runtime::Runtime::new()?.block_on(async {
        let mut connection = client.get_connection_manager().await?;
        let key = "tls:managed";
        let mine: Option<String> = take(key, "one").query_async(&mut connection).await?;
        want(mine.is_some(), "the lock is taken")?;
        let other: Option<String> = take(key, "two").query_async(&mut connection).await?;
        want(other.is_none(), "a second owner gets the lock")?;
        let released: i64 = Script::new(UNLOCK)
            .key(key)
            .arg("one")
            .invoke_async(&mut connection)
            .await?;
        want(released == 1, "the owner does not release the lock")
    })
}

fn by_rslock(client: Client) -> Outcome {
    tokio::runtime::Runtime::new()?.block_on(async {
        let mut manager = LockManager::from_clients(vec![client]);
        manager.set_retry(1, Duration::from_millis(20));
        let lease = Duration::from_secs(30);
        let mine = manager.lock(b"tls:rslock", lease).await?;
        want(
            manager.lock(b"tls:rslock", lease).await.is_err(),
            "a second owner gets the lock",
        )?;
        manager.unlock(&mine).await;
        manager.lock(b"tls:rslock", lease).await?;
        Ok(())
    })
}
