//! Pre-images of kernel principal components: kernel ridge regression from the components of the rows to their columns
//! (Bakır, Weston & Schölkopf 2004).
//!
//! Most points in the space of a kernel are the image of no row, so pre-images are approximate.

use super::{KernelPcaModel, KernelRidge, KernelRidgeModel};
use crate::kernel::{Function, Kernel};
use crate::prelude::*;

/// Fits the kernel ridge regression from components to rows, with the kernel of the components and penalty `alpha`.
///
/// # Errors
/// If the kernel is precomputed, so that the rows are unknown, or the dense rows exceed the memory budget.
pub(super) fn pre_images(
    model: &KernelPcaModel,
    data: &Dataset<'_>,
    alpha: f64,
    monitor: &Monitor<'_>,
) -> Result<Fitted<KernelRidgeModel>> {
    let Function { kernel, gamma, coef0, degree } = model.expansion.function.clone();
    if kernel == Kernel::Precomputed {
        return Err(Error::Parameter {
            name: "fit_inverse_transform".into(),
            found: "true with kernel values".into(),
            expected: "false for a precomputed kernel, whose rows are unknown".into(),
        });
    }
    let (n, d) = (data.n_rows(), data.n_columns());
    monitor.reserve("dense rows as targets of the pre-images", 16 * n as u64 * d as u64)?;
    let cells = (0..n).flat_map(|i| data.rows().row(i)).collect();
    let rows = Matrix::from_shape_vec((n, d), cells).expect("rows of one width");
    let components = model.transform(data.rows())?;
    let mut back = Dataset::multi_output(&components, rows.view())?;
    if !data.weights().is_empty() {
        back = back.weighted(data.weights())?;
    }
    let ridge = KernelRidge::new().alpha(alpha).kernel(kernel).gamma(Some(gamma.into()));
    ridge.coef0(coef0).degree(degree).leave_one_out_rows(0).fit(&back, monitor)
}

#[cfg(test)]
mod tests {
    use crate::kernel::Kernel;
    use crate::kernelized::KernelPca;
    use crate::prelude::*;
    use mercer_num::random::Random;

    #[test]
    fn rows_come_back_with_less_noise() {
        // A circle, and the same with noise: the way back leads near the circle.
        let mut random = Random::new(7);
        let clean = Matrix::from_shape_fn((200, 2), |(i, j)| {
            let angle = i as f64 * 0.1;
            if j == 0 { angle.cos() } else { angle.sin() }
        });
        let noisy = clean.mapv(|v| v + 0.1 * random.normal());
        let pca = KernelPca::new().kernel(Kernel::Rbf).gamma(Some(1.0.into()));
        let pca = pca.n_components(Some(4)).fit_inverse_transform(true).alpha(0.1);
        let fitted = pca.fit(&Dataset::unlabeled(&clean), &Monitor::quiet()).unwrap();

        let components = fitted.transform(&Rows::from(&noisy)).unwrap();
        let back = fitted.inverse(&Rows::from(&components)).unwrap().unwrap();

        let off = |x: &Matrix| -> f64 {
            x.outer_iter().map(|row| (row.dot(&row).sqrt() - 1.0).powi(2)).sum()
        };
        assert_eq!(back.dim(), (200, 2));
        assert!(off(&back) < 0.3 * off(&noisy), "{} {}", off(&back), off(&noisy));
        fitted.check().unwrap();
    }

    #[test]
    fn the_way_back_from_kernel_values_is_refused() {
        let gram = Matrix::eye(5);
        let pca = KernelPca::new().kernel(Kernel::Precomputed).fit_inverse_transform(true);

        let refused = pca.fit(&Dataset::unlabeled(&gram), &Monitor::quiet());

        assert!(matches!(refused, Err(Error::Parameter { .. })));
        let fitted = pca.fit_inverse_transform(false);
        let fitted = fitted.fit(&Dataset::unlabeled(&gram), &Monitor::quiet()).unwrap();
        assert!(fitted.inverse(&Rows::from(&gram)).unwrap().is_none());
    }
}
