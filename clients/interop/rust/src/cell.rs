//! A cell, its time limit and its line.

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// The time limit of a cell. A cell that reaches it has failed, and the next one begins.
const LIMIT: Duration = Duration::from_secs(10);

pub type Outcome = Result<(), Box<dyn std::error::Error + Send + Sync>>;

pub struct Cell {
    pub client: String,
    pub scenario: &'static str,
    pub run: Box<dyn FnOnce() -> Outcome + Send>,
}

impl Cell {
    pub fn name(&self) -> String {
        format!("{}/{}", self.client, self.scenario)
    }

    pub fn run(self) {
        let began = Instant::now();
        let outcome = within(self.run);
        let line = serde_json::json!({
            "client": self.client,
            "scenario": self.scenario,
            "outcome": if outcome.is_ok() { "pass" } else { "fail" },
            "ms": began.elapsed().as_millis() as u64,
            "detail": outcome.err().unwrap_or_default().lines().next().unwrap_or_default(),
        });
        println!("{line}");
    }
}

fn within(run: Box<dyn FnOnce() -> Outcome + Send>) -> Result<(), String> {
    let (done, outcome) = mpsc::channel();
    thread::spawn(move || {
        let said = match catch_unwind(AssertUnwindSafe(run)) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(e)) => Err(e.to_string()),
            Err(_) => Err("panicked: see above".to_string()),
        };
        let _ = done.send(said);
    });
    match outcome.recv_timeout(LIMIT) {
        Ok(said) => said,
        Err(_) => Err(format!("not done after {LIMIT:?}")),
    }
}
