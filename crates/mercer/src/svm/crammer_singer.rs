//! Support vector classification of many classes at once.

use super::dual_problem::{DualProblem, Solved};
use super::duality_gap::Measured;
use super::multiclass::{Multiclass, certificate};
use super::plan::plan_together;
use super::svc::{Margin, Svc};
use super::svc_model::SvcModel;
use crate::calibrate::map::CalibrationMap;
use crate::prelude::*;
use std::ops::Range;
use std::time::Instant;

impl Svc {
    /// Refuses what functions learned together do not have.
    pub(super) fn refuse_together(&self) -> Result<()> {
        let why = match () {
            () if self.multiclass != Multiclass::CrammerSinger => return Ok(()),
            () if self.margin == Margin::Hard => "crammer_singer with a hard margin",
            () if self.slack_power > 1.0 => "crammer_singer with a power of slack",
            () => return Ok(()),
        };
        Err(Error::Parameter {
            name: "multiclass".into(),
            found: why.into(),
            expected: "`ovo` or `ovr` there".into(),
        })
    }

    /// Learns one function a class, without constants, so that each row's own is highest.
    pub(super) fn learn_together(
        &self,
        ground: &DualProblem<'_>,
        (classes, factors): (&Classes, Vec<f64>),
        ranges: &[Range<usize>],
        monitor: &Monitor<'_>,
        start: Instant,
    ) -> Fitted<SvcModel> {
        let n = classes.len();
        let shown: Vec<usize> = (0..n).filter(|c| !ranges[*c].is_empty()).collect();
        let n_rows = ground.indices.len();
        let (mut places, mut costs) = (vec![0u32; n_rows], vec![0.0; n_rows]);
        for (place, class) in shown.iter().enumerate() {
            for k in ranges[*class].clone() {
                places[k] = place as u32;
                costs[k] = self.C * ground.weights[k] * factors[*class];
            }
        }
        let plan = plan_together(ground, shown.len(), monitor);
        let found = ground.solve_crammer_singer(&places, shown.len(), &costs, monitor);
        // Of two classes one function says it all: how much higher the second is than the first.
        let m = shown.len();
        let mut table = Matrix::zeros((if n == 2 { 1 } else { n }, n_rows));
        for (k, pulls) in found.pulls.chunks_exact(m).enumerate() {
            if n == 2 {
                table[[0, k]] = pulls[1] - pulls[0];
            } else {
                shown.iter().zip(pulls).for_each(|(class, a)| table[[*class, k]] = *a);
            }
        }
        // A class nobody showed is never the highest.
        let level = |c: usize| if ranges[c].is_empty() { -1e300 } else { 0.0 };
        let levels = if n == 2 { vec![0.0] } else { (0..n).map(level).collect() };
        let calibration = self.probability.then(|| {
            // A row whose pull is at its price has nothing to give way with.
            let free = |k: usize| found.pulls[k * m + places[k] as usize] < costs[k];
            self.maps_together(ground, &table, ranges, free)
        });
        let vectors: Vec<u32> = (0..n_rows as u32)
            .filter(|k| table.column(*k as usize).iter().any(|v| *v != 0.0))
            .collect();
        let count = |range: &Range<usize>| {
            vectors.iter().filter(|k| range.contains(&(**k as usize))).count() as u32
        };
        let picks: Vec<usize> = vectors.iter().map(|k| *k as usize).collect();
        let expansion = ground.machine(&vectors, table.select(ndarray::Axis(1), &picks), levels);
        let solved = Solved {
            beta: Vec::new(),
            level: [0.0; 2],
            converged: found.converged,
            steps: found.steps,
            kernel_values: found.kernel_values,
            stopped: found.stopped,
            measured: Measured {
                primal: found.primal,
                dual: found.dual,
                violation: found.violation,
            },
            outputs: Vec::new(),
        };
        monitor.report(1, Some(1));
        let certificate = certificate(ground, plan, &[solved], expansion.n_vectors(), start);
        let model = SvcModel {
            margins: Vec::new(),
            slacks: Matrix::default((0, 0)),
            calibration,
            classes: classes.clone(),
            expansion,
            n_support: ranges.iter().map(count).collect(),
            n_iter: vec![found.steps],
            converged: found.converged,
            class_weights: factors,
            // The one function of two classes is laid out as that of a pair.
            approximate: false,
            multiclass: if n == 2 { Multiclass::OneVsOne } else { Multiclass::CrammerSinger },
            shape: self.decision_function_shape,
            break_ties: self.break_ties,
        };
        Fitted { model, certificate }
    }

    /// How the decisions become probabilities: a map for every class, or one for two of them, from what the
    /// functions would say of each row without it.
    fn maps_together(
        &self,
        ground: &DualProblem<'_>,
        table: &Matrix,
        ranges: &[Range<usize>],
        free: impl Fn(usize) -> bool,
    ) -> Vec<CalibrationMap> {
        let betas: Vec<Vec<f64>> = table.outer_iter().map(|row| row.to_vec()).collect();
        let said = ground.leave_one_out_together(&betas, free);
        // The one function of two classes is about the second.
        let about = if ranges.len() == 2 { &ranges[1..] } else { ranges };
        about
            .iter()
            .zip(&said)
            .map(|(range, said)| {
                if range.is_empty() {
                    return CalibrationMap::placeholder();
                }
                let positive: Vec<bool> = (0..said.len()).map(|k| range.contains(&k)).collect();
                CalibrationMap::fit(self.calibration, said, &positive, &ground.weights)
            })
            .collect()
    }
}
