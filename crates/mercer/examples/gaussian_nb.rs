//! Two days of rows learned apart, merged, judged, explained and saved.
//!
//! `cargo run -p mercer --example gaussian_nb`

use mercer::bayes::GaussianNb;
use mercer::catalog::{AnyStats, Estimator};
use mercer::explain::explain;
use mercer::prelude::*;
use mercer::preprocess::Features;
use mercer::train::Trained;
use mercer_num::random::Random;

fn main() -> Result<()> {
    let classes = Classes::from_names(["calm", "stormy"]);
    let (monday, monday_codes) = days_of_weather(500, 1);
    let (tuesday, tuesday_codes) = days_of_weather(300, 2);
    let names = ["pressure".to_owned(), "wind".to_owned()];

    let estimator = Estimator::from(GaussianNb::new());
    let quiet = Monitor::quiet();
    let mut stats: AnyStats =
        estimator.gather(&Dataset::classes(&monday, &monday_codes, &classes)?, &quiet)?.stats;
    stats.merge(
        &estimator.gather(&Dataset::classes(&tuesday, &tuesday_codes, &classes)?, &quiet)?.stats,
    )?;
    let fitted = estimator.finish(&stats, 800)?;
    println!("{}", fitted.certificate);

    if let Some(model) = fitted.model.as_model().factorized_likelihood() {
        let why = explain(model, &[985.0, 70.0], &names)?;
        println!("{}: {:.4}", why.classes[why.winner], why.posterior[why.winner]);
        for rung in why.ranked_contributions() {
            println!("  {:10} {:+.2}", rung.column, rung.log_odds);
        }
    }

    let trained = Trained::new(estimator, Features::plain(names), fitted, Some(stats));
    let bytes = trained.to_bytes()?;
    assert_eq!(Trained::from_bytes(&bytes)?, trained);
    println!("{} bytes hold the model and what is needed to merge it again", bytes.len());
    Ok(())
}

/// Pressure in hectopascal and wind in kilometers an hour, on calm and stormy days.
fn days_of_weather(n: usize, seed: u64) -> (Matrix, Vec<u32>) {
    let mut random = Random::new(seed);
    let codes: Vec<u32> = (0..n).map(|_| random.choice(&[0.7, 0.3]) as u32).collect();
    let rows = Matrix::from_shape_fn((n, 2), |(i, j)| {
        let (mean, deviation) =
            [[(1015.0, 8.0), (15.0, 6.0)], [(990.0, 10.0), (60.0, 15.0)]][codes[i] as usize][j];
        mean + deviation * random.normal()
    });
    (rows, codes)
}
