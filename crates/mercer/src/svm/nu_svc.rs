//! ν-support vector classification.
//!
//! `ν` is an upper bound on the fraction of margin errors and a lower bound on the fraction of support vectors
//! (Schölkopf et al. 2000). The dual problem is `min ½ αᵀQα` with `0 ≤ αᵢ ≤ wᵢ` and, in each class, `Σ αᵢ = ν Σ wᵢ / 2`.
//! Divided by its margin `ρ`, the solution is that of C-SVC with `C = 1 / ρ`.

use super::dual_problem::DualSolution;
use super::kernel_classifier::KernelClassifier;
use super::multiclass::{
    BinaryFunction, ClassProblem, DecisionShape, Decomposition, Multiclass, observed_pairs,
};
use super::params::{SmoOptions, SmoParams, SvmOptions};
use super::plan::{Reduction, plan};
use super::subproblem::{Subproblem, certificate, fill_to_sum, solve_all};
use crate::calibrate::map::{Calibration, CalibrationMap};
use crate::data::ClassWeightParam;
use crate::explain::SupportExplanation;
use crate::kernel::{KernelExpansion, KernelParams, SvmKernelOptions};
use crate::prelude::*;
use mercer_num::parallel::prelude::*;
use std::ops::Range;
use std::time::Instant;

params! {
    /// ν-support vector classification: the fraction of margin errors is given instead of `C`.
    pub struct NuSvc {
        /// Upper bound on the fraction of margin errors and lower bound on the fraction of support
        /// vectors. Larger values widen the margin.
        nu: f64 = 0.5, Between(1e-9, 1.0);
        ..KernelParams(svm);
        ..SmoParams;
        ..ClassWeightParam(Above(0.0));
        /// Shape of the decision function of more than two classes: one column per class (`ovr`) or
        /// one column per pair of classes (`ovo`).
        decision_function_shape: DecisionShape = DecisionShape::OneVsRest, OneOf(DecisionShape::VALUES);
        /// Break ties between classes with equally many votes by the sum of their decision values
        /// instead of by class order.
        break_ties: bool = false, Any;
        /// Fit calibration maps to leave-one-out decision values, so that the model predicts class
        /// probabilities. Predictions are then the most probable classes.
        probability: bool = false, Any;
        /// Calibration method if `probability` is true: Platt scaling (`sigmoid`), isotonic
        /// regression (`isotonic`), or Venn-Abers prediction (`venn-abers`). The last two need more
        /// rows and make no assumption about the shape of the map.
        calibration: Calibration = Calibration::Sigmoid, OneOf(Calibration::VALUES);
    }
    formula = "min ½‖w‖² − νρ + (1/n) Σᵢ ξᵢ  subject to  yᵢ(w·φ(xᵢ) + b) ≥ ρ − ξᵢ, ξᵢ ≥ 0, ρ ≥ 0";
    lecture = 12;
    attributes = [
        SUPPORT,
        SUPPORT_VECTORS,
        CLASS_SUPPORT_COUNT,
        CLASS_DUAL_COEF,
        EXPANSION_INTERCEPTS,
        PAIRWISE_WEIGHTS,
        CLASS_WEIGHT,
        SUBPROBLEM_ITERATIONS,
        FIT_STATUS,
        own(
            "equivalent_c_",
            "ndarray of shape (n_subproblems,)",
            "The `C` at which C-SVC has the same decision function.",
        ),
    ];
    sklearn {
        extra: &[NO_RANDOM_STATE],
        spellings: SUPPORT_VECTOR_CLASSIFIER,
    }
}

/// A ν-support vector classifier.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NuSvcModel {
    /// The classes.
    pub classes: Classes,
    /// Support vectors, dual coefficients and intercepts.
    pub expansion: KernelExpansion,
    /// The number of support vectors of each class.
    pub n_support: Vec<u32>,
    /// The solver's iterations, per binary subproblem.
    pub n_iter: Vec<u64>,
    /// Whether every subproblem reached its tolerance.
    pub converged: bool,
    /// The `C` at which C-SVC has the same decision function, one per subproblem.
    pub equivalent_c: Vec<f64>,
    /// The weight of each class in the loss.
    pub class_weights: Vec<f64>,
    /// The shape of the decision function of more than two classes.
    pub shape: DecisionShape,
    /// Whether ties between votes are broken by the sum of the decision values.
    pub break_ties: bool,
    /// The calibration map of every decision function, if probabilities were requested.
    #[serde(default)]
    pub calibration: Option<Vec<CalibrationMap>>,
}

impl Fit for NuSvc {
    type Model = NuSvcModel;

    fn fit(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Fitted<NuSvcModel>> {
        let start = Instant::now();
        self.check()?;
        let params = SvmOptions::from(self);
        let rows = ClassProblem::new(&params, self.class_weight.as_ref(), data, 1.0, monitor)?;
        rows.problem.check_total(rows.problem.weights.iter().sum())?;
        let decomposition = Decomposition::OneVsOne(&rows.ranges);
        let bound = |k: usize| rows.row_weight(1.0, k);
        let subproblems = observed_pairs(&rows.ranges)
            .map(|(a, b)| self.subproblem([rows.ranges[a].clone(), rows.ranges[b].clone()], bound))
            .collect::<Result<Vec<Subproblem>>>()?;
        let plan = plan(&rows.problem, Reduction::OneVsOne, &subproblems, monitor);
        let solutions = solve_all(&rows.problem, &subproblems, monitor);
        let scaled = observed_pairs(&rows.ranges).zip(&solutions).map(|((a, b), solution)| {
            scaled_function(solution).ok_or_else(|| self.no_margin(rows.classes, a, b))
        });
        let (equivalent_c, functions): (Vec<f64>, Vec<BinaryFunction>) =
            scaled.collect::<Result<Vec<_>>>()?.into_iter().unzip();
        let (expansion, n_support) =
            decomposition.expansion(&rows.problem, &subproblems, &functions);
        let calibration = self.probability.then(|| {
            let leave_one_out = |k: usize| {
                let intercept = functions[k].1;
                rows.problem.leave_one_out(
                    &subproblems[k],
                    &solutions[k],
                    equivalent_c[k],
                    intercept,
                )
            };
            let scores: Vec<Vec<f64>> =
                (0..subproblems.len()).into_par_iter().map(leave_one_out).collect();
            decomposition.calibrate(self.calibration, &rows.problem, &subproblems, &scores)
        });
        let certificate = certificate(
            &rows.problem,
            plan,
            &subproblems,
            &solutions,
            expansion.n_vectors(),
            start,
        );
        let model = NuSvcModel {
            classes: rows.classes.clone(),
            expansion,
            n_support,
            n_iter: solutions.iter().map(|s| s.iterations).collect(),
            converged: solutions.iter().all(|s| s.converged),
            equivalent_c,
            class_weights: rows.class_weights,
            shape: self.decision_function_shape,
            break_ties: self.break_ties,
            calibration,
        };
        Ok(Fitted { model, certificate })
    }
}

/// The equivalent `C = 1 / ρ` and the decision function, divided by the margin `ρ`; `None` if `ρ` is zero to rounding.
fn scaled_function(solution: &DualSolution) -> Option<(f64, BinaryFunction)> {
    let [first, second] = solution.intercepts;
    // The margin is half of the difference between the multipliers of the two classes.
    let rho = (0.5 * (second - first)).abs();
    let weight: f64 = solution.beta.iter().map(|b| b.abs()).sum();
    // `ρ` times the sum of the dual variables is of the size of `‖w‖²`.
    if rho.is_nan() || rho * weight <= solution.gap.rounding || !(1.0 / rho).is_finite() {
        return None;
    }
    let beta = solution.beta.iter().map(|b| b / rho).collect();
    Some((1.0 / rho, (beta, 0.5 * (first + second) / rho)))
}

impl NuSvc {
    /// The error for two classes whose reduced convex hulls intersect: `w` and `ρ` are zero.
    fn no_margin(&self, classes: &Classes, a: usize, b: usize) -> Error {
        let name = |c: usize| classes.label(c as u32).to_string();
        Error::Number {
            what: format!("the margin ρ of `{}` and `{}` at nu = {}", name(a), name(b), self.nu),
            value: 0.0,
            expected: "above 0, but convex combinations of both classes coincide in the feature space; \
                       increase `nu`, choose another kernel, or check that the columns are not constant"
                .into(),
        }
    }

    /// The binary subproblem of two classes, one group of variables each.
    fn subproblem(
        &self,
        ranges: [Range<usize>; 2],
        bound: impl Fn(usize) -> f64,
    ) -> Result<Subproblem> {
        let split = ranges[0].len();
        let rows: Vec<u32> = ranges.iter().flat_map(|r| r.clone()).map(|k| k as u32).collect();
        let n = rows.len();
        let bounds: Vec<f64> = rows.iter().map(|k| bound(*k as usize)).collect();
        let half = 0.5 * self.nu * bounds.iter().sum::<f64>();
        let smaller = bounds[..split].iter().sum::<f64>().min(bounds[split..].iter().sum());
        if half > smaller * (1.0 + 1e-12) {
            let max_nu = 2.0 * smaller / bounds.iter().sum::<f64>();
            return Err(Error::Parameter {
                name: "nu".into(),
                found: self.nu.to_string(),
                expected: format!(
                    "at most {max_nu:.6}, twice the fraction of the smaller class in a pair, to be \
                     feasible"
                ),
            });
        }
        let mut start = vec![0.0; n];
        fill_to_sum(&bounds[..split], half, &mut start[..split]);
        fill_to_sum(&bounds[split..], half, &mut start[split..]);
        let sign = |k: usize| if k < split { 1.0 } else { -1.0 };
        start.iter_mut().enumerate().for_each(|(k, b)| *b *= sign(k));
        let lower = (0..n).map(|k| if k < split { 0.0 } else { -bounds[k] }).collect();
        let upper = (0..n).map(|k| if k < split { bounds[k] } else { 0.0 }).collect();
        let linear = vec![0.0; n];
        Ok(Subproblem { rows, linear, lower, upper, start, epsilon: 0.0, split, slack: None })
    }
}

impl NuSvcModel {
    fn classifier(&self) -> KernelClassifier<'_> {
        KernelClassifier {
            classes: &self.classes,
            expansion: &self.expansion,
            n_support: &self.n_support,
            multiclass: Multiclass::OneVsOne,
            shape: self.shape,
            break_ties: self.break_ties,
            calibration: self.calibration.as_deref(),
        }
    }

    /// Whether the model predicts probabilities.
    pub fn has_probabilities(&self) -> bool {
        self.calibration.is_some()
    }
}

impl Probabilistic for NuSvcModel {
    fn log_proba(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.classifier().log_proba(x, "nu-svc")
    }
}

impl Classifier for NuSvcModel {
    fn classes(&self) -> &Classes {
        &self.classes
    }

    fn n_columns(&self) -> usize {
        self.expansion.n_columns
    }

    fn scores(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.classifier().scores(x)
    }

    fn predict(&self, x: &Rows<'_>) -> Result<Vec<u32>> {
        self.classifier().predict(x)
    }
}

impl DecisionFunction for NuSvcModel {
    fn decisions(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.classifier().decisions(x)
    }
}

impl SupportVectors for NuSvcModel {
    fn support_terms(&self, row: &[f64]) -> Result<SupportExplanation> {
        self.classifier().support_terms(self, row)
    }
}

impl Check for NuSvcModel {
    fn check(&self) -> Result<()> {
        self.classifier().check(&self.class_weights)
    }
}
