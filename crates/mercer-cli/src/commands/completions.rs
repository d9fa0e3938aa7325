//! `mercer completions`: a script for the shell.

use crate::args::{Args, Completions};
use crate::failure::Result;
use clap::CommandFactory;
use std::io::{self, Write};

pub fn run(args: Completions) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "mercer", &mut script);
    io::stdout().write_all(&script)?;
    Ok(())
}
