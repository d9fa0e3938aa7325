//! Parallel reductions over rows whose result is bit-identical for any number of threads.
//!
//! Rows are divided into chunks whose size depends on the shape of the data only. The summaries of the chunks, the
//! leaves, are merged in a binary tree that is determined by their number: a tree over `n` leaves joins the first `2^k
//! < n` with the rest. Threads affect only *when* a node is computed. A stream whose number of leaves is known only at
//! its end builds the same tree with [`Tree`], a binary counter of finished subtrees.

pub mod iter;

pub use iter::prelude;

use prelude::*;
use std::ops::Range;

/// Leaves between two checks for a stop; a power of two, so that they form complete subtrees.
const LEAVES_PER_WAVE: usize = 32;

/// The number of rows per chunk.
///
/// Dense: half a megabyte of values, so that a second pass over a chunk finds it in cache. Sparse: enough rows to
/// outweigh a summary that is as wide as the data.
pub fn chunk_rows(n_columns: usize, layout: Layout) -> usize {
    let width = n_columns.max(1);
    match layout {
        Layout::Dense => prev_power_of_two(65_536 / width).clamp(64, 8_192),
        Layout::Sparse => (width / 4).next_power_of_two().clamp(1_024, 65_536),
    }
}

/// The memory layout of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Every cell is stored.
    Dense,
    /// Zeros are not stored.
    Sparse,
}

/// The row range of every chunk of `n_rows` rows.
pub fn chunks(n_rows: usize, chunk: usize) -> impl ExactSizeIterator<Item = Range<usize>> + Clone {
    (0..n_rows.div_ceil(chunk)).map(move |k| k * chunk..((k + 1) * chunk).min(n_rows))
}

/// Copies a slice on all threads.
///
/// # Panics
/// If the lengths differ.
pub fn copy<T: Copy + Send + Sync>(from: &[T], to: &mut [T]) {
    /// Elements that one thread copies at a time.
    const ELEMENTS_PER_TASK: usize = 1 << 16;
    assert_eq!(from.len(), to.len(), "slices of equal length");
    let parts = to.par_chunks_mut(ELEMENTS_PER_TASK).zip(from.par_chunks(ELEMENTS_PER_TASK));
    parts.for_each(|(to, from)| to.copy_from_slice(from));
}

/// Sorts a slice on all threads; equal elements may change places.
pub fn sort_unstable_by<T: Send>(
    values: &mut [T],
    compare: impl Fn(&T, &T) -> std::cmp::Ordering + Sync,
) {
    rayon::slice::ParallelSliceMut::par_sort_unstable_by(values, compare);
}

/// Runs work on a pool of `n` threads; `0` uses every core.
pub fn with_threads<T: Send>(n: usize, work: impl FnOnce() -> T + Send) -> T {
    match rayon::ThreadPoolBuilder::new().num_threads(n).build() {
        Ok(pool) => pool.install(work),
        // If the system refuses new threads, the current ones give the same result.
        Err(_) => work(),
    }
}

/// Merges the leaves `0..n` over the fixed tree, on all threads of the current pool.
///
/// `go_on` is called between waves with the number of finished leaves; if it returns false, the leaves so far are the
/// result. Returns the merged leaves and their number.
pub fn reduce<S: Send, E: Send>(
    n: usize,
    leaf: impl Fn(usize) -> Result<S, E> + Sync,
    merge: impl Fn(&mut S, &S) -> Result<(), E> + Sync,
    mut go_on: impl FnMut(usize) -> bool,
) -> Result<(Option<S>, usize), E> {
    let mut tree = Tree::new();
    let mut done = 0;
    while done < n && go_on(done) {
        let size = prev_power_of_two(n - done).min(LEAVES_PER_WAVE);
        tree.push(subtree(done..done + size, &leaf, &merge)?, size, &merge)?;
        done += size;
    }
    Ok((tree.finish(&merge)?, done))
}

/// Maps `0..n` in parallel and preserves the order; of several errors, the first in that order is returned.
pub fn map<T: Send, E: Send>(
    n: usize,
    f: impl Fn(usize) -> Result<T, E> + Sync + Send,
) -> Result<Vec<T>, E> {
    // Collecting into a `Result` directly would return the error that occurred first in time.
    (0..n).into_par_iter().map(f).collect::<Vec<_>>().into_iter().collect()
}

fn subtree<S: Send, E: Send>(
    leaves: Range<usize>,
    leaf: &(impl Fn(usize) -> Result<S, E> + Sync),
    merge: &(impl Fn(&mut S, &S) -> Result<(), E> + Sync),
) -> Result<S, E> {
    if leaves.len() == 1 {
        return leaf(leaves.start);
    }
    let middle = leaves.start + leaves.len() / 2;
    let (left, right) = rayon::join(
        || subtree(leaves.start..middle, leaf, merge),
        || subtree(middle..leaves.end, leaf, merge),
    );
    let mut left = left?;
    merge(&mut left, &right?)?;
    Ok(left)
}

/// A binary counter of finished subtrees, which builds the fixed tree from a stream.
#[derive(Clone, Debug)]
pub struct Tree<S> {
    /// Subtrees from left to right with their numbers of leaves, strictly decreasing powers of two.
    parts: Vec<(usize, S)>,
}

impl<S> Tree<S> {
    /// A tree without leaves.
    pub fn new() -> Self {
        Tree { parts: Vec::new() }
    }

    /// Adds the next `size` leaves, already merged; `size` is a power of two that divides the number of leaves before.
    pub fn push<E>(
        &mut self,
        mut part: S,
        mut size: usize,
        merge: impl Fn(&mut S, &S) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some((_, mut left)) = self.parts.pop_if(|(last, _)| *last == size) {
            merge(&mut left, &part)?;
            (part, size) = (left, 2 * size);
        }
        self.parts.push((size, part));
        Ok(())
    }

    /// Merges the remaining subtrees from the right.
    pub fn finish<E>(
        mut self,
        merge: impl Fn(&mut S, &S) -> Result<(), E>,
    ) -> Result<Option<S>, E> {
        let Some((_, mut total)) = self.parts.pop() else { return Ok(None) };
        while let Some((_, mut left)) = self.parts.pop() {
            merge(&mut left, &total)?;
            total = left;
        }
        Ok(Some(total))
    }
}

impl<S> Default for Tree<S> {
    fn default() -> Self {
        Tree::new()
    }
}

fn prev_power_of_two(n: usize) -> usize {
    1 << n.max(1).ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    type Done<T> = Result<T, Infallible>;

    /// The merge records the shape of the tree.
    fn bracket(a: &mut String, b: &String) -> Done<()> {
        *a = format!("({a} {b})");
        Ok(())
    }

    #[test]
    fn the_tree_is_fixed_by_the_number_of_leaves() {
        let Ok((five, _)) = reduce(5, |i| Done::Ok(i.to_string()), bracket, |_| true);

        assert_eq!(five.as_deref(), Some("(((0 1) (2 3)) 4)"));
    }

    #[test]
    fn threads_and_streams_build_the_same_tree() {
        for n in [1, 2, 3, 31, 32, 33, 63, 64, 65, 100, 257] {
            let mut stream = Tree::new();
            for i in 0..n {
                let Ok(()) = stream.push(i.to_string(), 1, bracket);
            }
            let Ok(streamed) = stream.finish(bracket);
            for threads in [1, 2, 3, 8] {
                let Ok((reduced, done)) = with_threads(threads, || {
                    reduce(n, |i| Done::Ok(i.to_string()), bracket, |_| true)
                });
                assert_eq!(reduced, streamed);
                assert_eq!(done, n);
            }
        }
    }

    #[test]
    fn a_stopped_reduction_returns_the_finished_leaves() {
        let add = |a: &mut usize, b: &usize| {
            *a += b;
            Done::Ok(())
        };

        let Ok((sum, done)) = reduce(1000, Done::Ok, add, |done| done < 2 * LEAVES_PER_WAVE);

        assert_eq!(done, 2 * LEAVES_PER_WAVE);
        assert_eq!(sum, Some((0..2 * LEAVES_PER_WAVE).sum()));
    }

    #[test]
    fn chunks_cover_every_row_once() {
        let cut: Vec<_> = chunks(10, 4).collect();

        assert_eq!(cut, [0..4, 4..8, 8..10]);
        assert_eq!(chunks(0, 4).len(), 0);
    }
}
