//! The contributions of the support vectors to a decision value, in double precision.

use super::expansion::Segment;
use super::{Function, Kernel, KernelExpansion, KernelRows, Precision};
use crate::error::Result;
use crate::explain::{SupportExplanation, SupportVectorTerm, short};
use mercer_num::Rows;

impl KernelExpansion {
    /// Explains a weighted sum of decision values of one row by the contributions of the support vectors.
    ///
    /// # Errors
    /// If the width differs or a cell is not finite.
    pub(crate) fn explain(
        &self,
        row: &[f64],
        segments: &[Segment],
        sum: &[(usize, f64)],
    ) -> Result<SupportExplanation> {
        let x = Rows::from(ndarray::ArrayView1::from(row));
        self.check_rows(&x)?;
        let vectors: KernelRows<f64> = self.kernel_rows_in()?;
        let mut values = vec![0.0; self.n_vectors()];
        let x = vectors.matching(&x, &[0], self.kernel_center());
        x.block(&vectors, 0..self.n_vectors(), &mut values);
        let mut coefficients = vec![0.0; self.n_vectors()];
        for (decision, times) in sum {
            for segment in segments {
                for (r, _) in segment.to.iter().enumerate().filter(|(_, to)| *to == decision) {
                    for k in segment.vectors.clone() {
                        coefficients[k] += times * self.coefficients[[r, k]];
                    }
                }
            }
        }
        let support = |(k, coefficient): (usize, f64)| SupportVectorTerm {
            row: self.support[k],
            coefficient,
            kernel: values[k],
            term: coefficient * values[k],
        };
        let some = coefficients.into_iter().enumerate().filter(|(_, c)| *c != 0.0);
        let support_vectors: Vec<SupportVectorTerm> = some.map(support).collect();
        let intercept: f64 = sum.iter().map(|(k, times)| times * self.intercepts[*k]).sum();
        let sum = support_vectors.iter().fold(intercept, |sum, support| sum + support.term);
        let size = support_vectors.iter().fold(intercept.abs(), |sum, s| sum + s.term.abs());
        let epsilon = match self.precision {
            Precision::Single => f64::from(f32::EPSILON),
            Precision::Double => f64::EPSILON,
        };
        // Below it, the sign of the sum is an accident of rounding.
        let rounding = 4.0 * epsilon * size;
        Ok(SupportExplanation {
            kernel: self.function.formula(),
            between: None,
            decision: None,
            intercept,
            sum: if sum.abs() <= rounding { 0.0 } else { sum },
            support_vectors,
        })
    }
}

impl Function {
    /// The kernel as a formula with its parameter values.
    pub fn formula(&self) -> String {
        let (gamma, coef0) = (short(self.gamma), short(self.coef0));
        match &self.kernel {
            Kernel::Linear => "x·z".into(),
            Kernel::Poly => format!("({gamma} x·z + {coef0})^{}", self.degree),
            Kernel::Rbf => format!("exp(-{gamma} |x - z|²)"),
            Kernel::Sigmoid => format!("tanh({gamma} x·z + {coef0})"),
            Kernel::Laplacian => format!("exp(-{gamma} Σ|x - z|)"),
            Kernel::Chi2 => format!("exp(-{gamma} Σ(x - z)² / (x + z))"),
            Kernel::Precomputed => "as given".into(),
            kernel @ (Kernel::Composed(_) | Kernel::Custom(_)) => kernel.to_string(),
        }
    }
}
