//! The sigmoid of Platt (2000), `P(positive | s) = 1 / (1 + exp(a s + b))`, by the Newton iteration of Lin, Lin &
//! Weng (2007).

/// What rows of each side are taken to be, `(positive, negative)`: a little inside of one and zero, the
/// posterior means of a uniform prior.
pub(crate) fn targets(positive: &[bool], weights: &[f64]) -> (f64, f64) {
    let (with, without) = by_side(positive, weights);
    ((with + 1.0) / (with + 2.0), 1.0 / (without + 2.0))
}

/// How much the rows of each side weigh.
fn by_side(positive: &[bool], weights: &[f64]) -> (f64, f64) {
    let weight = |side: bool| -> f64 {
        positive.iter().zip(weights).filter(|(p, _)| **p == side).map(|(_, w)| w).sum()
    };
    (weight(true), weight(false))
}

/// The sigmoid `P(positive | s) = 1 / (1 + exp(a s + b))` of scores and their sides, as `(a, b)`.
pub(crate) fn sigmoid(scores: &[f64], positive: &[bool], weights: &[f64]) -> (f64, f64) {
    let (with, without) = by_side(positive, weights);
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
    let (mut a, mut b) = (0.0, ((without + 1.0) / (with + 1.0)).ln());
    let mut at = loss(a, b);
    for _ in 0..200 {
        let (mut g, mut h) = ([0.0; 2], [1e-12, 0.0, 1e-12]);
        for ((s, p), w) in scores.iter().zip(positive).zip(weights) {
            let z = a * s + b;
            let q = 1.0 / (1.0 + (-z).exp());
            let (rest, bend) = (w * (q - (1.0 - target(p))), w * q * (1.0 - q));
            g[0] += rest * s;
            g[1] += rest;
            h[0] += bend * s * s;
            h[1] += bend * s;
            h[2] += bend;
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
    fn a_sigmoid_is_found_again() {
        // Many rows at each score, with the shares of a sigmoid of slope 2 and middle ½.
        let scores: Vec<f64> = (-20..=20).map(|i| 0.1 * f64::from(i)).collect();
        let share = |s: f64| 1.0 / (1.0 + (-2.0 * (s - 0.5)).exp());
        let both: Vec<f64> = scores.iter().chain(&scores).copied().collect();
        let positive: Vec<bool> = (0..both.len()).map(|k| k < scores.len()).collect();
        let weights: Vec<f64> = scores
            .iter()
            .map(|s| 1e6 * share(*s))
            .chain(scores.iter().map(|s| 1e6 * (1.0 - share(*s))))
            .collect();

        let (a, b) = sigmoid(&both, &positive, &weights);

        assert!((a + 2.0).abs() < 1e-4 && (b - 1.0).abs() < 1e-4, "{a}, {b}");
    }
}
