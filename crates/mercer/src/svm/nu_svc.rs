//! Support vector classification with a share in place of a price.
//!
//! `ν` is at most the share of rows inside the margin and at least the share of support vectors
//! (Schölkopf et al. 2000). The dual is `min ½ αᵀQα` with `0 ≤ αᵢ ≤ wᵢ` and, in each class,
//! `Σ αᵢ = ν Σ wᵢ / 2`; scaled by the margin it finds, it is an ordinary machine.

use super::dual_problem::{DualProblem, Kernelized};
use super::multiclass::{
    DecisionShape, Task, certificate, decision_between, join_pairs, pair_maps, pair_segments,
    ranges, scores, shown_pairs, solve_all, votes,
};
use super::plan::{Problems, plan};
use super::svc::check_shown;
use crate::calibrate::coupling::{DecisionLayout, log_class_probabilities};
use crate::calibrate::map::{Calibration, CalibrationMap, maps_are_valid, not_calibrated};
use crate::data::ClassWeight;
use crate::explain::{SupportExplanation, first_two};
use crate::kernel::{Gamma, GammaRule, Kernel};
use crate::kernel::{KernelExpansion, Segment};
use crate::model::argmax_rows;
use crate::prelude::*;
use rayon::prelude::*;
use std::time::Instant;

params! {
    /// Support vector classification by the share of rows that may come too near.
    pub struct NuSvc {
        /// At most this share of the rows is inside the margin, and at least this share are support
        /// vectors. Larger values make the margin wider.
        nu: f64 = 0.5, Between(1e-9, 1.0);
        /// The kernel: `linear`, `poly`, `rbf`, `sigmoid`, `laplacian`, `chi2`, sums and products of
        /// these as in `rbf(gamma=0.1)+2*linear`, or `precomputed` where the rows are kernel values.
        kernel: Kernel = Kernel::Rbf, Formula(Kernel::WORDS);
        /// The power of the kernel `poly`.
        degree: usize = 3, Between(0.0, 1000.0);
        /// How fast a kernel falls with distance: a number, `scale` for `1 / (columns · variance)`, or
        /// `auto` for `1 / columns`. Larger values make the boundary bend more.
        gamma: Gamma = Gamma::Rule(GammaRule::Scale), AtLeast(0.0);
        /// The constant in the kernels `poly` and `sigmoid`.
        coef0: f64 = 0.0, Any;
        /// The largest violation of the optimum's conditions to stop at. Smaller values are nearer to the
        /// optimum and take longer.
        tol: f64 = 1e-3, Above(0.0);
        /// Where given, the fit ends when the objective is proved to be within this share of the best, in place of
        /// `tol`.
        gap: Option<f64> = None, Above(0.0);
        /// How much each class counts: `balanced`, or a weight by class. Nothing counts all the same.
        class_weight: Option<ClassWeight> = None, Above(0.0);
        /// Whether rows that are far from mattering may be set aside until the end.
        shrinking: bool = true, Any;
        /// Most memory for kernel values, in millions of bytes; taken as it is needed.
        cache_size: f64 = 256.0, Above(0.0);
        /// Most steps for a problem; -1 sets no limit.
        max_iter: i64 = -1, AtLeast(-1.0);
        /// Whether decisions about more than two classes are a column a class (`ovr`) or a column a pair
        /// of classes (`ovo`).
        decision_function_shape: DecisionShape = DecisionShape::OneVsRest, OneOf(DecisionShape::WORDS);
        /// Whether classes with equally many votes are told apart by the sum of their decisions, not by
        /// their order.
        break_ties: bool = false, Any;
        /// Whether to learn probabilities too, from what the machine would have said of each row without
        /// it. Predictions then go to the most probable class.
        probability: bool = false, Any;
        /// How decisions become probabilities, where `probability` asks for them: by a `sigmoid`, by the best
        /// function that rises (`isotonic`), or by two of those, one for either answer (`venn-abers`). The last two
        /// want more rows and take any shape.
        calibration: Calibration = Calibration::Sigmoid, OneOf(Calibration::WORDS);
    }
}

/// Machines that tell classes apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NuSvcModel {
    /// The classes.
    pub classes: Classes,
    /// Support vectors, coefficients and constants.
    pub expansion: KernelExpansion,
    /// Support vectors of each class.
    pub n_support: Vec<u32>,
    /// Steps of each problem.
    pub n_iter: Vec<u64>,
    /// Whether every problem came to its tolerance.
    pub converged: bool,
    /// The `C` at which C-SVC has the same decision function, one per subproblem.
    pub equivalent_c: Vec<f64>,
    /// How much each class counted.
    pub class_weights: Vec<f64>,
    /// What decisions about many classes look like.
    pub shape: DecisionShape,
    /// Whether equal votes are told apart by the sum of decisions.
    pub break_ties: bool,
    /// For every decision the map to probabilities, where those were asked for.
    #[serde(default)]
    pub calibration: Option<Vec<CalibrationMap>>,
}

impl Fit for NuSvc {
    type Model = NuSvcModel;

    fn fit(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Fitted<NuSvcModel>> {
        let start = Instant::now();
        self.check()?;
        let (codes, classes) = data.class_target()?;
        if data.n_rows() > 0 && data.n_columns() > 0 {
            classes.check_several()?;
        }
        let params = Kernelized {
            kernel: self.kernel.clone(),
            gamma: self.gamma,
            coef0: self.coef0,
            degree: self.degree,
            tol: self.tol,
            gap: self.gap,
            cache_size: self.cache_size,
            shrinking: self.shrinking,
            max_iter: self.max_iter,
        };
        let ground = DualProblem::new(&params, data, |i| codes[i], 1.0, monitor)?;
        let sorted: Vec<u32> = ground.indices.iter().map(|i| codes[*i as usize]).collect();
        let n = classes.len();
        let ranges = ranges(n, &sorted);
        check_shown(classes, &ranges)?;
        let by_class: Vec<f64> =
            ranges.iter().map(|r| ground.weights[r.clone()].iter().sum()).collect();
        let factors = ClassWeight::factors(self.class_weight.as_ref(), classes, &by_class)?;
        let bound = |k: usize| ground.weights[k] * factors[sorted[k] as usize];
        let tasks = shown_pairs(&ranges)
            .map(|(a, b)| self.task([ranges[a].clone(), ranges[b].clone()], bound))
            .collect::<Result<Vec<Task>>>()?;
        let plan = plan(&ground, Problems::Pairs, &tasks, monitor);
        let solved = solve_all(&ground, &tasks, monitor);
        let mut equivalent_c = Vec::new();
        let answers: Vec<(Vec<f64>, f64)> = solved
            .iter()
            .map(|s| {
                let [first, second] = s.level;
                // Half the distance between the two edges of the margin, at least rounding.
                let margin = (0.5 * (second - first)).abs().max(f64::MIN_POSITIVE);
                equivalent_c.push(1.0 / margin);
                (s.beta.iter().map(|b| b / margin).collect(), 0.5 * (first + second) / margin)
            })
            .collect();
        let (expansion, n_support) = join_pairs(&ground, &ranges, &tasks, &answers);
        let calibration = self.probability.then(|| {
            // Scaled by its margin, a machine is the one of the price that it found.
            let said = |k: usize| {
                ground.leave_one_out(&tasks[k], &solved[k], equivalent_c[k], answers[k].1)
            };
            let said: Vec<Vec<f64>> = (0..tasks.len()).into_par_iter().map(said).collect();
            pair_maps(self.calibration, &ground, &ranges, &tasks, &said)
        });
        let certificate = certificate(&ground, plan, &solved, expansion.n_vectors(), start);
        let model = NuSvcModel {
            classes: classes.clone(),
            expansion,
            n_support,
            n_iter: solved.iter().map(|s| s.steps).collect(),
            converged: solved.iter().all(|s| s.converged),
            equivalent_c,
            class_weights: factors,
            shape: self.decision_function_shape,
            break_ties: self.break_ties,
            calibration,
        };
        Ok(Fitted { model, certificate })
    }
}

impl NuSvc {
    fn task(
        &self,
        ranges: [std::ops::Range<usize>; 2],
        bound: impl Fn(usize) -> f64,
    ) -> Result<Task> {
        let split = ranges[0].len();
        let places: Vec<u32> = ranges.iter().flat_map(|r| r.clone()).map(|k| k as u32).collect();
        let n = places.len();
        let bounds: Vec<f64> = places.iter().map(|k| bound(*k as usize)).collect();
        let half = 0.5 * self.nu * bounds.iter().sum::<f64>();
        let smaller = bounds[..split].iter().sum::<f64>().min(bounds[split..].iter().sum());
        if half > smaller * (1.0 + 1e-12) {
            let most = 2.0 * smaller / bounds.iter().sum::<f64>();
            return Err(Error::Parameter {
                name: "nu".into(),
                found: self.nu.to_string(),
                expected: format!("at most {most:.6}, for the smaller of two classes to be enough"),
            });
        }
        let mut start = vec![0.0; n];
        fill(&bounds[..split], half, &mut start[..split]);
        fill(&bounds[split..], half, &mut start[split..]);
        let side = |k: usize| if k < split { 1.0 } else { -1.0 };
        start.iter_mut().enumerate().for_each(|(k, b)| *b *= side(k));
        let low = (0..n).map(|k| if k < split { 0.0 } else { -bounds[k] }).collect();
        let high = (0..n).map(|k| if k < split { bounds[k] } else { 0.0 }).collect();
        Ok(Task { places, linear: vec![0.0; n], low, high, start, tube: 0.0, split, slack: None })
    }
}

/// Gives from the front, each as much as it takes, until all is given.
pub(super) fn fill(bounds: &[f64], total: f64, out: &mut [f64]) {
    let mut left = total;
    for (out, bound) in out.iter_mut().zip(bounds) {
        *out = bound.min(left);
        left -= *out;
    }
}

impl NuSvcModel {
    fn segments(&self) -> Vec<Segment> {
        pair_segments(&self.n_support)
    }

    fn scores_of(&self, decisions: Matrix) -> Matrix {
        match self.classes.len() {
            2 => Matrix::from_shape_fn((decisions.nrows(), 2), |(i, c)| {
                if c == 0 { -decisions[[i, 0]] } else { decisions[[i, 0]] }
            }),
            n => scores(&decisions, n),
        }
    }
}

impl NuSvcModel {
    /// Whether there are probabilities.
    pub fn has_probabilities(&self) -> bool {
        self.calibration.is_some()
    }

    fn log_proba_of(&self, decisions: &Matrix, maps: &[CalibrationMap]) -> Matrix {
        let about = if self.classes.len() == 2 { DecisionLayout::Binary } else { DecisionLayout::OneVsOne };
        let shown: Vec<bool> = self.n_support.iter().map(|n| *n > 0).collect();
        log_class_probabilities(decisions, maps, about, &shown)
    }
}

impl Probabilistic for NuSvcModel {
    fn log_proba(&self, x: &Rows<'_>) -> Result<Matrix> {
        let maps = self.calibration.as_ref().ok_or_else(|| not_calibrated("nu-svc"))?;
        Ok(self.log_proba_of(&self.expansion.decisions(x, &self.segments())?, maps))
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
        let decisions = self.expansion.decisions(x, &self.segments())?;
        match &self.calibration {
            Some(maps) => Ok(self.log_proba_of(&decisions, maps)),
            None => Ok(self.scores_of(decisions)),
        }
    }

    fn predict(&self, x: &Rows<'_>) -> Result<Vec<u32>> {
        let decisions = self.expansion.decisions(x, &self.segments())?;
        if let Some(maps) = &self.calibration {
            return Ok(argmax_rows(&self.log_proba_of(&decisions, maps)));
        }
        match self.classes.len() {
            n if n > 2 && !self.break_ties => Ok(argmax_rows(&votes(&decisions, n))),
            _ => Ok(argmax_rows(&self.scores_of(decisions))),
        }
    }
}

impl DecisionFunction for NuSvcModel {
    fn decisions(&self, x: &Rows<'_>) -> Result<Matrix> {
        let decisions = self.expansion.decisions(x, &self.segments())?;
        if self.classes.len() == 2 || self.shape == DecisionShape::OneVsOne {
            return Ok(decisions);
        }
        Ok(self.scores_of(decisions))
    }
}

impl SupportVectors for NuSvcModel {
    fn support_terms(&self, row: &[f64]) -> Result<SupportExplanation> {
        let (first, second) = first_two(self, &Rows::from(ndarray::ArrayView1::from(row)))?;
        let sum = [decision_between(self.classes.len(), first, second)];
        let told = self.expansion.explain(row, &self.segments(), &sum)?;
        Ok(told.between(self, (first, second)))
    }
}

impl Check for NuSvcModel {
    fn check(&self) -> Result<()> {
        self.expansion.check()?;
        let n = self.classes.len();
        let total: u64 = self.n_support.iter().map(|n| u64::from(*n)).sum();
        let fits = n >= 2
            && self.n_support.len() == n
            && total == self.expansion.n_vectors() as u64
            && self.expansion.coefficients.nrows() == n - 1
            && self.expansion.intercepts.len() == n * (n - 1) / 2
            && self.class_weights.len() == n
            && maps_are_valid(self.calibration.as_deref(), self.expansion.intercepts.len());
        if fits { Ok(()) } else { Err(Error::File("a classifier that no rows could have".into())) }
    }
}
