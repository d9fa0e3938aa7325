use super::*;
use crate::kernel::CustomKernel;
use mercer_num::parallel::with_threads;
use mercer_num::random::Random;
use mercer_num::{Matrix, Sparse};
use sprs::TriMatI;

fn some(n: usize, width: usize, seed: u64) -> Matrix {
    let mut random = Random::new(seed);
    Matrix::from_shape_fn((n, width), |(i, j)| {
        if (i + 2 * j) % 3 == 0 { 0.0 } else { random.normal().abs() }
    })
}

fn functions() -> Vec<Function> {
    let with = |kernel| Function { kernel, gamma: 0.3, coef0: 0.5, degree: 3 };
    [
        Kernel::Linear,
        Kernel::Poly,
        Kernel::Rbf,
        Kernel::Sigmoid,
        Kernel::Laplacian,
        Kernel::Chi2,
        "2*rbf(gamma=0.5)*poly(gamma=0.1,coef0=1,degree=2)+0.5*laplacian(gamma=0.2)+3"
            .parse()
            .unwrap(),
        "rbf(gamma=0.1)*linear+chi2(gamma=2)".parse().unwrap(),
    ]
    .map(with)
    .to_vec()
}

fn blocks<T: Float>(rows: &KernelRows<T>, of: &[u32], against: &KernelRows<T>) -> Vec<Vec<T>> {
    let mut out = vec![vec![T::default(); against.n_rows()]; of.len()];
    let mut columns: Vec<&mut [T]> = out.iter_mut().map(Vec::as_mut_slice).collect();
    rows.columns(of, against, &mut columns);
    out
}

#[test]
fn blocks_are_the_function_of_each_pair() {
    #[derive(Debug)]
    struct Custom;
    impl CustomKernel for Custom {
        fn value(&self, x: &[f64], z: &[f64]) -> f64 {
            x.iter().zip(z).map(|(x, z)| x.min(*z)).sum()
        }
    }
    let x = some(70, 9, 1);
    let custom = Function { kernel: Kernel::custom(Custom), ..Function::linear() };
    for function in functions().into_iter().chain([custom]) {
        let center = center_of(&function, Storage::Dense, &Rows::from(&x));
        let dense_rows: KernelRows<f64> =
            KernelRows::all(function.clone(), Storage::Dense, &Rows::from(&x), &center, &[]);
        let narrow: KernelRows<f32> =
            KernelRows::all(function.clone(), Storage::Dense, &Rows::from(&x), &center, &[]);
        let of = [3, 69, 0];
        let (wide_block, narrow_block) =
            (blocks(&dense_rows, &of, &dense_rows), blocks(&narrow, &of, &narrow));
        let gram = dense_rows.gram();
        for (k, i) in of.iter().enumerate() {
            for j in 0..70 {
                let a = x.row(*i as usize).to_vec();
                let expected = function.value(&a, &x.row(j).to_vec());
                assert!((wide_block[k][j] - expected).abs() < 1e-13 * expected.abs().max(1.0));
                let off = (f64::from(narrow_block[k][j]) - expected).abs();
                assert!(off < 1e-5 * expected.abs().max(1.0), "{function:?}: {off}");
                assert!(
                    (gram[*i as usize * 70 + j] - expected).abs() < 1e-12 * expected.abs().max(1.0)
                );
                assert_eq!(gram[*i as usize * 70 + j], gram[j * 70 + *i as usize]);
            }
            let own = function.value(&x.row(*i as usize).to_vec(), &x.row(*i as usize).to_vec());
            assert!((dense_rows.diagonal()[*i as usize] - own).abs() < 1e-13 * own.abs().max(1.0));
        }
    }
}

#[test]
fn sparse_rows_give_the_same_values() {
    // Too wide and too sparse for dense storage.
    let (n, width) = (40, 4000);
    let mut random = Random::new(5);
    let mut cells = TriMatI::<f64, i32>::new((n, width));
    for i in 0..n {
        for _ in 0..20 {
            cells.add_triplet(i, random.below(width / 50) * 50, random.normal().abs());
        }
    }
    let sparse: Sparse = cells.to_csr();
    let dense = Matrix::from_shape_fn((n, width), |(i, j)| Rows::from(&sparse).get(i, j));
    for function in functions() {
        let sparse_rows: KernelRows<f64> =
            KernelRows::all(function.clone(), Storage::Sparse, &Rows::from(&sparse), &[], &[]);
        let dense_rows: KernelRows<f64> =
            KernelRows::all(function.clone(), Storage::Dense, &Rows::from(&dense), &[], &[]);
        assert!(matches!(sparse_rows.cells, Cells::Sparse { .. }));
        for (a, b) in sparse_rows.gram().iter().zip(dense_rows.gram()) {
            assert!((a - b).abs() < 1e-12 * b.abs().max(1.0), "{function:?}");
        }
        assert_eq!(sparse_rows.diagonal().len(), n);
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let x = some(2500, 40, 2);
    let rows: KernelRows<f32> =
        KernelRows::all(Function::rbf(0.1), Storage::Dense, &Rows::from(&x), &[], &[]);
    let of: Vec<u32> = (0..150).map(|k| k * 16).collect();

    let single_threaded = with_threads(1, || blocks(&rows, &of, &rows));

    assert_eq!(with_threads(3, || blocks(&rows, &of, &rows)), single_threaded);
}

#[test]
fn precomputed_values_are_looked_up() {
    let k = Matrix::from_shape_fn((4, 4), |(i, j)| (10 * i.min(j) + i.max(j)) as f64);
    let function = Function { kernel: Kernel::Precomputed, ..Function::linear() };
    let rows: KernelRows<f64> =
        KernelRows::all(function.clone(), Storage::Dense, &Rows::from(&k), &[], &[0, 1, 2, 3]);
    let few = rows.select(&[3, 1]);

    assert_eq!(blocks(&few, &[0, 1], &few), [[33.0, 13.0], [13.0, 11.0]]);
    assert_eq!(few.diagonal(), [33.0, 11.0]);
    assert_eq!(rows.gram()[1], 1.0);
}

#[test]
fn binary_rows_are_counted_to_the_bits_of_sums() {
    // 70 columns, of which the first rows have none and the last all of a third.
    let mut random = Random::new(11);
    let x = Matrix::from_shape_fn((200, 70), |(i, _)| f64::from(random.below(600) < i));
    let gammas = functions().into_iter().map(|f| Function { gamma: 0.037, ..f });
    for function in functions().into_iter().chain(gammas) {
        fn bits<T: Float>(function: &Function, x: &Matrix) {
            let rows = Rows::from(x);
            assert_eq!(Storage::of(function, &rows), Storage::Sparse);
            let counted: KernelRows<T> =
                KernelRows::all(function.clone(), Storage::Sparse, &rows, &[], &[]);
            let mut summed = counted.clone();
            let Cells::Sparse { binary, .. } = &mut summed.cells else {
                unreachable!("sparse rows")
            };
            assert!(std::mem::replace(binary, false));

            let few: Vec<u32> = (50..150).rev().collect();
            assert_eq!(blocks(&counted, &few, &counted), blocks(&summed, &few, &summed));
            assert_eq!(counted.gram(), summed.gram());
            // Binary storage on one side only falls back to sums.
            assert_eq!(blocks(&counted, &few, &summed), blocks(&summed, &few, &summed));
        }
        bits::<f32>(&function, &x);
        bits::<f64>(&function, &x);
    }
}

#[test]
fn rows_with_many_ones_are_not_counted() {
    let ones = |n: usize| Matrix::from_shape_fn((3, 400), |(_, j)| f64::from(j < n));
    let binary = |x: &Matrix| {
        let rows =
            KernelRows::<f32>::all(Function::rbf(0.1), Storage::Sparse, &Rows::from(x), &[], &[]);
        matches!(rows.cells, Cells::Sparse { binary: true, .. })
    };

    assert!(binary(&ones(127)));
    assert!(!binary(&ones(128)));
    assert!(!binary(&(2.0 * ones(5))));
}

#[test]
fn symmetric_sums_are_the_weighted_sums() {
    for n in [1, 191, 192, 500, 3_300] {
        let x = some(n, 5, 3);
        let mut random = Random::new(4);
        let weights: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let rows: KernelRows<f64> =
            KernelRows::all(Function::rbf(0.3), Storage::Dense, &Rows::from(&x), &[], &[]);

        let sums = rows.symmetric_sums(&weights);

        for (a, b) in sums.iter().zip(rows.weighted_sums(&weights, &rows)) {
            assert!((a - b).abs() < 1e-11, "{a}, {b}");
        }
        assert_eq!(with_threads(3, || rows.symmetric_sums(&weights)), sums);
    }
}
