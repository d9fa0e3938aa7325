//! From a file to a matrix of features, types inferred: `to_features FILE TARGET`. Prints the seconds
//! and the sum of all features as JSON, for `bench/compare.py`.

use mercer::data::Stream;
use mercer::preprocess::{CategoryEncoding, Features};
use mercer_io::{Options, Source};
use mercer_num::Matrix;
use ndarray::Axis;
use rayon::prelude::*;
use std::ops::ControlFlow;
use std::time::Instant;

const CHUNK: usize = 4096;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let (path, target) = (args.next().ok_or("which file?")?, args.next().ok_or("which target?")?);

    let start = Instant::now();
    let source = Source::open(&path, &Options { cache_bytes: 4 << 30, ..Options::default() })?;
    let profile = source.profile(&|_, _| true)?;
    let (features, _) = Features::plan(&profile.schema(), Some(&target), CategoryEncoding::Auto)?;
    let mut matrix = Matrix::zeros((profile.n_rows as usize, features.n_features()));
    let mut places = matrix.axis_chunks_iter_mut(Axis(0), CHUNK);
    source.stream(&features.schema, CHUNK, &mut |tables| {
        let places: Vec<_> = places.by_ref().take(tables.len()).collect();
        tables
            .into_par_iter()
            .zip(places)
            .try_for_each(|(table, mut out)| features.encode_into(&table, &mut out).map(drop))?;
        Ok(ControlFlow::Continue(()))
    })?;
    let seconds = start.elapsed().as_secs_f64();

    println!("{{\"seconds\": {seconds}, \"sum\": {}}}", matrix.sum());
    Ok(())
}
