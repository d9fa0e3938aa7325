//! What a decision rule costs: by its own account, on rows whose truth is known, and at best.
//!
//! `R(h) = E[L(y, h(x))]`. Where `p(x, y)` is known the least that any rule can reach is the Bayes risk;
//! where it is not, the mean over rows stands for it.

use super::{Action, Costs, Decision};
use crate::error::{Error, Result};
use crate::probability::{check_positive, check_probability};
use mercer_num::Matrix;
use mercer_num::special::normal_tails;
use serde::Serialize;

/// Sums over decided rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Risk {
    n: f64,
    n_judged: f64,
    expected: f64,
    empirical: f64,
    rejected: f64,
    correct: f64,
}

/// The figures of a decision rule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RiskReport {
    /// Rows decided.
    pub rows: u64,
    /// The mean cost the rule itself expects, by the posterior it was given.
    pub expected_risk: f64,
    /// The mean cost in truth, where the truth is known.
    pub empirical_risk: Option<f64>,
    /// The share of rows it gave no answer to.
    pub rejected_share: f64,
    /// Of the rows it answered, the share it answered rightly, where the truth is known.
    pub accuracy_of_answered: Option<f64>,
}

impl Risk {
    /// Adds a row; `truth` where it is known.
    pub fn push(&mut self, costs: &Costs, decision: &Decision, truth: Option<usize>) {
        self.n += 1.0;
        self.expected += decision.risk;
        let answer = match decision.action {
            Action::Class(answer) => Some(answer),
            Action::Reject => None,
        };
        self.rejected += f64::from(u8::from(answer.is_none()));
        let Some(truth) = truth else { return };
        self.n_judged += 1.0;
        // A rejection costs what it was expected to.
        self.empirical += answer.map_or(decision.risk, |answer| costs.cost(truth, answer));
        self.correct += f64::from(u8::from(answer == Some(truth)));
    }

    /// Adds the rows of another.
    pub fn merge(&mut self, other: &Risk) {
        self.n += other.n;
        self.n_judged += other.n_judged;
        self.expected += other.expected;
        self.empirical += other.empirical;
        self.rejected += other.rejected;
        self.correct += other.correct;
    }

    /// The figures; `None` before any row.
    pub fn report(&self) -> Option<RiskReport> {
        let mean = |sum: f64, n: f64| (n > 0.0).then(|| sum / n);
        let judged = self.n_judged > 0.0;
        Some(RiskReport {
            rows: self.n as u64,
            expected_risk: mean(self.expected, self.n)?,
            empirical_risk: mean(self.empirical, self.n_judged),
            rejected_share: mean(self.rejected, self.n)?,
            accuracy_of_answered: mean(self.correct, self.n - self.rejected).filter(|_| judged),
        })
    }
}

/// The Bayes risk of a table `p(x, y)`, one row an `x`, one column a class: every `x` gets its best answer.
///
/// # Errors
/// If the table is not one of probabilities, or the costs are of other classes.
pub fn bayes_risk(joint: &Matrix, costs: &Costs) -> Result<f64> {
    if joint.ncols() != costs.n_classes() {
        return Err(Error::Columns { found: joint.ncols(), expected: costs.n_classes() });
    }
    for ((i, c), p) in joint.indexed_iter() {
        check_probability(|| format!("p(x, y) of x {} and class {}", i + 1, c + 1), *p)?;
    }
    let sum = joint.sum();
    if (sum - 1.0).abs() > crate::probability::SLACK {
        return Err(Error::NotOne { what: "the cells of p(x, y)".into(), sum });
    }
    let least = |row: ndarray::ArrayView1<'_, f64>| {
        let answers = row.dot(costs.matrix());
        let reject = costs.reject().map_or(f64::INFINITY, |cost| cost * row.sum());
        answers.iter().copied().fold(reject, f64::min)
    };
    Ok(joint.outer_iter().map(least).sum())
}

/// Two classes, each a bell curve over one number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoNormals {
    prior: f64,
    means: [f64; 2],
    variances: [f64; 2],
}

impl TwoNormals {
    /// The first class has probability `prior`.
    ///
    /// # Errors
    /// If the prior is no probability, a mean not finite or a variance not above zero.
    pub fn new(prior: f64, means: [f64; 2], variances: [f64; 2]) -> Result<TwoNormals> {
        check_probability(|| "the prior".into(), prior)?;
        for (mean, variance) in means.into_iter().zip(variances) {
            if !mean.is_finite() {
                let expected = "a finite number".into();
                return Err(Error::Number { what: "a mean".into(), value: mean, expected });
            }
            check_positive("a variance", variance)?;
        }
        Ok(TwoNormals { prior, means, variances })
    }

    /// Where the best answer changes: no, one or two points in order.
    ///
    /// `log P(1) p(x | 1) = log P(2) p(x | 2)` is a quadratic in `x`, linear for equal variances.
    pub fn boundaries(&self) -> Vec<f64> {
        let [m, n] = self.means;
        let [v, w] = self.variances;
        // With x counted from the middle of the means, which keeps the coefficients small.
        let half = 0.5 * (n - m);
        let a = 0.5 / w - 0.5 / v;
        let b = -half / v - half / w;
        let c = a * half * half + (self.prior / (1.0 - self.prior)).ln() + 0.5 * (w / v).ln();
        let middle = 0.5 * (m + n);
        if !c.is_finite() || (a == 0.0 && b == 0.0) {
            return Vec::new();
        }
        if a == 0.0 {
            return vec![middle - c / b];
        }
        let root = b * b - 4.0 * a * c;
        if root <= 0.0 {
            return Vec::new();
        }
        // The larger root first; the other from their product, which does not cancel.
        let q = -0.5 * (b + root.sqrt().copysign(b));
        let mut points = vec![middle + q / a, middle + c / q];
        points.sort_by(f64::total_cmp);
        points
    }

    /// The Bayes error: the share of rows that even the best rule gets wrong.
    ///
    /// ```
    /// use mercer::decision::risk::TwoNormals;
    /// let apart = TwoNormals::new(0.5, [0.0, 2.0], [1.0, 1.0])?;
    /// // Φ(−1): the curves cross one deviation from either mean.
    /// assert!((apart.bayes_error() - 0.158655253931457).abs() < 1e-14);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn bayes_error(&self) -> f64 {
        let points = self.boundaries();
        let mut ends = vec![f64::NEG_INFINITY];
        ends.extend(&points);
        ends.push(f64::INFINITY);
        let error: f64 = ends
            .windows(2)
            .map(|piece| {
                // On a piece one class is the answer everywhere: the mistakes are the other's share.
                let first = self.prior * self.between(0, piece);
                let second = (1.0 - self.prior) * self.between(1, piece);
                if self.first_wins(piece) { second } else { first }
            })
            .sum();
        error.clamp(0.0, 0.5)
    }

    fn between(&self, class: usize, piece: &[f64]) -> f64 {
        let deviation = self.variances[class].sqrt();
        let at = |x: f64| normal_tails((x - self.means[class]) / deviation);
        let (low, high) = (at(piece[0]), at(piece[1]));
        // From the nearer tail, so that a thin piece keeps its digits.
        if low.lower < 0.5 { high.lower - low.lower } else { low.upper - high.upper }
    }

    /// Whether the first class is the answer at a point inside a piece.
    fn first_wins(&self, piece: &[f64]) -> bool {
        let spread = (self.variances[0] + self.variances[1]).sqrt();
        let x = match (piece[0].is_finite(), piece[1].is_finite()) {
            (true, true) => 0.5 * (piece[0] + piece[1]),
            (true, false) => piece[0] + spread,
            (false, true) => piece[1] - spread,
            (false, false) => self.means[0],
        };
        let log = |class: usize, prior: f64| {
            prior.ln()
                + mercer_num::special::normal_log_density(
                    x,
                    self.means[class],
                    self.variances[class],
                )
        };
        log(0, self.prior) >= log(1, 1.0 - self.prior)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::DecisionRule;
    use ndarray::array;

    /// `∫ min(p(1, x), p(2, x)) dx` by small steps.
    fn integrated(two: &TwoNormals) -> f64 {
        let log = |c: usize, p: f64, x: f64| {
            (p.ln() + mercer_num::special::normal_log_density(x, two.means[c], two.variances[c]))
                .exp()
        };
        let step = 1e-3;
        (-40_000..40_000)
            .map(|k| f64::from(k) * step)
            .map(|x| log(0, two.prior, x).min(log(1, 1.0 - two.prior, x)) * step)
            .sum()
    }

    #[test]
    fn the_closed_form_is_the_integral() {
        for (prior, means, variances) in [
            (0.5, [0.0, 2.0], [1.0, 1.0]),
            (0.8, [-1.0, 2.0], [1.0, 1.0]),
            (0.3, [0.0, 1.0], [1.0, 4.0]),
            (0.6, [1.0, 1.0], [0.25, 9.0]),
            (0.05, [0.0, 0.5], [1.0, 2.0]),
            (0.97, [0.0, 0.5], [4.0, 1.0]),
            (0.4, [1.0, 1.0], [2.0, 2.0]),
        ] {
            let two = TwoNormals::new(prior, means, variances).unwrap();

            let (closed, sum) = (two.bayes_error(), integrated(&two));

            assert!((closed - sum).abs() < 1e-6, "{two:?}: {closed} against {sum}");
        }
    }

    #[test]
    fn no_rule_is_better_than_bayes() {
        let joint = array![[0.3, 0.1], [0.05, 0.25], [0.15, 0.15]];
        let costs = Costs::new(array![[0.0, 1.0], [4.0, 0.0]]).unwrap();

        let best = bayes_risk(&joint, &costs).unwrap();

        // min(0.4, 0.3) + min(1.0, 0.05) + min(0.6, 0.15)
        assert!((best - 0.5).abs() < 1e-15);
        let rejecting = bayes_risk(&joint, &costs.clone().with_reject(0.1).unwrap()).unwrap();
        assert!((rejecting - (0.04 + 0.03 + 0.03)).abs() < 1e-15);
        assert!(bayes_risk(&array![[0.3, 0.1]], &costs).is_err());
        assert!(bayes_risk(&array![[1.0]], &costs).is_err());
    }

    #[test]
    fn parts_merge_to_the_whole() {
        let costs = Costs::zero_one(2).with_reject(0.3).unwrap();
        let rule = DecisionRule::new(costs.clone());
        let rows = [([0.9, 0.1], 0), ([0.6, 0.4], 1), ([0.2, 0.8], 0)];
        let (mut whole, mut first, mut rest) = (Risk::default(), Risk::default(), Risk::default());

        for (i, (p, truth)) in rows.iter().enumerate() {
            let decision = rule.decide(&p.map(f64::ln)).unwrap();
            whole.push(&costs, &decision, Some(*truth));
            let part = if i == 0 { &mut first } else { &mut rest };
            part.push(&costs, &decision, Some(*truth));
        }
        first.merge(&rest);

        let report = whole.report().unwrap();
        let merged = first.report().unwrap();
        assert!((merged.expected_risk - report.expected_risk).abs() < 1e-15);
        assert_eq!(merged.empirical_risk, report.empirical_risk);
        // Costs expected 0.1, 0.3 and 0.2; in truth 0, 0.3 and 1.
        assert!((report.expected_risk - 0.2).abs() < 1e-15);
        assert!((report.empirical_risk.unwrap() - 1.3 / 3.0).abs() < 1e-15);
        assert_eq!((report.rejected_share, report.accuracy_of_answered), (1.0 / 3.0, Some(0.5)));
        assert_eq!(Risk::default().report(), None);
    }
}
