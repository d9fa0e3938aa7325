//! Fisher's F distribution, in terms of the beta distribution.

use super::beta::beta_tails_with_complement;

/// The p-value `P(F > f)` for Fisher's F with the degrees of freedom of numerator and denominator. NaN unless these are
/// positive.
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
    fn p_values_are_accurate_in_the_tail() {
        assert!((fisher_p_value(2.0, 2.0, 2.0) * 3.0 - 1.0).abs() < 1e-12);
        // Computed by mpmath with forty digits.
        let far = fisher_p_value(330.285339234588, 6.0, 9.0);
        assert!((far / 4.984030528724809e-10 - 1.0).abs() < 1e-12, "{far}");
        assert_eq!(fisher_p_value(f64::INFINITY, 2.0, 3.0), 0.0);
        assert_eq!(fisher_p_value(0.0, 2.0, 3.0), 1.0);
        assert!(fisher_p_value(1.0, 2.0, 0.0).is_nan());
    }
}
