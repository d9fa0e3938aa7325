//! Single and double precision behind one name, for the loops that run in either.

use crate::Rows;
use crate::linalg::{dot_products, lower_products, take_dot_products};
use crate::simd::cosine::{waves_double, waves_single};
use crate::simd::exp::{
    absolute_double, absolute_single, chi_double, chi_single, exp_each_double, exp_each_single,
    gaussians_double, gaussians_single, powers_double, powers_single, tanhs_double, tanhs_single,
};
use crate::simd::hadamard::{turn_double, turn_single};
use crate::simd::smo::{
    Scan, add_columns_double, add_columns_single, dot_double, dot_single, partner_double,
    partner_single, step_double, step_single, thin_dots_double, thin_dots_single,
};
use crate::simd::sparse_product::{thin_panel_double, thin_panel_single};
use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt::Debug;
use std::ops::Range;

/// A number that kernel values are kept in. The loops are those of [`exp`](crate::simd::exp),
/// [`cosine`](crate::simd::cosine) and [`sweep`](crate::simd::smo).
pub trait Float: Copy + Debug + Default + PartialOrd + Send + Sync + Into<f64> + 'static {
    /// The distance from one to the next number.
    const EPSILON: f64;
    /// Its name.
    const NAME: &'static str;

    /// The nearest number.
    fn narrow(x: f64) -> Self;

    /// The dense rows of a range as one row-major slice, or `None` for sparse rows.
    fn block<'a>(rows: &Rows<'a>, range: Range<usize>) -> Option<Cow<'a, [Self]>>;

    /// `out = A · Bᵀ` for row-major blocks of rows, on this thread.
    fn dot_products(a: &[Self], b: &[Self], width: usize, out: &mut [Self]);
    /// `out −= A · Bᵀ`, the same.
    fn take_dot_products(a: &[Self], b: &[Self], width: usize, out: &mut [Self]);
    /// `out = A · Lᵀ` for `n` row-major rows and a triangle with nothing above its diagonal, on this thread.
    fn lower_products(a: &[Self], l: &[Self], out: &mut [Self], n: usize);

    /// A buffer of at least so many numbers that lives as long as its thread, holding anything: blocks
    /// need not wait for fresh memory.
    fn scratch<R>(n: usize, work: impl FnOnce(&mut [Self]) -> R) -> R;
    /// Every number becomes its exponential.
    fn exp_each(x: &mut [Self]);
    /// `x ← scale · cos(x + phases)`.
    fn waves(x: &mut [Self], phases: &[Self], scale: f64);
    /// A row turned by signs, sums and differences.
    fn turn(x: &[Self], signs: &[Self], out: &mut [Self]);
    /// Gaussian kernel values from inner products and squared lengths.
    fn gaussians(dots: &[Self], own: Self, others: &[Self], gamma: f64, out: &mut [Self]);
    /// Powers of inner products.
    fn powers(dots: &[Self], gamma: f64, constant: f64, degree: u32, out: &mut [Self]);
    /// Hyperbolic tangents of inner products.
    fn tanhs(dots: &[Self], gamma: f64, constant: f64, out: &mut [Self]);
    /// `Σ |a − b|`.
    fn absolute(a: &[Self], b: &[Self]) -> Self;
    /// `Σ (a − b)² / (a + b)`.
    fn chi(a: &[Self], b: &[Self]) -> Self;
    /// A step of two variables, and a scan.
    fn step(
        f: &mut [f64],
        rising: &[Self],
        falling: &[Self],
        t: f64,
        up: &[f64],
        down: &[f64],
    ) -> Scan;
    /// The partner of a rising variable.
    fn partner(
        f: &[f64],
        down: &[f64],
        column: &[Self],
        diagonal: &[Self],
        own: Self,
        top: f64,
    ) -> Option<usize>;
    /// Sums of columns.
    fn add_columns(columns: &[&[Self]], coefficients: &[f64], from: usize, into: &mut [f64]);
    /// `Σ x · weights`.
    fn dot(x: &[Self], weights: &[f64]) -> f64;
    /// Inner products of sparse rows with some that stand side by side.
    fn thin_dots(
        offsets: &[usize],
        columns: &[i32],
        values: &[Self],
        table: &[Self],
        out: &mut [Self],
    );
    /// Products of sparse rows with a panel of a table.
    fn thin_panel(
        offsets: &[usize],
        columns: &[i32],
        values: &[Self],
        panel: &[Self],
        places: Range<usize>,
        out: &mut [Self],
    );
}

macro_rules! float {
    ($T:ty, $name:literal, $block:ident, $exp:ident, $waves:ident, $turn:ident, $gaussians:ident, $powers:ident, $tanhs:ident, $absolute:ident, $chi:ident, $step:ident, $partner:ident, $add:ident, $dot:ident, $thin:ident, $panel:ident) => {
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

            fn take_dot_products(a: &[Self], b: &[Self], width: usize, out: &mut [Self]) {
                take_dot_products(a, b, width, out, -1.0);
            }

            fn lower_products(a: &[Self], l: &[Self], out: &mut [Self], n: usize) {
                lower_products(a, l, out, n, 1.0);
            }

            fn scratch<R>(n: usize, work: impl FnOnce(&mut [Self]) -> R) -> R {
                thread_local! {
                    static KEPT: RefCell<Vec<Vec<$T>>> = const { RefCell::new(Vec::new()) };
                }
                // Taken out while in use, so that work which asks again gets another.
                let mut buffer = KEPT.with_borrow_mut(Vec::pop).unwrap_or_default();
                if buffer.len() < n {
                    buffer.resize(n, 0.0);
                }
                let result = work(&mut buffer[..n]);
                KEPT.with_borrow_mut(|kept| kept.push(buffer));
                result
            }

            fn exp_each(x: &mut [Self]) {
                $exp(x);
            }

            fn waves(x: &mut [Self], phases: &[Self], scale: f64) {
                $waves(x, phases, scale as $T);
            }

            fn turn(x: &[Self], signs: &[Self], out: &mut [Self]) {
                $turn(x, signs, out);
            }

            fn gaussians(dots: &[Self], own: Self, others: &[Self], gamma: f64, out: &mut [Self]) {
                $gaussians(dots, own, others, gamma as $T, out);
            }

            fn powers(dots: &[Self], gamma: f64, constant: f64, degree: u32, out: &mut [Self]) {
                $powers(dots, gamma as $T, constant as $T, degree, out);
            }

            fn tanhs(dots: &[Self], gamma: f64, constant: f64, out: &mut [Self]) {
                $tanhs(dots, gamma as $T, constant as $T, out);
            }

            fn absolute(a: &[Self], b: &[Self]) -> Self {
                $absolute(a, b)
            }

            fn chi(a: &[Self], b: &[Self]) -> Self {
                $chi(a, b)
            }

            fn step(
                f: &mut [f64],
                rising: &[Self],
                falling: &[Self],
                t: f64,
                up: &[f64],
                down: &[f64],
            ) -> Scan {
                $step(f, rising, falling, t, up, down)
            }

            fn partner(
                f: &[f64],
                down: &[f64],
                column: &[Self],
                diagonal: &[Self],
                own: Self,
                top: f64,
            ) -> Option<usize> {
                $partner(f, down, column, diagonal, own, top)
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

            fn thin_dots(
                offsets: &[usize],
                columns: &[i32],
                values: &[Self],
                table: &[Self],
                out: &mut [Self],
            ) {
                $thin(offsets, columns, values, table, out);
            }

            fn thin_panel(
                offsets: &[usize],
                columns: &[i32],
                values: &[Self],
                panel: &[Self],
                places: Range<usize>,
                out: &mut [Self],
            ) {
                $panel(offsets, columns, values, panel, places, out);
            }
        }
    };
}

float!(
    f32,
    "f32",
    block_single,
    exp_each_single,
    waves_single,
    turn_single,
    gaussians_single,
    powers_single,
    tanhs_single,
    absolute_single,
    chi_single,
    step_single,
    partner_single,
    add_columns_single,
    dot_single,
    thin_dots_single,
    thin_panel_single
);
float!(
    f64,
    "f64",
    block,
    exp_each_double,
    waves_double,
    turn_double,
    gaussians_double,
    powers_double,
    tanhs_double,
    absolute_double,
    chi_double,
    step_double,
    partner_double,
    add_columns_double,
    dot_double,
    thin_dots_double,
    thin_panel_double
);
