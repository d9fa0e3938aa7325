//! Newton's method with conjugate gradients over rows that are never held.
//!
//! Minimize `f(w) = Σᵢ ℓᵢ(w) + ½ Σⱼ λⱼ wⱼ²` for convex, twice differentiable `ℓ`, where sums over the rows come from
//! outside: a [`Request`] asks either for the loss, its gradient and second derivatives at a point, or for the product
//! of the Hessian with a direction. One request is one pass over the rows.
//!
//! Up to [`MAX_DENSE_HESSIAN_WEIGHTS`] weights the second derivatives are the whole Hessian, and the Newton system
//! `H d = −g` is solved by a Cholesky factorization: one pass per iteration. Beyond, they are its diagonal, and the
//! system is solved by conjugate gradients preconditioned with it, only as far as it pays (Dembo, Eisenstat &
//! Steihaug 1982): one more pass per product. The step is shortened until the objective falls enough (Armijo 1966) or,
//! where rounding hides the decrease, until the gradient shrinks (Hager & Zhang 2005).

use mercer_num::Matrix;
use mercer_num::linalg::Cholesky;

/// How much of the expected decrease a step must achieve.
const ARMIJO: f64 = 1e-4;
/// The shortest step tried: below it rounding decides.
const MIN_STEP: f64 = 1e-10;
/// The most conjugate gradient iterations for one Newton step.
const MAX_PRODUCTS: u64 = 200;
/// With more weights, a pass that sums the Hessian costs more than several that multiply it with a vector.
pub(crate) const MAX_DENSE_HESSIAN_WEIGHTS: usize = 128;
/// The fraction by which the curvature of an unpenalized weight is raised.
const UNPENALIZED_RAISE: f64 = 1e-10;
/// The relative change of the objective that rounding of the sums can cause.
const ROUNDING: f64 = 1e-13;

/// What the next pass over the rows shall sum.
pub(crate) enum Request<'a> {
    /// The loss, its gradient and its second derivatives at these weights, in this order: the lower triangle of the
    /// Hessian, row by row, for up to [`MAX_DENSE_HESSIAN_WEIGHTS`] weights, and its diagonal for more.
    Evaluate(&'a [f64]),
    /// The product of the Hessian of the loss at the first weights with the second.
    Product(&'a [f64], &'a [f64]),
}

/// The state between two passes.
pub(crate) struct NewtonRounds {
    /// The penalty `λⱼ` on half the square of each weight.
    penalties: Vec<f64>,
    /// The largest entry of the gradient to stop at, for penalized and for unpenalized weights.
    tolerances: (f64, f64),
    max_iterations: u64,
    /// The current point with its objective and gradient.
    pub weights: Vec<f64>,
    pub value: f64,
    pub gradient: Vec<f64>,
    pub iterations: u64,
    pub products: u64,
    pub converged: bool,
    first_norm: f64,
    phase: Phase,
}

enum Phase {
    /// Evaluating `weights + step · direction`.
    LineSearch { trial: Vec<f64>, direction: Vec<f64>, step: f64 },
    /// Solving the Newton system.
    ConjugateGradient(Box<Cg>),
}

/// The iterates of conjugate gradients.
struct Cg {
    solution: Vec<f64>,
    residual: Vec<f64>,
    direction: Vec<f64>,
    /// The diagonal preconditioner.
    diagonal: Vec<f64>,
    /// `rᵀM⁻¹r`.
    rho: f64,
    /// The norm of the residual to stop at.
    target: f64,
    n: u64,
}

impl NewtonRounds {
    /// Starts at `weights`. `tolerances` bound the gradient's entries of penalized and of unpenalized weights.
    pub fn new(
        weights: Vec<f64>,
        penalties: Vec<f64>,
        tolerances: (f64, f64),
        max_iterations: u64,
    ) -> NewtonRounds {
        let n = weights.len();
        NewtonRounds {
            penalties,
            tolerances,
            max_iterations,
            value: f64::INFINITY,
            gradient: vec![0.0; n],
            iterations: 0,
            products: 0,
            converged: false,
            first_norm: 0.0,
            phase: Phase::LineSearch { trial: weights.clone(), direction: vec![0.0; n], step: 0.0 },
            weights,
        }
    }

    /// The state of a process that only sums what is requested: the Hessian of the loss at `at` times `along`, or the
    /// evaluation of `at`.
    pub fn at_request(at: Vec<f64>, along: Option<Vec<f64>>) -> NewtonRounds {
        let mut newton = NewtonRounds::new(at, Vec::new(), (0.0, 0.0), 0);
        if let Some(direction) = along {
            newton.phase = Phase::ConjugateGradient(Box::new(Cg {
                solution: Vec::new(),
                residual: Vec::new(),
                direction,
                diagonal: Vec::new(),
                rho: 0.0,
                target: 0.0,
                n: 0,
            }));
        }
        newton
    }

    /// What the next pass shall sum.
    pub fn request(&self) -> Request<'_> {
        match &self.phase {
            Phase::LineSearch { trial, .. } => Request::Evaluate(trial),
            Phase::ConjugateGradient(cg) => Request::Product(&self.weights, &cg.direction),
        }
    }

    /// Takes the sums that were requested; returns whether there is another request.
    pub fn answer(&mut self, sums: &[f64]) -> bool {
        let phase = std::mem::replace(
            &mut self.phase,
            Phase::LineSearch { trial: Vec::new(), direction: Vec::new(), step: 0.0 },
        );
        match phase {
            Phase::LineSearch { trial, direction, step } => {
                self.evaluated(trial, direction, step, sums)
            }
            Phase::ConjugateGradient(cg) => self.multiplied(cg, sums),
        }
    }

    /// The largest entry of the gradient.
    pub fn violation(&self) -> f64 {
        self.gradient.iter().fold(0.0, |a, g| a.max(g.abs()))
    }

    fn evaluated(&mut self, trial: Vec<f64>, direction: Vec<f64>, step: f64, sums: &[f64]) -> bool {
        let n = trial.len();
        let penalty: f64 = trial.iter().zip(&self.penalties).map(|(w, l)| 0.5 * l * w * w).sum();
        let value = sums[0] + penalty;
        let slope = dot(&self.gradient, &direction);
        let penalties = trial.iter().zip(&self.penalties);
        let gradient: Vec<f64> =
            sums[1..=n].iter().zip(penalties).map(|(g, (w, l))| g + l * w).collect();
        let falls = value <= self.value + ARMIJO * step * slope
            || (value <= self.value + ROUNDING * self.value.abs()
                && dot(&gradient, &gradient) < dot(&self.gradient, &self.gradient));
        if step > 0.0 && !(value.is_finite() && falls) {
            let step = 0.5 * step;
            if step < MIN_STEP {
                return false;
            }
            let trial = along(&self.weights, step, &direction);
            self.phase = Phase::LineSearch { trial, direction, step };
            return true;
        }
        (self.weights, self.value, self.gradient) = (trial, value, gradient);
        self.iterations += u64::from(step > 0.0);
        self.converged =
            self.gradient.iter().zip(&self.penalties).all(|(g, l)| {
                g.abs() <= if *l > 0.0 { self.tolerances.0 } else { self.tolerances.1 }
            });
        if self.converged || self.iterations >= self.max_iterations {
            return false;
        }
        match n <= MAX_DENSE_HESSIAN_WEIGHTS {
            true => self.factorize_newton_system(&sums[1 + n..]),
            false => self.start_conjugate_gradient(&sums[1 + n..]),
        }
        true
    }

    /// The Newton step by a Cholesky factorization. Softmax intercepts are redundant without a penalty, so that the
    /// diagonal of unpenalized weights is raised a little, and that of all weights until the factor exists.
    fn factorize_newton_system(&mut self, packed: &[f64]) {
        let n = self.weights.len();
        let mut hessian = Matrix::zeros((n, n));
        for i in 0..n {
            for j in 0..=i {
                hessian[[i, j]] = packed[i * (i + 1) / 2 + j];
                hessian[[j, i]] = hessian[[i, j]];
            }
            match self.penalties[i] {
                0.0 => hessian[[i, i]] *= 1.0 + UNPENALIZED_RAISE,
                penalty => hessian[[i, i]] += penalty,
            }
        }
        let largest = (0..n).fold(f64::MIN_POSITIVE, |a, i| a.max(hessian[[i, i]]));
        let mut raise = 0.0;
        let factor = loop {
            match Cholesky::of(hessian.view()) {
                Some(factor) => break Some(factor),
                None if raise > largest => break None,
                None => {
                    let next = if raise == 0.0 { largest * 1e-14 } else { 100.0 * raise };
                    (0..n).for_each(|i| hessian[[i, i]] += next - raise);
                    raise = next;
                }
            }
        };
        let downhill: Vec<f64> = self.gradient.iter().map(|g| -g).collect();
        let direction = factor.map_or_else(
            || downhill.iter().map(|g| g / largest).collect(),
            |factor| factor.solve(&downhill),
        );
        let trial = along(&self.weights, 1.0, &direction);
        self.phase = Phase::LineSearch { trial, direction, step: 1.0 };
    }

    fn start_conjugate_gradient(&mut self, diagonal: &[f64]) {
        let norm = dot(&self.gradient, &self.gradient).sqrt();
        if self.first_norm == 0.0 {
            self.first_norm = norm;
        }
        // Superlinear convergence: the better the point, the better the step.
        let forcing = (norm / self.first_norm).sqrt().min(0.1);
        let floor = diagonal.iter().fold(0.0f64, |a, d| a.max(*d)) * f64::EPSILON;
        let diagonal: Vec<f64> = diagonal
            .iter()
            .zip(&self.penalties)
            .map(|(d, l)| (d + l).max(floor).max(f64::MIN_POSITIVE))
            .collect();
        let residual: Vec<f64> = self.gradient.iter().map(|g| -g).collect();
        let direction: Vec<f64> = residual.iter().zip(&diagonal).map(|(r, d)| r / d).collect();
        self.phase = Phase::ConjugateGradient(Box::new(Cg {
            solution: vec![0.0; residual.len()],
            rho: dot(&residual, &direction),
            residual,
            direction,
            diagonal,
            target: forcing * norm,
            n: 0,
        }));
    }

    fn multiplied(&mut self, mut cg: Box<Cg>, sums: &[f64]) -> bool {
        self.products += 1;
        cg.n += 1;
        let penalized = cg.direction.iter().zip(&self.penalties);
        let product: Vec<f64> = sums.iter().zip(penalized).map(|(h, (p, l))| h + l * p).collect();
        let curvature = dot(&cg.direction, &product);
        let usable = curvature > 0.0 && curvature.is_finite();
        if usable {
            let step = cg.rho / curvature;
            cg.solution.iter_mut().zip(&cg.direction).for_each(|(x, p)| *x += step * p);
            cg.residual.iter_mut().zip(&product).for_each(|(r, h)| *r -= step * h);
        }
        let norm = dot(&cg.residual, &cg.residual).sqrt();
        if !usable || norm <= cg.target || cg.n >= MAX_PRODUCTS {
            // A direction without curvature: the preconditioned gradient still descends.
            let direction = if cg.n == 1 && !usable { cg.direction } else { cg.solution };
            let trial = along(&self.weights, 1.0, &direction);
            self.phase = Phase::LineSearch { trial, direction, step: 1.0 };
            return true;
        }
        let scaled: Vec<f64> = cg.residual.iter().zip(&cg.diagonal).map(|(r, d)| r / d).collect();
        let rho = dot(&cg.residual, &scaled);
        let beta = rho / cg.rho;
        cg.direction.iter_mut().zip(&scaled).for_each(|(p, z)| *p = z + beta * *p);
        cg.rho = rho;
        self.phase = Phase::ConjugateGradient(cg);
        true
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn along(x: &[f64], step: f64, direction: &[f64]) -> Vec<f64> {
    x.iter().zip(direction).map(|(x, d)| x + step * d).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Minimizes `Σ log cosh(wᵢ − aᵢ)` with penalties; its Hessian is diagonal.
    fn minimize(targets: &[f64], penalties: Vec<f64>) -> NewtonRounds {
        let n = targets.len();
        let mut newton = NewtonRounds::new(vec![0.0; n], penalties, (1e-10, 1e-10), 100);
        loop {
            let sums = match newton.request() {
                Request::Evaluate(w) => {
                    let off: Vec<f64> = w.iter().zip(targets).map(|(w, a)| w - a).collect();
                    let loss: f64 = off.iter().map(|r| r.cosh().ln()).sum();
                    let mut sums = vec![loss];
                    sums.extend(off.iter().map(|r| r.tanh()));
                    for (i, r) in off.iter().enumerate() {
                        if n <= MAX_DENSE_HESSIAN_WEIGHTS {
                            sums.resize(sums.len() + i, 0.0);
                        }
                        sums.push(1.0 - r.tanh().powi(2));
                    }
                    sums
                }
                Request::Product(w, p) => {
                    let curvature =
                        w.iter().zip(targets).map(|(w, a)| 1.0 - (w - a).tanh().powi(2));
                    curvature.zip(p).map(|(h, p)| h * p).collect::<Vec<f64>>()
                }
            };
            if !newton.answer(&sums) {
                return newton;
            }
        }
    }

    #[test]
    fn requests_lead_to_the_minimum() {
        let newton = minimize(&[1.0, -2.0, 0.5], vec![0.5, 0.5, 0.0]);

        assert!(newton.converged && newton.violation() <= 1e-10);
        assert_eq!(newton.products, 0, "the whole Hessian is summed");
        assert!((newton.weights[2] - 0.5).abs() < 1e-9);
        // tanh(w − 1) + w / 2 = 0.
        let w = newton.weights[0];
        assert!(((w - 1.0).tanh() + 0.5 * w).abs() < 1e-9);
    }
    #[test]
    fn many_weights_are_found_by_conjugate_gradients() {
        let targets: Vec<f64> = (0..200).map(|i| f64::from(i % 7) - 3.0).collect();

        let newton = minimize(&targets, vec![0.5; 200]);

        assert!(newton.converged && newton.products > 0);
        assert!(((newton.weights[4] - 1.0).tanh() + 0.5 * newton.weights[4]).abs() < 1e-9);
    }
}
