//! Certificates of support vector machines tell the truth: objectives recomputed from differences of rows over many
//! scales and offsets, kernels that are not positive semi-definite, and problems that rounding makes unsolvable.

use mercer::kernel::{Gamma, Kernel};
use mercer::model::Status;
use mercer::prelude::*;
use mercer::svm::{KernelExpansion, Margin, NuSvc, NuSvr, OneClassSvm, Svc, Svr};
use mercer_num::random::Random;
use ndarray::array;

fn two() -> Classes {
    Classes::from_names(["minus", "plus"])
}

/// Rows of a random problem with its scale and offset.
struct Problem {
    x: Matrix,
    codes: Vec<u32>,
    targets: Vec<f64>,
    scale: f64,
}

impl Problem {
    /// Scales from 1e-6 to 1e8, offsets up to a million spreads, sometimes with duplicate rows.
    fn random(random: &mut Random) -> Problem {
        let (n, width) = (12 + random.below(20), 1 + random.below(4));
        let scale = 10f64.powf(-6.0 + 14.0 * random.uniform());
        let offset = scale * 10f64.powf(6.0 * random.uniform());
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

    /// The kernel of two rows from differences of cells, which have no cancellation. A linear kernel is centered at the
    /// first row: the coefficients sum to zero.
    fn kernel(&self, expansion: &KernelExpansion, i: usize, j: usize) -> f64 {
        let function = &expansion.function;
        let columns = 0..self.x.ncols();
        match function.kernel {
            Kernel::Linear => columns
                .map(|c| (self.x[[i, c]] - self.x[[0, c]]) * (self.x[[j, c]] - self.x[[0, c]]))
                .sum(),
            Kernel::Laplacian => {
                let sum: f64 = columns.map(|c| (self.x[[i, c]] - self.x[[j, c]]).abs()).sum();
                (-function.gamma * sum).exp()
            }
            _ => {
                let sum: f64 = columns.map(|c| (self.x[[i, c]] - self.x[[j, c]]).powi(2)).sum();
                (-function.gamma * sum).exp()
            }
        }
    }

    /// `f(xᵢ)` of every row, and `‖w‖²`.
    fn outputs(&self, expansion: &KernelExpansion) -> (Vec<f64>, f64) {
        let beta = expansion.coefficients.row(0);
        let support: Vec<usize> = expansion.support.iter().map(|i| *i as usize).collect();
        let sum = |i: usize| -> f64 {
            support.iter().zip(beta).map(|(k, b)| b * self.kernel(expansion, *k, i)).sum()
        };
        // f(x) = Σ β x·z + b = Σ β (x − o)·(z − o) + w·o + b.
        let shift = match expansion.function.kernel {
            Kernel::Linear => (0..self.x.ncols())
                .map(|c| {
                    let w: f64 = support
                        .iter()
                        .zip(beta)
                        .map(|(k, b)| b * (self.x[[*k, c]] - self.x[[0, c]]))
                        .sum();
                    w * self.x[[0, c]]
                })
                .sum(),
            _ => 0.0,
        };
        let norm = support.iter().zip(beta).map(|(k, b)| b * sum(*k)).sum();
        let intercept = expansion.intercepts[0] + shift;
        ((0..self.x.nrows()).map(|i| sum(i) + intercept).collect(), norm)
    }
}

/// Compares the primal and dual objective of a certificate with recomputed ones.
#[track_caller]
fn assert_true(certificate: &mercer::model::Certificate, primal: f64, dual: f64, what: &str) {
    let size = primal.abs().max(dual.abs());
    let claimed = (certificate.primal().unwrap(), certificate.dual.unwrap());
    assert!(
        (claimed.0 - primal).abs() <= 1e-6 * size,
        "{what}: {claimed:?}, true {primal}, {dual}"
    );
    // The dual may be lowered by a stated rounding error, never raised.
    assert!(claimed.1 <= dual + 1e-6 * size, "{what}: {claimed:?}, true {primal}, {dual}");
    let lowered = certificate.to_string().contains("rounding error");
    assert!(
        lowered || claimed.1 >= dual - 1e-6 * size,
        "{what}: {claimed:?}, true {primal}, {dual}"
    );
    assert!(dual <= primal + 1e-9 * size, "{what}: the dual exceeds the primal objective");
}

#[test]
fn objectives_far_from_zero_are_those_of_differences() {
    let mut random = Random::new(7);
    let classes = two();
    let (mut checked, mut converged) = (0, 0);
    for k in 0..400 {
        let problem = Problem::random(&mut random);
        let kernel = [Kernel::Linear, Kernel::Rbf, Kernel::Laplacian][k % 3].clone();
        let strength = 10f64.powf(-1.0 + 2.0 * random.uniform());
        let c = if kernel == Kernel::Linear { strength / problem.scale.powi(2) } else { strength };
        let gamma = Gamma::Number(match kernel {
            Kernel::Laplacian => 0.5 / problem.scale,
            _ => 0.5 / problem.scale.powi(2),
        });
        let what = format!(
            "problem {k}, {kernel}, scale {:.1e}, x {:.17e}",
            problem.scale,
            problem.x[[0, 0]]
        );
        let quiet = Monitor::quiet();
        if k % 2 == 0 {
            let data = Dataset::classes(&problem.x, &problem.codes, &classes).unwrap();
            let svc = Svc::new().kernel(kernel).gamma(gamma).C(c);
            let fitted = svc.fit(&data, &quiet).unwrap();
            let (f, norm) = problem.outputs(&fitted.expansion);
            let sign = |i: usize| if problem.codes[i] == 1 { 1.0 } else { -1.0 };
            let slack: f64 = (0..f.len()).map(|i| (1.0 - sign(i) * f[i]).max(0.0)).sum();
            let alphas: f64 = fitted.expansion.coefficients.iter().map(|b| b.abs()).sum();
            assert_true(&fitted.certificate, 0.5 * norm + c * slack, alphas - 0.5 * norm, &what);
            converged += usize::from(fitted.certificate.status.is_converged());
        } else {
            let data = Dataset::regression(&problem.x, &problem.targets).unwrap();
            let fitted = Svr::new()
                .kernel(kernel)
                .gamma(gamma)
                .C(c)
                .epsilon(0.1)
                .fit(&data, &quiet)
                .unwrap();
            let (f, norm) = problem.outputs(&fitted.expansion);
            let residuals = f.iter().zip(&problem.targets).map(|(f, y)| (y - f).abs());
            let loss: f64 = residuals.map(|r| (r - 0.1).max(0.0)).sum();
            let support = fitted.expansion.support.iter().map(|i| problem.targets[*i as usize]);
            let beta = fitted.expansion.coefficients.row(0);
            let linear: f64 = beta.iter().zip(support).map(|(b, y)| b * y - 0.1 * b.abs()).sum();
            assert_true(&fitted.certificate, 0.5 * norm + c * loss, linear - 0.5 * norm, &what);
            converged += usize::from(fitted.certificate.status.is_converged());
        }
        checked += 1;
    }
    assert_eq!(checked, 400);
    assert!(converged >= 398, "{converged} of {checked} converged");
}

#[test]
fn rows_at_two_hundred_million_have_the_certificate_of_centered_rows() {
    let mut random = Random::new(1);
    let classes = two();
    let mut centered = Matrix::from_shape_fn((40, 3), |_| (random.normal() * 3e3).round());
    for i in 20..40 {
        let copy = centered.row(i - 20).to_owned();
        centered.row_mut(i).assign(&copy);
    }
    let codes: Vec<u32> = (0..40).map(|_| random.below(2) as u32).collect();
    let far = &centered + 2e8;
    for kernel in [Kernel::Rbf, Kernel::Laplacian, Kernel::Linear] {
        let fit = |x: &Matrix| {
            let data = Dataset::classes(x, &codes, &classes).unwrap();
            let gamma = if kernel == Kernel::Rbf { 1.0 / 3.0 } else { 1e-3 };
            let c = if kernel == Kernel::Linear { 1e-6 } else { 23.0 };
            let svc = Svc::new().kernel(kernel.clone()).gamma(gamma.into()).C(c).tol(1e-8);
            svc.fit(&data, &Monitor::quiet()).unwrap()
        };

        let (near, far) = (fit(&centered), fit(&far));

        let value = |f: &Fitted<_>| (f.certificate.primal().unwrap(), f.certificate.dual.unwrap());
        let ((p, d), (far_p, far_d)) = (value(&near), value(&far));
        assert!(
            (p - far_p).abs() <= 1e-7 * p && (d - far_d).abs() <= 1e-7 * p,
            "{kernel}: {p}, {far_p}"
        );
        assert!(far.certificate.status.is_converged(), "{}", far.certificate);
    }
}

#[test]
fn kernels_that_are_not_positive_semi_definite_have_no_duality_gap() {
    let mut random = Random::new(3);
    let x =
        Matrix::from_shape_fn((60, 4), |(i, j)| random.normal() + f64::from((i + j) as u32 % 2));
    let negated = -x.dot(&x.t());
    let codes: Vec<u32> = (0..60).map(|i| i as u32 % 2).collect();
    let y: Vec<f64> = (0..60).map(|i| x[[i, 0]]).collect();
    let classes = two();
    let quiet = Monitor::quiet();
    let labeled = Dataset::classes(&negated, &codes, &classes).unwrap();
    let numeric = Dataset::regression(&negated, &y).unwrap();
    let given = || Kernel::Precomputed;

    let certificates = [
        Svc::new().kernel(given()).fit(&labeled, &quiet).unwrap().certificate,
        Svc::new().kernel(given()).gap(Some(1e-3)).fit(&labeled, &quiet).unwrap().certificate,
        Svr::new().kernel(given()).fit(&numeric, &quiet).unwrap().certificate,
        NuSvr::new().kernel(given()).fit(&numeric, &quiet).unwrap().certificate,
        OneClassSvm::new().kernel(given()).fit(&numeric, &quiet).unwrap().certificate,
    ];

    for certificate in &certificates {
        let text = certificate.to_string();
        assert_eq!((certificate.dual, certificate.duality_gap()), (None, None), "{text}");
        assert!(!certificate.status.is_converged(), "{text}");
        assert!(text.contains("not positive semi-definite (smallest eigenvalue -"), "{text}");
        assert!(text.contains("not convex, no duality gap"), "{text}");
    }
    assert_eq!(certificates[0].status, Status::Stationary);
    if let Ok(fitted) = NuSvc::new().kernel(given()).nu(0.3).fit(&labeled, &quiet) {
        assert_eq!(fitted.certificate.dual, None);
    }
    // A sigmoid with these parameters has negative eigenvalues on these rows; the positive matrix has none.
    let rows = Dataset::classes(&x, &codes, &classes).unwrap();
    let sigmoid = Svc::new().kernel(Kernel::Sigmoid).gamma(1.0.into()).coef0(-1.0);
    assert_eq!(sigmoid.fit(&rows, &quiet).unwrap().certificate.dual, None);
    let positive = x.dot(&x.t());
    let data = Dataset::classes(&positive, &codes, &classes).unwrap();
    let certificate = Svc::new().kernel(given()).fit(&data, &quiet).unwrap().certificate;
    assert!(certificate.status.is_converged() && certificate.dual.is_some(), "{certificate}");
    // A hard margin is a distance, which such a kernel does not have.
    let hard = Svc::new().kernel(given()).margin(Margin::Hard).fit(&labeled, &quiet);
    assert!(hard.unwrap_err().to_string().contains("positive semi-definite"));
}

#[test]
fn a_linear_kernel_of_huge_values_ends_early_with_a_remedy_and_a_useful_model() {
    // Columns of 1e8 and C = 1: C K(x, x) is about 5e16, and rounding alone exceeds the tolerance.
    let mut random = Random::new(5);
    let x = Matrix::from_shape_fn((200, 5), |_| random.normal() * 1e8);
    let codes: Vec<u32> = (0..200)
        .map(|i| u32::from(x[[i, 0]] + 0.5 * x[[i, 1]] + 0.7e8 * random.normal() > 0.0))
        .collect();
    let classes = two();
    let data = Dataset::classes(&x, &codes, &classes).unwrap();

    let fitted = Svc::new().kernel(Kernel::Linear).fit(&data, &Monitor::quiet()).unwrap();

    let text = fitted.certificate.to_string();
    let predicted = fitted.predict(&Rows::from(&x)).unwrap();
    let right = predicted.iter().zip(&codes).filter(|(a, b)| a == b).count();
    assert!(right >= 150, "{right} of 200: {text}");
    if !fitted.certificate.status.is_converged() {
        assert!(text.contains("standardize the columns"), "{text}");
        assert!(fitted.certificate.iterations < 5_000_000, "{text}");
    }
}

#[test]
fn values_that_have_no_answer_are_refused() {
    let quiet = Monitor::quiet();
    let classes = two();
    let codes = [0, 1, 0, 1, 0, 1];
    let constant = Matrix::ones((6, 1));
    let data = Dataset::classes(&constant, &codes, &classes).unwrap();
    let message = NuSvc::new().nu(0.3).fit(&data, &quiet).unwrap_err().to_string();
    assert!(message.contains("the margin ρ of `minus` and `plus`"), "{message}");

    let large = Matrix::from_shape_fn((6, 2), |(i, j)| 1e10 * (i + j + 1) as f64);
    let data = Dataset::classes(&large, &codes, &classes).unwrap();
    let numeric = Dataset::regression(&large, &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
    let one = Gamma::Number(1.0);
    let poly = || Kernel::Poly;
    let messages = [
        Svc::new().kernel(poly()).degree(50).gamma(one).fit(&data, &quiet).err(),
        NuSvc::new().kernel(poly()).degree(50).gamma(one).fit(&data, &quiet).err(),
        Svr::new().kernel(poly()).degree(50).gamma(one).fit(&numeric, &quiet).err(),
        NuSvr::new().kernel(poly()).degree(50).gamma(one).fit(&numeric, &quiet).err(),
        OneClassSvm::new().kernel(poly()).degree(50).gamma(one).fit(&numeric, &quiet).err(),
    ];
    for error in messages {
        let message = error.unwrap().to_string();
        assert!(
            message.contains("row 1 with itself") && message.contains("scale the columns"),
            "{message}"
        );
    }
    let weighted = numeric.weighted(&[1e300; 6]).unwrap();
    assert!(OneClassSvm::new().fit(&weighted, &quiet).is_err());

    let infinite = Svc::new().C(f64::INFINITY).fit(&data, &quiet).unwrap_err().to_string();
    assert!(infinite.contains("`margin` to `hard`"), "{infinite}");
}

#[test]
fn a_decision_function_without_weights_has_no_margin() {
    // Exclusive or with a linear kernel: w = 0.
    let x = array![[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]];
    let classes = two();
    let data = Dataset::classes(&x, &[0, 0, 1, 1], &classes).unwrap();

    let fitted = Svc::new().kernel(Kernel::Linear).fit(&data, &Monitor::quiet()).unwrap();

    let text = fitted.certificate.to_string();
    assert!(text.contains("w = 0: the decision function is constant and has no margin"), "{text}");
    assert_eq!(fitted.class_margins()[0].margin, None);
    // The file format keeps it.
    fitted.check().unwrap();
}

/// Rows of two classes in two columns whose hulls are `gap` apart, or intersect if it is negative.
fn two_clouds(random: &mut Random, n: usize, gap: f64) -> (Matrix, Vec<u32>) {
    let codes: Vec<u32> = (0..n).map(|i| i as u32 % 2).collect();
    let angle = 6.0 * random.uniform();
    let x = Matrix::from_shape_fn((n, 2), |_| random.uniform());
    let x = Matrix::from_shape_fn((n, 2), |(i, j)| {
        let side = if codes[i] == 1 { x[[i, 0]] + 0.5 * gap } else { -x[[i, 0]] - 0.5 * gap };
        let along = 4.0 * x[[i, 1]];
        if j == 0 {
            side * angle.cos() - along * angle.sin()
        } else {
            side * angle.sin() + along * angle.cos()
        }
    });
    (x, codes)
}

#[test]
fn hard_margins_do_not_depend_on_origin_and_scale() {
    let classes = two();
    let fit = |x: &Matrix, codes: &[u32], kernel: Kernel, gamma: f64| {
        let data = Dataset::classes(x, codes, &classes).unwrap();
        let svc = Svc::new().kernel(kernel).gamma(gamma.into()).margin(Margin::Hard).tol(1e-6);
        svc.fit(&data, &Monitor::quiet())
    };
    // The input that was refused: one column at a million.
    let x = array![[1e6], [1e6 + 1.0], [1e6 + 2.0], [1e6 + 3.0]];
    let found = fit(&x, &[0, 0, 1, 1], Kernel::Linear, 1.0).unwrap();
    assert!((found.margins[0] - 0.5).abs() < 1e-9, "{}", found.certificate);
    assert_eq!(found.predict(&Rows::from(&x)).unwrap(), [0, 0, 1, 1]);

    let mut random = Random::new(12);
    let (mut separated, mut intersecting) = (0, 0);
    for k in 0..40 {
        let gap = [0.3, 0.01, -0.4, 1e-4][k % 4];
        let (x, codes) = two_clouds(&mut random, 24, gap);
        let plain = fit(&x, &codes, Kernel::Linear, 1.0);
        for (offset, scale) in [(1e6, 1.0), (-3e7, 1.0), (0.0, 1e-6), (1e4, 1e5), (1e9, 1e4)] {
            // Rounded cells are a slightly different problem: the tolerance follows them.
            let moved = x.mapv(|v| v * scale + offset);
            let rounding = f64::EPSILON * offset.abs() / scale / gap.abs();
            match (&plain, fit(&moved, &codes, Kernel::Linear, 1.0)) {
                (Ok(plain), Ok(found)) => {
                    let error = (found.margins[0] / scale / plain.margins[0] - 1.0).abs();
                    assert!(error < 1e-4 + 100.0 * rounding, "{k}, {offset}, {scale}: {error}");
                    separated += 1;
                }
                (
                    Err(Error::NotSeparable { .. }),
                    Err(Error::NotSeparable { witness, distance, spread, .. }),
                ) => {
                    assert_witness(&moved, &witness, distance, spread);
                    intersecting += 1;
                }
                (a, b) => panic!("{k}, {offset}, {scale}: {:?}, {:?}", a.as_ref().err(), b.err()),
            }
        }
        // A Gaussian kernel separates distinct rows, wherever they are.
        let rbf = fit(&x, &codes, Kernel::Rbf, 1.0).unwrap();
        let moved = fit(&x.mapv(|v| v + 4096.0), &codes, Kernel::Rbf, 1.0).unwrap();
        assert!((moved.margins[0] / rbf.margins[0] - 1.0).abs() < 1e-3, "{k}");
    }
    assert_eq!(separated + intersecting, 200);
    assert!(intersecting >= 25, "{intersecting}");
}

/// Recomputes the distance of the two convex combinations from the rows.
#[track_caller]
fn assert_witness(x: &Matrix, witness: &[Vec<(usize, f64)>; 2], distance: f64, spread: f64) {
    for combination in witness {
        assert!((combination.iter().map(|(_, w)| w).sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(combination.iter().all(|(_, w)| *w >= 0.0));
    }
    let point = |combination: &[(usize, f64)], j: usize| -> f64 {
        combination.iter().map(|(i, w)| w * (x[[*i, j]] - x[[0, j]])).sum()
    };
    let square: f64 = (0..2).map(|j| (point(&witness[0], j) - point(&witness[1], j)).powi(2)).sum();
    assert!((square.sqrt() - distance).abs() <= 1e-9 * spread, "{} {distance}", square.sqrt());
    assert!(distance <= 1e-6 * spread, "{distance} of {spread}");
}
