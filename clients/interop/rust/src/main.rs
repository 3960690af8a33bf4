//! Runs lock libraries for Rust against one Redis server: a line of JSON for each cell.
//!
//! It is started by ../../matrix, with the servers in its environment (../../README.md has
//! the contract); by hand: `REDIS_ADDR=127.0.0.1:6379 ./run`
//!
//! The scenarios are written once, against the methods of an owner; a module for each library
//! fills them in.

mod cell;
mod explore;
mod owner;
mod redis_rs;
mod resend;
mod rslocks;
mod scenarios;
mod server;
mod tls;
mod topology;

fn main() {
    if std::env::args().nth(1).as_deref() == Some("resend") {
        resend::run();
        return;
    }
    if std::env::args().nth(1).as_deref() == Some("explore") {
        explore::run(std::env::args().nth(2));
        return;
    }
    if std::env::args().nth(1).as_deref() == Some("tls") {
        tls::run();
        return;
    }
    if std::env::args().nth(1).as_deref() == Some("topology") {
        topology::run(std::env::args().nth(2));
        return;
    }
    let only = std::env::var("ONLY").unwrap_or_default();
    let mut cells = Vec::new();
    for library in [redis_rs::library(), rslocks::library()] {
        cells.extend(scenarios::cells(library));
    }
    cells.push(rslocks::redlock());
    for cell in cells {
        if cell.name().contains(&only) {
            cell.run();
        }
    }
    std::process::exit(0); // a cell that hangs has left a thread behind
}
