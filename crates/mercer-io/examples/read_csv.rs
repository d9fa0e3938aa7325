//! Times the two passes over a file: `cargo run --release -p mercer-io --example read_csv -- FILE`.
//! `RAYON_NUM_THREADS` says with how many threads.

use mercer_io::{Options, Source};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: read_csv FILE [stream]")?;
    let stream = std::env::args().nth(2).is_some();
    let source = Source::open(&path, &Options::default())?;
    println!("{}: {}", source.name(), source.description());

    let start = Instant::now();
    let profile = source.profile(&|_, _| true)?;
    report("profile", start, &source, &profile);

    let start = Instant::now();
    if stream {
        use mercer::data::Stream;
        source.stream(&profile.schema(), 4096, &mut |_| Ok(std::ops::ControlFlow::Continue(())))?;
        report("stream", start, &source, &profile);
    } else {
        let table = source.read(&profile.schema())?;
        report("read", start, &source, &profile);
        std::mem::forget(table);
    }
    if let Ok(status) = std::fs::read_to_string("/proc/self/status") {
        status.lines().filter(|line| line.starts_with("VmHWM")).for_each(|line| println!("{line}"));
    }
    Ok(())
}

fn report(what: &str, start: Instant, source: &Source, profile: &mercer_io::Profile) {
    let seconds = start.elapsed().as_secs_f64();
    let n_fields = profile.n_rows as f64 * profile.columns.len() as f64;
    let speed = source.size().unwrap_or(0) as f64 / seconds / 1e6;
    let per_field = seconds / n_fields * 1e9;
    println!("{what}: {seconds:.3} s, {speed:.0} MB/s, {per_field:.2} ns a field");
}
