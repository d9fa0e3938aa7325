//! The duality gap: a bound on how far a solution is from the optimum.
//!
//! Any feasible point of the dual problem has a value below every primal value (weak duality), so that
//! `gap = primal − dual ≥ primal − optimum ≥ 0`. At the optimum both values agree (strong duality; Boyd & Vandenberghe 2004,
//! section 5.5.1).

/// The gradient tolerance that the search for a duality gap starts with, and the one where rounding begins.
const FIRST_GAP_TOLERANCE: f64 = 0.1;
pub(crate) const FINEST_TOLERANCE: f64 = 1e-15;

/// Objective values and violation at a primal-dual pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DualityGap {
    /// The value of the objective that is minimized.
    pub primal: f64,
    /// A lower bound on all values of the objective; `−∞` if none is known.
    pub dual: f64,
    /// `primal − dual`, without its cancellation where a solver can sum the gap directly.
    pub gap: f64,
    /// The largest violation of the Karush-Kuhn-Tucker conditions, or the norm that the solver measures.
    pub kkt_violation: f64,
}

impl DualityGap {
    /// From a gap that was summed directly.
    pub fn from_gap(primal: f64, gap: f64) -> DualityGap {
        DualityGap { primal, dual: primal - gap, gap, kkt_violation: 0.0 }
    }

    /// From the values of both problems.
    pub fn from_dual(primal: f64, dual: f64) -> DualityGap {
        DualityGap { primal, dual, gap: primal - dual, kkt_violation: 0.0 }
    }

    /// Without a dual point.
    pub fn without_dual(primal: f64) -> DualityGap {
        DualityGap::from_dual(primal, f64::NEG_INFINITY)
    }

    /// The lower bound on the objective, if there is one.
    pub fn lower_bound(&self) -> Option<f64> {
        (self.dual > f64::NEG_INFINITY).then_some(self.dual)
    }

    /// Whether the gap is at most `fraction` of the objective.
    pub fn is_within(&self, fraction: f64) -> bool {
        self.gap <= fraction * self.primal
    }

    /// The gap of independent subproblems together.
    pub fn total(parts: &[DualityGap]) -> DualityGap {
        let primal: f64 = parts.iter().map(|part| part.primal).sum();
        let gap: f64 = parts.iter().map(|part| part.gap).sum();
        let kkt_violation = parts.iter().fold(0.0, |a: f64, part| a.max(part.kkt_violation));
        DualityGap { kkt_violation, ..DualityGap::from_gap(primal, gap) }
    }
}

/// How close to the optimum a solver goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Accuracy {
    /// The largest KKT violation and the relative duality gap that count as converged.
    pub tol: f64,
    /// A relative duality gap to stop at, whatever the KKT violation is.
    pub gap: Option<f64>,
}

impl Accuracy {
    /// The tolerance to start with. A search for a duality gap refines it until the gap is small enough.
    pub fn first_tolerance(&self) -> f64 {
        if self.gap.is_some() { FIRST_GAP_TOLERANCE } else { self.tol }
    }

    /// The finest tolerance that is worth trying, given that of the solver.
    pub fn finest_tolerance(&self, tolerance: f64) -> f64 {
        if self.gap.is_some() { FINEST_TOLERANCE } else { tolerance }
    }

    /// Whether the duality gaps are small enough.
    pub fn is_met_by(&self, gaps: &[DualityGap]) -> bool {
        let fraction = self.gap.unwrap_or(self.tol);
        gaps.iter().all(|gap| gap.is_within(fraction))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_of_subproblems_add_up() {
        let parts = [DualityGap::from_gap(3.0, 0.5), DualityGap::from_dual(2.0, 1.75)];

        let total = DualityGap::total(&parts);

        assert_eq!((total.primal, total.dual, total.gap), (5.0, 4.25, 0.75));
        assert!(total.is_within(0.15) && !total.is_within(0.1));
        assert_eq!(DualityGap::without_dual(1.0).lower_bound(), None);
    }
}
