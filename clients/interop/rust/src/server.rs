//! The servers, and a connection to look behind the client's back.

use crate::owner::Result;
use redis::{cmd, Commands, Connection};

pub fn addr() -> String {
    std::env::var("REDIS_ADDR").expect("REDIS_ADDR is not set")
}

pub fn masters() -> Vec<String> {
    match std::env::var("REDIS_MASTERS") {
        Ok(list) => list.split(',').map(String::from).collect(),
        Err(_) => vec![addr()],
    }
}

pub fn url(addr: &str, protocol: u8) -> String {
    match protocol {
        0 => format!("redis://{addr}"),
        n => format!("redis://{addr}/?protocol=resp{n}"),
    }
}

pub struct Server(pub Connection);

impl Server {
    pub fn dial(addr: &str) -> Result<Server> {
        let mut connection = redis::Client::open(url(addr, 0))?.get_connection()?;
        cmd("CLIENT")
            .arg("SETNAME")
            .arg("interop")
            .exec(&mut connection)?;
        Ok(Server(connection))
    }

    pub fn want_key(&mut self, key: &str, there: bool, when: &str) -> Result<()> {
        if self.0.exists::<_, bool>(key)? != there {
            return Err(format!(
                "{when} {key} is {}",
                if there { "not there" } else { "still there" }
            )
            .into());
        }
        Ok(())
    }

    /// Adds one in two steps, which only a lock makes one.
    pub fn increment(&mut self, key: &str) -> Result<()> {
        let n: Option<i64> = self.0.get(key)?;
        Ok(self.0.set(key, n.unwrap_or(0) + 1)?)
    }

    pub fn lose_scripts(&mut self) -> Result<()> {
        Ok(cmd("SCRIPT").arg("FLUSH").exec(&mut self.0)?)
    }

    pub fn kill_others(&mut self) -> Result<()> {
        Ok(cmd("CLIENT")
            .arg("KILL")
            .arg("TYPE")
            .arg("normal")
            .arg("SKIPME")
            .arg("yes")
            .exec(&mut self.0)?)
    }

    pub fn forget(&mut self, key: &str) -> Result<()> {
        Ok(self.0.del(key)?)
    }
}
