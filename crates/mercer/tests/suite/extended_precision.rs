//! Certificates recomputed in extended precision: primal and dual objective and residuals of random problems over
//! fourteen orders of magnitude and up to a million spreads away from zero, from the training rows and the model alone.
//!
//! The double-double arithmetic here shares nothing with the library: about 32 digits (Dekker 1971).

use mercer::kernel::{Gamma, Kernel, KernelExpansion};
use mercer::kernelized::KernelRidge;
use mercer::linear::{HingeLoss, LinearSvc, LinearSvr, LogisticRegression};
use mercer::model::{Certificate, Status};
use mercer::prelude::*;
use mercer::svm::{NuSvr, OneClassSvm, Svc, Svr};
use mercer_num::random::Random;
use std::ops::{Add, Mul, Sub};

/// An unevaluated sum of two floats.
#[derive(Clone, Copy, Debug)]
struct Double(f64, f64);

const ZERO: Double = Double(0.0, 0.0);

impl From<f64> for Double {
    fn from(x: f64) -> Double {
        Double(x, 0.0)
    }
}

/// `a + b` exactly, as a rounded sum and its error (Knuth).
fn two_sum(a: f64, b: f64) -> Double {
    let sum = a + b;
    let part = sum - a;
    Double(sum, (a - (sum - part)) + (b - part))
}

impl Add for Double {
    type Output = Double;

    fn add(self, other: Double) -> Double {
        let Double(high, low) = two_sum(self.0, other.0);
        let Double(tail, rest) = two_sum(self.1, other.1);
        let Double(high, low) = two_sum(high, low + tail);
        two_sum(high, low + rest)
    }
}

impl Sub for Double {
    type Output = Double;

    fn sub(self, other: Double) -> Double {
        self + Double(-other.0, -other.1)
    }
}

impl Mul for Double {
    type Output = Double;

    fn mul(self, other: Double) -> Double {
        let product = self.0 * other.0;
        let error = self.0.mul_add(other.0, -product);
        two_sum(product, error + (self.0 * other.1 + self.1 * other.0))
    }
}

impl Double {
    fn value(self) -> f64 {
        self.0 + self.1
    }

    fn abs(self) -> Double {
        if self.0 < 0.0 { ZERO - self } else { self }
    }

    fn positive_part(self) -> Double {
        if self.0 > 0.0 { self } else { ZERO }
    }

    /// `eˣ = (e^r)^256 · 2^k` with `x = k ln 2 + 256 r` and the Taylor series of `e^r`.
    fn exp(self) -> Double {
        const LN_2: Double = Double(std::f64::consts::LN_2, 2.319_046_813_846_299_6e-17);
        if self.0 < -700.0 {
            return ZERO;
        }
        let k = (self.0 / LN_2.0).round();
        let r = (self - LN_2 * k.into()) * Double::from(1.0 / 256.0);
        let (mut sum, mut term) = (Double(1.0, 0.0), Double(1.0, 0.0));
        for n in 1..=14 {
            // 1/n to 32 digits: one Newton step from the rounded quotient.
            let inverse = Double::from(1.0 / f64::from(n));
            let inverse = inverse * (Double(2.0, 0.0) - inverse * f64::from(n).into());
            term = term * r * inverse;
            sum = sum + term;
        }
        (0..8).for_each(|_| sum = sum * sum);
        let power = 2f64.powi(k as i32);
        Double(sum.0 * power, sum.1 * power)
    }
}

fn sum(terms: impl Iterator<Item = Double>) -> Double {
    terms.fold(ZERO, |a, b| a + b)
}

/// Rows of a random problem with their scale.
struct Problem {
    x: Matrix,
    codes: Vec<u32>,
    targets: Vec<f64>,
    scale: f64,
}

impl Problem {
    /// Scales from 1e-6 to 1e8, offsets up to a million spreads, some rows twice.
    fn random(random: &mut Random) -> Problem {
        let (n, width) = (10 + random.below(22), 1 + random.below(4));
        let scale = 10f64.powf(-6.0 + 14.0 * random.uniform());
        let offset = match random.below(3) {
            0 => 0.0,
            _ => scale * 10f64.powf(6.0 * random.uniform()),
        };
        let codes: Vec<u32> = (0..n).map(|i| (i % 2) as u32).collect();
        let mut x = Matrix::from_shape_fn((n, width), |(i, _)| {
            offset + scale * (random.normal() + 1.2 * f64::from(codes[i]))
        });
        if random.uniform() < 0.3 {
            for i in n / 2..n {
                let copy = x.row(i - n / 2).to_owned();
                x.row_mut(i).assign(&copy);
            }
        }
        let noise: Vec<f64> = (0..n).map(|_| 0.3 * random.normal()).collect();
        let targets = (0..n).map(|i| (x[[i, 0]] - offset) / scale + noise[i]).collect();
        Problem { x, codes, targets, scale }
    }

    fn n(&self) -> usize {
        self.x.nrows()
    }

    fn kernel(&self, expansion: &KernelExpansion, i: usize, j: usize) -> Double {
        let function = &expansion.function;
        let cell = |i: usize, c: usize| Double::from(self.x[[i, c]]);
        let columns = 0..self.x.ncols();
        let gamma = Double::from(function.gamma);
        let inner = |i: usize, j: usize| sum(columns.clone().map(|c| cell(i, c) * cell(j, c)));
        match function.kernel {
            Kernel::Linear => inner(i, j),
            Kernel::Poly => {
                let base = gamma * inner(i, j) + function.coef0.into();
                (1..function.degree).fold(base, |power, _| power * base)
            }
            Kernel::Laplacian => {
                let distance = sum(columns.clone().map(|c| (cell(i, c) - cell(j, c)).abs()));
                (ZERO - gamma * distance).exp()
            }
            _ => {
                let square = |d: Double| d * d;
                let distance = sum(columns.clone().map(|c| square(cell(i, c) - cell(j, c))));
                (ZERO - gamma * distance).exp()
            }
        }
    }

    /// `w·xᵢ` of every row with `w = Σₖ βₖ (xₖ − x₁)`, and `‖w‖²`: a linear kernel whose coefficients sum to zero, so that
    /// the origin does not matter, except for the rounding of their sum.
    fn linear_outputs(&self, expansion: &KernelExpansion) -> (Vec<Double>, Double) {
        let beta = expansion.coefficients.row(0);
        let cell = |i: usize, c: usize| Double::from(self.x[[i, c]]);
        let weight = |c: usize| {
            let rows = expansion.support.iter().zip(beta);
            sum(rows.map(|(k, b)| Double::from(*b) * (cell(*k as usize, c) - cell(0, c))))
        };
        let w: Vec<Double> = (0..self.x.ncols()).map(weight).collect();
        let output = |i: usize| sum(w.iter().enumerate().map(|(c, w)| *w * cell(i, c)));
        ((0..self.n()).map(output).collect(), sum(w.iter().map(|w| *w * *w)))
    }

    /// `Σₖ βₖ K(xₖ, xᵢ)` of every row, and `βᵀKβ`.
    fn outputs(&self, expansion: &KernelExpansion) -> (Vec<Double>, Double) {
        let beta: Vec<Double> = expansion.coefficients.row(0).iter().map(|b| (*b).into()).collect();
        let total = sum(beta.iter().copied()).value().abs();
        let largest = beta.iter().fold(0.0f64, |most, b| most.max(b.0.abs()));
        if expansion.function.kernel == Kernel::Linear && total <= 1e-6 * largest {
            return self.linear_outputs(expansion);
        }
        let support: Vec<usize> = expansion.support.iter().map(|i| *i as usize).collect();
        let output = |i: usize| {
            sum(support.iter().zip(&beta).map(|(k, b)| *b * self.kernel(expansion, *k, i)))
        };
        let all: Vec<Double> = (0..self.n()).map(output).collect();
        let norm = sum(support.iter().zip(&beta).map(|(k, b)| *b * all[*k]));
        (all, norm)
    }
}

/// The claims of a certificate against the truth.
struct Truth {
    primal: f64,
    /// The value of the dual objective at the dual variables of the model; `None` if they are not stored.
    dual: Option<f64>,
}

/// What is wrong about a certificate. A stated rounding error may raise the primal and lower the dual objective, never the
/// other way round.
fn untrue(certificate: &Certificate, truth: &Truth) -> Option<String> {
    let (Some(primal), Some(dual)) = (certificate.primal(), certificate.dual) else {
        return Some("no objectives".into());
    };
    let size = truth.primal.abs().max(truth.dual.unwrap_or(0.0).abs());
    let claims = format!("claimed {primal:.9e} and {dual:.9e}");
    let true_dual = truth.dual.unwrap_or(dual);
    let text = certificate.to_string();
    let is_lowered = text.contains("rounding error");
    let (below, above) = (truth.primal - 1e-6 * size, truth.primal + 1e-6 * size);
    if primal < below || (!is_lowered && primal > above) {
        return Some(format!("{claims}, true primal {:.9e}: {text}", truth.primal));
    }
    if dual > true_dual + 1e-6 * size || (!is_lowered && dual < true_dual - 1e-6 * size) {
        return Some(format!("{claims}, true dual {true_dual:.9e}: {text}"));
    }
    (dual > truth.primal + 1e-9 * size).then(|| format!("{claims}, bound above a reached value"))
}

fn kernel_of(k: usize, problem: &Problem, random: &mut Random) -> (Kernel, Gamma, f64) {
    let strength = 10f64.powf(-1.0 + 2.0 * random.uniform());
    let square = problem.scale.powi(2);
    match k % 5 {
        0 => (Kernel::Linear, Gamma::Number(1.0), strength / square),
        1 => (Kernel::Rbf, Gamma::Number(0.5 / square), strength),
        2 => (Kernel::Laplacian, Gamma::Number(0.5 / problem.scale), strength),
        // A cost that does not follow the scale.
        3 => (Kernel::Linear, Gamma::Number(1.0), strength.powi(4) / square.min(1e12)),
        // A polynomial sees the offset.
        _ => (Kernel::Poly, Gamma::Number(0.5 / square), strength),
    }
}

fn classification(k: usize, problem: &Problem, random: &mut Random) -> (Certificate, Truth) {
    let (kernel, gamma, c) = kernel_of(k, problem, random);
    let classes = Classes::from_names(["minus", "plus"]);
    let data = Dataset::classes(&problem.x, &problem.codes, &classes).unwrap();
    let svc = Svc::new().kernel(kernel).gamma(gamma).degree(2).coef0(1.0).C(c);
    let fitted = svc.fit(&data, &Monitor::quiet()).unwrap();
    let (f, norm) = problem.outputs(&fitted.expansion);
    let b = Double::from(fitted.expansion.intercepts[0]);
    let sign = |i: usize| Double::from(if problem.codes[i] == 1 { 1.0 } else { -1.0 });
    let one = Double::from(1.0);
    let slack = sum((0..f.len()).map(|i| (one - sign(i) * (f[i] + b)).positive_part()));
    let alphas = sum(fitted.expansion.coefficients.iter().map(|b| b.abs().into()));
    let half = norm * Double::from(0.5);
    let primal = (half + slack * c.into()).value();
    (fitted.certificate, Truth { primal, dual: Some((alphas - half).value()) })
}

fn regression(k: usize, problem: &Problem, random: &mut Random) -> (Certificate, Truth) {
    let (kernel, gamma, c) = kernel_of(k, problem, random);
    let data = Dataset::regression(&problem.x, &problem.targets).unwrap();
    let svr = Svr::new().kernel(kernel).gamma(gamma).degree(2).coef0(1.0).C(c).epsilon(0.1);
    let fitted = svr.fit(&data, &Monitor::quiet()).unwrap();
    let (f, norm) = problem.outputs(&fitted.expansion);
    let b = Double::from(fitted.expansion.intercepts[0]);
    let epsilon = Double::from(0.1);
    let residual = |i: usize| (Double::from(problem.targets[i]) - (f[i] + b)).abs();
    let loss = sum((0..f.len()).map(|i| (residual(i) - epsilon).positive_part()));
    let support = fitted.expansion.support.iter().map(|i| problem.targets[*i as usize]);
    let beta = fitted.expansion.coefficients.row(0);
    let linear = sum(beta
        .iter()
        .zip(support)
        .map(|(b, y)| Double::from(*b) * y.into() - epsilon * b.abs().into()));
    let half = norm * Double::from(0.5);
    let truth =
        Truth { primal: (half + loss * c.into()).value(), dual: Some((linear - half).value()) };
    (fitted.certificate, truth)
}

/// The dual objective of ν regression; the primal objective is at least the smallest over all widths of the tube.
fn nu_regression(k: usize, problem: &Problem, random: &mut Random) -> (Certificate, Truth) {
    let (kernel, gamma, c) = kernel_of(k, problem, random);
    let data = Dataset::regression(&problem.x, &problem.targets).unwrap();
    let nu = 0.4;
    let svr = NuSvr::new().kernel(kernel).gamma(gamma).degree(2).coef0(1.0).C(c).nu(nu);
    let fitted = svr.fit(&data, &Monitor::quiet()).unwrap();
    let (f, norm) = problem.outputs(&fitted.expansion);
    let b = Double::from(fitted.expansion.intercepts[0]);
    let residuals: Vec<Double> =
        (0..f.len()).map(|i| (Double::from(problem.targets[i]) - (f[i] + b)).abs()).collect();
    let half = norm * Double::from(0.5);
    let objective = |epsilon: Double| {
        let loss = sum(residuals.iter().map(|r| (*r - epsilon).positive_part()));
        let width = epsilon * (nu * f.len() as f64).into();
        (half + (loss + width) * c.into()).value()
    };
    let best = residuals.iter().map(|r| objective(*r)).fold(objective(ZERO), f64::min);
    let support = fitted.expansion.support.iter().map(|i| problem.targets[*i as usize]);
    let beta = fitted.expansion.coefficients.row(0);
    let linear = sum(beta.iter().zip(support).map(|(b, y)| Double::from(*b) * Double::from(y)));
    let dual = (linear - half).value();
    let claimed = fitted.certificate.primal().unwrap();
    // The tube of the certificate is a little wider or narrower than the best one.
    let near =
        claimed >= best - 1e-6 * best.abs() && claimed - best <= 1e-2 * best.abs().max(dual.abs());
    let primal = if near || !fitted.certificate.status.is_converged() { claimed } else { best };
    (fitted.certificate, Truth { primal: primal.max(best - 1e-6 * best.abs()), dual: Some(dual) })
}

fn one_class(k: usize, problem: &Problem, random: &mut Random) -> (Certificate, Truth) {
    let (kernel, gamma, _) = kernel_of(k, problem, random);
    let fitted = OneClassSvm::new()
        .kernel(kernel)
        .gamma(gamma)
        .degree(2)
        .coef0(1.0)
        .nu(0.3)
        .fit(&Dataset::unlabeled(&problem.x), &Monitor::quiet())
        .unwrap();
    let (f, norm) = problem.outputs(&fitted.expansion);
    let b = Double::from(fitted.expansion.intercepts[0]);
    let half = norm * Double::from(0.5);
    let loss = sum(f.iter().map(|f| (ZERO - *f - b).positive_part()));
    let total = sum(fitted.expansion.coefficients.iter().map(|b| (*b).into()));
    let primal = (half + loss + b * total).value();
    (fitted.certificate, Truth { primal, dual: Some((ZERO - half).value()) })
}

/// Residual of the equations `(K + αI) c = y`, relative to the targets, claimed and true.
fn ridge(k: usize, problem: &Problem, random: &mut Random) -> Option<String> {
    let (kernel, gamma, _) = kernel_of(k, problem, random);
    let alpha = 10f64.powf(-4.0 + 5.0 * random.uniform());
    let ridge =
        KernelRidge::new().kernel(kernel).gamma(Some(gamma)).degree(2).coef0(1.0).alpha(alpha);
    let data = Dataset::regression(&problem.x, &problem.targets).unwrap();
    let fitted = ridge.fit(&data, &Monitor::quiet()).unwrap();
    let (f, _) = problem.outputs(&fitted.expansion);
    let coefficients = fitted.expansion.coefficients.row(0);
    let residual = |i: usize| {
        let regularized = f[i] + Double::from(alpha) * coefficients[i].into();
        (Double::from(problem.targets[i]) - regularized).abs().value()
    };
    let most = problem.targets.iter().fold(0.0f64, |most, y| most.max(y.abs()));
    let found = (0..problem.n()).map(residual).fold(0.0, f64::max) / most;
    let claimed = fitted.certificate.violation.as_ref().unwrap().value;
    let text = &fitted.certificate;
    if found > 1e-9 && !(0.1..10.0).contains(&(claimed / found)) {
        return Some(format!("claimed residual {claimed:.1e}, true {found:.1e}: {text}"));
    }
    (text.status == Status::ClosedForm && found > 1e-5)
        .then(|| format!("exact, but the residual is {found:.1e}: {text}"))
}

/// The primal objective of a linear model from its coefficients; its bound is compared with a much closer fit.
fn linear(k: usize, problem: &Problem, random: &mut Random) -> Option<String> {
    let c = 10f64.powf(-1.0 + 2.0 * random.uniform()) / problem.scale.powi(2);
    let classes = Classes::from_names(["minus", "plus"]);
    let quiet = Monitor::quiet();
    let labeled = Dataset::classes(&problem.x, &problem.codes, &classes).unwrap();
    let numeric = Dataset::regression(&problem.x, &problem.targets).unwrap();
    let score = |w: &[f64], b: f64, i: usize| {
        let terms = w.iter().zip(problem.x.row(i)).map(|(w, x)| Double::from(*w) * (*x).into());
        sum(terms) + b.into()
    };
    let square = |v: Double| v * v;
    let half_norm = |w: &[f64]| sum(w.iter().map(|w| square((*w).into()))) * Double::from(0.5);
    let sign = |i: usize| Double::from(if problem.codes[i] == 1 { 1.0 } else { -1.0 });
    let (certificate, closer, primal) = match k % 4 {
        kind @ (0 | 1) => {
            let loss = if kind == 0 { HingeLoss::Hinge } else { HingeLoss::SquaredHinge };
            let svc = LinearSvc::new().loss(loss).C(c);
            let fitted = svc.fit(&labeled, &quiet).unwrap();
            let closer = svc.tol(1e-10).max_iter(10_000).fit(&labeled, &quiet).unwrap();
            let (w, b) = (fitted.coefficients.row(0).to_vec(), fitted.intercepts[0]);
            let losses = (0..problem.n()).map(|i| {
                let d = (Double::from(1.0) - sign(i) * score(&w, b, i)).positive_part();
                if kind == 0 { d } else { d * d }
            });
            let penalty = half_norm(&w) + half_norm(&[b]);
            (fitted.certificate, closer.certificate, penalty + sum(losses) * c.into())
        }
        2 => {
            let svr = LinearSvr::new().C(c).epsilon(0.1);
            let fitted = svr.fit(&numeric, &quiet).unwrap();
            let closer = svr.tol(1e-10).max_iter(10_000).fit(&numeric, &quiet).unwrap();
            let losses = (0..problem.n()).map(|i| {
                let off = Double::from(problem.targets[i]);
                let off = (off - score(&fitted.coefficients, fitted.intercept, i)).abs();
                (off - Double::from(0.1)).positive_part()
            });
            let penalty = half_norm(&fitted.coefficients) + half_norm(&[fitted.intercept]);
            let primal = penalty + sum(losses) * c.into();
            (fitted.certificate, closer.certificate, primal)
        }
        _ => {
            let logistic = LogisticRegression::new().C(c);
            let fitted = logistic.fit(&labeled, &quiet).unwrap();
            let closer = logistic.tol(1e-12).max_iter(10_000).fit(&labeled, &quiet).unwrap();
            let (w, b) = (fitted.coefficients.row(0).to_vec(), fitted.intercepts[0]);
            let losses = (0..problem.n()).map(|i| {
                let z = (sign(i) * score(&w, b, i)).value();
                Double::from((-z.abs()).exp().ln_1p() + (-z).max(0.0))
            });
            (fitted.certificate, closer.certificate, half_norm(&w) + sum(losses) * c.into())
        }
    };
    let best = closer.primal().unwrap();
    let dual = certificate.dual.unwrap_or(f64::NAN);
    if dual > best + 1e-6 * best.abs() {
        return Some(format!("the bound {dual:.9e} lies above {best:.9e}: {certificate}"));
    }
    untrue(&certificate, &Truth { primal: primal.value(), dual: None })
}

#[test]
fn objectives_and_residuals_hold_in_extended_precision() {
    let mut random = Random::new(31);
    let (mut failures, mut n_converged, mut checked) = (Vec::new(), [0; 5], 0);
    for k in 0..500 {
        let problem = Problem::random(&mut random);
        let (what, wrong) = match k % 25 {
            0..=7 | 20 | 24 => {
                let (certificate, truth) = classification(k, &problem, &mut random);
                n_converged[k % 5] += usize::from(certificate.status.is_converged());
                ("svc", untrue(&certificate, &truth))
            }
            8..=12 => {
                let (certificate, truth) = regression(k, &problem, &mut random);
                ("svr", untrue(&certificate, &truth))
            }
            13 | 14 => {
                let (certificate, truth) = nu_regression(k, &problem, &mut random);
                ("nu-svr", untrue(&certificate, &truth))
            }
            15 | 16 => {
                let (certificate, truth) = one_class(k, &problem, &mut random);
                ("one-class-svm", untrue(&certificate, &truth))
            }
            17..=19 => ("kernel-ridge", ridge(k / 25 + k, &problem, &mut random)),
            _ => ("linear", linear(k / 25, &problem, &mut random)),
        };
        if let Some(why) = wrong {
            let (scale, first) = (problem.scale, problem.x[[0, 0]]);
            failures.push(format!(
                "{k} {what}, kernel {}, scale {scale:.1e}, x {first:.9e}: {why}",
                k % 5
            ));
        }
        checked += 1;
    }
    println!(
        "promise 4: {checked} certificates in extended precision, {} failures",
        failures.len()
    );
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    assert_eq!(checked, 500);
    // Costs in the units of the kernel converge.
    assert!(n_converged[..3].iter().all(|n| *n >= 35), "{n_converged:?}");
}

#[test]
fn the_arithmetic_has_thirty_digits() {
    let third = Double::from(1.0 / 3.0);
    let error = third * Double::from(3.0) - Double::from(1.0);
    assert!(error.value().abs() < 1e-16 && error.value() != 0.0);
    // e = 2.718281828459045 + 1.4456468917292502e-16.
    let e = Double::from(1.0).exp();
    assert_eq!(e.0, std::f64::consts::E);
    assert!((e.1 - 1.445_646_891_729_250_2e-16).abs() < 1e-30);
    let inverse = Double::from(-1.0).exp() * e - Double::from(1.0);
    assert!(inverse.value().abs() < 1e-29);
}
