//! Linear support vector classification.
//!
//! For every class against the others (of two classes once, for the second), minimize
//! `½‖w‖² + C Σᵢ sᵢ max(0, 1 − yᵢ (w·xᵢ + b))ᵖ` with `p` 1 or 2, or `‖w‖₁` for half the square (Cortes &
//! Vapnik 1995; Fan et al. 2008). The constant is the weight of a column of `intercept_scaling`, with a
//! price like any other, or free of it.

use super::design::Design;
use super::interval::{Aim, Costs, Intervals, Power};
use super::lasso::Priced;
use super::multipliers::{Asked, Dual, DualRule, refuse_dual, solve};
use crate::model::Cached;
use crate::prelude::*;
use crate::svm::ClassWeight;
use mercer_num::rows::Missing;
use std::time::Instant;

choice! {
    /// What large weights of a machine cost.
    pub enum MachinePenalty {
        /// Half their squared length.
        L2 = "l2",
        /// The sum of their absolute values: many become zero.
        L1 = "l1",
    }
}

choice! {
    /// What a row inside the margin costs.
    pub enum HingeLoss {
        /// Its distance from the margin.
        Hinge = "hinge",
        /// The square of that distance.
        SquaredHinge = "squared_hinge",
    }
}

choice! {
    /// Whether the constant term has a price.
    pub enum InterceptPrice {
        /// As the weight of a column of `intercept_scaling`.
        Scaled = "scaled",
        /// None.
        Free = "free",
    }
}

params! {
    /// Linear support vector classification: the hyperplane that keeps farthest from both sides.
    pub struct LinearSvc {
        /// What large weights cost: half their squared length (`l2`) or the sum of their absolute values
        /// (`l1`, with the loss `squared_hinge`), which leaves many at zero.
        penalty: MachinePenalty = MachinePenalty::L2, OneOf(MachinePenalty::WORDS);
        /// What a row inside the margin costs: its distance (`hinge`) or the square of it
        /// (`squared_hinge`).
        loss: HingeLoss = HingeLoss::SquaredHinge, OneOf(HingeLoss::WORDS);
        /// The fit is done when no condition of the optimum is violated by more, and the objective is
        /// proved to be within this share of the best. Smaller values take longer.
        tol: f64 = 1e-4, Above(0.0);
        /// Whether to begin with passes over the rows' pulls, which is fast where columns are many and
        /// distances count as they are: `auto` does just there. The last digits come from Newton's method
        /// in any case.
        dual: Dual = Dual::Rule(DualRule::Auto), Any;
        /// The price on rows inside the margin or on the wrong side. Larger values fit the rows more
        /// closely.
        C: f64 = 1.0, Above(0.0);
        /// Whether there are constant terms.
        fit_intercept: bool = true, Any;
        /// The value of the column whose weight is the constant term. Larger values make the constant
        /// cheaper.
        intercept_scaling: f64 = 1.0, Above(0.0);
        /// Whether the constant term has the price of that weight (`scaled`) or none (`free`).
        intercept: InterceptPrice = InterceptPrice::Scaled, OneOf(InterceptPrice::WORDS);
        /// How much each class counts: `balanced`, or a weight by class. Nothing counts all the same.
        class_weight: Option<ClassWeight> = None, Above(0.0);
        /// Steps after which to stop in any case; the certificate then says so.
        max_iter: usize = 1000, AtLeast(1.0);
    }
}

/// A hyperplane for every class, or one for two.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinearSvcModel {
    /// The classes.
    pub classes: Classes,
    /// The weights, one row a class; of two classes, the second's.
    pub coefficients: Matrix,
    /// The constant terms.
    pub intercepts: Vec<f64>,
    /// Steps the solver took.
    pub n_iter: u64,
    /// Whether it came to its tolerance.
    pub converged: bool,
    #[serde(skip)]
    by_feature: Cached<Vec<f64>>,
}

impl Fit for LinearSvc {
    type Model = LinearSvcModel;

    fn fit(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Fitted<LinearSvcModel>> {
        let began = Instant::now();
        self.check()?;
        refuse_dual(
            self.dual,
            self.penalty == MachinePenalty::L1,
            self.fit_intercept && self.intercept == InterceptPrice::Free,
        )?;
        if self.penalty == MachinePenalty::L1 && self.loss == HingeLoss::Hinge {
            return Err(Error::Parameter {
                name: "loss".into(),
                found: "hinge with the penalty `l1`".into(),
                expected: "`squared_hinge` with `l1`, or the penalty `l2`".into(),
            });
        }
        let (codes, classes) = data.class_target()?;
        check_rows(data)?;
        classes.check_several()?;
        data.check_cells(Missing::Refused)?;
        let weight = |i: usize| data.weights().get(i).copied().unwrap_or(1.0);
        let mut by_class = vec![0.0; classes.len()];
        codes.iter().enumerate().for_each(|(i, c)| by_class[*c as usize] += weight(i));
        let factors = ClassWeight::factors(self.class_weight.as_ref(), classes, &by_class)?;
        let present: Vec<u32> =
            (0..classes.len() as u32).filter(|c| by_class[*c as usize] > 0.0).collect();
        match present[..] {
            [] => return Err(Error::NoRows),
            [only] => return Err(Error::OneClass { class: classes.label(only).to_string() }),
            _ => {}
        }
        let m = if present.len() == 2 { 1 } else { present.len() };
        let n_weights = data.n_columns() + usize::from(self.fit_intercept);
        let bytes = Intervals::bytes(data.n_rows(), n_weights, m);
        monitor.reserve("keeping scores of all rows", bytes)?;
        let place = |c: &u32| present.iter().position(|p| p == c).unwrap_or(0) as u32;
        let aim = Aim::Classes {
            places: codes.iter().map(place).collect(),
            factors: present.iter().map(|c| factors[*c as usize]).collect(),
        };
        let rows = (0..data.n_rows()).map(|i| self.C * weight(i)).collect();
        let design = Design::new(data.rows(), self.fit_intercept, monitor)?;
        let power = match self.loss {
            HingeLoss::Hinge => Power::Plain,
            HingeLoss::SquaredHinge => Power::Squared,
        };
        let mut problem = Intervals::new(design, m, aim, rows, power, self.costs());
        let asked = Asked { tol: self.tol, dual: self.dual, max_iter: self.max_iter, monitor };
        let solved = solve(&mut problem, &asked);
        if solved.stopped.is_some() && solved.n_iter() == 0 {
            return Err(Error::Stopped);
        }
        monitor.report(solved.n_iter(), Some(solved.n_iter()));
        let certificate = solved.certificate("priced margin", data.n_rows(), began);
        let (coefficients, intercepts) = to_rows(&problem, classes.len(), &present);
        let model = LinearSvcModel {
            classes: classes.clone(),
            coefficients,
            intercepts,
            n_iter: solved.n_iter(),
            converged: solved.converged,
            by_feature: Cached::default(),
        };
        Ok(Fitted { model, certificate })
    }
}

impl LinearSvc {
    fn costs(&self) -> Costs {
        let free = self.intercept == InterceptPrice::Free;
        let scaled = if free { 0.0 } else { 1.0 / self.intercept_scaling };
        match self.penalty {
            MachinePenalty::L2 => Costs { weights: (1.0, 0.0), constant: (scaled * scaled, 0.0) },
            MachinePenalty::L1 => Costs { weights: (0.0, 1.0), constant: (0.0, scaled) },
        }
    }
}

/// Refuses rows or columns that are not there.
pub(super) fn check_rows(data: &Dataset<'_>) -> Result<()> {
    match (data.n_rows(), data.n_columns()) {
        (0, _) => Err(Error::NoRows),
        (_, 0) => Err(Error::NoFeatures),
        _ => Ok(()),
    }
}

/// The weights with a row for every class that is told from the others.
fn to_rows(problem: &Intervals<'_>, n_classes: usize, present: &[u32]) -> (Matrix, Vec<f64>) {
    let (m, width) = (problem.m, problem.design.width());
    let (weights, constants) = problem.weights().split_at(width * m);
    let rows = if n_classes == 2 { 1 } else { n_classes };
    let mut coefficients = Matrix::zeros((rows, width));
    // A class nobody showed is never the highest.
    let mut intercepts = vec![f64::NEG_INFINITY; rows];
    for (place, code) in present.iter().enumerate() {
        // Of two classes with rows there is one machine: for the second, against the first.
        let (k, sign) = match (m, rows) {
            (1, 1) => (0, 1.0),
            (1, _) => (0, if place == 1 { 1.0 } else { -1.0 }),
            _ => (place, 1.0),
        };
        let row = if rows == 1 { 0 } else { *code as usize };
        intercepts[row] = sign * constants.get(k).copied().unwrap_or(0.0);
        for j in 0..width {
            coefficients[[row, j]] = sign * weights[j * m + k];
        }
    }
    (coefficients, intercepts)
}

impl LinearSvcModel {
    /// The weights feature by feature, the constant terms last.
    fn by_feature(&self) -> Vec<f64> {
        let mut weights: Vec<f64> = self.coefficients.t().iter().copied().collect();
        weights.extend(&self.intercepts);
        weights
    }
}

impl Check for LinearSvcModel {
    fn check(&self) -> Result<()> {
        let (m, width) = self.coefficients.dim();
        let n = self.classes.len();
        let fits = n >= 2
            && m == if n == 2 { 1 } else { n }
            && m == self.intercepts.len()
            && width >= 1
            && self.coefficients.iter().all(|w| w.is_finite())
            && self.intercepts.iter().all(|b| *b < f64::INFINITY)
            && self.intercepts.iter().any(|b| b.is_finite());
        if fits { Ok(()) } else { Err(Error::File("hyperplanes that no fit could give".into())) }
    }
}

impl Decides for LinearSvcModel {
    fn decisions(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.check_columns(x)?;
        let m = self.intercepts.len();
        let mut decisions = Matrix::zeros((x.n_rows(), m));
        let cells = decisions.as_slice_mut().expect("a fresh matrix is contiguous");
        let weights = self.by_feature.get(|| self.by_feature());
        Design::reading(x, true).scores(weights, m, cells);
        // A class without rows is infinitely far whatever the cells are.
        if cells.iter().any(|z| !z.is_finite()) {
            crate::data::check_cells(x, Missing::Refused)?;
        }
        Ok(decisions)
    }
}

impl Classifier for LinearSvcModel {
    fn classes(&self) -> &Classes {
        &self.classes
    }

    fn n_columns(&self) -> usize {
        self.coefficients.ncols()
    }

    /// The decision about each class; of two classes, for the second and against the first.
    fn scores(&self, x: &Rows<'_>) -> Result<Matrix> {
        let decisions = self.decisions(x)?;
        if self.intercepts.len() > 1 {
            return Ok(decisions);
        }
        Ok(Matrix::from_shape_fn((x.n_rows(), 2), |(i, c)| side(c) * decisions[[i, 0]]))
    }
}

fn side(class: usize) -> f64 {
    if class == 1 { 1.0 } else { -1.0 }
}

impl Summed for LinearSvcModel {
    fn terms(&self, row: &[f64]) -> Result<(Vec<f64>, Matrix)> {
        self.scores(&Rows::from(ndarray::ArrayView1::from(row)))?;
        let k = self.classes.len();
        // The one row of two classes speaks for the second and against the first.
        let part = |c: usize| if self.intercepts.len() == k { (c, 1.0) } else { (0, side(c)) };
        let starts = (0..k).map(|c| part(c).1 * self.intercepts[part(c).0]).collect();
        let terms = Matrix::from_shape_fn((row.len(), k), |(j, c)| {
            let (place, sign) = part(c);
            sign * self.coefficients[[place, j]] * row[j]
        });
        Ok((starts, terms))
    }
}
