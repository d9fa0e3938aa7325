//! Memory on huge pages, and prefetching.

use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt;

/// An amount of memory in readable form: `14.4 GB`, `256 MB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 6] = ["KB", "MB", "GB", "TB", "PB", "EB"];
        if self.0 < 1000 {
            return write!(f, "{} bytes", self.0);
        }
        let mut value = self.0 as f64 / 1e3;
        let mut unit = 0;
        // A value that would be rounded to 1000 is printed in the next unit.
        while value >= 999.5 && unit + 1 < UNITS.len() {
            value /= 1e3;
            unit += 1;
        }
        match value {
            v if v >= 99.95 => write!(f, "{v:.0} {}", UNITS[unit]),
            v => write!(f, "{:.1} {}", v, UNITS[unit]),
        }
    }
}

/// A vector of `n` zeros.
///
/// In a large table on small pages, a random lookup waits longer for the address translation than for the value. On
/// Linux, large tables request huge pages before they are first written; elsewhere this is an ordinary allocation.
pub fn zeros(n: usize) -> Vec<f64> {
    zeros_of(n)
}

/// The same for any type.
pub fn zeros_of<T: Copy + Default>(n: usize) -> Vec<T> {
    let mut out = vec![T::default(); n];
    advise_huge_pages(out.as_mut_ptr().cast(), size_of_val(out.as_slice()));
    out
}

/// The system's allocator with huge pages for large allocations: the cost of mapping a page hardly depends on its size,
/// and mapping half a gigabyte of small pages takes longer than writing it.
///
/// To be declared as the `#[global_allocator]` of a program.
#[derive(Debug)]
pub struct HugePageAllocator;

// SAFETY: all calls are passed to the system's allocator; the advice changes how memory is mapped, not its content.
unsafe impl GlobalAlloc for HugePageAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let pointer = unsafe { System.alloc(layout) };
        advise_huge_pages(pointer, layout.size());
        pointer
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let pointer = unsafe { System.alloc_zeroed(layout) };
        advise_huge_pages(pointer, layout.size());
        pointer
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let pointer = unsafe { System.realloc(pointer, layout, size) };
        advise_huge_pages(pointer, size);
        pointer
    }
}

/// Prefetches a slice, or its first kilobytes if it is longer. Without effect on any result.
#[inline(always)]
pub fn prefetch<T>(slice: &[T]) {
    /// Bytes of a cache line, and the length after which the hardware prefetcher takes over.
    const CACHE_LINE: usize = 64;
    const MAX_PREFETCHED_BYTES: usize = 2048;
    for at in (0..size_of_val(slice).min(MAX_PREFETCHED_BYTES)).step_by(CACHE_LINE) {
        prefetch_byte(slice.as_ptr().cast(), at);
    }
}

/// Prefetches the cache line of the element `at` of a slice, which may lie beyond its end. Without effect on any
/// result.
#[inline(always)]
pub fn prefetch_line<T>(slice: &[T], at: usize) {
    prefetch_byte(slice.as_ptr().cast(), at.wrapping_mul(size_of::<T>()));
}

#[inline(always)]
fn prefetch_byte(from: *const i8, at: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch neither reads nor faults for any address, and all x86-64 processors have it.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(from.wrapping_add(at)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (from, at);
}

/// Smaller tables do not profit: two huge pages of the usual size.
#[cfg(target_os = "linux")]
const MIN_HUGE_PAGE_BYTES: usize = 4 << 20;

#[cfg(target_os = "linux")]
#[inline]
fn advise_huge_pages(start: *mut u8, n_bytes: usize) {
    if n_bytes >= MIN_HUGE_PAGE_BYTES && !start.is_null() {
        advise(start, n_bytes);
    }
}

/// `start` must point to `n_bytes` bytes that belong to the caller.
#[cfg(target_os = "linux")]
#[cold]
fn advise(start: *mut u8, n_bytes: usize) {
    // SAFETY: `sysconf` has no preconditions.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    let Some(page) = usize::try_from(page).ok().filter(|page| page.is_power_of_two()) else {
        return;
    };
    let before = start.align_offset(page);
    if before < n_bytes {
        // SAFETY: the range starts on a page and lies within memory of the caller. The advice changes how it is mapped,
        // not its content; a refusal does no harm.
        unsafe { libc::madvise(start.add(before).cast(), n_bytes - before, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn advise_huge_pages(_: *mut u8, _: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_of_memory_are_printed_in_readable_units() {
        let said = [
            (999, "999 bytes"),
            (590_000, "590 KB"),
            (999_499, "999 KB"),
            (999_500, "1.0 MB"),
            (256_000_000, "256 MB"),
            (14_400_000_000, "14.4 GB"),
            (u64::MAX, "18.4 EB"),
        ];

        for (bytes, words) in said {
            assert_eq!(Bytes(bytes).to_string(), words);
        }
    }

    #[test]
    fn large_and_small_tables_are_zeros() {
        for n in [0, 1, 1 << 10, 1 << 20] {
            let table = zeros(n);

            assert_eq!(table.len(), n);
            assert!(table.iter().all(|x| *x == 0.0));
        }
    }
}
