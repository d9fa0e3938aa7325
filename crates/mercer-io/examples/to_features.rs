//! From a file to a matrix of features, types inferred: `to_features FILE TARGET`. Prints the seconds
//! and the sum of all features as JSON, for `bench/compare.py`.

use mercer::data::Stream;
use mercer::prepare::{Features, Words};
use mercer_io::{Options, Source};
use mercer_num::{Matrix, Rows, parallel};
use std::ops::ControlFlow;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let (path, target) = (args.next().ok_or("which file?")?, args.next().ok_or("which target?")?);

    let start = Instant::now();
    let source = Source::open(&path, &Options::default())?;
    let profile = source.profile(&|_, _| true)?;
    let (features, _) = Features::plan(&profile.schema(), Some(&target), Words::Auto)?;
    let mut matrix = Matrix::zeros((profile.n_rows as usize, features.n_features()));
    let mut rest = matrix.view_mut();
    source.stream(&features.schema, 4096, &mut |tables| {
        for rows in parallel::map(tables.len(), |k| features.encode(&tables[k], None))? {
            let Rows::Dense(rows) = rows.rows() else { continue };
            let (mut head, tail) = std::mem::replace(
                &mut rest,
                ndarray::ArrayViewMut2::from_shape((0, 0), &mut []).expect("empty"),
            )
            .split_at(ndarray::Axis(0), rows.nrows());
            head.assign(&rows);
            rest = tail;
        }
        Ok(ControlFlow::Continue(()))
    })?;
    let seconds = start.elapsed().as_secs_f64();

    println!("{{\"seconds\": {seconds}, \"sum\": {}}}", matrix.sum());
    Ok(())
}
