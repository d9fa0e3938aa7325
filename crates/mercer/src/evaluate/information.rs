//! Which columns tell most about the class: `E[log p(xⱼ | c) − log Σ_c′ p(c′) p(xⱼ | c′)]`, the mutual
//! information of column and class under the model, in bits.

use crate::error::Result;
use crate::model::Factored;
use mercer_num::Rows;
use mercer_num::special::log_sum_exp;

/// Sums over rows whose class is known.
#[derive(Clone, Debug, Default)]
pub struct Information {
    nats: Vec<f64>,
    n: f64,
}

impl Information {
    /// Adds rows.
    ///
    /// # Errors
    /// If a row does not fit the model.
    pub fn push(&mut self, model: &dyn Factored, x: &Rows<'_>, codes: &[u32]) -> Result<()> {
        self.nats.resize(model.n_columns(), 0.0);
        let (priors, nats) = (model.log_priors(), &mut self.nats);
        let mut mixed = vec![0.0; priors.len()];
        model.each_factor(x, &mut |j, i, factors| {
            for (m, (f, p)) in mixed.iter_mut().zip(factors.iter().zip(priors)) {
                *m = f + p;
            }
            let gain = factors[codes[i] as usize] - log_sum_exp(&mixed);
            // A curve of no width makes one row worth everything; thirty bits are plenty.
            nats[j] += gain.clamp(-20.0, 20.0);
        })?;
        self.n += codes.len() as f64;
        Ok(())
    }

    /// Adds the rows of another.
    pub fn merge(&mut self, other: &Information) {
        self.nats.resize(self.nats.len().max(other.nats.len()), 0.0);
        self.nats.iter_mut().zip(&other.nats).for_each(|(a, b)| *a += b);
        self.n += other.n;
    }

    /// The bits a row's column tells on average; `None` before any row.
    pub fn bits(&self) -> Option<Vec<f64>> {
        (self.n > 0.0)
            .then(|| self.nats.iter().map(|s| s / self.n / std::f64::consts::LN_2).collect())
    }
}
