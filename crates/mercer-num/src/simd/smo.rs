//! Inner loops of sequential minimal optimization (SMO): working set selection and gradient updates.
//!
//! The problem is `min ½ βᵀKβ − zᵀβ + r(β)` over signed dual variables `β` in a box, with their sum fixed and `r`
//! separable. `f = Kβ − z` is the gradient of the smooth part. `up` is minus the right derivative of `r` where `βᵢ`
//! may increase (the set `I_up`) and `-inf` elsewhere; `down` is minus the left derivative where `βᵢ` may decrease
//! (`I_low`) and `inf` elsewhere. The largest `up − f` and the smallest `down − f` are `m` and `M` of Keerthi et al.
//! (2001); the KKT conditions hold to a tolerance once `m − M` is below it. The second variable of a pair maximizes
//! the second-order decrease of the objective (Fan, Chen & Lin 2005, WSS 2).
//!
//! Scans use eight SIMD lanes and return the first of equal values, so every instruction set selects the same
//! variables. Kernel columns are single or double precision; sums are double.

use multiversion::multiversion;

/// The extreme values of one scan over the variables, for working set selection and the stopping test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorkingSetScan {
    /// `m`: the largest `up − f` over `I_up`.
    pub max_up: f64,
    /// The index of the maximum; meaningless if `max_up` is `-inf`.
    pub argmax_up: usize,
    /// `M`: the smallest `down − f` over `I_low`.
    pub min_low: f64,
}

impl WorkingSetScan {
    /// The scan over no variables.
    pub fn empty() -> WorkingSetScan {
        WorkingSetScan { max_up: f64::NEG_INFINITY, argmax_up: 0, min_low: f64::INFINITY }
    }

    #[inline(always)]
    fn include(&mut self, index: usize, up: f64, low: f64) {
        if up > self.max_up || (up == self.max_up && index < self.argmax_up) {
            (self.max_up, self.argmax_up) = (up, index);
        }
        self.min_low = if low < self.min_low { low } else { self.min_low };
    }
}

/// Smaller curvatures are replaced by this value (`τ` in LIBSVM), so that a step along a flat direction is finite
/// and ends at a bound.
pub const MIN_CURVATURE: f64 = 1e-12;

macro_rules! smo_loops {
    ($T:ty, $update:ident, $second:ident, $add:ident, $dot:ident, $sparse:ident) => {
        /// Updates the gradient after a step of size `t` that increases variable `i` and decreases variable `j`,
        /// `f += t · (column_i − column_j)`, and scans the result.
        #[multiversion(targets(
            "x86_64+avx512f+avx512vl+avx512dq",
            "x86_64+avx+avx2",
            "aarch64+neon"
        ))]
        pub fn $update(
            f: &mut [f64],
            column_i: &[$T],
            column_j: &[$T],
            t: f64,
            up: &[f64],
            down: &[f64],
        ) -> WorkingSetScan {
            let n = f.len();
            let (column_i, column_j) = (&column_i[..n], &column_j[..n]);
            let (up, down) = (&up[..n], &down[..n]);
            let (mut max_up, mut min_low) = ([f64::NEG_INFINITY; 8], [f64::INFINITY; 8]);
            let mut argmax = [0i64; 8];
            let whole = n / 8;
            let (f, f_tail) = f.as_chunks_mut::<8>();
            let (column_i, column_i_tail) = column_i.as_chunks::<8>();
            let (column_j, column_j_tail) = column_j.as_chunks::<8>();
            let (up, up_tail) = up.as_chunks::<8>();
            let (down, down_tail) = down.as_chunks::<8>();
            for k in 0..whole {
                let (f, r, s, u, d) = (&mut f[k], &column_i[k], &column_j[k], &up[k], &down[k]);
                for l in 0..8 {
                    f[l] += t * (f64::from(r[l]) - f64::from(s[l]));
                    let (u, d) = (u[l] - f[l], d[l] - f[l]);
                    let higher = u > max_up[l];
                    max_up[l] = if higher { u } else { max_up[l] };
                    argmax[l] = if higher { k as i64 } else { argmax[l] };
                    min_low[l] = if d < min_low[l] { d } else { min_low[l] };
                }
            }
            let mut found = WorkingSetScan::empty();
            for l in 0..8 {
                found.include(argmax[l] as usize * 8 + l, max_up[l], min_low[l]);
            }
            for l in 0..f_tail.len() {
                f_tail[l] += t * (f64::from(column_i_tail[l]) - f64::from(column_j_tail[l]));
                let (u, d) = (up_tail[l] - f_tail[l], down_tail[l] - f_tail[l]);
                found.include(whole * 8 + l, u, d);
            }
            found
        }

        /// The second variable of a pair: the largest `b² / η` with `b = top − (down − f) > 0` and `η = own + diagonal
        /// − 2 · column`; `None` if there is none.
        #[multiversion(targets(
            "x86_64+avx512f+avx512vl+avx512dq",
            "x86_64+avx+avx2",
            "aarch64+neon"
        ))]
        pub fn $second(
            f: &[f64],
            down: &[f64],
            column: &[$T],
            diagonal: &[$T],
            own: $T,
            max_up: f64,
        ) -> Option<usize> {
            let n = f.len();
            let (down, column, diagonal) = (&down[..n], &column[..n], &diagonal[..n]);
            let gain = |f: f64, down: f64, k: $T, other: $T| -> $T {
                let b = ((max_up - down) + f) as $T;
                let eta = (own + other) - (k + k);
                let eta = if eta > MIN_CURVATURE as $T { eta } else { MIN_CURVATURE as $T };
                let gain = b * b / eta;
                if b > 0.0 { gain } else { -1.0 }
            };
            let mut best: [$T; 8] = [-1.0; 8];
            let mut argmax = [0i32; 8];
            let whole = n / 8;
            let (f, f_tail) = f.as_chunks::<8>();
            let (down, down_tail) = down.as_chunks::<8>();
            let (column, column_tail) = column.as_chunks::<8>();
            let (diagonal, diagonal_tail) = diagonal.as_chunks::<8>();
            for k in 0..whole {
                let (f, d, c, o) = (&f[k], &down[k], &column[k], &diagonal[k]);
                for l in 0..8 {
                    let gain = gain(f[l], d[l], c[l], o[l]);
                    let higher = gain > best[l];
                    best[l] = if higher { gain } else { best[l] };
                    argmax[l] = if higher { k as i32 } else { argmax[l] };
                }
            }
            let (mut most, mut at): ($T, usize) = (-1.0, 0);
            for l in 0..8 {
                let here = argmax[l] as usize * 8 + l;
                if best[l] > most || (best[l] == most && here < at) {
                    (most, at) = (best[l], here);
                }
            }
            for l in 0..f_tail.len() {
                let gain = gain(f_tail[l], down_tail[l], column_tail[l], diagonal_tail[l]);
                if gain > most {
                    (most, at) = (gain, whole * 8 + l);
                }
            }
            (most >= 0.0).then_some(at)
        }

        /// `into += Σₖ coefficients[k] · columns[k][from..]`, column after column.
        #[multiversion(targets(
            "x86_64+avx512f+avx512vl+avx512dq",
            "x86_64+avx+avx2",
            "aarch64+neon"
        ))]
        pub fn $add(columns: &[&[$T]], coefficients: &[f64], from: usize, into: &mut [f64]) {
            let n = into.len();
            let mut k = 0;
            while k + 4 <= columns.len() {
                let c = [0, 1, 2, 3].map(|m| coefficients[k + m]);
                let cells = [0, 1, 2, 3].map(|m| &columns[k + m][from..from + n]);
                for i in 0..n {
                    into[i] += (c[0] * f64::from(cells[0][i]) + c[1] * f64::from(cells[1][i]))
                        + (c[2] * f64::from(cells[2][i]) + c[3] * f64::from(cells[3][i]));
                }
                k += 4;
            }
            while k < columns.len() {
                let (c, cells) = (coefficients[k], &columns[k][from..from + n]);
                for i in 0..n {
                    into[i] += c * f64::from(cells[i]);
                }
                k += 1;
            }
        }

        /// `Σ x · weights`, in eight lanes.
        #[multiversion(targets(
            "x86_64+avx512f+avx512vl+avx512dq",
            "x86_64+avx+avx2",
            "aarch64+neon"
        ))]
        pub fn $dot(x: &[$T], weights: &[f64]) -> f64 {
            let mut lanes = [0.0; 8];
            let ((x, x_tail), (w, w_tail)) = (x.as_chunks::<8>(), weights.as_chunks::<8>());
            for (x, w) in x.iter().zip(w) {
                for l in 0..8 {
                    lanes[l] += f64::from(x[l]) * w[l];
                }
            }
            for (lane, (x, w)) in lanes.iter_mut().zip(x_tail.iter().zip(w_tail)) {
                *lane += f64::from(*x) * w;
            }
            lanes.iter().sum()
        }

        /// Inner products of `n` sparse rows with [`SPARSE_DOT_ROWS`] others, interleaved in a table that has one
        /// line per column: `out[k · n + i]` is the product of row `i` with other row `k`. The stored cells of
        /// row `i` are `offsets[i]..offsets[i + 1]`.
        ///
        /// # Panics
        /// If a column is outside of the table, or `out` has another length.
        #[multiversion(targets(
            "x86_64+avx512f+avx512vl+avx512dq",
            "x86_64+avx+avx2",
            "aarch64+neon"
        ))]
        pub fn $sparse(
            offsets: &[usize],
            columns: &[i32],
            values: &[$T],
            table: &[$T],
            out: &mut [$T],
        ) {
            let n = offsets.len().saturating_sub(1);
            assert_eq!(out.len(), SPARSE_DOT_ROWS * n, "one product per pair of rows");
            let (table, _) = table.as_chunks::<SPARSE_DOT_ROWS>();
            // Sixteen rows are transposed at a time: writing single products to distant addresses would evict
            // each other's cache lines.
            let mut products = [[0.0; SPARSE_DOT_ROWS]; 16];
            for first in (0..n).step_by(16) {
                let few = (n - first).min(16);
                for (i, sums) in products[..few].iter_mut().enumerate() {
                    let cells = offsets[first + i]..offsets[first + i + 1];
                    let mut lanes = [0.0; SPARSE_DOT_ROWS];
                    for (j, v) in columns[cells.clone()].iter().zip(&values[cells]) {
                        let line = &table[*j as usize];
                        for k in 0..SPARSE_DOT_ROWS {
                            lanes[k] += v * line[k];
                        }
                    }
                    *sums = lanes;
                }
                for k in 0..SPARSE_DOT_ROWS {
                    let out = &mut out[k * n + first..k * n + first + few];
                    for (out, sums) in out.iter_mut().zip(&products) {
                        *out = sums[k];
                    }
                }
            }
        }
    };
}

/// Rows that are interleaved in the table of [`sparse_dots_single`] and [`sparse_dots_double`].
pub const SPARSE_DOT_ROWS: usize = 32;

smo_loops!(
    f32,
    update_and_scan_single,
    select_second_single,
    add_columns_single,
    dot_single,
    sparse_dots_single
);
smo_loops!(
    f64,
    update_and_scan_double,
    select_second_double,
    add_columns_double,
    dot_double,
    sparse_dots_double
);

/// Scans all variables without a gradient update.
pub fn scan_working_set(f: &[f64], up: &[f64], down: &[f64]) -> WorkingSetScan {
    let mut found = WorkingSetScan::empty();
    for (index, ((f, up), down)) in f.iter().zip(up).zip(down).enumerate() {
        found.include(index, up - f, down - f);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn normal_values(n: usize, seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed);
        (0..n).map(|_| random.normal()).collect()
    }

    #[test]
    fn gradient_update_and_scan_equal_the_scalar_loop_to_the_bit() {
        for n in [1, 7, 8, 9, 64, 131] {
            let (f, up, down) = (normal_values(n, 1), normal_values(n, 2), normal_values(n, 3));
            let mut up = up;
            up[n / 2] = f64::NEG_INFINITY;
            let a: Vec<f32> = normal_values(n, 4).iter().map(|v| *v as f32).collect();
            let b: Vec<f32> = normal_values(n, 5).iter().map(|v| *v as f32).collect();
            let mut stepped = f.clone();

            let found = update_and_scan_single(&mut stepped, &a, &b, 0.3, &up, &down);

            let mut plain = f.clone();
            for i in 0..n {
                plain[i] += 0.3 * (f64::from(a[i]) - f64::from(b[i]));
            }
            assert_eq!(stepped, plain);
            assert_eq!(found, scan_working_set(&plain, &up, &down));
        }
    }

    #[test]
    fn sparse_dot_products_equal_the_scalar_sum_to_the_bit() {
        let (n, width) = (5, 40);
        let others = normal_values(width * SPARSE_DOT_ROWS, 1);
        let (mut offsets, mut columns, mut values) = (vec![2], vec![0, 1], vec![9.0, 9.0]);
        for i in 0..n {
            for (j, v) in normal_values(width, 10 + i as u64).into_iter().enumerate().step_by(i + 1)
            {
                columns.push(j as i32);
                values.push(v);
            }
            offsets.push(columns.len());
        }
        let mut found = vec![0.0; n * SPARSE_DOT_ROWS];

        sparse_dots_double(&offsets, &columns, &values, &others, &mut found);

        for i in 0..n {
            for k in 0..SPARSE_DOT_ROWS {
                let mut sum = 0.0;
                for at in offsets[i]..offsets[i + 1] {
                    sum += values[at] * others[columns[at] as usize * SPARSE_DOT_ROWS + k];
                }
                assert_eq!(found[k * n + i], sum);
            }
        }
    }

    #[test]
    fn second_order_selection_returns_the_first_maximum() {
        for n in [3, 8, 40, 77] {
            let (f, mut down) = (normal_values(n, 1), normal_values(n, 2));
            down[1] = f64::INFINITY;
            let column: Vec<f64> = normal_values(n, 3).iter().map(|v| (0.3 * v).tanh()).collect();
            let diagonal = vec![1.0; n];
            let plain = |max_up: f64| {
                let mut best = None;
                for i in 0..n {
                    let b = (max_up - down[i]) + f[i];
                    let gain = b * b / (2.0 - (column[i] + column[i])).max(MIN_CURVATURE);
                    if b > 0.0 && best.is_none_or(|(most, _)| gain > most) {
                        best = Some((gain, i));
                    }
                }
                best.map(|(_, at)| at)
            };
            for max_up in [-20.0, -1.0, 0.0, 2.0, 20.0] {
                assert_eq!(
                    select_second_double(&f, &down, &column, &diagonal, 1.0, max_up),
                    plain(max_up)
                );
            }
        }
    }

    #[test]
    fn columns_are_added_from_any_offset() {
        let columns: Vec<Vec<f64>> = (0..6).map(|k| normal_values(50, k)).collect();
        let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        let coefficients = normal_values(6, 9);
        let mut sum = vec![1.0; 20];

        add_columns_double(&columns, &coefficients, 30, &mut sum);

        for i in 0..20 {
            let plain: f64 = (0..6).map(|k| coefficients[k] * columns[k][30 + i]).sum();
            assert!((sum[i] - 1.0 - plain).abs() < 1e-13);
        }
    }
}
