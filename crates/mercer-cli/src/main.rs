//! The `mercer` command.

#![forbid(unsafe_code)]

use std::process::ExitCode;

#[global_allocator]
static LARGE_PAGES: mercer_num::memory::HugePageAllocator = mercer_num::memory::HugePageAllocator;

fn main() -> ExitCode {
    ExitCode::from(mercer_cli::run(std::env::args_os()))
}
