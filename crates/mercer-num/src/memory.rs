//! Memory for tables that are looked up all over.

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
    ask_for_large_pages(&mut out);
    out
}

/// Tables below this size do well without: two of the usual large pages.
#[cfg(target_os = "linux")]
const LEAST_BYTES: usize = 4 << 20;

#[cfg(target_os = "linux")]
fn ask_for_large_pages<T>(table: &mut [T]) {
    let n_bytes = size_of_val(table);
    if n_bytes < LEAST_BYTES {
        return;
    }
    // SAFETY: asks for a number and has no preconditions.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    let Some(page) = usize::try_from(page).ok().filter(|page| page.is_power_of_two()) else {
        return;
    };
    let start = table.as_mut_ptr().cast::<u8>();
    let before = start.align_offset(page);
    if before < n_bytes {
        // SAFETY: the range starts on a page and lies within the table, which is borrowed alone. The
        // advice changes how the memory is mapped, never what it holds; refusing it does no harm.
        unsafe { libc::madvise(start.add(before).cast(), n_bytes - before, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn ask_for_large_pages<T>(_: &mut [T]) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_and_small_tables_are_zeros() {
        for n in [0, 1, 1 << 10, 1 << 20] {
            let table = zeros(n);

            assert_eq!(table.len(), n);
            assert!(table.iter().all(|x| *x == 0.0));
        }
    }
}
