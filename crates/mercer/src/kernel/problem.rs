//! The training rows of a kernel method: the rows of positive weight, and the kernel function with its parameters.

use super::{
    Function, Gamma, Kernel, KernelExpansion, KernelRows, Precision, Storage, center_of,
    check_square, column_means,
};
use crate::data::{Dataset, GramMatrix, GramValues, SharedGram, check_storage};
use crate::error::{Error, Result};
use crate::model::Monitor;
use mercer_num::{Float, Matrix, Rows};

/// The training rows and their kernel function.
pub(crate) struct KernelProblem<'a> {
    pub rows: Rows<'a>,
    pub function: Function,
    pub storage: Storage,
    /// The center that is subtracted from rows; empty for none.
    pub center: Vec<f64>,
    /// The indices of the rows of positive weight.
    pub indices: Vec<u32>,
    /// Their weights.
    pub weights: Vec<f64>,
    /// The kernel values of all rows, if other fits have computed them.
    pub gram: Option<SharedGram>,
}

impl<'a> KernelProblem<'a> {
    /// Checks that the rows can be fitted and that the kernel accepts them.
    pub fn new(
        data: &Dataset<'a>,
        kernel: &Kernel,
        gamma: Option<Gamma>,
        coef0: f64,
        degree: usize,
        monitor: &Monitor<'_>,
    ) -> Result<KernelProblem<'a>> {
        if data.n_rows() == 0 {
            return Err(Error::NoRows);
        }
        if data.n_columns() == 0 {
            return Err(Error::NoFeatures);
        }
        if monitor.stop().is_some() {
            return Err(Error::Stopped);
        }
        let rows = *data.rows();
        check_storage(&rows)?;
        // `scale` needs finite cells: they are checked first.
        Function { kernel: kernel.clone(), ..Function::linear() }.check_rows(&rows)?;
        if *kernel == Kernel::Precomputed {
            check_square(&rows)?;
        }
        let function = kernel.with(gamma, coef0, degree, data);
        let weight = |i: usize| data.weights().get(i).copied().unwrap_or(1.0);
        let indices: Vec<u32> =
            (0..data.n_rows()).filter(|i| weight(*i) > 0.0).map(|i| i as u32).collect();
        if indices.is_empty() {
            return Err(Error::NoRows);
        }
        let weights = indices.iter().map(|i| weight(*i as usize)).collect();
        let storage = Storage::of(&function, &rows);
        let center = center_of(&function, storage, &rows);
        let gram = data.gram().filter(|gram| gram.matrix.is_of(&gram_key(&function))).cloned();
        Ok(KernelProblem { rows, function, storage, center, indices, weights, gram })
    }

    /// Sorts the rows by a group; the sort is stable.
    pub fn sorted_by(mut self, group: impl Fn(usize) -> u32) -> KernelProblem<'a> {
        let mut both: Vec<(u32, f64)> = self.indices.into_iter().zip(self.weights).collect();
        both.sort_by_key(|(i, _)| group(*i as usize));
        (self.indices, self.weights) = both.into_iter().unzip();
        self
    }

    /// The rows in double precision, centered.
    pub fn kernel_rows(&self) -> KernelRows<f64> {
        self.kernel_rows_in()
    }

    /// The rows in the precision `T`, centered.
    pub fn kernel_rows_in<T: Float>(&self) -> KernelRows<T> {
        let KernelProblem { rows, function, storage, center, indices, .. } = self;
        if let Some(gram) = &self.gram {
            let indices = indices.iter().map(|i| gram.train[*i as usize]).collect();
            return KernelRows::shared(function.clone(), gram.clone(), indices);
        }
        KernelRows::new(function.clone(), *storage, rows, indices, center, indices)
    }

    /// The rows at the given positions, around their own center if rows are centered at all.
    pub fn restricted_to(&self, positions: &[u32]) -> KernelProblem<'a> {
        let indices: Vec<u32> = positions.iter().map(|k| self.indices[*k as usize]).collect();
        let center = match self.center.is_empty() {
            true => Vec::new(),
            false => column_means(&self.rows, &indices),
        };
        KernelProblem {
            rows: self.rows,
            function: self.function.clone(),
            storage: self.storage,
            center,
            indices,
            weights: positions.iter().map(|k| self.weights[*k as usize]).collect(),
            gram: self.gram.clone(),
        }
    }

    /// Centers the rows of a linear kernel. Inner products change by a term of each row, which cancels if coefficients
    /// sum to zero: only then is the problem the same.
    pub fn center_linear(&mut self) {
        if self.function.kernel == Kernel::Linear && self.storage == Storage::Dense {
            self.center = column_means(&self.rows, &self.indices);
        }
    }

    /// The weight vector `w = Σ βᵢ (xᵢ − c)` of a linear kernel over the rows at the given positions.
    pub fn linear_weights(&self, positions: &[u32], beta: &[f64]) -> Vec<f64> {
        let mut weights = vec![0.0; self.rows.n_columns()];
        for (k, b) in positions.iter().zip(beta).filter(|(_, b)| **b != 0.0) {
            let row = self.rows.row(self.indices[*k as usize] as usize);
            let center = self.center.iter().copied().chain(std::iter::repeat(0.0));
            for (w, (x, c)) in weights.iter_mut().zip(row.iter().zip(center)) {
                *w += b * (x - c);
            }
        }
        weights
    }

    /// The intercept of a function of the rows as they were given, from that of centered rows: only a linear kernel
    /// makes a difference, `b − w·c`.
    pub fn input_intercept(&self, positions: &[u32], beta: &[f64], intercept: f64) -> f64 {
        if self.function.kernel != Kernel::Linear || self.center.is_empty() {
            return intercept;
        }
        let weights = self.linear_weights(positions, beta);
        intercept - weights.iter().zip(&self.center).map(|(w, c)| w * c).sum::<f64>()
    }

    /// The kernel expansion over the rows at the indices `support`.
    pub fn expansion(
        &self,
        precision: Precision,
        support: Vec<u32>,
        coefficients: Matrix,
        intercepts: Vec<f64>,
    ) -> KernelExpansion {
        let expansion = KernelExpansion::of_rows(
            self.function.clone(),
            precision,
            &self.rows,
            support,
            self.center.clone(),
            coefficients,
            intercepts,
        );
        match &self.gram {
            Some(gram) => expansion.with_gram(gram),
            None => expansion,
        }
    }
}

/// The name of a kernel function by which a fit recognizes a shared kernel matrix.
fn gram_key(function: &Function) -> String {
    format!("{function:?}")
}

/// The kernel values of all pairs of rows; `None` for a kernel whose fits do not look values up: those of a linear
/// kernel center the rows of each fit, and those of given kernel values have them already.
pub(crate) fn gram_matrix(
    function: &Function,
    rows: &Rows<'_>,
    precision: Precision,
) -> Option<GramMatrix> {
    if matches!(function.kernel, Kernel::Linear | Kernel::Precomputed | Kernel::Custom(_)) {
        return None;
    }
    let storage = Storage::of(function, rows);
    let center = center_of(function, storage, rows);
    let values = match precision {
        Precision::Single => GramValues::Single(whole_gram(function, storage, rows, &center)),
        Precision::Double => GramValues::Double(whole_gram(function, storage, rows, &center)),
    };
    Some(GramMatrix::new(gram_key(function), rows.n_rows(), values))
}

fn whole_gram<T: Float>(
    function: &Function,
    storage: Storage,
    rows: &Rows<'_>,
    center: &[f64],
) -> Vec<T> {
    let prepared = KernelRows::<T>::all(function.clone(), storage, rows, center, &[]);
    let mut values = prepared.whole_gram(&Monitor::quiet()).expect("a quiet monitor stops nothing");
    let diagonal = values.iter_mut().step_by(rows.n_rows() + 1);
    diagonal.zip(prepared.diagonal()).for_each(|(value, own)| *value = own);
    values
}
