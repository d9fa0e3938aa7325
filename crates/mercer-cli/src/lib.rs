//! The `mercer` command as a library: the binary and the console script of the Python package run the same code.

#![forbid(unsafe_code)]

mod args;
mod commands;
mod failure;
mod input;
mod report;
mod session;

use clap::Parser;
use failure::Failure;
use session::Session;
use std::ffi::OsString;

/// Runs the command with the given arguments, the name of the program first; returns the exit code. `--help` and errors
/// in the arguments end the process.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let args = args::Args::parse_from(arguments);
    let session = Session::start(&args.common);
    let outcome = mercer_num::parallel::with_threads(args.common.threads, || {
        commands::run(args.command, &session)
    });
    match outcome {
        // The reader of the pipe has closed it, as `head` does.
        Ok(()) | Err(Failure::ClosedPipe) => 0,
        Err(failure) => {
            session.fail(&failure);
            failure.exit_code()
        }
    }
}
