//! The risk of a decision rule: expected, empirical, and the Bayes risk.
//!
//! `R(h) = E[L(y, h(x))]`. The Bayes risk is the minimum over all rules, known if `p(x, y)` is; the empirical risk
//! is the mean over rows of known class.

use super::{Action, Costs, Decision};
use crate::error::{Error, Result};
use crate::probability::{check_positive, check_probability};
use mercer_num::Matrix;
use mercer_num::special::normal_tails;
use serde::Serialize;

/// Sums over decisions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Risk {
    n_rows: u64,
    /// The sum of the weights.
    n: f64,
    n_labeled: f64,
    expected: f64,
    empirical: f64,
    rejected: f64,
    correct: f64,
}

/// The risk of a decision rule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RiskReport {
    /// The number of rows.
    pub rows: u64,
    /// The mean expected loss under the posterior.
    pub expected_risk: f64,
    /// The mean loss on rows of known class.
    pub empirical_risk: Option<f64>,
    /// The fraction of rows that are rejected.
    pub rejected_fraction: f64,
    /// The accuracy on rows of known class that are not rejected.
    pub accuracy_of_answered: Option<f64>,
}

impl Risk {
    /// Adds a decision, with the true class if it is known.
    pub fn push(&mut self, costs: &Costs, decision: &Decision, truth: Option<usize>) {
        self.push_weighted(costs, decision, truth, 1.0);
    }

    /// As [`Risk::push`], with a sample weight: a row of weight two counts as two rows.
    pub fn push_weighted(
        &mut self,
        costs: &Costs,
        decision: &Decision,
        truth: Option<usize>,
        weight: f64,
    ) {
        self.n_rows += 1;
        self.n += weight;
        self.expected += weight * decision.risk;
        let answer = match decision.action {
            Action::Class(answer) => Some(answer),
            Action::Reject => None,
        };
        self.rejected += weight * f64::from(u8::from(answer.is_none()));
        let Some(truth) = truth else { return };
        self.n_labeled += weight;
        // The cost of a rejection does not depend on the class.
        let cost = answer.map_or(decision.risk, |answer| costs.cost(truth, answer));
        self.empirical += weight * cost;
        self.correct += weight * f64::from(u8::from(answer == Some(truth)));
    }

    /// Adds the sums of other rows.
    pub fn merge(&mut self, other: &Risk) {
        self.n_rows += other.n_rows;
        self.n += other.n;
        self.n_labeled += other.n_labeled;
        self.expected += other.expected;
        self.empirical += other.empirical;
        self.rejected += other.rejected;
        self.correct += other.correct;
    }

    /// The report; `None` without rows.
    pub fn report(&self) -> Option<RiskReport> {
        let mean = |sum: f64, n: f64| (n > 0.0).then(|| sum / n);
        let labeled = self.n_labeled > 0.0;
        Some(RiskReport {
            rows: self.n_rows,
            expected_risk: mean(self.expected, self.n)?,
            empirical_risk: mean(self.empirical, self.n_labeled),
            rejected_fraction: mean(self.rejected, self.n)?,
            accuracy_of_answered: mean(self.correct, self.n - self.rejected).filter(|_| labeled),
        })
    }
}

/// The optimal decision rule of a joint distribution `p(x, y)`.
#[derive(Clone, Debug, PartialEq)]
pub struct OptimalRule {
    /// The decision of minimum expected loss for every `x`; its risk is conditional, `E[L | x]`, and zero where `p(x)`
    /// is zero.
    pub decisions: Vec<Decision>,
    /// The Bayes risk, `Σ p(x) E[L | x]`.
    pub risk: f64,
}

/// The optimal decision rule of a joint distribution `p(x, y)`, with one row per `x` and one column per class.
///
/// # Errors
/// If the cells are not probabilities that sum to one, or the costs have another number of classes.
pub fn optimal_rule(joint: &Matrix, costs: &Costs) -> Result<OptimalRule> {
    if joint.ncols() != costs.n_classes() {
        return Err(Error::Columns { found: joint.ncols(), expected: costs.n_classes() });
    }
    for ((i, c), p) in joint.indexed_iter() {
        check_probability(|| format!("p(x, y) of x {} and class {}", i + 1, c + 1), *p)?;
    }
    let sum = joint.sum();
    if (sum - 1.0).abs() > crate::probability::SUM_TOLERANCE {
        return Err(Error::NotOne { what: "the cells of p(x, y)".into(), sum });
    }
    let (mut decisions, mut risk) = (Vec::new(), 0.0);
    for row in joint.outer_iter() {
        let (p, losses) = (row.sum(), row.dot(costs.matrix()));
        // Ties go to the first class, and to a class before a rejection.
        let mut best = (Action::Class(0), losses[0]);
        for (c, loss) in losses.iter().enumerate().skip(1) {
            if *loss < best.1 {
                best = (Action::Class(c), *loss);
            }
        }
        if let Some(cost) = costs.reject().filter(|cost| cost * p < best.1) {
            best = (Action::Reject, cost * p);
        }
        risk += best.1;
        let conditional = |loss: f64| if p > 0.0 { loss / p } else { 0.0 };
        decisions.push(Decision {
            action: best.0,
            risk: conditional(best.1),
            risks: losses.iter().map(|loss| conditional(*loss)).collect(),
        });
    }
    Ok(OptimalRule { decisions, risk })
}

/// The Bayes risk of a joint distribution `p(x, y)`, with one row per `x` and one column per class.
///
/// # Errors
/// As [`optimal_rule`].
pub fn bayes_risk(joint: &Matrix, costs: &Costs) -> Result<f64> {
    Ok(optimal_rule(joint, costs)?.risk)
}

/// Two classes with univariate Gaussian class-conditional densities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoGaussians {
    prior: f64,
    means: [f64; 2],
    variances: [f64; 2],
}

impl TwoGaussians {
    /// The first class has probability `prior`.
    ///
    /// # Errors
    /// If the prior is not a probability, a mean is not finite, or a variance is not positive.
    pub fn new(prior: f64, means: [f64; 2], variances: [f64; 2]) -> Result<TwoGaussians> {
        check_probability(|| "the prior".into(), prior)?;
        for (mean, variance) in means.into_iter().zip(variances) {
            if !mean.is_finite() {
                let expected = "a finite number".into();
                return Err(Error::Number { what: "a mean".into(), value: mean, expected });
            }
            check_positive("a variance", variance)?;
        }
        Ok(TwoGaussians { prior, means, variances })
    }

    /// The decision boundaries: zero, one or two points in order.
    ///
    /// `log P(1) p(x | 1) = log P(2) p(x | 2)` is a quadratic in `x`, linear for equal variances.
    pub fn boundaries(&self) -> Vec<f64> {
        let [m, n] = self.means;
        let [v, w] = self.variances;
        // Centered at the midpoint of the means, which keeps the coefficients small.
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
        let discriminant = b * b - 4.0 * a * c;
        if discriminant <= 0.0 {
            return Vec::new();
        }
        // The root of larger magnitude; the other follows from their product without cancellation.
        let q = -0.5 * (b + discriminant.sqrt().copysign(b));
        let mut points = vec![middle + q / a, middle + c / q];
        points.sort_by(f64::total_cmp);
        points
    }

    /// The Bayes error: the error rate of the best rule.
    ///
    /// ```
    /// use mercer::decision::risk::TwoGaussians;
    /// let classes = TwoGaussians::new(0.5, [0.0, 2.0], [1.0, 1.0])?;
    /// // Φ(−1): the boundary is one standard deviation from either mean.
    /// assert!((classes.bayes_error() - 0.158655253931457).abs() < 1e-14);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn bayes_error(&self) -> f64 {
        let error: f64 = (self.regions().iter())
            .map(|(interval, predicted)| {
                // One class is predicted on the whole interval: the error is the probability of the other.
                let other = 1 - predicted;
                let prior = if other == 0 { self.prior } else { 1.0 - self.prior };
                prior * self.between(other, interval)
            })
            .sum();
        error.clamp(0.0, 0.5)
    }

    /// The optimal rule: intervals in order, with the class predicted inside (0 or 1).
    pub fn regions(&self) -> Vec<([f64; 2], usize)> {
        let mut ends = vec![f64::NEG_INFINITY];
        ends.extend(self.boundaries());
        ends.push(f64::INFINITY);
        (ends.windows(2))
            .map(|interval| ([interval[0], interval[1]], usize::from(!self.first_wins(interval))))
            .collect()
    }

    fn between(&self, class: usize, interval: &[f64]) -> f64 {
        let deviation = self.variances[class].sqrt();
        let at = |x: f64| normal_tails((x - self.means[class]) / deviation);
        let (low, high) = (at(interval[0]), at(interval[1]));
        // From the nearer tail, which avoids cancellation.
        if low.lower < 0.5 { high.lower - low.lower } else { low.upper - high.upper }
    }

    /// Whether the first class is predicted inside an interval.
    fn first_wins(&self, interval: &[f64]) -> bool {
        let spread = (self.variances[0] + self.variances[1]).sqrt();
        let x = match (interval[0].is_finite(), interval[1].is_finite()) {
            (true, true) => 0.5 * (interval[0] + interval[1]),
            (true, false) => interval[0] + spread,
            (false, true) => interval[1] - spread,
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
    fn integrated(two: &TwoGaussians) -> f64 {
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
    fn the_closed_form_equals_the_integral() {
        for (prior, means, variances) in [
            (0.5, [0.0, 2.0], [1.0, 1.0]),
            (0.8, [-1.0, 2.0], [1.0, 1.0]),
            (0.3, [0.0, 1.0], [1.0, 4.0]),
            (0.6, [1.0, 1.0], [0.25, 9.0]),
            (0.05, [0.0, 0.5], [1.0, 2.0]),
            (0.97, [0.0, 0.5], [4.0, 1.0]),
            (0.4, [1.0, 1.0], [2.0, 2.0]),
        ] {
            let two = TwoGaussians::new(prior, means, variances).unwrap();

            let (closed, sum) = (two.bayes_error(), integrated(&two));

            assert!((closed - sum).abs() < 1e-6, "{two:?}: {closed} against {sum}");
        }
    }

    #[test]
    fn the_bayes_risk_is_the_minimum() {
        let joint = array![[0.3, 0.1], [0.05, 0.25], [0.15, 0.15]];
        let costs = Costs::new(array![[0.0, 1.0], [4.0, 0.0]]).unwrap();

        let best = bayes_risk(&joint, &costs).unwrap();

        // min(0.4, 0.3) + min(1.0, 0.05) + min(0.6, 0.15)
        assert!((best - 0.5).abs() < 1e-15);
        let rejecting = bayes_risk(&joint, &costs.clone().with_reject(0.1).unwrap()).unwrap();
        assert!((rejecting - (0.04 + 0.03 + 0.03)).abs() < 1e-15);
        let rule = optimal_rule(&joint, &costs).unwrap();
        let actions: Vec<Action> = rule.decisions.iter().map(|d| d.action).collect();
        assert_eq!(actions, [Action::Class(1), Action::Class(1), Action::Class(1)]);
        assert!((rule.decisions[0].risk - 0.3 / 0.4).abs() < 1e-15);
        assert!(bayes_risk(&array![[0.3, 0.1]], &costs).is_err());
        assert!(bayes_risk(&array![[1.0]], &costs).is_err());
    }

    #[test]
    fn merged_risks_equal_the_whole() {
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
        // Expected losses 0.1, 0.3 and 0.2; losses 0, 0.3 and 1.
        assert!((report.expected_risk - 0.2).abs() < 1e-15);
        assert!((report.empirical_risk.unwrap() - 1.3 / 3.0).abs() < 1e-15);
        assert_eq!((report.rejected_fraction, report.accuracy_of_answered), (1.0 / 3.0, Some(0.5)));
        assert_eq!(Risk::default().report(), None);
    }
}
