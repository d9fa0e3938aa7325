//! Informative columns: the mutual information of a column and the class under the model, in bits.
//!
//! `I(xⱼ; c) = E[log p(xⱼ | c) − log Σ_c′ p(c′) p(xⱼ | c′)]`, estimated by the mean over rows of known class.

use crate::error::Result;
use crate::model::FactorizedLikelihood;
use mercer_num::Rows;
use mercer_num::special::log_sum_exp;

/// Sums over rows of known class.
#[derive(Clone, Debug, Default)]
pub struct Information {
    nats: Vec<f64>,
    n: f64,
}

impl Information {
    /// Adds rows.
    ///
    /// # Errors
    /// If a row has another number of columns than the model, or a cell that the model refuses.
    pub fn push(
        &mut self,
        model: &dyn FactorizedLikelihood,
        x: &Rows<'_>,
        codes: &[u32],
    ) -> Result<()> {
        self.nats.resize(model.n_columns(), 0.0);
        let (priors, nats) = (model.log_priors(), &mut self.nats);
        let mut joint = vec![0.0; priors.len()];
        model.for_each_factor(x, &mut |j, i, factors| {
            for (joint, (f, p)) in joint.iter_mut().zip(factors.iter().zip(priors)) {
                *joint = f + p;
            }
            let gain = factors[codes[i] as usize] - log_sum_exp(&joint);
            // A density of vanishing variance would make a single row dominate the mean.
            nats[j] += gain.clamp(-20.0, 20.0);
        })?;
        self.n += codes.len() as f64;
        Ok(())
    }

    /// Adds the sums of other rows.
    pub fn merge(&mut self, other: &Information) {
        self.nats.resize(self.nats.len().max(other.nats.len()), 0.0);
        self.nats.iter_mut().zip(&other.nats).for_each(|(a, b)| *a += b);
        self.n += other.n;
    }

    /// The mutual information of every column, in bits; `None` without rows.
    pub fn bits(&self) -> Option<Vec<f64>> {
        (self.n > 0.0)
            .then(|| self.nats.iter().map(|s| s / self.n / std::f64::consts::LN_2).collect())
    }
}
