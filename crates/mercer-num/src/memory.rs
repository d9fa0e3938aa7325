//! Memory on huge pages, and prefetching.

use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt;

/// An amount of memory, for people: `14.4 GB`, `256 MB`.
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
        // What would be rounded up to a thousand is one of the next unit.
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

/// `n` zeros.
///
/// A table of many megabytes lies on thousands of small pages, and a lookup at random waits for the
/// page more than for the number. On Linux such a table asks for large pages, before it is first
/// touched; elsewhere, and where the system has none to give, it is as any other.
pub fn zeros(n: usize) -> Vec<f64> {
    zeros_of(n)
}

/// The same for numbers of any kind.
pub fn zeros_of<T: Copy + Default>(n: usize) -> Vec<T> {
    let mut out = vec![T::default(); n];
    advise_huge_pages(out.as_mut_ptr().cast(), size_of_val(out.as_slice()));
    out
}

/// The system's allocator, asking for large pages for whatever is large: a page costs as much to get
/// whatever its size, and half a gigabyte of small ones takes longer than what is written there.
///
/// For programs to declare as their `#[global_allocator]`.
#[derive(Debug)]
pub struct HugePageAllocator;

// SAFETY: the system's allocator, whose memory is given on as it is; advice about it changes how it is
// mapped and never what it holds.
unsafe impl GlobalAlloc for HugePageAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let place = unsafe { System.alloc(layout) };
        advise_huge_pages(place, layout.size());
        place
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let place = unsafe { System.alloc_zeroed(layout) };
        advise_huge_pages(place, layout.size());
        place
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let place = unsafe { System.realloc(place, layout, size) };
        advise_huge_pages(place, size);
        place
    }
}

/// Starts to bring a slice into cache, its first kilobytes where it is longer. A hint without effect on any
/// result.
#[inline(always)]
pub fn prefetch<T>(slice: &[T]) {
    /// Bytes of a line, and where the machine by itself has seen that it goes on.
    const LINE: usize = 64;
    const FAR: usize = 2048;
    for at in (0..size_of_val(slice).min(FAR)).step_by(LINE) {
        prefetch_byte(slice.as_ptr().cast(), at);
    }
}

/// Starts to bring the line of cache in which a slice has its item `at`, or would have it. A hint as well.
#[inline(always)]
pub fn prefetch_line<T>(slice: &[T], at: usize) {
    prefetch_byte(slice.as_ptr().cast(), at.wrapping_mul(size_of::<T>()));
}

#[inline(always)]
fn prefetch_byte(from: *const i8, at: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint neither reads nor faults, wherever it points to, and all of these machines have it.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(from.wrapping_add(at)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (from, at);
}

/// Tables below this size do well without: two of the usual large pages.
#[cfg(target_os = "linux")]
const MIN_HUGE_PAGE_BYTES: usize = 4 << 20;

#[cfg(target_os = "linux")]
#[inline]
fn advise_huge_pages(start: *mut u8, n_bytes: usize) {
    if n_bytes >= MIN_HUGE_PAGE_BYTES && !start.is_null() {
        advise(start, n_bytes);
    }
}

/// `start` must lead to so many bytes that belong to the caller.
#[cfg(target_os = "linux")]
#[cold]
fn advise(start: *mut u8, n_bytes: usize) {
    // SAFETY: asks for a number and has no preconditions.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    let Some(page) = usize::try_from(page).ok().filter(|page| page.is_power_of_two()) else {
        return;
    };
    let before = start.align_offset(page);
    if before < n_bytes {
        // SAFETY: the range starts on a page and lies within memory of the caller. The advice changes how
        // it is mapped, never what it holds; refusing it does no harm.
        unsafe { libc::madvise(start.add(before).cast(), n_bytes - before, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn advise_huge_pages(_: *mut u8, _: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_of_memory_read_as_people_say_them() {
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
