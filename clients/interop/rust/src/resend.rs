//! Single requests whose reply does not come, at the word of ../../resend. ../../README.md describes the interface.

use crate::owner::version;
use crate::server::addr;
use redis::{aio::ConnectionManager, aio::ConnectionManagerConfig, cmd, Client, Cmd, RedisResult};
use std::io::{stdin, BufRead};
use std::time::Duration;

/// How long a client waits for a reply.
const PATIENCE: Duration = Duration::from_secs(1);

type Send = fn(&str) -> RedisResult<Option<String>>;

pub fn run() {
    let client = format!("redis-rs {}", version("redis"));
    let senders: [(String, Send); 2] = [
        (client.clone(), blocking),
        (format!("{client} ConnectionManager"), managed),
    ];
    let mut orders = stdin().lock().lines();
    for (client, send) in senders {
        for fault in ["lost", "late"] {
            say(&client, fault, "");
            let Some(Ok(key)) = orders.next() else { return };
            let saw = match send(&key) {
                Ok(Some(reply)) => reply,
                Ok(None) => "nil".to_string(),
                Err(e) => format!("error: {e}"),
            };
            say(&client, fault, &saw);
        }
    }
}

fn say(client: &str, fault: &str, saw: &str) {
    let line = serde_json::json!({"client": client, "setting": "", "fault": fault, "saw": saw});
    println!("{line}");
}

fn set(key: &str) -> Cmd {
    let mut set = cmd("SET");
    set.arg(key).arg("token").arg("NX").arg("PX").arg(30_000);
    set
}

fn open() -> RedisResult<Client> {
    Client::open(format!("redis://{}", addr()))
}

fn blocking(key: &str) -> RedisResult<Option<String>> {
    let mut connection = open()?.get_connection()?;
    connection.set_read_timeout(Some(PATIENCE))?;
    set(key).query(&mut connection)
}

fn managed(key: &str) -> RedisResult<Option<String>> {
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let config = ConnectionManagerConfig::new().set_response_timeout(Some(PATIENCE));
        let mut connection = ConnectionManager::new_with_config(open()?, config).await?;
        set(key).query_async(&mut connection).await
    })
}
