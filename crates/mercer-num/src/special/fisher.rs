//! Fisher's F distribution, by way of the beta distribution.

use super::beta::beta_tails_with_complement;

/// `P(F > f)` for Fisher's F with so many degrees of freedom above and below: the p-value. NaN where
/// these are not above zero.
pub fn fisher_p_value(f: f64, numerator: f64, denominator: f64) -> f64 {
    if f.is_nan() || !(numerator > 0.0 && denominator > 0.0) {
        return f64::NAN;
    }
    if f.is_infinite() {
        return 0.0;
    }
    let sum = denominator + numerator * f;
    beta_tails_with_complement(
        0.5 * denominator,
        0.5 * numerator,
        denominator / sum,
        numerator * f / sum,
    )
    .lower
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_values_keep_their_digits_in_the_tail() {
        assert!((fisher_p_value(2.0, 2.0, 2.0) * 3.0 - 1.0).abs() < 1e-12);
        // By mpmath, forty digits.
        let far = fisher_p_value(330.285339234588, 6.0, 9.0);
        assert!((far / 4.984030528724809e-10 - 1.0).abs() < 1e-12, "{far}");
        assert_eq!(fisher_p_value(f64::INFINITY, 2.0, 3.0), 0.0);
        assert_eq!(fisher_p_value(0.0, 2.0, 3.0), 1.0);
        assert!(fisher_p_value(1.0, 2.0, 0.0).is_nan());
    }
}
