//! The certified values of the NIST Statistical Reference Datasets for linear regression,
//! <https://www.itl.nist.gov/div898/strd/lls/lls.shtml>, stored in `testdata/nist` unchanged.
//!
//! Agreement is measured in digits: `−log₁₀` of the relative error, at most fifteen, the number of certified digits.

use crate::cases::repository_file;
use mercer::linear::{LinearRegression, LinearRegressionModel};
use mercer::prelude::*;
use mercer::solver::Precision;

/// Set, digits of the coefficients that must be right, digits of their standard errors.
const SETS: [(&str, f64, f64); 11] = [
    ("Norris", 13.0, 13.0),
    ("Pontius", 13.0, 12.0),
    ("NoInt1", 14.0, 14.0),
    ("NoInt2", 14.0, 13.5),
    ("Longley", 14.0, 13.5),
    ("Wampler1", 14.0, 0.0),
    ("Wampler2", 13.0, 0.0),
    ("Wampler3", 14.0, 13.5),
    ("Wampler4", 14.0, 13.5),
    ("Wampler5", 14.0, 13.5),
    // Rounding the powers of the column to doubles costs eight digits before any computation.
    ("Filip", 7.5, 7.5),
];

struct Certified {
    x: Matrix,
    y: Vec<f64>,
    intercept: bool,
    /// Coefficients with their standard errors.
    estimates: Vec<(f64, f64)>,
    r_squared: f64,
}

fn certified(name: &str) -> Certified {
    let text = repository_file(&format!("testdata/nist/{name}.dat"));
    let lines: Vec<&str> = text.lines().collect();
    let start = lines.iter().rposition(|line| line.starts_with("Data:")).unwrap();
    let fields = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let mut estimates = Vec::new();
    let mut r_squared = f64::NAN;
    for fields in lines[..start].iter().map(|line| fields(line)) {
        match fields.as_slice() {
            [name, value, error] if name.starts_with('B') && value.parse::<f64>().is_ok() => {
                estimates.push((value.parse().unwrap(), error.parse().unwrap()));
            }
            [name, value] if name == "R-Squared" => r_squared = value.parse().unwrap(),
            _ => {}
        }
    }
    let rows: Vec<Vec<f64>> = lines[start + 1..]
        .iter()
        .map(|line| fields(line).iter().map(|field| field.parse().unwrap()).collect())
        .filter(|row: &Vec<f64>| !row.is_empty())
        .collect();
    let intercept = !name.starts_with("NoInt");
    let n_terms = estimates.len() - usize::from(intercept);
    let x = Matrix::from_shape_fn((rows.len(), n_terms), |(i, j)| match rows[i].len() - 1 {
        // A single column is expanded to its powers.
        1 => (0..=j).map(|_| rows[i][1]).product(),
        _ => rows[i][1 + j],
    });
    Certified { x, y: rows.iter().map(|row| row[0]).collect(), intercept, estimates, r_squared }
}

fn digits(found: f64, certified: f64) -> f64 {
    if found == certified {
        return 15.0;
    }
    (-((found - certified) / certified).abs().log10()).min(15.0)
}

fn least_digits(found: &[f64], certified: impl Iterator<Item = f64>) -> f64 {
    found.iter().zip(certified).map(|(f, c)| digits(*f, c)).fold(15.0, f64::min)
}

fn coefficients(model: &LinearRegressionModel) -> Vec<f64> {
    let intercept = model.fit_intercept.then_some(model.intercept);
    intercept.into_iter().chain(model.coefficients.iter().copied()).collect()
}

#[test]
fn certified_values_are_reproduced() {
    for (name, expected, expected_errors) in SETS {
        let set = certified(name);
        let data = Dataset::regression(&set.x, &set.y).unwrap();
        let params = LinearRegression::new().fit_intercept(set.intercept);

        let fitted = params.fit(&data, &Monitor::quiet()).unwrap();

        let model = &fitted.model;
        let found = least_digits(&coefficients(model), set.estimates.iter().map(|e| e.0));
        let mut errors: Vec<f64> =
            model.fit_intercept.then(|| model.intercept_error()).into_iter().collect();
        errors.extend(model.standard_errors());
        let scale = set.estimates[0].0;
        let found_errors = match set.estimates[0].1 {
            // Data without residuals.
            0.0 => errors.iter().map(|e| -(e / scale).log10()).fold(15.0, f64::min),
            _ => least_digits(&errors, set.estimates.iter().map(|e| e.1)),
        };
        println!(
            "{name:9} coefficients {found:5.2}  errors {found_errors:5.2}  R² {:5.2}  {}",
            digits(model.r_squared(), set.r_squared),
            fitted.certificate
        );
        assert!(found >= expected, "{name}: {found} digits");
        assert!(found_errors >= expected_errors, "{name}: {found_errors} digits of the errors");
        assert!(digits(model.r_squared(), set.r_squared) > 10.0, "{name}");
        assert_eq!(model.rank, set.x.ncols(), "{name}");
        assert_eq!(model.precision, Precision::DoubleDouble, "{name}");
    }
}

#[test]
fn certified_values_are_reproduced_from_single_and_repeated_rows() {
    for (name, expected, _) in SETS {
        let set = certified(name);
        let n = set.y.len();
        let params = LinearRegression::new().fit_intercept(set.intercept);
        let data = Dataset::regression(&set.x, &set.y).unwrap();
        let mut stats = Default::default();
        for i in (0..n).rev() {
            params.observe(&mut stats, &data.slice(i..i + 1)).unwrap();
        }
        // A hundred copies of every row are several chunks, each as ill-conditioned as the whole.
        let rows: Vec<usize> = (0..100 * n).map(|i| i % n).collect();
        let many_x = set.x.select(ndarray::Axis(0), &rows);
        let many_y: Vec<f64> = rows.iter().map(|i| set.y[*i]).collect();
        let many = Dataset::regression(&many_x, &many_y).unwrap();

        let grown = params.finish(&stats).unwrap();
        let repeated = params.fit(&many, &Monitor::quiet()).unwrap();

        for model in [&grown, &repeated.model] {
            let found = least_digits(&coefficients(model), set.estimates.iter().map(|e| e.0));
            let floor = if matches!(model.precision, Precision::Double) { 9.0 } else { expected };
            assert!(found >= floor.min(expected), "{name}: {found} digits, {:?}", model.precision);
        }
    }
}
