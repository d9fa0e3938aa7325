//! What every method over a kernel stands on: the rows that count, and the kernel with its numbers.

use super::{
    Function, Gamma, Kernel, KernelExpansion, KernelRows, Precision, Storage, center_of,
    check_square,
};
use crate::data::{Dataset, check_storage};
use crate::error::{Error, Result};
use crate::model::Monitor;
use mercer_num::{Float, Matrix, Rows};

/// The rows that count, with a kernel.
pub(crate) struct KernelProblem<'a> {
    pub rows: Rows<'a>,
    pub function: Function,
    pub storage: Storage,
    /// What is taken off rows before distances are worked out.
    pub center: Vec<f64>,
    /// Which rows count.
    pub indices: Vec<u32>,
    /// How often each of them does.
    pub weights: Vec<f64>,
}

impl<'a> KernelProblem<'a> {
    /// Refuses rows that there is nothing to learn from, and those the kernel is not made for.
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
        // A width is only looked for in rows that have one.
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
        Ok(KernelProblem { rows, function, storage, center, indices, weights })
    }

    /// The same with the rows sorted by a group; those of one keep their order.
    pub fn sorted_by(mut self, group: impl Fn(usize) -> u32) -> KernelProblem<'a> {
        let mut both: Vec<(u32, f64)> = self.indices.into_iter().zip(self.weights).collect();
        both.sort_by_key(|(i, _)| group(*i as usize));
        (self.indices, self.weights) = both.into_iter().unzip();
        self
    }

    /// The rows made ready, around their center.
    pub fn kernel_rows(&self) -> KernelRows<f64> {
        self.kernel_rows_in()
    }

    /// The same in any precision.
    pub fn kernel_rows_in<T: Float>(&self) -> KernelRows<T> {
        self.kernel_rows_around(&self.center)
    }

    /// The rows made ready as they are.
    pub fn uncentered_kernel_rows(&self) -> KernelRows<f64> {
        self.kernel_rows_around(&[])
    }

    fn kernel_rows_around<T: Float>(&self, center: &[f64]) -> KernelRows<T> {
        let KernelProblem { rows, function, storage, indices, .. } = self;
        KernelRows::new(function.clone(), *storage, rows, indices, center, indices)
    }

    /// The expansion of some of the rows.
    pub fn expansion(
        &self,
        precision: Precision,
        support: Vec<u32>,
        coefficients: Matrix,
        intercepts: Vec<f64>,
    ) -> KernelExpansion {
        KernelExpansion::of_rows(
            self.function.clone(),
            precision,
            &self.rows,
            support,
            self.center.clone(),
            coefficients,
            intercepts,
        )
    }
}
