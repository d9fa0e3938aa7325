//! The state of one run: messages, progress, limits and Ctrl-C.

use crate::args::Common;
use crate::failure::{Failure, Result};
use anstream::{eprintln, stderr};
use indicatif::{ProgressBar, ProgressStyle};
use mercer::model::Monitor;
use serde::Serialize;
use serde_json::json;
use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Time that a run may take to end after Ctrl-C,
const GRACE_PERIOD: Duration = Duration::from_millis(900);
/// and to save its model with `--keep-best`.
const SAVING_PERIOD: Duration = Duration::from_secs(20);

/// One run.
pub struct Session {
    pub json: bool,
    quiet: bool,
    force: bool,
    pub memory: Option<u64>,
    #[cfg_attr(not(feature = "serve"), expect(dead_code, reason = "read by the server"))]
    pub threads: usize,
    time_limit: Option<Duration>,
    cancel: Arc<AtomicBool>,
    saves_on_interrupt: Arc<AtomicBool>,
    #[cfg_attr(not(feature = "serve"), expect(dead_code, reason = "set by the server"))]
    stops_on_interrupt: Arc<AtomicBool>,
}

impl Session {
    pub fn start(common: &Common) -> Session {
        let cancel = Arc::new(AtomicBool::new(false));
        let saves_on_interrupt = Arc::new(AtomicBool::new(false));
        let stops_on_interrupt = Arc::new(AtomicBool::new(false));
        let (flag, wait) = (Arc::clone(&cancel), Arc::clone(&saves_on_interrupt));
        let stops = Arc::clone(&stops_on_interrupt);
        // The flag stops a fit at its next check. A run that is blocked on a pipe ends after the grace
        // period; files are written atomically, so none is left incomplete.
        let installed = ctrlc::set_handler(move || {
            let first = !flag.swap(true, Ordering::Relaxed);
            if stops.load(Ordering::Relaxed) {
                // A server finishes its requests; a second signal ends it at once.
                if first {
                    return;
                }
                std::process::exit(130);
            }
            std::thread::sleep(if wait.load(Ordering::Relaxed) {
                SAVING_PERIOD
            } else {
                GRACE_PERIOD
            });
            std::process::exit(130);
        });
        let session = Session {
            json: common.json,
            quiet: common.quiet,
            force: common.force,
            memory: common.memory,
            threads: common.threads,
            time_limit: common.time_limit,
            cancel,
            saves_on_interrupt,
            stops_on_interrupt,
        };
        if let Err(error) = installed {
            session.message(&format!("note: Ctrl-C will end at once ({error})"));
        }
        session
    }

    /// The same session without messages.
    pub fn quietly(&self) -> Session {
        Session {
            json: self.json,
            quiet: true,
            force: self.force,
            memory: self.memory,
            threads: self.threads,
            time_limit: self.time_limit,
            cancel: Arc::clone(&self.cancel),
            saves_on_interrupt: Arc::clone(&self.saves_on_interrupt),
            stops_on_interrupt: Arc::clone(&self.stops_on_interrupt),
        }
    }

    /// Prints a message on standard error.
    pub fn message(&self, text: &str) {
        if !self.quiet {
            // A closed standard error is no reason to fail.
            writeln!(stderr(), "{text}").ok();
        }
    }

    /// Whether the report of a fit is not printed.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Prints the error of a failed run.
    pub fn fail(&self, failure: &Failure) {
        eprintln!("\x1b[1;31merror:\x1b[0m {failure}");
        if let (true, Failure::NotSeparable(message, witness)) = (self.json, failure) {
            // Nothing is left to do if standard output is closed.
            self.print_json(&json!({"error": message, "witness": witness})).ok();
        }
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

    /// After Ctrl-C, waits for the model to be saved.
    pub fn save_on_interrupt(&self) {
        self.saves_on_interrupt.store(true, Ordering::Relaxed);
    }

    /// The flag that the first Ctrl-C or SIGTERM sets, for a run that then ends by itself.
    #[cfg(feature = "serve")]
    pub fn stop_on_interrupt(&self) -> Arc<AtomicBool> {
        self.stops_on_interrupt.store(true, Ordering::Relaxed);
        Arc::clone(&self.cancel)
    }

    /// The time limit, if there is one.
    #[cfg(feature = "serve")]
    pub fn time_limit(&self) -> Option<Duration> {
        self.time_limit
    }

    /// Refuses to replace a file that Mercer does not write, such as the training data, without `--force`.
    pub fn check_output(&self, path: &Path) -> Result<()> {
        if self.force || !path.is_file() {
            return Ok(());
        }
        let mut head = Vec::new();
        let read = File::open(path).and_then(|file| file.take(64).read_to_end(&mut head));
        let text = String::from_utf8_lossy(&head).to_lowercase();
        let beginnings = ["<!doctype html", "<svg", "<?xml", "network "];
        let replaceable = head.is_empty()
            || mercer::file::is_model(&head)
            || head.starts_with(b"\x89PNG")
            || beginnings.iter().any(|beginning| text.starts_with(beginning));
        if read.is_ok() && replaceable {
            return Ok(());
        }
        Err(Failure::Usage(format!(
            "{} exists and is no model, report or plot; choose another name, or replace it with \
             `--force`",
            path.display()
        )))
    }

    /// A progress bar on a terminal; hidden elsewhere.
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

    /// A monitor that updates a progress bar and stops at the limits or on Ctrl-C.
    pub fn monitor<'a>(&self, bar: &'a ProgressBar) -> Monitor<'a> {
        let mut monitor =
            Monitor::default().cancelled_by(Arc::clone(&self.cancel)).on_progress(|p| {
                if let Some(total) = p.total {
                    bar.set_length(total);
                }
                bar.set_position(p.done);
                if let Some(convergence) = p.convergence {
                    bar.set_prefix(format!("; {convergence}"));
                }
            });
        if !self.quiet {
            monitor = monitor.on_plan(|plan| {
                // The bar is hidden while the line is printed.
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
