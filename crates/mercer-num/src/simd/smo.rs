//! Loops over the variables of a quadratic problem: step and scan, pick a partner, add columns.
//!
//! A variable may rise where `up` is finite and fall where `down` is; its value for rising is
//! `up − f`, for falling `down − f`. Scans keep eight lanes and take the first of equals, so every
//! instruction set finds the same places. Columns are single or double precision, sums are double.

use multiversion::multiversion;

/// What a scan found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scan {
    /// The largest `up − f`.
    pub top: f64,
    /// Where it is; meaningless if `top` is `-inf`.
    pub at: usize,
    /// The smallest `down − f`.
    pub bottom: f64,
}

impl Scan {
    /// What was found in nothing.
    pub fn nothing() -> Scan {
        Scan { top: f64::NEG_INFINITY, at: 0, bottom: f64::INFINITY }
    }

    #[inline(always)]
    fn see(&mut self, place: usize, up: f64, down: f64) {
        if up > self.top || (up == self.top && place < self.at) {
            (self.top, self.at) = (up, place);
        }
        self.bottom = if down < self.bottom { down } else { self.bottom };
    }
}

/// Curvatures below this are taken for it: a step along a flat direction ends at a bound.
pub const FLAT: f64 = 1e-12;

macro_rules! sweeps {
    ($T:ty, $step:ident, $partner:ident, $add:ident, $dot:ident, $thin:ident) => {
        /// `f += t · (rising − falling)`, and what a scan finds then.
        #[multiversion(targets(
            "x86_64+avx512f+avx512vl+avx512dq",
            "x86_64+avx+avx2",
            "aarch64+neon"
        ))]
        pub fn $step(
            f: &mut [f64],
            rising: &[$T],
            falling: &[$T],
            t: f64,
            up: &[f64],
            down: &[f64],
        ) -> Scan {
            let n = f.len();
            let (rising, falling) = (&rising[..n], &falling[..n]);
            let (up, down) = (&up[..n], &down[..n]);
            let (mut top, mut bottom) = ([f64::NEG_INFINITY; 8], [f64::INFINITY; 8]);
            let mut place = [0i64; 8];
            let whole = n / 8;
            let (f, f_tail) = f.as_chunks_mut::<8>();
            let (rising, rising_tail) = rising.as_chunks::<8>();
            let (falling, falling_tail) = falling.as_chunks::<8>();
            let (up, up_tail) = up.as_chunks::<8>();
            let (down, down_tail) = down.as_chunks::<8>();
            for k in 0..whole {
                let (f, r, s, u, d) = (&mut f[k], &rising[k], &falling[k], &up[k], &down[k]);
                for l in 0..8 {
                    f[l] += t * (f64::from(r[l]) - f64::from(s[l]));
                    let (u, d) = (u[l] - f[l], d[l] - f[l]);
                    let higher = u > top[l];
                    top[l] = if higher { u } else { top[l] };
                    place[l] = if higher { k as i64 } else { place[l] };
                    bottom[l] = if d < bottom[l] { d } else { bottom[l] };
                }
            }
            let mut found = Scan::nothing();
            for l in 0..8 {
                found.see(place[l] as usize * 8 + l, top[l], bottom[l]);
            }
            for l in 0..f_tail.len() {
                f_tail[l] += t * (f64::from(rising_tail[l]) - f64::from(falling_tail[l]));
                let (u, d) = (up_tail[l] - f_tail[l], down_tail[l] - f_tail[l]);
                found.see(whole * 8 + l, u, d);
            }
            found
        }

        /// The variable that gains most by falling while another rises: the largest `b² / η` with
        /// `b = top − (down − f) > 0` and `η = own + diagonal − 2 · column`; `None` if there is none.
        #[multiversion(targets(
            "x86_64+avx512f+avx512vl+avx512dq",
            "x86_64+avx+avx2",
            "aarch64+neon"
        ))]
        pub fn $partner(
            f: &[f64],
            down: &[f64],
            column: &[$T],
            diagonal: &[$T],
            own: $T,
            top: f64,
        ) -> Option<usize> {
            let n = f.len();
            let (down, column, diagonal) = (&down[..n], &column[..n], &diagonal[..n]);
            let gain = |f: f64, down: f64, k: $T, other: $T| -> $T {
                let b = ((top - down) + f) as $T;
                let eta = (own + other) - (k + k);
                let eta = if eta > FLAT as $T { eta } else { FLAT as $T };
                let gain = b * b / eta;
                if b > 0.0 { gain } else { -1.0 }
            };
            let mut best: [$T; 8] = [-1.0; 8];
            let mut place = [0i32; 8];
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
                    place[l] = if higher { k as i32 } else { place[l] };
                }
            }
            let (mut most, mut at): ($T, usize) = (-1.0, 0);
            for l in 0..8 {
                let here = place[l] as usize * 8 + l;
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

        /// Inner products of sparse rows with [`LANES`] others, which stand side by side in a table with one
        /// line a column: `out[k · n + i]` is that of row `i` with the `k`th of the others. `offsets` says
        /// where the cells of the `n` rows begin and end.
        ///
        /// # Panics
        /// If a column is outside of the table, or `out` has another length.
        #[multiversion(targets(
            "x86_64+avx512f+avx512vl+avx512dq",
            "x86_64+avx+avx2",
            "aarch64+neon"
        ))]
        pub fn $thin(
            offsets: &[usize],
            columns: &[i32],
            values: &[$T],
            table: &[$T],
            out: &mut [$T],
        ) {
            let n = offsets.len().saturating_sub(1);
            assert_eq!(out.len(), LANES * n, "one product a pair");
            let (table, _) = table.as_chunks::<LANES>();
            // Products of a few rows before they are turned: single ones, far apart, would push each other
            // out of the cache.
            let mut turned = [[0.0; LANES]; 16];
            for first in (0..n).step_by(16) {
                let few = (n - first).min(16);
                for (i, sums) in turned[..few].iter_mut().enumerate() {
                    let cells = offsets[first + i]..offsets[first + i + 1];
                    let mut lanes = [0.0; LANES];
                    for (j, v) in columns[cells.clone()].iter().zip(&values[cells]) {
                        let line = &table[*j as usize];
                        for k in 0..LANES {
                            lanes[k] += v * line[k];
                        }
                    }
                    *sums = lanes;
                }
                for k in 0..LANES {
                    let out = &mut out[k * n + first..k * n + first + few];
                    for (out, sums) in out.iter_mut().zip(&turned) {
                        *out = sums[k];
                    }
                }
            }
        }
    };
}

/// Rows that [`thin_dots_single`] and [`thin_dots_double`] take at a time.
pub const LANES: usize = 32;

sweeps!(f32, step_single, partner_single, add_columns_single, dot_single, thin_dots_single);
sweeps!(f64, step_double, partner_double, add_columns_double, dot_double, thin_dots_double);

/// Looks at all variables.
pub fn scan(f: &[f64], up: &[f64], down: &[f64]) -> Scan {
    let mut found = Scan::nothing();
    for (place, ((f, up), down)) in f.iter().zip(up).zip(down).enumerate() {
        found.see(place, up - f, down - f);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn numbers(n: usize, seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed);
        (0..n).map(|_| random.normal()).collect()
    }

    #[test]
    fn a_step_and_its_scan_equal_the_plain_loop_to_the_bit() {
        for n in [1, 7, 8, 9, 64, 131] {
            let (f, up, down) = (numbers(n, 1), numbers(n, 2), numbers(n, 3));
            let mut up = up;
            up[n / 2] = f64::NEG_INFINITY;
            let a: Vec<f32> = numbers(n, 4).iter().map(|v| *v as f32).collect();
            let b: Vec<f32> = numbers(n, 5).iter().map(|v| *v as f32).collect();
            let mut stepped = f.clone();

            let found = step_single(&mut stepped, &a, &b, 0.3, &up, &down);

            let mut plain = f.clone();
            for i in 0..n {
                plain[i] += 0.3 * (f64::from(a[i]) - f64::from(b[i]));
            }
            assert_eq!(stepped, plain);
            assert_eq!(found, scan(&plain, &up, &down));
        }
    }

    #[test]
    fn products_of_sparse_rows_equal_the_plain_sum_to_the_bit() {
        let (n, width) = (5, 40);
        let others = numbers(width * LANES, 1);
        let (mut offsets, mut columns, mut values) = (vec![2], vec![0, 1], vec![9.0, 9.0]);
        for i in 0..n {
            for (j, v) in numbers(width, 10 + i as u64).into_iter().enumerate().step_by(i + 1) {
                columns.push(j as i32);
                values.push(v);
            }
            offsets.push(columns.len());
        }
        let mut found = vec![0.0; n * LANES];

        thin_dots_double(&offsets, &columns, &values, &others, &mut found);

        for i in 0..n {
            for k in 0..LANES {
                let mut sum = 0.0;
                for at in offsets[i]..offsets[i + 1] {
                    sum += values[at] * others[columns[at] as usize * LANES + k];
                }
                assert_eq!(found[k * n + i], sum);
            }
        }
    }

    #[test]
    fn the_partner_is_the_first_of_the_best() {
        for n in [3, 8, 40, 77] {
            let (f, mut down) = (numbers(n, 1), numbers(n, 2));
            down[1] = f64::INFINITY;
            let column: Vec<f64> = numbers(n, 3).iter().map(|v| (0.3 * v).tanh()).collect();
            let diagonal = vec![1.0; n];
            let plain = |top: f64| {
                let mut best = None;
                for i in 0..n {
                    let b = (top - down[i]) + f[i];
                    let gain = b * b / (2.0 - (column[i] + column[i])).max(FLAT);
                    if b > 0.0 && best.is_none_or(|(most, _)| gain > most) {
                        best = Some((gain, i));
                    }
                }
                best.map(|(_, at)| at)
            };
            for top in [-20.0, -1.0, 0.0, 2.0, 20.0] {
                assert_eq!(partner_double(&f, &down, &column, &diagonal, 1.0, top), plain(top));
            }
        }
    }

    #[test]
    fn columns_are_added_from_any_place() {
        let columns: Vec<Vec<f64>> = (0..6).map(|k| numbers(50, k)).collect();
        let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        let coefficients = numbers(6, 9);
        let mut sum = vec![1.0; 20];

        add_columns_double(&columns, &coefficients, 30, &mut sum);

        for i in 0..20 {
            let plain: f64 = (0..6).map(|k| coefficients[k] * columns[k][30 + i]).sum();
            assert!((sum[i] - 1.0 - plain).abs() < 1e-13);
        }
    }
}
