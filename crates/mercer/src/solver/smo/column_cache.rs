//! Columns of a kernel matrix, kept while they are used and as far as memory goes.

use crate::kernel::KernelRows;
use mercer_num::Float;
use mercer_num::memory::zeros_of;

const NONE: u32 = u32::MAX;
/// Columns whose memory is taken at once: large blocks lie on large pages, which are there sooner.
const SLAB: usize = 64;

/// Columns by variable; the least recently used give way.
pub(crate) struct Cache<T> {
    slabs: Vec<Vec<T>>,
    slots: Vec<Slot>,
    /// The slot of each variable.
    at: Vec<u32>,
    /// How long a column was when all variables were looked at, and is in memory.
    length: usize,
    capacity: usize,
    clock: u64,
    /// For every list of rows there was: where the rows of today's list stand in it.
    lists: Vec<Vec<u32>>,
    /// Kernel values computed so far.
    pub values: u64,
}

struct Slot {
    of: u32,
    used: u64,
    /// Which of the lists of rows its numbers follow.
    list: usize,
}

impl<T: Float> Cache<T> {
    /// Room for so many columns.
    pub fn new(n: usize, capacity: usize) -> Self {
        Cache {
            slabs: Vec::new(),
            slots: Vec::new(),
            at: vec![NONE; n],
            length: n,
            capacity,
            clock: 0,
            lists: vec![Vec::new()],
            values: 0,
        }
    }

    /// Sees to it that the columns of some variables are there.
    ///
    /// # Panics
    /// If there are more than fit.
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
        let places = self.places(missing.len());
        for (k, i) in places.iter().zip(&missing) {
            let slot = &mut self.slots[*k];
            if slot.of != NONE {
                self.at[slot.of as usize] = NONE;
            }
            *slot = Slot { of: *i, used: self.clock, list: self.lists.len() - 1 };
            self.at[*i as usize] = *k as u32;
        }
        // The rows asked for in the order of their places, which is the order of the memory.
        let n = self.at.len();
        let of: Vec<u32> = places.iter().map(|k| self.slots[*k].of).collect();
        let columns = self.slabs.iter_mut().flat_map(|slab| slab.chunks_exact_mut(self.length));
        let mut next = places.iter().copied().peekable();
        let mut out: Vec<&mut [T]> = Vec::with_capacity(places.len());
        for (k, column) in columns.enumerate() {
            if next.peek() == Some(&k) {
                next.next();
                out.push(&mut column[..n]);
            }
        }
        rows.columns(&of, rows, &mut out);
        self.values += (missing.len() * n) as u64;
    }

    /// Slots for so many columns, in order: new ones, then those not used for longest.
    fn places(&mut self, n: usize) -> Vec<usize> {
        let fresh = n.min(self.capacity.saturating_sub(self.slots.len()));
        let mut places: Vec<usize> = (self.slots.len()..self.slots.len() + fresh).collect();
        for _ in 0..fresh {
            self.slots.push(Slot { of: NONE, used: self.clock, list: 0 });
        }
        while self.slabs.len() * SLAB < self.slots.len() {
            self.slabs.push(zeros_of(SLAB * self.length));
        }
        if fresh < n {
            let mut old: Vec<(u64, usize)> = (self.slots.iter().enumerate())
                .filter(|(_, slot)| slot.used < self.clock)
                .map(|(k, slot)| (slot.used, k))
                .collect();
            old.sort_unstable();
            places.extend(old.iter().take(n - fresh).map(|(_, k)| *k));
        }
        assert_eq!(places.len(), n, "columns asked for together fit in the cache");
        places.sort_unstable();
        places
    }

    /// Brings the column of a variable that was fetched to today's rows, and keeps it from giving way.
    pub fn use_column(&mut self, i: u32) {
        self.clock += 1;
        let k = self.at[i as usize] as usize;
        let slot = &mut self.slots[k];
        slot.used = self.clock;
        if slot.list + 1 < self.lists.len() {
            // Rows keep their order, so a number only ever moves to the front.
            let first = k % SLAB * self.length;
            let column = &mut self.slabs[k / SLAB][first..first + self.length];
            for (to, from) in self.lists[slot.list].iter().enumerate() {
                column[to] = column[*from as usize];
            }
            slot.list = self.lists.len() - 1;
        }
    }

    /// The column of a variable, brought to today's rows.
    pub fn column(&self, i: u32) -> &[T] {
        let k = self.at[i as usize] as usize;
        let first = k % SLAB * self.length;
        &self.slabs[k / SLAB][first..first + self.at.len()]
    }

    /// How many columns there is room for.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Whether another column would have to give way for the next one.
    pub fn is_full(&self) -> bool {
        self.slots.len() >= self.capacity && self.capacity < self.length
    }

    /// How many columns are there.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether a column is there.
    pub fn has(&self, i: u32) -> bool {
        self.at[i as usize] != NONE
    }

    /// Keeps the rows at some places only, and the columns of those; columns are shortened when they are
    /// next used.
    pub fn shrink(&mut self, keep: &[u32]) {
        let mut to = vec![NONE; self.at.len()];
        keep.iter().zip(0u32..).for_each(|(i, k)| to[*i as usize] = k);
        self.at = vec![NONE; keep.len()];
        for (slot, k) in self.slots.iter_mut().zip(0u32..).filter(|(slot, _)| slot.of != NONE) {
            slot.of = to[slot.of as usize];
            match slot.of {
                // Nobody asks for it any more: the first to give way.
                NONE => slot.used = 0,
                of => self.at[of as usize] = k,
            }
        }
        let last = self.lists.len() - 1;
        for list in &mut self.lists[..last] {
            *list = keep.iter().map(|i| list[*i as usize]).collect();
        }
        self.lists[last] = keep.to_vec();
        self.lists.push(Vec::new());
    }
}
