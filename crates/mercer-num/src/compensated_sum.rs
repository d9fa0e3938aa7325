//! Compensated summation.

/// A running sum and its rounding errors (Knuth's two-sum, The Art of Computer Programming, 4.2.2).
///
/// ```
/// use mercer_num::compensated_sum::CompensatedSum;
/// let mut sum = CompensatedSum::from(1.0);
/// sum.add(1e100);
/// sum.add(-1e100);
/// assert_eq!(sum.value(), 1.0);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct CompensatedSum {
    total: f64,
    rest: f64,
}

impl CompensatedSum {
    /// Adds a term.
    pub fn add(&mut self, x: f64) {
        let total = self.total + x;
        let part = total - self.total;
        self.rest += (self.total - (total - part)) + (x - part);
        self.total = total;
    }

    /// The sum, rounded once.
    pub fn value(&self) -> f64 {
        // An overflowed sum has no correction.
        if self.total.is_finite() { self.total + self.rest } else { self.total }
    }
}

impl From<f64> for CompensatedSum {
    fn from(total: f64) -> Self {
        CompensatedSum { total, rest: 0.0 }
    }
}
