//! The `mercer` command.

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
use std::process::ExitCode;

#[global_allocator]
static LARGE_PAGES: mercer_num::memory::HugePageAllocator = mercer_num::memory::HugePageAllocator;

fn main() -> ExitCode {
    let args = args::Args::parse();
    let session = Session::start(&args.common);
    let outcome = mercer_num::parallel::with_threads(args.common.threads, || {
        commands::run(args.command, &session)
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of the pipe has closed it, as `head` does.
        Err(Failure::ClosedPipe) => ExitCode::SUCCESS,
        Err(failure) => {
            session.fail(&failure);
            ExitCode::from(failure.exit_code())
        }
    }
}
