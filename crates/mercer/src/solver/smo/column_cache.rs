//! The kernel cache: computed columns of the kernel matrix, up to a memory limit.

use super::columns::Columns;
use mercer_num::Float;
use mercer_num::memory::zeros_of;

const NONE: u32 = u32::MAX;
/// Columns whose memory is allocated together: large allocations get large pages, which are faster to obtain.
const COLUMNS_PER_SLAB: usize = 64;

/// Columns by variable; the least recently used one is evicted first.
pub(crate) struct ColumnCache<T> {
    slabs: Vec<Vec<T>>,
    entries: Vec<Entry>,
    /// The entry that holds the column of each variable, or `NONE`.
    entry_of: Vec<u32>,
    /// The length of a column before any shrinking, which is its length in memory.
    length: usize,
    capacity: usize,
    clock: u64,
    /// For every version of the working problem, the positions of the current rows in a column of that version. The
    /// last list belongs to the current version and is empty.
    versions: Vec<Vec<u32>>,
    /// Kernel values computed so far.
    pub n_computed: u64,
}

struct Entry {
    variable: u32,
    last_used: u64,
    /// The version of the working problem whose rows the column has.
    version: usize,
}

impl<T: Float> ColumnCache<T> {
    /// A cache for at most `capacity` columns of length `n`.
    pub fn new(n: usize, capacity: usize) -> Self {
        ColumnCache {
            slabs: Vec::new(),
            entries: Vec::new(),
            entry_of: vec![NONE; n],
            length: n,
            capacity,
            clock: 0,
            versions: vec![Vec::new()],
            n_computed: 0,
        }
    }

    /// Computes those of the requested columns that are not in the cache, as one block.
    ///
    /// # Panics
    /// If more columns are requested than fit.
    pub fn fetch(&mut self, requested: &[u32], columns: &dyn Columns<T>) {
        self.clock += 1;
        let mut missing = Vec::new();
        for i in requested {
            match self.entry_of[*i as usize] {
                NONE => missing.push(*i),
                entry => self.entries[entry as usize].last_used = self.clock,
            }
        }
        if missing.is_empty() {
            return;
        }
        let allocated = self.allocate(missing.len());
        for (k, i) in allocated.iter().zip(&missing) {
            let entry = &mut self.entries[*k];
            if entry.variable != NONE {
                self.entry_of[entry.variable as usize] = NONE;
            }
            let version = self.versions.len() - 1;
            *entry = Entry { variable: *i, last_used: self.clock, version };
            self.entry_of[*i as usize] = *k as u32;
        }
        // The columns in the order of their entries, which is the order of the memory.
        let n = self.entry_of.len();
        let variables: Vec<u32> = allocated.iter().map(|k| self.entries[*k].variable).collect();
        let memory = self.slabs.iter_mut().flat_map(|slab| slab.chunks_exact_mut(self.length));
        let mut next = allocated.iter().copied().peekable();
        let mut out: Vec<&mut [T]> = Vec::with_capacity(allocated.len());
        for (k, column) in memory.enumerate() {
            if next.peek() == Some(&k) {
                next.next();
                out.push(&mut column[..n]);
            }
        }
        columns.compute(&variables, &mut out);
        self.n_computed += (missing.len() * n) as u64;
    }

    /// Entries for `n` columns in ascending order: unused ones first, then the least recently used.
    fn allocate(&mut self, n: usize) -> Vec<usize> {
        let unused = n.min(self.capacity.saturating_sub(self.entries.len()));
        let mut allocated: Vec<usize> = (self.entries.len()..self.entries.len() + unused).collect();
        for _ in 0..unused {
            self.entries.push(Entry { variable: NONE, last_used: self.clock, version: 0 });
        }
        while self.slabs.len() * COLUMNS_PER_SLAB < self.entries.len() {
            self.slabs.push(zeros_of(COLUMNS_PER_SLAB * self.length));
        }
        if unused < n {
            let mut old: Vec<(u64, usize)> = (self.entries.iter().enumerate())
                .filter(|(_, entry)| entry.last_used < self.clock)
                .map(|(k, entry)| (entry.last_used, k))
                .collect();
            old.sort_unstable();
            allocated.extend(old.iter().take(n - unused).map(|(_, k)| *k));
        }
        assert_eq!(allocated.len(), n, "columns requested together fit in the cache");
        allocated.sort_unstable();
        allocated
    }

    /// Marks a cached column as used and drops the rows that were shrunk since its last use.
    pub fn touch(&mut self, i: u32) {
        self.clock += 1;
        let k = self.entry_of[i as usize] as usize;
        let entry = &mut self.entries[k];
        entry.last_used = self.clock;
        if entry.version + 1 < self.versions.len() {
            // Rows stay in order, so every value moves towards the front.
            let first = k % COLUMNS_PER_SLAB * self.length;
            let column = &mut self.slabs[k / COLUMNS_PER_SLAB][first..first + self.length];
            for (to, from) in self.versions[entry.version].iter().enumerate() {
                column[to] = column[*from as usize];
            }
            entry.version = self.versions.len() - 1;
        }
    }

    /// A cached column, which has been touched since the last shrinking.
    pub fn column(&self, i: u32) -> &[T] {
        let k = self.entry_of[i as usize] as usize;
        let first = k % COLUMNS_PER_SLAB * self.length;
        &self.slabs[k / COLUMNS_PER_SLAB][first..first + self.entry_of.len()]
    }

    /// The largest number of columns.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Whether a new column would evict another one.
    pub fn is_full(&self) -> bool {
        self.entries.len() >= self.capacity && self.capacity < self.length
    }

    /// The number of columns that have been allocated.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the column of a variable is cached.
    pub fn contains(&self, i: u32) -> bool {
        self.entry_of[i as usize] != NONE
    }

    /// Retains the given rows and columns. A column drops the other rows when it is next touched.
    pub fn shrink(&mut self, retained: &[u32]) {
        let mut new_index = vec![NONE; self.entry_of.len()];
        retained.iter().zip(0u32..).for_each(|(i, k)| new_index[*i as usize] = k);
        self.entry_of = vec![NONE; retained.len()];
        let used = self.entries.iter_mut().zip(0u32..).filter(|(entry, _)| entry.variable != NONE);
        for (entry, k) in used {
            entry.variable = new_index[entry.variable as usize];
            match entry.variable {
                // The column of a variable that was shrunk is evicted first.
                NONE => entry.last_used = 0,
                variable => self.entry_of[variable as usize] = k,
            }
        }
        let last = self.versions.len() - 1;
        for version in &mut self.versions[..last] {
            *version = retained.iter().map(|i| version[*i as usize]).collect();
        }
        self.versions[last] = retained.to_vec();
        self.versions.push(Vec::new());
    }
}
