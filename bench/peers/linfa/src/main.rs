//! linfa's Gaussian naive Bayes on a matrix in a file: `linfa-peer ROWS COLUMNS PATH`.

use linfa::prelude::*;
use linfa_bayes::GaussianNb;
use ndarray::{Array1, Array2};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let (n, d): (usize, usize) = (args[1].parse()?, args[2].parse()?);
    let x = words(&format!("{}.x", args[3]))?.into_iter().map(f64::from_le_bytes).collect();
    let y: Vec<usize> = words(&format!("{}.y", args[3]))?
        .into_iter()
        .map(|word| i64::from_le_bytes(word) as usize)
        .collect();
    let data = Dataset::new(Array2::from_shape_vec((n, d), x)?, Array1::from_vec(y));
    let (mut fit, mut predict, mut accuracy) = (f64::INFINITY, f64::INFINITY, 0.0);
    for _ in 0..3 {
        let start = Instant::now();
        let model = GaussianNb::params().fit(&data)?;
        fit = fit.min(start.elapsed().as_secs_f64());
        let start = Instant::now();
        let guess = model.predict(data.records());
        predict = predict.min(start.elapsed().as_secs_f64());
        let hits = guess.iter().zip(data.targets()).filter(|(a, b)| a == b).count();
        accuracy = hits as f64 / n as f64;
    }
    println!("{{\"fit\": {fit}, \"predict\": {predict}, \"accuracy\": {accuracy}}}");
    Ok(())
}

fn words(path: &str) -> std::io::Result<Vec<[u8; 8]>> {
    Ok(std::fs::read(path)?.as_chunks::<8>().0.to_vec())
}
