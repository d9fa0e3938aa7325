//! Explicit features of the additive chi-squared kernel.
//!
//! `Σⱼ 2 xⱼ zⱼ / (xⱼ + zⱼ)` is, for every column, `√(xz) sech(½ log(x/z))`: a function of a difference of
//! logarithms, whose Fourier transform `sech(πλ)` is sampled at `0, L, 2L, …` (Vedaldi & Zisserman 2010).

use super::approximation::{check_usable, sampled_certificate, sampled_error};
use super::{Function, Kernel};
use crate::data::check_storage;
use crate::model::Status;
use crate::model::check_not_nan;
use crate::prelude::*;
use mercer_num::parallel::prelude::*;
use std::f64::consts::PI;
use std::time::Instant;

/// Rows mapped by one thread at a time.
const ROWS_PER_BLOCK: usize = 256;

params! {
    /// Features whose inner products approximate the additive chi-squared kernel, for nonnegative columns.
    pub struct AdditiveChi2Sampler {
        /// Number of sampled frequencies: each but the first gives two features per column.
        sample_steps: usize = 2, Between(1.0, 1000.0);
        /// Distance between frequencies. `None` uses the best one for a `sample_steps` of 1, 2 or 3.
        sample_interval: Option<f64> = None, Above(0.0);
    }
    formula = "φ(x)·φ(z) ≈ Σⱼ 2 xⱼ zⱼ / (xⱼ + zⱼ)";
    lecture = 13;
    attributes = [own("sample_interval_", "float", "Distance between the sampled frequencies.")];
}

/// Frequencies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdditiveChi2SamplerModel {
    /// How many columns a row has.
    pub n_columns: usize,
    /// How many frequencies.
    pub sample_steps: usize,
    /// The distance between them.
    pub sample_interval: f64,
}

impl Fit for AdditiveChi2Sampler {
    type Model = AdditiveChi2SamplerModel;

    /// Of the rows only the width is looked at, and that no cell is below zero.
    fn fit(
        &self,
        data: &Dataset<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<AdditiveChi2SamplerModel>> {
        let start = Instant::now();
        self.check()?;
        check_usable(data, monitor)?;
        check_positive(data.rows())?;
        let sample_interval = match (self.sample_interval, self.sample_steps) {
            (Some(interval), _) => interval,
            // The paper's figure 2, as scikit-learn takes them.
            (None, 1) => 0.8,
            (None, 2) => 0.5,
            (None, 3) => 0.4,
            (None, steps) => {
                return Err(Error::Parameter {
                    name: "sample_interval".into(),
                    found: "nothing".into(),
                    expected: format!("a number above 0 where sample_steps is {steps}"),
                });
            }
        };
        let (n_columns, sample_steps) = (data.n_columns(), self.sample_steps);
        let model = AdditiveChi2SamplerModel { n_columns, sample_steps, sample_interval };
        let error = sampled_error(data.rows(), model.n_outputs(), |x| model.transform(x), kernel)?;
        let mut certificate = sampled_certificate(data, error, None, start);
        certificate.status = Status::ClosedForm;
        monitor.report(1, Some(1));
        Ok(Fitted { model, certificate })
    }
}

fn check_positive(rows: &Rows<'_>) -> Result<()> {
    Function { kernel: Kernel::Chi2, ..Function::linear() }.check_rows(rows)
}

/// `Σⱼ 2 xⱼ zⱼ / (xⱼ + zⱼ)`.
fn kernel(x: &[f64], z: &[f64]) -> f64 {
    let term = |(x, z): (&f64, &f64)| if x + z > 0.0 { 2.0 * x * z / (x + z) } else { 0.0 };
    x.iter().zip(z).map(term).sum()
}

impl Transformer for AdditiveChi2SamplerModel {
    fn n_inputs(&self) -> usize {
        self.n_columns
    }

    fn n_outputs(&self) -> usize {
        self.n_columns * (2 * self.sample_steps - 1)
    }

    fn transform(&self, x: &Rows<'_>) -> Result<Matrix> {
        check_storage(x)?;
        let (found, d) = (x.n_columns(), self.n_columns);
        if found != d {
            return Err(Error::Columns { found, expected: d });
        }
        check_positive(x)?;
        let step = self.sample_interval;
        let heights: Vec<f64> = (0..self.sample_steps)
            .map(|k| match k {
                0 => step,
                k => 2.0 * step / (PI * k as f64 * step).cosh(),
            })
            .collect();
        let width = self.n_outputs();
        let mut out = Matrix::zeros((x.n_rows(), width));
        let all = out.as_slice_mut().unwrap_or_default();
        all.par_chunks_mut(ROWS_PER_BLOCK * width).enumerate().for_each(|(k, out)| {
            for (i, out) in out.chunks_exact_mut(width).enumerate() {
                let row = x.row(k * ROWS_PER_BLOCK + i);
                for (j, x) in row.iter().enumerate().filter(|(_, x)| **x > 0.0) {
                    out[j] = (x * heights[0]).sqrt();
                    let log = x.ln();
                    for (k, height) in heights.iter().enumerate().skip(1) {
                        let (high, angle) = ((x * height).sqrt(), k as f64 * step * log);
                        out[(2 * k - 1) * d + j] = high * angle.cos();
                        out[2 * k * d + j] = high * angle.sin();
                    }
                }
            }
        });
        check_not_nan(out.as_slice().unwrap_or_default(), width)?;
        Ok(out)
    }
}

impl Check for AdditiveChi2SamplerModel {
    fn check(&self) -> Result<()> {
        let fits = self.n_columns > 0
            && (1..=1000).contains(&self.sample_steps)
            && self.sample_interval > 0.0
            && self.sample_interval.is_finite();
        if fits {
            Ok(())
        } else {
            Err(Error::File("a sampling interval that is not positive and finite".into()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn more_frequencies_are_nearer_to_the_kernel() {
        let x = array![[0.2, 0.5, 0.3], [0.1, 0.0, 0.9], [0.4, 0.4, 0.2]];
        let error = |steps: usize, interval| {
            let params = AdditiveChi2Sampler::new().sample_steps(steps).sample_interval(interval);
            let fitted = params.fit(&Dataset::unlabeled(&x), &Monitor::quiet()).unwrap();
            fitted.certificate.violation.clone().unwrap().value
        };

        assert!(error(2, None) < error(1, None));
        assert!(error(3, None) < error(2, None));
        assert!(error(40, Some(0.1)) < 1e-5, "{}", error(40, Some(0.1)));
        let refused = AdditiveChi2Sampler::new().sample_steps(4);
        assert!(refused.fit(&Dataset::unlabeled(&x), &Monitor::quiet()).is_err());
    }
}
