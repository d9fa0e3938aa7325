//! Parallel loops over slices, ranges and vectors, with one scheduler for all of them.
//!
//! The methods are those of rayon's prelude. Rayon compiles its scheduler anew for every closure, which was a fifth of
//! the code of the core crate; here every loop hands `&dyn Fn(Range<usize>)` to one compiled scheduler (`run`), and
//! only the loop over a range of indices depends on the closure. Collected values are in the order of their indices and
//! sums are added in that order, so no result depends on the number of threads.

use std::cell::UnsafeCell;
use std::iter::Sum;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a module needs for parallel loops.
pub mod prelude {
    pub use super::{FromItems, IntoParallel, Parallel, ParallelSlice};
}

/// The smallest and largest number of items of one task.
#[derive(Clone, Copy, Debug)]
pub struct Grain {
    min: usize,
    max: usize,
}

impl Grain {
    const ANY: Grain = Grain { min: 1, max: usize::MAX };

    fn and(self, other: Grain) -> Grain {
        Grain { min: self.min.max(other.min), max: self.max.min(other.max) }
    }
}

/// Calls `work` with disjoint ranges that cover `0..n`, on the threads of the current pool.
///
/// A range is halved while threads may be waiting for work, as rayon does: once per thread, and again wherever a half
/// was taken over by another thread.
fn run(n: usize, grain: Grain, work: &(dyn Fn(Range<usize>) + Sync)) {
    if n <= 1 {
        return work(0..n);
    }
    let halvings = rayon::current_num_threads().max(n / grain.max.max(1));
    halve(0..n, halvings, grain.min.max(1), false, work);
}

fn halve(
    range: Range<usize>,
    halvings: usize,
    min: usize,
    migrated: bool,
    work: &(dyn Fn(Range<usize>) + Sync),
) {
    if range.len() / 2 < min || (halvings == 0 && !migrated) {
        return work(range);
    }
    let halvings = match migrated {
        true => rayon::current_num_threads().max(halvings / 2),
        false => halvings / 2,
    };
    let middle = range.start + range.len() / 2;
    rayon::join_context(
        |_| halve(range.start..middle, halvings, min, false, work),
        |context| halve(middle..range.end, halvings, min, context.migrated(), work),
    );
}

/// Items that can be made independently, each from its index.
pub trait Parallel: Sized + Sync {
    /// The type of an item.
    type Item;

    /// The number of items.
    fn n_items(&self) -> usize;

    /// Makes the item with index `i`.
    ///
    /// # Safety
    /// `i` is below [`n_items`](Self::n_items), and no index is asked for twice: an item may be a mutable reference.
    unsafe fn item(&self, i: usize) -> Self::Item;

    /// The number of items per task.
    fn grain(&self) -> Grain {
        Grain::ANY
    }

    /// Gives at least `min` items to a task.
    fn with_min_len(self, min: usize) -> WithGrain<Self> {
        WithGrain { items: self, grain: Grain { min, ..Grain::ANY } }
    }

    /// Gives at most `max` items to a task, as far as halving allows.
    fn with_max_len(self, max: usize) -> WithGrain<Self> {
        WithGrain { items: self, grain: Grain { max, ..Grain::ANY } }
    }

    /// Pairs of an index and its item.
    fn enumerate(self) -> Enumerate<Self> {
        Enumerate { items: self }
    }

    /// Pairs of items with the same index; the longer side is cut.
    fn zip<B: IntoParallel>(self, other: B) -> Zip<Self, B::Items> {
        Zip { a: self, b: other.into_par_iter() }
    }

    /// The values of `f`.
    fn map<R, F: Fn(Self::Item) -> R + Sync>(self, f: F) -> Map<Self, F> {
        Map { items: self, f }
    }

    /// Calls `f` with every item.
    fn for_each(self, f: impl Fn(Self::Item) + Sync) {
        run(self.n_items(), self.grain(), &|range| {
            // Safe: the ranges are disjoint and below the number of items.
            range.for_each(|i| f(unsafe { self.item(i) }));
        });
    }

    /// Calls `f` with every item; the result is the failure of the lowest index, if any.
    fn try_for_each<R: FromItems<R> + Send>(self, f: impl Fn(Self::Item) -> R + Sync) -> R {
        self.map(f).collect()
    }

    /// Collects the items in the order of their indices.
    fn collect<C: FromItems<Self::Item>>(self) -> C
    where
        Self::Item: Send,
    {
        C::from_items(match C::FAILS {
            Some(fails) => collect_until(&self, fails),
            None => collect_vec(&self),
        })
    }

    /// Adds the items in the order of their indices.
    fn sum<S: Sum<Self::Item>>(self) -> S
    where
        Self::Item: Send,
    {
        collect_vec(&self).into_iter().sum()
    }

    /// Collects the elements of the iterators that `f` returns, in the order of the items.
    fn flat_map_collect<U: Send, I: IntoIterator<Item = U>>(
        self,
        f: impl Fn(Self::Item) -> I + Sync,
    ) -> Vec<U> {
        let parts: Vec<Vec<U>> = self.map(|item| f(item).into_iter().collect()).collect();
        parts.into_iter().flatten().collect()
    }
}

/// A pointer into memory of which every thread uses other elements.
struct Shared<T>(*mut T);

// Safe: the elements go to other threads, which `T: Send` allows, and no element goes to two.
unsafe impl<T: Send> Sync for Shared<T> {}
unsafe impl<T: Send> Send for Shared<T> {}

impl<T> Shared<T> {
    /// The address of element `i`.
    ///
    /// # Safety
    /// `i` is within the allocation.
    unsafe fn at(&self, i: usize) -> *mut T {
        unsafe { self.0.add(i) }
    }
}

fn collect_vec<P: Parallel>(items: &P) -> Vec<P::Item>
where
    P::Item: Send,
{
    let n = items.n_items();
    let mut out: Vec<MaybeUninit<P::Item>> = Vec::with_capacity(n);
    let cells = Shared(out.as_mut_ptr());
    run(n, items.grain(), &|range| {
        for i in range {
            // Safe: `i` is below the capacity, and no other range contains it. A panic leaks what was written.
            unsafe { cells.at(i).write(MaybeUninit::new(items.item(i))) };
        }
    });
    let (pointer, capacity) = (out.as_mut_ptr(), out.capacity());
    std::mem::forget(out);
    // Safe: every element below `n` is written, and `MaybeUninit<T>` has the layout of `T`.
    unsafe { Vec::from_raw_parts(pointer.cast(), n, capacity) }
}

/// The items up to the first that fails. Items after a failure that is known already are not made; those before it are,
/// so that it does not depend on the threads which failure is the first.
fn collect_until<P: Parallel>(items: &P, fails: fn(&P::Item) -> bool) -> Vec<P::Item>
where
    P::Item: Send,
{
    let n = items.n_items();
    let mut out: Vec<Option<P::Item>> = (0..n).map(|_| None).collect();
    let cells = Shared(out.as_mut_ptr());
    let first = AtomicUsize::new(usize::MAX);
    run(n, items.grain(), &|range| {
        for i in range {
            if i > first.load(Ordering::Relaxed) {
                return;
            }
            // Safe: `i` is below the length, and no other range contains it.
            let item = unsafe { items.item(i) };
            if fails(&item) {
                first.fetch_min(i, Ordering::Relaxed);
            }
            unsafe { *cells.at(i) = Some(item) };
        }
    });
    out.into_iter().take(first.into_inner().saturating_add(1)).flatten().collect()
}

/// What the items of a parallel loop are collected into.
pub trait FromItems<T> {
    /// Whether an item is a failure that ends the loop; `None` if there are no failures.
    const FAILS: Option<fn(&T) -> bool> = None;

    /// Makes the collection of the items in their order.
    fn from_items(items: Vec<T>) -> Self;
}

impl<T> FromItems<T> for Vec<T> {
    fn from_items(items: Vec<T>) -> Self {
        items
    }
}

/// Of several errors, the one with the lowest index is returned.
impl<T, E> FromItems<Result<T, E>> for Result<Vec<T>, E> {
    const FAILS: Option<fn(&Result<T, E>) -> bool> = Some(Result::is_err);

    fn from_items(items: Vec<Result<T, E>>) -> Self {
        items.into_iter().collect()
    }
}

impl<E> FromItems<Result<(), E>> for Result<(), E> {
    const FAILS: Option<fn(&Result<(), E>) -> bool> = Some(Result::is_err);

    fn from_items(items: Vec<Result<(), E>>) -> Self {
        items.into_iter().collect()
    }
}

impl FromItems<Option<()>> for Option<()> {
    const FAILS: Option<fn(&Option<()>) -> bool> = Some(Option::is_none);

    fn from_items(items: Vec<Option<()>>) -> Self {
        items.into_iter().collect()
    }
}

impl<T> FromItems<Option<T>> for Option<Vec<T>> {
    const FAILS: Option<fn(&Option<T>) -> bool> = Some(Option::is_none);

    fn from_items(items: Vec<Option<T>>) -> Self {
        items.into_iter().collect()
    }
}

/// What can be looped over in parallel.
pub trait IntoParallel {
    /// The items.
    type Items: Parallel;

    /// Starts a parallel loop.
    fn into_par_iter(self) -> Self::Items;
}

impl<P: Parallel> IntoParallel for P {
    type Items = P;

    fn into_par_iter(self) -> P {
        self
    }
}

impl IntoParallel for Range<usize> {
    type Items = Indices;

    fn into_par_iter(self) -> Indices {
        Indices { range: self }
    }
}

impl<'a, T: Sync> IntoParallel for &'a [T] {
    type Items = Iter<'a, T>;

    fn into_par_iter(self) -> Iter<'a, T> {
        self.par_iter()
    }
}

impl<'a, T: Sync> IntoParallel for &'a Vec<T> {
    type Items = Iter<'a, T>;

    fn into_par_iter(self) -> Iter<'a, T> {
        self.par_iter()
    }
}

impl<'a, T: Send> IntoParallel for &'a mut [T] {
    type Items = IterMut<'a, T>;

    fn into_par_iter(self) -> IterMut<'a, T> {
        self.par_iter_mut()
    }
}

impl<'a, T: Send> IntoParallel for &'a mut Vec<T> {
    type Items = IterMut<'a, T>;

    fn into_par_iter(self) -> IterMut<'a, T> {
        self.par_iter_mut()
    }
}

impl<T: Send> IntoParallel for Vec<T> {
    type Items = Owned<T>;

    fn into_par_iter(self) -> Owned<T> {
        Owned { items: self.into_iter().map(|item| UnsafeCell::new(Some(item))).collect() }
    }
}

/// Parallel loops over slices.
pub trait ParallelSlice<T> {
    /// References to the elements.
    fn par_iter(&self) -> Iter<'_, T>
    where
        T: Sync;

    /// Mutable references to the elements.
    fn par_iter_mut(&mut self) -> IterMut<'_, T>
    where
        T: Send;

    /// Chunks of `size` elements; the last one may be shorter.
    fn par_chunks(&self, size: usize) -> Chunks<'_, T>
    where
        T: Sync;

    /// Mutable chunks of `size` elements; the last one may be shorter.
    fn par_chunks_mut(&mut self, size: usize) -> ChunksMut<'_, T>
    where
        T: Send;

    /// Chunks of exactly `size` elements, without the rest.
    fn par_chunks_exact(&self, size: usize) -> Chunks<'_, T>
    where
        T: Sync;

    /// Mutable chunks of exactly `size` elements, without the rest.
    fn par_chunks_exact_mut(&mut self, size: usize) -> ChunksMut<'_, T>
    where
        T: Send;
}

impl<T> ParallelSlice<T> for [T] {
    fn par_iter(&self) -> Iter<'_, T>
    where
        T: Sync,
    {
        Iter { slice: self }
    }

    fn par_iter_mut(&mut self) -> IterMut<'_, T>
    where
        T: Send,
    {
        IterMut { start: Shared(self.as_mut_ptr()), len: self.len(), borrow: PhantomData }
    }

    fn par_chunks(&self, size: usize) -> Chunks<'_, T>
    where
        T: Sync,
    {
        assert!(size > 0, "chunks have at least one element");
        Chunks { slice: self, size }
    }

    fn par_chunks_mut(&mut self, size: usize) -> ChunksMut<'_, T>
    where
        T: Send,
    {
        assert!(size > 0, "chunks have at least one element");
        ChunksMut { start: Shared(self.as_mut_ptr()), len: self.len(), size, borrow: PhantomData }
    }

    fn par_chunks_exact(&self, size: usize) -> Chunks<'_, T>
    where
        T: Sync,
    {
        assert!(size > 0, "chunks have at least one element");
        self[..self.len() / size * size].par_chunks(size)
    }

    fn par_chunks_exact_mut(&mut self, size: usize) -> ChunksMut<'_, T>
    where
        T: Send,
    {
        assert!(size > 0, "chunks have at least one element");
        let whole = self.len() / size * size;
        self[..whole].par_chunks_mut(size)
    }
}

/// Indices of a range.
#[derive(Clone, Debug)]
pub struct Indices {
    range: Range<usize>,
}

impl Parallel for Indices {
    type Item = usize;

    fn n_items(&self) -> usize {
        self.range.len()
    }

    unsafe fn item(&self, i: usize) -> usize {
        self.range.start + i
    }
}

/// References to the elements of a slice.
#[derive(Debug)]
pub struct Iter<'a, T> {
    slice: &'a [T],
}

impl<'a, T: Sync> Parallel for Iter<'a, T> {
    type Item = &'a T;

    fn n_items(&self) -> usize {
        self.slice.len()
    }

    unsafe fn item(&self, i: usize) -> &'a T {
        &self.slice[i]
    }
}

/// Mutable references to the elements of a slice.
pub struct IterMut<'a, T> {
    start: Shared<T>,
    len: usize,
    borrow: PhantomData<&'a mut [T]>,
}

// Safe: the borrow only marks the lifetime; elements are reached through `Shared`.
unsafe impl<T: Send> Sync for IterMut<'_, T> {}

impl<'a, T: Send> Parallel for IterMut<'a, T> {
    type Item = &'a mut T;

    fn n_items(&self) -> usize {
        self.len
    }

    unsafe fn item(&self, i: usize) -> &'a mut T {
        // Safe: `i` is below the length, and the caller asks for it once.
        unsafe { &mut *self.start.at(i) }
    }
}

/// Chunks of a slice.
#[derive(Debug)]
pub struct Chunks<'a, T> {
    slice: &'a [T],
    size: usize,
}

impl<'a, T: Sync> Parallel for Chunks<'a, T> {
    type Item = &'a [T];

    fn n_items(&self) -> usize {
        self.slice.len().div_ceil(self.size)
    }

    unsafe fn item(&self, i: usize) -> &'a [T] {
        &self.slice[i * self.size..((i + 1) * self.size).min(self.slice.len())]
    }
}

/// Mutable chunks of a slice.
pub struct ChunksMut<'a, T> {
    start: Shared<T>,
    len: usize,
    size: usize,
    borrow: PhantomData<&'a mut [T]>,
}

// Safe: the borrow only marks the lifetime; elements are reached through `Shared`.
unsafe impl<T: Send> Sync for ChunksMut<'_, T> {}

impl<'a, T: Send> Parallel for ChunksMut<'a, T> {
    type Item = &'a mut [T];

    fn n_items(&self) -> usize {
        self.len.div_ceil(self.size)
    }

    unsafe fn item(&self, i: usize) -> &'a mut [T] {
        let start = i * self.size;
        // Safe: chunks of different indices do not overlap, and the caller asks for each once.
        unsafe {
            std::slice::from_raw_parts_mut(self.start.at(start), self.size.min(self.len - start))
        }
    }
}

/// The elements of a vector.
pub struct Owned<T> {
    items: Vec<UnsafeCell<Option<T>>>,
}

// Safe: every element is taken by one thread only.
unsafe impl<T: Send> Sync for Owned<T> {}

impl<T: Send> Parallel for Owned<T> {
    type Item = T;

    fn n_items(&self) -> usize {
        self.items.len()
    }

    unsafe fn item(&self, i: usize) -> T {
        // Safe: no other thread asks for this index.
        unsafe { &mut *self.items[i].get() }.take().expect("every index is asked for once")
    }
}

/// Items with bounds on the size of a task.
#[derive(Debug)]
pub struct WithGrain<P> {
    items: P,
    grain: Grain,
}

impl<P: Parallel> Parallel for WithGrain<P> {
    type Item = P::Item;

    fn n_items(&self) -> usize {
        self.items.n_items()
    }

    unsafe fn item(&self, i: usize) -> P::Item {
        unsafe { self.items.item(i) }
    }

    fn grain(&self) -> Grain {
        self.grain.and(self.items.grain())
    }
}

/// Items with their indices.
#[derive(Debug)]
pub struct Enumerate<P> {
    items: P,
}

impl<P: Parallel> Parallel for Enumerate<P> {
    type Item = (usize, P::Item);

    fn n_items(&self) -> usize {
        self.items.n_items()
    }

    unsafe fn item(&self, i: usize) -> (usize, P::Item) {
        (i, unsafe { self.items.item(i) })
    }

    fn grain(&self) -> Grain {
        self.items.grain()
    }
}

/// Pairs of items.
#[derive(Debug)]
pub struct Zip<A, B> {
    a: A,
    b: B,
}

impl<A: Parallel, B: Parallel> Parallel for Zip<A, B> {
    type Item = (A::Item, B::Item);

    fn n_items(&self) -> usize {
        self.a.n_items().min(self.b.n_items())
    }

    unsafe fn item(&self, i: usize) -> (A::Item, B::Item) {
        unsafe { (self.a.item(i), self.b.item(i)) }
    }

    fn grain(&self) -> Grain {
        self.a.grain().and(self.b.grain())
    }
}

/// The values of a function of the items.
pub struct Map<P, F> {
    items: P,
    f: F,
}

impl<P: Parallel, R, F: Fn(P::Item) -> R + Sync> Parallel for Map<P, F> {
    type Item = R;

    fn n_items(&self) -> usize {
        self.items.n_items()
    }

    unsafe fn item(&self, i: usize) -> R {
        (self.f)(unsafe { self.items.item(i) })
    }

    fn grain(&self) -> Grain {
        self.items.grain()
    }
}

#[cfg(test)]
mod tests {
    use super::prelude::*;
    use crate::parallel::with_threads;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn every_item_is_made_once_and_in_order() {
        for threads in [1, 2, 3, 8] {
            for n in [0, 1, 2, 7, 64, 1_000] {
                let squares: Vec<usize> =
                    with_threads(threads, || (0..n).into_par_iter().map(|i| i * i).collect());

                assert_eq!(squares, (0..n).map(|i| i * i).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn chunks_cover_a_slice_and_the_last_is_shorter() {
        let mut values = vec![0; 10];

        values.par_chunks_mut(4).enumerate().for_each(|(k, chunk)| chunk.fill(k + 1));

        assert_eq!(values, [1, 1, 1, 1, 2, 2, 2, 2, 3, 3]);
        assert_eq!(values.par_chunks(4).map(<[_]>::len).collect::<Vec<_>>(), [4, 4, 2]);
        assert_eq!(values.par_chunks_exact(4).map(<[_]>::len).collect::<Vec<_>>(), [4, 4]);
    }

    #[test]
    fn the_error_of_the_lowest_index_is_returned() {
        let odd = |i: usize| if i % 2 == 1 { Err(i) } else { Ok(i) };

        let found: Result<Vec<usize>, usize> = (0..1_000).into_par_iter().map(odd).collect();

        assert_eq!(found, Err(1));
    }

    #[test]
    fn items_after_a_failure_are_not_made() {
        let made = AtomicUsize::new(0);
        let fail = |_: usize| {
            made.fetch_add(1, Ordering::Relaxed);
            None
        };

        let found: Option<()> =
            with_threads(1, || (0..1_000).into_par_iter().with_max_len(1).try_for_each(fail));

        assert_eq!((found, made.into_inner()), (None, 1));
    }

    #[test]
    fn elements_of_a_vector_are_dropped_once_even_beyond_a_shorter_partner() {
        let count = std::sync::Arc::new(());
        let items: Vec<_> = (0..9).map(|_| count.clone()).collect();

        items.into_par_iter().zip(0..5).for_each(|(item, _)| drop(item));

        assert_eq!(std::sync::Arc::strong_count(&count), 1);
    }

    #[test]
    fn sums_are_added_in_order() {
        let terms: Vec<f64> = (1..5_000).map(|i| 1.0 / f64::from(i)).collect();

        let sums: Vec<f64> = [1, 2, 8]
            .map(|threads| with_threads(threads, || terms.par_iter().map(|t| *t).sum()))
            .to_vec();

        assert!(sums.iter().all(|sum| *sum == terms.iter().sum::<f64>()));
    }
}
