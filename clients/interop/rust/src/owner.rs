//! What a lock library is to a scenario.

use std::time::Duration;

pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// A client of the library. Two clients share nothing, like two processes. A client has one lock.
pub trait Owner: Send {
    /// Waits for the lock until the limit, or not at all if the limit is zero. Returns whether it
    /// holds the lock.
    fn acquire(&mut self, limit: Duration) -> Result<bool>;
    fn release(&mut self) -> Result<()>;
    fn extend(&mut self) -> Result<()>;
}

#[derive(Clone)]
pub struct Library {
    pub client: String,
    /// Makes an owner of a lock with this key and lease. The last is the protocol, 2 or 3; 0 is the library's own choice.
    pub open: fn(&str, Duration, u8) -> Result<Box<dyn Owner>>,
    /// Protocols the client can be told to speak.
    pub protocols: &'static [(u8, &'static str)],
}

/// The version of a crate, as it was built.
pub fn version(name: &str) -> String {
    let lock = include_str!("../Cargo.lock");
    let entry = format!("name = \"{name}\"\nversion = \"");
    match lock.split_once(&entry) {
        Some((_, rest)) => rest.split('"').next().unwrap_or_default().to_string(),
        None => "?".to_string(),
    }
}
