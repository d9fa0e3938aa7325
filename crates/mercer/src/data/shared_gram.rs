//! A kernel matrix that several fits share: those of all folds and regularization strengths of a grid search.
//!
//! Kernel values of rows do not depend on the fold or on `C`. Computed once for all rows, they serve every fit and every
//! prediction of a held-out row by looking them up.

use std::sync::Arc;

/// The kernel values of all pairs of rows.
#[derive(Debug)]
pub struct GramMatrix {
    /// The kernel function as text, so that a fit can recognize the matrix of its own kernel.
    function: String,
    n_rows: usize,
    values: GramValues,
}

/// Kernel values, row-major, in single or double precision.
#[derive(Debug)]
pub enum GramValues {
    /// Four bytes each.
    Single(Vec<f32>),
    /// Eight bytes each.
    Double(Vec<f64>),
}

impl GramMatrix {
    /// The matrix of `n_rows` rows.
    ///
    /// # Panics
    /// If there is not one value per pair of rows.
    pub fn new(function: String, n_rows: usize, values: GramValues) -> GramMatrix {
        let n_values = match &values {
            GramValues::Single(values) => values.len(),
            GramValues::Double(values) => values.len(),
        };
        assert_eq!(n_values, n_rows * n_rows, "one value per pair of rows");
        GramMatrix { function, n_rows, values }
    }

    /// Whether these are the values of a kernel function.
    pub fn is_of(&self, function: &str) -> bool {
        self.function == function
    }

    /// Whether values have single precision.
    pub fn is_single(&self) -> bool {
        matches!(self.values, GramValues::Single(_))
    }

    /// The kernel value of two rows.
    pub fn value(&self, i: u32, j: u32) -> f64 {
        let at = i as usize * self.n_rows + j as usize;
        match &self.values {
            GramValues::Single(values) => f64::from(values[at]),
            GramValues::Double(values) => values[at],
        }
    }

    /// Calls `write` with the index within `columns` and the kernel value, for every one of the columns of a row.
    pub fn for_each(&self, row: u32, columns: &[u32], mut write: impl FnMut(usize, f64)) {
        let row = row as usize * self.n_rows..(row as usize + 1) * self.n_rows;
        match &self.values {
            GramValues::Single(values) => {
                let values = &values[row];
                columns.iter().enumerate().for_each(|(k, j)| write(k, values[*j as usize].into()));
            }
            GramValues::Double(values) => {
                let values = &values[row];
                columns.iter().enumerate().for_each(|(k, j)| write(k, values[*j as usize]));
            }
        }
    }
}

/// The kernel matrix with the rows of one fold: those that a model is fitted to, and those that it predicts.
#[derive(Clone, Debug)]
pub struct SharedGram {
    /// The kernel values.
    pub matrix: Arc<GramMatrix>,
    /// The index in the matrix of every training row.
    pub train: Arc<[u32]>,
    /// The index in the matrix of every row that the fitted model predicts. A model with a shared matrix predicts
    /// these rows, in this order, and no others.
    pub test: Arc<[u32]>,
}
