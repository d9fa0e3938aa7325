//! What one run of the command shares: where words go, progress, limits and Ctrl-C.

use crate::args::Common;
use crate::failure::{Failure, Result};
use anstream::{eprintln, stderr};
use indicatif::{ProgressBar, ProgressStyle};
use mercer::model::Monitor;
use serde::Serialize;
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long a run may take to end after Ctrl-C,
const ENDING: Duration = Duration::from_millis(900);
/// and how long if it is to save what it has.
const KEEPING: Duration = Duration::from_secs(20);

/// One run.
pub struct Session {
    pub json: bool,
    quiet: bool,
    pub memory: Option<u64>,
    time_limit: Option<Duration>,
    cancel: Arc<AtomicBool>,
    patient: Arc<AtomicBool>,
}

impl Session {
    pub fn start(common: &Common) -> Session {
        let cancel = Arc::new(AtomicBool::new(false));
        let patient = Arc::new(AtomicBool::new(false));
        let (flag, wait) = (Arc::clone(&cancel), Arc::clone(&patient));
        // Asks nicely, and does not wait for whoever is stuck reading a pipe. Files appear whole or
        // not at all, so ending here leaves nothing half written.
        let installed = ctrlc::set_handler(move || {
            flag.store(true, Ordering::Relaxed);
            std::thread::sleep(if wait.load(Ordering::Relaxed) { KEEPING } else { ENDING });
            std::process::exit(130);
        });
        let session = Session {
            json: common.json,
            quiet: common.quiet,
            memory: common.memory,
            time_limit: common.time_limit,
            cancel,
            patient,
        };
        if let Err(error) = installed {
            session.say(&format!("note: Ctrl-C will end at once ({error})"));
        }
        session
    }

    /// CategoryEncoding for people, on standard error.
    pub fn say(&self, words: &str) {
        if !self.quiet {
            // Nobody to talk to is no reason to fail.
            writeln!(stderr(), "{words}").ok();
        }
    }

    /// The last words of a run that failed.
    pub fn fail(&self, failure: &Failure) {
        eprintln!("\x1b[1;31merror:\x1b[0m {failure}");
    }

    /// A result as JSON on standard output.
    pub fn print_json(&self, value: &impl Serialize) -> Result<()> {
        let mut out = io::stdout().lock();
        serde_json::to_writer_pretty(&mut out, value)?;
        writeln!(out)?;
        Ok(())
    }

    /// Whether Ctrl-C was pressed.
    pub fn interrupted(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// Fails if Ctrl-C was pressed.
    pub fn check_interrupt(&self) -> Result<()> {
        if self.interrupted() { Err(Failure::Interrupted { saved: false }) } else { Ok(()) }
    }

    /// After Ctrl-C, waits for what was learned to be saved.
    pub fn be_patient(&self) {
        self.patient.store(true, Ordering::Relaxed);
    }

    /// A bar on a terminal, nothing elsewhere.
    pub fn bar(&self, what: &str) -> ProgressBar {
        if self.quiet || !io::stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        let style = ProgressStyle::with_template(
            "{msg:10} {bar:40} {percent:>3}% {elapsed}, {eta} left{prefix}",
        )
        .unwrap_or_else(|_| ProgressStyle::default_bar());
        ProgressBar::new(0).with_style(style).with_message(what.to_owned())
    }

    /// A monitor that moves a bar and obeys the limits and Ctrl-C.
    pub fn monitor<'a>(&self, bar: &'a ProgressBar) -> Monitor<'a> {
        let mut monitor =
            Monitor::default().cancelled_by(Arc::clone(&self.cancel)).on_progress(|p| {
                if let Some(total) = p.total {
                    bar.set_length(total);
                }
                bar.set_position(p.done);
                if let Some(standing) = p.standing {
                    bar.set_prefix(format!("; {standing}"));
                }
            });
        if !self.quiet {
            monitor = monitor.on_plan(|plan| {
                // The bar makes way for the line; nobody to read it is no reason to fail.
                bar.suspend(|| writeln!(stderr(), "plan: {plan}").ok());
            });
        }
        if let Some(limit) = self.time_limit {
            monitor = monitor.time_limit(limit);
        }
        if let Some(bytes) = self.memory {
            monitor = monitor.memory_limit(bytes);
        }
        monitor
    }
}
