//! The root of an increasing function by safeguarded Newton steps.

/// Enough steps for bisection alone.
const MAX_STEPS: usize = 200;

/// The root of `f` between `low` and `high`. `f` returns its value and slope; a Newton step that leaves the bracket is
/// replaced by bisection.
pub(super) fn root(mut low: f64, mut high: f64, start: f64, f: impl Fn(f64) -> (f64, f64)) -> f64 {
    let mut t = if start > low && start < high { start } else { 0.5 * (low + high) };
    for _ in 0..MAX_STEPS {
        let (value, slope) = f(t);
        if value == 0.0 {
            return t;
        }
        if value > 0.0 {
            high = t;
        } else {
            low = t;
        }
        let newton = t - value / slope;
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        if (next - t).abs() <= f64::EPSILON * (1.0 + t.abs()) {
            return next;
        }
        t = next;
    }
    t
}
