//! Lab 5: find all keys of a pattern, and let others work meanwhile. Fill in count and purge.
#[allow(dead_code)]
mod lab;
use lab::{Lock, Owner};
use std::io;

struct Search {
    #[allow(dead_code)] // until you use it
    owner: Owner,
}

impl Lock for Search {
    /// Returns how many keys match.
    fn count(&mut self, _pattern: &str) -> io::Result<i64> {
        // TODO: self.owner.masters[0].call(&["SCAN", ...])? is a Reply::List: the next cursor as a
        // Reply::Text, and the names as a Reply::List
        Ok(0)
    }

    /// Deletes the keys that match, and returns how many it deleted.
    fn purge(&mut self, _pattern: &str) -> io::Result<i64> {
        // TODO: UNLINK and names is a Reply::Number: how many keys were there
        Ok(0)
    }
}

fn main() {
    lab::run("my search in Rust", |owner| Search { owner });
}
