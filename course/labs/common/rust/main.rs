//! A lock. The task of the lab says what take and release must do.
#[allow(dead_code)]
mod lab;
use lab::{Lock, Owner};
use std::io;

struct MyLock {
    #[allow(dead_code)] // until you use it
    owner: Owner,
}

impl Lock for MyLock {
    /// Takes the lock, and returns whether it is ours.
    fn take(&mut self) -> io::Result<bool> {
        // TODO: self.owner.masters[0].call(&["SET", ...])? is Reply::Text("OK"), or Reply::Nothing
        Ok(false)
    }

    /// Releases the lock, and returns false if it was not ours any more.
    fn release(&mut self) -> io::Result<bool> {
        // TODO
        Ok(false)
    }
}

fn main() {
    lab::run("my lock in Rust", |owner| MyLock { owner });
}
