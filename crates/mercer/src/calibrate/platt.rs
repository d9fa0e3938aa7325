//! Platt scaling: the sigmoid `P(positive | s) = 1 / (1 + exp(a s + b))` of a score (Platt 2000).
//!
//! The parameters minimize the cross-entropy by Newton's method with a backtracking line search (Lin, Lin & Weng 2007).

/// The targets of positive and negative rows. They are the posterior means under a uniform prior, strictly between
/// zero and one, which avoids infinite parameters.
pub(crate) fn targets(positive: &[bool], weights: &[f64]) -> (f64, f64) {
    let (n_positive, n_negative) = total_weights(positive, weights);
    ((n_positive + 1.0) / (n_positive + 2.0), 1.0 / (n_negative + 2.0))
}

/// The total weight of the positive and of the negative rows.
fn total_weights(positive: &[bool], weights: &[f64]) -> (f64, f64) {
    let weight = |class: bool| -> f64 {
        positive.iter().zip(weights).filter(|(p, _)| **p == class).map(|(_, w)| w).sum()
    };
    (weight(true), weight(false))
}

/// The parameters `(a, b)` of the sigmoid of scores with binary labels.
pub(crate) fn fit_sigmoid(scores: &[f64], positive: &[bool], weights: &[f64]) -> (f64, f64) {
    let (n_positive, n_negative) = total_weights(positive, weights);
    let (high, low) = targets(positive, weights);
    let target = |p: &bool| if *p { high } else { low };
    let loss = |a: f64, b: f64| -> f64 {
        scores
            .iter()
            .zip(positive)
            .zip(weights)
            .map(|((s, p), w)| {
                let z = a * s + b;
                // log(1 + eᶻ) without overflow.
                let log = z.max(0.0) + (-z.abs()).exp().ln_1p();
                w * (log - (1.0 - target(p)) * z)
            })
            .sum()
    };
    let (mut a, mut b) = (0.0, ((n_negative + 1.0) / (n_positive + 1.0)).ln());
    let mut at = loss(a, b);
    for _ in 0..200 {
        let (mut g, mut h) = ([0.0; 2], [1e-12, 0.0, 1e-12]);
        for ((s, p), w) in scores.iter().zip(positive).zip(weights) {
            let z = a * s + b;
            let q = 1.0 / (1.0 + (-z).exp());
            let (residual, hessian_weight) = (w * (q - (1.0 - target(p))), w * q * (1.0 - q));
            g[0] += residual * s;
            g[1] += residual;
            h[0] += hessian_weight * s * s;
            h[1] += hessian_weight * s;
            h[2] += hessian_weight;
        }
        if g[0].abs() < 1e-9 && g[1].abs() < 1e-9 {
            break;
        }
        let determinant = h[0] * h[2] - h[1] * h[1];
        let step = [
            -(h[2] * g[0] - h[1] * g[1]) / determinant,
            -(h[0] * g[1] - h[1] * g[0]) / determinant,
        ];
        let slope = g[0] * step[0] + g[1] * step[1];
        let mut t = 1.0;
        loop {
            let next = loss(a + t * step[0], b + t * step[1]);
            if next < at + 1e-4 * t * slope {
                (a, b, at) = (a + t * step[0], b + t * step[1], next);
                break;
            }
            t *= 0.5;
            if t < 1e-12 {
                return (a, b);
            }
        }
    }
    (a, b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parameters_of_a_sigmoid_are_recovered() {
        // Heavy rows at each score, weighted by a sigmoid of slope 2 that is ½ at the score ½.
        let scores: Vec<f64> = (-20..=20).map(|i| 0.1 * f64::from(i)).collect();
        let probability = |s: f64| 1.0 / (1.0 + (-2.0 * (s - 0.5)).exp());
        let both: Vec<f64> = scores.iter().chain(&scores).copied().collect();
        let positive: Vec<bool> = (0..both.len()).map(|k| k < scores.len()).collect();
        let weights: Vec<f64> = scores
            .iter()
            .map(|s| 1e6 * probability(*s))
            .chain(scores.iter().map(|s| 1e6 * (1.0 - probability(*s))))
            .collect();

        let (a, b) = fit_sigmoid(&both, &positive, &weights);

        assert!((a + 2.0).abs() < 1e-4 && (b - 1.0).abs() < 1e-4, "{a}, {b}");
    }
}
