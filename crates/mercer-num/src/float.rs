//! Single and double precision behind one trait, for the loops that run in either.

use crate::Rows;
use crate::linalg::{dot_products, lower_triangular_products, subtract_dot_products};
use crate::simd::cosine::{scaled_cosines_double, scaled_cosines_single};
use crate::simd::exp::{
    DISTANCE_LANES, chi_squared_distances_double, chi_squared_distances_single, exp_each_double,
    exp_each_single, gaussian_kernel_double, gaussian_kernel_single, l1_distances_double,
    l1_distances_single, polynomial_kernel_double, polynomial_kernel_single, sigmoid_kernel_double,
    sigmoid_kernel_single,
};
use crate::simd::hadamard::{hadamard_rotate_double, hadamard_rotate_single};
use crate::simd::smo::{
    WorkingSetScan, add_columns_double, add_columns_single, dot_double, dot_single,
    select_second_double, select_second_single, sparse_dots_double, sparse_dots_single,
    update_and_scan_double, update_and_scan_single,
};
use crate::simd::sparse_product::{sparse_panel_double, sparse_panel_single};
use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt::Debug;
use std::ops::Range;

/// A floating-point type of kernel values. The loops are those of [`exp`](crate::simd::exp),
/// [`cosine`](crate::simd::cosine) and [`smo`](crate::simd::smo).
pub trait Float: Copy + Debug + Default + PartialOrd + Send + Sync + Into<f64> + 'static {
    /// The distance from one to the next representable number.
    const EPSILON: f64;
    /// Its name.
    const NAME: &'static str;

    /// The nearest representable number.
    fn narrow(x: f64) -> Self;

    /// The dense rows of a range as one row-major slice, or `None` for sparse rows.
    fn block<'a>(rows: &Rows<'a>, range: Range<usize>) -> Option<Cow<'a, [Self]>>;

    /// `out = A · Bᵀ` for row-major blocks of rows, on this thread.
    fn dot_products(a: &[Self], b: &[Self], width: usize, out: &mut [Self]);
    /// `out −= A · Bᵀ`, the same.
    fn subtract_dot_products(a: &[Self], b: &[Self], width: usize, out: &mut [Self]);
    /// `out = A · Lᵀ` for `n` row-major rows and a lower triangular `L`, on this thread.
    fn lower_triangular_products(a: &[Self], l: &[Self], out: &mut [Self], n: usize);

    /// Calls `work` with a thread-local buffer of at least `n` elements with arbitrary content, which saves an
    /// allocation per block.
    fn scratch<R>(n: usize, work: impl FnOnce(&mut [Self]) -> R) -> R;
    /// `x ← exp(x)`.
    fn exp_each(x: &mut [Self]);
    /// `x ← scale · cos(x + phases)`.
    fn scaled_cosines(x: &mut [Self], phases: &[Self], scale: f64);
    /// `out = H D₃ H D₂ H D₁ x` with the Hadamard matrix `H` and diagonal matrices `D` of signs.
    fn hadamard_rotate(x: &[Self], signs: &[Self], out: &mut [Self]);
    /// Gaussian kernel values from inner products and squared norms.
    fn gaussian_kernel(dots: &[Self], own: Self, others: &[Self], gamma: f64, out: &mut [Self]);
    /// Polynomial kernel values from inner products.
    fn polynomial_kernel(dots: &[Self], gamma: f64, coef0: f64, degree: u32, out: &mut [Self]);
    /// Sigmoid kernel values from inner products.
    fn sigmoid_kernel(dots: &[Self], gamma: f64, coef0: f64, out: &mut [Self]);
    /// `Σ |a − b|` of a row with others that are stored by columns.
    fn l1_distances(a: &[Self], others: &[[Self; DISTANCE_LANES]], out: &mut [Self]);
    /// `Σ (a − b)² / (a + b)` of a row with others that are stored by columns.
    fn chi_squared_distances(a: &[Self], others: &[[Self; DISTANCE_LANES]], out: &mut [Self]);
    /// Updates the gradient after a step of two variables, and scans for the next working set.
    fn update_and_scan(
        f: &mut [f64],
        rising: &[Self],
        falling: &[Self],
        t: f64,
        up: &[f64],
        down: &[f64],
    ) -> WorkingSetScan;
    /// Selects the second variable of a working set.
    fn select_second(
        f: &[f64],
        down: &[f64],
        column: &[Self],
        diagonal: &[Self],
        own: Self,
        top: f64,
    ) -> Option<usize>;
    /// Adds multiples of columns.
    fn add_columns(columns: &[&[Self]], coefficients: &[f64], from: usize, into: &mut [f64]);
    /// `Σ x · weights`.
    fn dot(x: &[Self], weights: &[f64]) -> f64;
    /// Inner products of sparse rows with several interleaved rows.
    fn sparse_dots(
        offsets: &[usize],
        columns: &[i32],
        values: &[Self],
        table: &[Self],
        out: &mut [Self],
    );
    /// Products of sparse rows with a panel of a table.
    fn sparse_panel(
        offsets: &[usize],
        columns: &[i32],
        values: &[Self],
        panel: &[Self],
        columns_of_out: Range<usize>,
        out: &mut [Self],
    );
}

macro_rules! float {
    ($T:ty, $name:literal, $block:ident, $exp:ident, $cosines:ident, $rotate:ident, $gaussian:ident, $polynomial:ident, $sigmoid:ident, $l1:ident, $chi_squared:ident, $update:ident, $second:ident, $add:ident, $dot:ident, $sparse_dots:ident, $panel:ident) => {
        impl Float for $T {
            const EPSILON: f64 = <$T>::EPSILON as f64;
            const NAME: &'static str = $name;

            #[inline(always)]
            fn narrow(x: f64) -> Self {
                x as $T
            }

            fn block<'a>(rows: &Rows<'a>, range: Range<usize>) -> Option<Cow<'a, [Self]>> {
                rows.$block(range)
            }

            fn dot_products(a: &[Self], b: &[Self], width: usize, out: &mut [Self]) {
                dot_products(a, b, width, out, 1.0);
            }

            fn subtract_dot_products(a: &[Self], b: &[Self], width: usize, out: &mut [Self]) {
                subtract_dot_products(a, b, width, out, -1.0);
            }

            fn lower_triangular_products(a: &[Self], l: &[Self], out: &mut [Self], n: usize) {
                lower_triangular_products(a, l, out, n, 1.0);
            }

            fn scratch<R>(n: usize, work: impl FnOnce(&mut [Self]) -> R) -> R {
                thread_local! {
                    static BUFFERS: RefCell<Vec<Vec<$T>>> = const { RefCell::new(Vec::new()) };
                }
                // Taken out while in use, so that a nested call gets another buffer.
                let mut buffer = BUFFERS.with_borrow_mut(Vec::pop).unwrap_or_default();
                if buffer.len() < n {
                    buffer.resize(n, 0.0);
                }
                let result = work(&mut buffer[..n]);
                BUFFERS.with_borrow_mut(|buffers| buffers.push(buffer));
                result
            }

            fn exp_each(x: &mut [Self]) {
                $exp(x);
            }

            fn scaled_cosines(x: &mut [Self], phases: &[Self], scale: f64) {
                $cosines(x, phases, scale as $T);
            }

            fn hadamard_rotate(x: &[Self], signs: &[Self], out: &mut [Self]) {
                $rotate(x, signs, out);
            }

            fn gaussian_kernel(
                dots: &[Self],
                own: Self,
                others: &[Self],
                gamma: f64,
                out: &mut [Self],
            ) {
                $gaussian(dots, own, others, gamma as $T, out);
            }

            fn polynomial_kernel(
                dots: &[Self],
                gamma: f64,
                coef0: f64,
                degree: u32,
                out: &mut [Self],
            ) {
                $polynomial(dots, gamma as $T, coef0 as $T, degree, out);
            }

            fn sigmoid_kernel(dots: &[Self], gamma: f64, coef0: f64, out: &mut [Self]) {
                $sigmoid(dots, gamma as $T, coef0 as $T, out);
            }

            fn l1_distances(a: &[Self], others: &[[Self; DISTANCE_LANES]], out: &mut [Self]) {
                $l1(a, others, out);
            }

            fn chi_squared_distances(
                a: &[Self],
                others: &[[Self; DISTANCE_LANES]],
                out: &mut [Self],
            ) {
                $chi_squared(a, others, out);
            }

            fn update_and_scan(
                f: &mut [f64],
                rising: &[Self],
                falling: &[Self],
                t: f64,
                up: &[f64],
                down: &[f64],
            ) -> WorkingSetScan {
                $update(f, rising, falling, t, up, down)
            }

            fn select_second(
                f: &[f64],
                down: &[f64],
                column: &[Self],
                diagonal: &[Self],
                own: Self,
                top: f64,
            ) -> Option<usize> {
                $second(f, down, column, diagonal, own, top)
            }

            fn add_columns(
                columns: &[&[Self]],
                coefficients: &[f64],
                from: usize,
                into: &mut [f64],
            ) {
                $add(columns, coefficients, from, into);
            }

            fn dot(x: &[Self], weights: &[f64]) -> f64 {
                $dot(x, weights)
            }

            fn sparse_dots(
                offsets: &[usize],
                columns: &[i32],
                values: &[Self],
                table: &[Self],
                out: &mut [Self],
            ) {
                $sparse_dots(offsets, columns, values, table, out);
            }

            fn sparse_panel(
                offsets: &[usize],
                columns: &[i32],
                values: &[Self],
                panel: &[Self],
                columns_of_out: Range<usize>,
                out: &mut [Self],
            ) {
                $panel(offsets, columns, values, panel, columns_of_out, out);
            }
        }
    };
}

float!(
    f32,
    "f32",
    block_single,
    exp_each_single,
    scaled_cosines_single,
    hadamard_rotate_single,
    gaussian_kernel_single,
    polynomial_kernel_single,
    sigmoid_kernel_single,
    l1_distances_single,
    chi_squared_distances_single,
    update_and_scan_single,
    select_second_single,
    add_columns_single,
    dot_single,
    sparse_dots_single,
    sparse_panel_single
);
float!(
    f64,
    "f64",
    block,
    exp_each_double,
    scaled_cosines_double,
    hadamard_rotate_double,
    gaussian_kernel_double,
    polynomial_kernel_double,
    sigmoid_kernel_double,
    l1_distances_double,
    chi_squared_distances_double,
    update_and_scan_double,
    select_second_double,
    add_columns_double,
    dot_double,
    sparse_dots_double,
    sparse_panel_double
);
