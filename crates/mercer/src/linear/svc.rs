//! Linear support vector classification.
//!
//! For every class against the others (of two classes once, for the second), minimize
//! `½‖w‖² + C Σᵢ sᵢ max(0, 1 − yᵢ (w·xᵢ + b))ᵖ` with `p` 1 or 2, or `‖w‖₁` for half the square (Cortes &
//! Vapnik 1995; Fan et al. 2008). The constant is the weight of a column of `intercept_scaling`, with a
//! price like any other, or free of it. Or the planes of all classes are learned together, see
//! [`crate::solver::dual_coordinate_descent::crammer_singer`].

use super::loss::hinge::{LossPower, MarginLoss, Penalties, Targets};
use super::loss::leave_one_out::leave_one_out;
use crate::calibrate::coupling::{DecisionLayout, log_class_probabilities};
use crate::calibrate::map::{maps_are_valid, not_calibrated};
use crate::calibrate::{Calibration, CalibrationMap};
use crate::data::ClassWeight;
use crate::data::ClassWeightParam;
use crate::data::design_matrix::DesignMatrix;
use crate::model::Cached;
use crate::prelude::*;
use crate::solver::augmented_lagrangian::{Asked, Dual, DualRule, refuse_dual, solve};
use crate::solver::coordinate_descent::PenalizedLoss;
use crate::solver::dual_coordinate_descent::crammer_singer::{self, CrammerSinger, Until};
use mercer_num::rows::Missing;
use rayon::prelude::*;
use std::time::Instant;

/// Passes over the rows that gain about as much as a step of Newton's method, where planes are learned together.
const PASSES_A_STEP: u64 = 100;

/// Columns whose weights are brought into place together.
const COLUMNS: usize = 256;

choice! {
    /// What large weights of a machine cost.
    pub enum SvmPenalty {
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
    /// Whether the penalty includes the intercept.
    pub enum InterceptPenalty {
        /// Penalized as the weight of a constant column of `intercept_scaling`.
        Penalized = "penalized",
        /// Not penalized.
        Unpenalized = "unpenalized",
    }
}

choice! {
    /// How planes of many classes are learned.
    pub enum LinearMulticlass {
        /// Each for its class against the rest.
        OneVsRest = "ovr",
        /// All together, so that each row's own is highest.
        CrammerSinger = "crammer_singer",
    }
}

params! {
    /// Linear support vector classification: the hyperplane that keeps farthest from both sides.
    pub struct LinearSvc {
        /// What large weights cost: half their squared length (`l2`) or the sum of their absolute values
        /// (`l1`, with the loss `squared_hinge`), which leaves many at zero.
        penalty: SvmPenalty = SvmPenalty::L2, OneOf(SvmPenalty::WORDS);
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
        ..FitIntercept;
        /// The value of the column whose weight is the constant term. Larger values make the constant
        /// cheaper.
        intercept_scaling: f64 = 1.0, Above(0.0);
        /// Whether the constant term has the price of that weight (`scaled`) or none (`free`).
        intercept: InterceptPenalty = InterceptPenalty::Penalized, OneOf(InterceptPenalty::WORDS);
        ..ClassWeightParam(Above(0.0));
        /// Steps after which to stop in any case; the certificate then says so. For planes learned together, a step
        /// is a hundred passes over the rows.
        max_iter: usize = 1000, AtLeast(1.0);
        /// Where given, the fit ends when the objective is proved to be within this share of the best, in place of
        /// `tol`.
        gap: Option<f64> = None, Above(0.0);
        /// Many classes by a plane for every class against the rest (`ovr`), or by planes that are learned together
        /// so that each row's own is highest (`crammer_singer`, which prices distances as they are, whatever the
        /// loss).
        multi_class: LinearMulticlass = LinearMulticlass::OneVsRest, OneOf(LinearMulticlass::WORDS);
        /// Whether to learn probabilities too, from what the planes would have said of each row without
        /// it. Predictions then go to the most probable class.
        probability: bool = false, Any;
        /// How decisions become probabilities, where `probability` asks for them: by a `sigmoid`, by the best
        /// function that rises (`isotonic`), or by two of those, one for either answer (`venn-abers`). The last two
        /// want more rows and take any shape.
        calibration: Calibration = Calibration::Sigmoid, OneOf(Calibration::WORDS);
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
    /// For every decision the map to probabilities, where those were asked for.
    #[serde(default)]
    pub calibration: Option<Vec<CalibrationMap>>,
    #[serde(skip)]
    by_feature: Cached<Vec<f64>>,
}

impl Fit for LinearSvc {
    type Model = LinearSvcModel;

    fn fit(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Fitted<LinearSvcModel>> {
        let began = Instant::now();
        self.check()?;
        self.refuse_contradictions()?;
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
        let n_weights = data.n_columns() + usize::from(self.fit_intercept);
        let bytes = MarginLoss::bytes(data.rows(), n_weights, present.len());
        monitor.reserve("keeping scores of all rows", bytes)?;
        let place = |c: &u32| present.iter().position(|p| p == c).unwrap_or(0) as u32;
        let ready = Ready {
            data,
            classes,
            places: codes.iter().map(place).collect(),
            factors: present.iter().map(|c| factors[*c as usize]).collect(),
            rows: (0..data.n_rows()).map(|i| self.C * weight(i)).collect(),
            present,
            room: MarginLoss::room(monitor, bytes),
            design: DesignMatrix::new(data.rows(), self.fit_intercept, monitor)?,
            began,
        };
        match self.multi_class {
            LinearMulticlass::OneVsRest => self.fit_apart(ready, monitor),
            LinearMulticlass::CrammerSinger => self.fit_together(ready, monitor),
        }
    }
}

/// Rows, classes and prices, looked through.
struct Ready<'a, 'd> {
    data: &'a Dataset<'d>,
    classes: &'a Classes,
    /// The classes that have rows.
    present: Vec<u32>,
    /// Where each row's class stands among them.
    places: Vec<u32>,
    /// How much each of them counts.
    factors: Vec<f64>,
    /// What each row costs.
    rows: Vec<f64>,
    /// Numbers that second derivatives may take.
    room: usize,
    design: DesignMatrix<'d>,
    began: Instant,
}

impl LinearSvc {
    /// Refuses options that contradict each other.
    fn refuse_contradictions(&self) -> Result<()> {
        let free = self.fit_intercept && self.intercept == InterceptPenalty::Unpenalized;
        refuse_dual(self.dual, self.penalty == SvmPenalty::L1, free)?;
        let refuse = |name: &str, found: &str, expected: &str| {
            let (found, expected) = (found.to_owned(), expected.to_owned());
            Err(Error::Parameter { name: name.into(), found, expected })
        };
        if self.penalty == SvmPenalty::L1 && self.loss == HingeLoss::Hinge {
            let expected = "`squared_hinge` with `l1`, or the penalty `l2`";
            return refuse("loss", "hinge with the penalty `l1`", expected);
        }
        if self.multi_class == LinearMulticlass::OneVsRest {
            return Ok(());
        }
        let ovr = "`ovr` there: planes learned together have the penalty `l2`, a constant with a price, begin \
                   with the rows' pulls and end there, and have no probabilities";
        let why = match () {
            () if self.penalty == SvmPenalty::L1 => "crammer_singer with the penalty `l1`",
            () if free => "crammer_singer with a free constant term",
            () if self.dual == Dual::Given(false) => "crammer_singer with `dual` false",
            () if self.probability => "crammer_singer with probabilities",
            () => return Ok(()),
        };
        refuse("multi_class", why, ovr)
    }

    /// A plane for every class against the rest.
    fn fit_apart(
        &self,
        ready: Ready<'_, '_>,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<LinearSvcModel>> {
        let Ready { data, classes, present, places, factors, rows, room, design, began } = ready;
        let m = if present.len() == 2 { 1 } else { present.len() };
        let power = match self.loss {
            HingeLoss::Hinge => LossPower::Plain,
            HingeLoss::SquaredHinge => LossPower::Squared,
        };
        let aim = Targets::Classes { places: places.clone(), factors };
        let mut problem = MarginLoss::new(design, m, aim, rows, power, self.costs());
        problem.room = room;
        let (tol, gap, dual) = (self.tol, self.gap, self.dual);
        let asked = Asked { tol, gap, dual, max_iter: self.max_iter, monitor };
        let solved = solve(&mut problem, &asked);
        if solved.stopped.is_some() && solved.n_iter() == 0 {
            return Err(Error::Stopped);
        }
        monitor.report(solved.n_iter(), Some(solved.n_iter()));
        let certificate = solved.certificate("priced margin", data.n_rows(), began);
        let (coefficients, intercepts) =
            to_rows(problem.weights(), m, data.n_columns(), classes.len(), &present);
        let calibration =
            self.probability.then(|| self.maps(&problem, data, &places, classes.len(), &present));
        let model = LinearSvcModel {
            classes: classes.clone(),
            coefficients,
            intercepts,
            n_iter: solved.n_iter(),
            converged: solved.converged,
            calibration,
            by_feature: Cached::default(),
        };
        Ok(Fitted { model, certificate })
    }

    /// The planes of all classes at once.
    fn fit_together(
        &self,
        ready: Ready<'_, '_>,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<LinearSvcModel>> {
        let Ready { data, classes, present, places, factors, rows, design, began, .. } = ready;
        let cost = |(place, row): (&u32, &f64)| factors[*place as usize] * row;
        let lift = if self.fit_intercept { self.intercept_scaling.powi(2) } else { 0.0 };
        let m = present.len();
        let costs = places.iter().zip(&rows).map(cost).collect();
        let problem = CrammerSinger { design: &design, places: &places, m, costs, lift };
        let max_passes = PASSES_A_STEP.saturating_mul(self.max_iter as u64);
        let until = Until { tol: self.tol, gap: self.gap, max_passes, monitor };
        let solved = crammer_singer::solve(&problem, &until);
        if solved.stopped.is_some() && solved.passes <= 1 {
            return Err(Error::Stopped);
        }
        monitor.report(solved.passes, Some(solved.passes));
        let certificate = solved.certificate(data.n_rows(), began);
        let mut weights = solved.weights;
        let mut m = m;
        if classes.len() == 2 {
            // One plane says it all: how much higher the second class is than the first.
            weights = weights.chunks_exact(2).map(|pair| pair[1] - pair[0]).collect();
            m = 1;
        }
        let (coefficients, intercepts) =
            to_rows(&weights, m, data.n_columns(), classes.len(), &present);
        let model = LinearSvcModel {
            classes: classes.clone(),
            coefficients,
            intercepts,
            n_iter: solved.passes,
            converged: solved.converged,
            calibration: None,
            by_feature: Cached::default(),
        };
        Ok(Fitted { model, certificate })
    }

    /// The map of every decision, from what the planes would have said of each row without it.
    fn maps(
        &self,
        problem: &MarginLoss<'_>,
        data: &Dataset<'_>,
        places: &[u32],
        n_classes: usize,
        present: &[u32],
    ) -> Vec<CalibrationMap> {
        let m = problem.m;
        let weights: Vec<f64> = match data.weights() {
            [] => vec![1.0; data.n_rows()],
            weights => weights.to_vec(),
        };
        let said: Vec<Vec<f64>> =
            (0..m).into_par_iter().map(|k| leave_one_out(problem, data.rows(), k)).collect();
        let map = |place: usize| {
            let (k, mirrored) = if m == 1 { (0, place == 0) } else { (place, false) };
            let own = if m == 1 { 1 } else { place as u32 };
            let positive: Vec<bool> = places.iter().map(|p| *p == own).collect();
            match mirrored {
                true => {
                    CalibrationMap::fit_negated(self.calibration, &said[k], &positive, &weights)
                }
                false => CalibrationMap::fit(self.calibration, &said[k], &positive, &weights),
            }
        };
        if n_classes == 2 {
            return vec![map(1)];
        }
        let mut maps = vec![CalibrationMap::placeholder(); n_classes];
        present.iter().enumerate().for_each(|(place, code)| maps[*code as usize] = map(place));
        maps
    }
}

impl LinearSvc {
    fn costs(&self) -> Penalties {
        let free = self.intercept == InterceptPenalty::Unpenalized;
        let scaled = if free { 0.0 } else { 1.0 / self.intercept_scaling };
        match self.penalty {
            SvmPenalty::L2 => Penalties { weights: (1.0, 0.0), constant: (scaled * scaled, 0.0) },
            SvmPenalty::L1 => Penalties { weights: (0.0, 1.0), constant: (0.0, scaled) },
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
fn to_rows(
    weights: &[f64],
    m: usize,
    width: usize,
    n_classes: usize,
    present: &[u32],
) -> (Matrix, Vec<f64>) {
    let (weights, constants) = weights.split_at(width * m);
    let rows = if n_classes == 2 { 1 } else { n_classes };
    let mut coefficients = Matrix::zeros((rows, width));
    // A class nobody showed is never the highest.
    let mut intercepts = vec![f64::NEG_INFINITY; rows];
    let mut placed = Vec::with_capacity(present.len());
    for (place, code) in present.iter().enumerate() {
        // Of two classes with rows there is one machine: for the second, against the first.
        let (k, sign) = match (m, rows) {
            (1, 1) => (0, 1.0),
            (1, _) => (0, if place == 1 { 1.0 } else { -1.0 }),
            _ => (place, 1.0),
        };
        let row = if rows == 1 { 0 } else { *code as usize };
        intercepts[row] = sign * constants.get(k).copied().unwrap_or(0.0);
        placed.push((row, k, sign));
    }
    let cells = coefficients.as_slice_mut().expect("a fresh matrix is contiguous");
    // Some columns of all classes at a time: weights side by side are read while they are near.
    for first in (0..width).step_by(COLUMNS) {
        let last = (first + COLUMNS).min(width);
        for (row, k, sign) in &placed {
            let cells = &mut cells[row * width + first..row * width + last];
            let weights = weights[first * m..last * m].chunks_exact(m);
            cells.iter_mut().zip(weights).for_each(|(cell, w)| *cell = sign * w[*k]);
        }
    }
    (coefficients, intercepts)
}

impl LinearSvcModel {
    /// The model of `m` weights per feature, intercepts last, of the classes that have rows.
    pub(super) fn from_weights(
        classes: &Classes,
        present: &[u32],
        (m, width): (usize, usize),
        weights: &[f64],
        (n_iter, converged): (u64, bool),
    ) -> LinearSvcModel {
        let (coefficients, intercepts) = to_rows(weights, m, width, classes.len(), present);
        LinearSvcModel {
            classes: classes.clone(),
            coefficients,
            intercepts,
            n_iter,
            converged,
            calibration: None,
            by_feature: Cached::default(),
        }
    }

    /// The weights feature by feature, the constant terms last.
    fn by_feature(&self) -> Vec<f64> {
        let mut weights: Vec<f64> = self.coefficients.t().iter().copied().collect();
        weights.extend(&self.intercepts);
        weights
    }

    /// Whether there are probabilities.
    pub fn has_probabilities(&self) -> bool {
        self.calibration.is_some()
    }

    fn log_proba_of(&self, decisions: &Matrix, maps: &[CalibrationMap]) -> Matrix {
        let two = self.classes.len() == 2;
        // A class nobody showed is infinitely far.
        let shown: Vec<bool> = match two {
            true => vec![true; 2],
            false => self.intercepts.iter().map(|b| b.is_finite()).collect(),
        };
        log_class_probabilities(
            decisions,
            maps,
            if two { DecisionLayout::Binary } else { DecisionLayout::OneVsRest },
            &shown,
        )
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
            && self.intercepts.iter().any(|b| b.is_finite())
            && maps_are_valid(self.calibration.as_deref(), m);
        if fits { Ok(()) } else { Err(Error::File("hyperplanes that no fit could give".into())) }
    }
}

impl DecisionFunction for LinearSvcModel {
    fn decisions(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.check_columns(x)?;
        let m = self.intercepts.len();
        let mut decisions = Matrix::zeros((x.n_rows(), m));
        let cells = decisions.as_slice_mut().expect("a fresh matrix is contiguous");
        let weights = self.by_feature.get(|| self.by_feature());
        DesignMatrix::by_rows(x, true).scores(weights, m, cells);
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

    /// The decision about each class; of two classes, for the second and against the first. Where there are
    /// probabilities, their logarithms.
    fn scores(&self, x: &Rows<'_>) -> Result<Matrix> {
        let decisions = self.decisions(x)?;
        if let Some(maps) = &self.calibration {
            return Ok(self.log_proba_of(&decisions, maps));
        }
        if self.intercepts.len() > 1 {
            return Ok(decisions);
        }
        Ok(Matrix::from_shape_fn((x.n_rows(), 2), |(i, c)| side(c) * decisions[[i, 0]]))
    }
}

impl Probabilistic for LinearSvcModel {
    fn log_proba(&self, x: &Rows<'_>) -> Result<Matrix> {
        let maps = self.calibration.as_ref().ok_or_else(|| not_calibrated("linear-svc"))?;
        Ok(self.log_proba_of(&self.decisions(x)?, maps))
    }
}

fn side(class: usize) -> f64 {
    if class == 1 { 1.0 } else { -1.0 }
}

impl AdditiveScores for LinearSvcModel {
    /// The decisions as a sum, also where the scores are probabilities.
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
