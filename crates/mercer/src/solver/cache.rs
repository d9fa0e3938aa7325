//! Columns of a kernel matrix, kept while they are used and as far as memory goes.

use crate::kernel::KernelRows;
use mercer_num::Float;

const NONE: u32 = u32::MAX;

/// Columns by variable; the least recently used give way.
pub(super) struct Cache<T> {
    slots: Vec<Slot<T>>,
    /// The slot of each variable.
    at: Vec<u32>,
    capacity: usize,
    clock: u64,
    /// Kernel values computed so far.
    pub values: u64,
}

struct Slot<T> {
    of: u32,
    used: u64,
    column: Vec<T>,
}

impl<T: Float> Cache<T> {
    /// Room for so many columns.
    pub fn new(n: usize, capacity: usize) -> Self {
        Cache { slots: Vec::new(), at: vec![NONE; n], capacity, clock: 0, values: 0 }
    }

    /// Sees to it that the columns of some variables are there.
    pub fn fetch(&mut self, wanted: &[u32], rows: &KernelRows<T>) {
        self.clock += 1;
        let mut missing = Vec::new();
        for i in wanted {
            match self.at[*i as usize] {
                NONE => missing.push(*i),
                slot => self.slots[slot as usize].used = self.clock,
            }
        }
        if missing.is_empty() {
            return;
        }
        let n = self.at.len();
        let fresh = missing.len().min(self.capacity.saturating_sub(self.slots.len()));
        let mut taken: Vec<u32> = Vec::with_capacity(missing.len());
        for _ in 0..fresh {
            taken.push(self.slots.len() as u32);
            self.slots.push(Slot { of: NONE, used: 0, column: vec![T::default(); n] });
        }
        if taken.len() < missing.len() {
            let mut old: Vec<(u64, u32)> = (self.slots.iter().zip(0u32..))
                .filter(|(slot, k)| slot.used < self.clock && !taken.contains(k))
                .map(|(slot, k)| (slot.used, k))
                .collect();
            old.sort_unstable();
            taken.extend(old.iter().take(missing.len() - taken.len()).map(|(_, k)| *k));
        }
        assert_eq!(taken.len(), missing.len(), "a working set fits in the cache");
        let mut columns: Vec<(u32, Vec<T>)> = Vec::with_capacity(taken.len());
        for (k, i) in taken.iter().zip(&missing) {
            let slot = &mut self.slots[*k as usize];
            if slot.of != NONE {
                self.at[slot.of as usize] = NONE;
            }
            (slot.of, slot.used) = (*i, self.clock);
            self.at[*i as usize] = *k;
            columns.push((*k, std::mem::take(&mut slot.column)));
        }
        let mut out: Vec<&mut [T]> =
            columns.iter_mut().map(|(_, column)| column.as_mut_slice()).collect();
        rows.columns(&missing, rows, &mut out);
        self.values += (missing.len() * n) as u64;
        for (k, column) in columns {
            self.slots[k as usize].column = column;
        }
    }

    /// The column of a variable that was fetched.
    pub fn column(&self, i: u32) -> &[T] {
        &self.slots[self.at[i as usize] as usize].column
    }

    /// Whether a column is there.
    pub fn has(&self, i: u32) -> bool {
        self.at[i as usize] != NONE
    }

    /// Keeps the rows at some places only, and the columns of those.
    pub fn shrink(&mut self, keep: &[u32], capacity: usize) {
        let mut to = vec![NONE; self.at.len()];
        keep.iter().zip(0u32..).for_each(|(i, k)| to[*i as usize] = k);
        self.slots.retain(|slot| slot.of != NONE && to[slot.of as usize] != NONE);
        self.at = vec![NONE; keep.len()];
        for (slot, k) in self.slots.iter_mut().zip(0u32..) {
            slot.of = to[slot.of as usize];
            self.at[slot.of as usize] = k;
            slot.column = keep.iter().map(|i| slot.column[*i as usize]).collect();
        }
        self.capacity = capacity.max(self.slots.len());
    }
}
