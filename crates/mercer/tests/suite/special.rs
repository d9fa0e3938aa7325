//! The special functions against scipy (`testdata/golden/make_special.py`).

use crate::cases::repository_file;
use mercer_num::special::{self, Tails};
use serde_json::Value;

/// Arguments and the value scipy gives.
type Cases = Vec<(Vec<f64>, f64)>;

fn cases(name: &str) -> Cases {
    let golden: Value =
        serde_json::from_str(&repository_file("testdata/golden/special.json")).unwrap();
    assert!(golden["source"].as_str().unwrap().starts_with("scipy"));
    let cases: Cases = serde_json::from_value(golden[name].clone()).unwrap();
    assert!(!cases.is_empty());
    cases
}

/// Compares by relative error, however small the value.
#[track_caller]
fn equals(name: &str, tolerance: f64, function: impl Fn(&[f64]) -> f64) {
    for (arguments, golden) in cases(name) {
        let found = function(&arguments);
        let error = (found - golden).abs();
        assert!(
            error <= tolerance * golden.abs() || error < 1e-300,
            "{name}{arguments:?}: {found:e}, golden {golden:e}, off by {:.1e}",
            error / golden.abs()
        );
    }
}

#[test]
fn distribution_functions_equal_scipy_to_twelve_digits() {
    equals("ln_gamma", 1e-14, |a| special::ln_gamma(a[0]));
    equals("gamma_lower", 1e-12, |a| special::gamma_tails(a[0], a[1]).lower);
    equals("gamma_upper", 1e-12, |a| special::gamma_tails(a[0], a[1]).upper);
    equals("chi_squared_sf", 1e-12, |a| special::chi_squared_sf(a[0], a[1]));
    equals("beta_lower", 1e-12, |a| special::beta_tails(a[0], a[1], a[2]).lower);
    equals("normal_lower", 1e-13, |a| special::normal_tails(a[0]).lower);
    equals("student_lower", 1e-12, |a| special::student_tails(a[1], a[0]).lower);
}

#[test]
fn probability_masses_equal_scipy_to_twelve_digits() {
    equals("binomial_pmf", 1e-12, |a| special::binomial_pmf(a[0], a[1], a[2], 1.0 - a[2]));
    equals("poisson_pmf", 1e-12, |a| special::poisson_pmf(a[0], a[1]));
}

#[test]
fn quantiles_equal_scipy_to_ten_digits() {
    equals("gamma_quantile", 1e-10, |a| special::gamma_quantile(a[1], Tails::at(a[0])));
    equals("beta_quantile", 1e-10, |a| special::beta_quantile(a[0], a[1], Tails::at(a[2])));
    equals("normal_quantile", 1e-14, |a| special::normal_quantile(Tails::at(a[0])));
    equals("student_quantile", 1e-10, |a| special::student_quantile(a[0], Tails::at(a[1])));
}

#[test]
fn gamma_tails_of_large_shapes_are_accurate() {
    // mpmath 1.3, 40 digits; scipy gives 5.446644691873852e-24.
    let tail = special::gamma_tails(1e6, 990_000.0).lower;
    // By the series at 1e8 and by the uniform expansion just above.
    let (below, above) =
        (special::gamma_tails(1e8, 1e8 - 3e4), special::gamma_tails(1e8 + 1e-3, 1e8 - 3e4));

    assert!((tail / 5.446_644_693_010_809e-24 - 1.0).abs() < 1e-13);
    assert!((below.lower / above.lower - 1.0).abs() < 1e-6);
}
