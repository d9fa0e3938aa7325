//! The extension module `mercer._mercer` of the Python package.
//!
//! The public estimators are Python classes, generated from the catalog; they validate and convert their
//! arguments and pass arrays to `fitted::fit::fit` and `fitted::Fitted`. Matrices are never copied.

mod array;
mod decision;
mod error;
mod fitted;
mod limits;
mod linear;
mod network;
mod partitioned;
mod probability;
mod svm;
mod table;
mod text;
mod tune;
mod vectorizer;
mod work;

use mercer::catalog::CATALOG;
use pyo3::prelude::*;
use pyo3::types::PyDict;

#[global_allocator]
static ALLOCATOR: mercer_num::memory::HugePageAllocator = mercer_num::memory::HugePageAllocator;

/// All estimators: id, path of the Python class, documentation, capabilities and inputs.
#[pyfunction]
fn catalog(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    CATALOG
        .iter()
        .map(|card| {
            let entry = PyDict::new(py);
            entry.set_item("id", card.id)?;
            entry.set_item("python", card.python)?;
            entry.set_item("doc", card.doc.trim())?;
            let capabilities: Vec<&str> =
                card.capabilities.iter().map(|capability| capability.name()).collect();
            entry.set_item("capabilities", capabilities)?;
            let inputs: Vec<&str> = card.inputs.iter().map(|input| input.name()).collect();
            entry.set_item("inputs", inputs)?;
            Ok(entry)
        })
        .collect()
}

/// Runs the `mercer` command with the given arguments, the name of the program first; returns the exit code.
#[cfg(feature = "command")]
#[pyfunction]
fn run_command(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> u8 {
    py.detach(|| mercer_cli::run(arguments))
}

#[pymodule]
fn _mercer(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add_class::<fitted::Fitted>()?;
    m.add_class::<network::PyNetwork>()?;
    m.add_class::<partitioned::PyPartitionedFit>()?;
    m.add_class::<partitioned::PyPartObserver>()?;
    m.add_class::<partitioned::PyRoundsFit>()?;
    m.add_function(wrap_pyfunction!(network::learn_network, m)?)?;
    m.add_function(wrap_pyfunction!(catalog, m)?)?;
    #[cfg(feature = "command")]
    m.add_function(wrap_pyfunction!(run_command, m)?)?;
    m.add_function(wrap_pyfunction!(array::are_category_codes, m)?)?;
    m.add_function(wrap_pyfunction!(table::is_free_text, m)?)?;
    m.add_class::<vectorizer::Vectorizer>()?;
    m.add_function(wrap_pyfunction!(vectorizer::check, m)?)?;
    m.add_function(wrap_pyfunction!(fitted::fit::fit, m)?)?;
    m.add_function(wrap_pyfunction!(fitted::fit::from_bytes, m)?)?;
    m.add_function(wrap_pyfunction!(fitted::fit::from_fields, m)?)?;
    m.add_function(wrap_pyfunction!(fitted::fit::load, m)?)?;
    m.add_function(wrap_pyfunction!(tune::evaluate, m)?)?;
    m.add_function(wrap_pyfunction!(tune::select, m)?)?;
    m.add_function(wrap_pyfunction!(work::set_threads, m)?)?;
    m.add_function(wrap_pyfunction!(work::get_threads, m)?)?;
    m.add_class::<text::PyAnalyzer>()?;
    m.add_class::<text::PyTermCounts>()?;
    m.add_class::<text::PyVocabulary>()?;
    m.add_function(wrap_pyfunction!(text::count_terms, m)?)?;
    m.add_function(wrap_pyfunction!(text::hash_texts, m)?)?;
    m.add_function(wrap_pyfunction!(text::hash_term, m)?)?;
    m.add_function(wrap_pyfunction!(text::hash_names, m)?)?;
    m.add_function(wrap_pyfunction!(text::apply_tfidf, m)?)?;
    m.add_class::<probability::JointTable>()?;
    m.add_class::<probability::Belief>()?;
    m.add_class::<probability::Beta>()?;
    m.add_class::<probability::Binomial>()?;
    m.add_class::<probability::Dirichlet>()?;
    m.add_class::<probability::Multinomial>()?;
    m.add_class::<probability::NormalMean>()?;
    m.add_class::<probability::NormalInverseGamma>()?;
    m.add_class::<probability::Gamma>()?;
    m.add_class::<probability::MultivariateNormal>()?;
    m.add_function(wrap_pyfunction!(probability::bayes_rule::bayes_rule, m)?)?;
    m.add("NotSeparableError", m.py().get_type::<error::NotSeparableError>())?;
    m.add_function(wrap_pyfunction!(linear::elastic_net_path, m)?)?;
    m.add_function(wrap_pyfunction!(svm::kernel_check, m)?)?;
    m.add_function(wrap_pyfunction!(svm::hyperplane_distances, m)?)?;
    m.add_function(wrap_pyfunction!(svm::hyperplane_norm, m)?)?;
    m.add_function(wrap_pyfunction!(svm::hyperplane_canonical, m)?)?;
    m.add_function(wrap_pyfunction!(svm::hyperplane_separation, m)?)?;
    m.add_function(wrap_pyfunction!(decision::decide, m)?)?;
    m.add_function(wrap_pyfunction!(decision::new_priors, m)?)?;
    m.add_function(wrap_pyfunction!(decision::neyman_pearson, m)?)?;
    m.add_function(wrap_pyfunction!(decision::minimax_threshold, m)?)?;
    m.add_function(wrap_pyfunction!(decision::outlier_threshold, m)?)?;
    m.add_function(wrap_pyfunction!(decision::minimax, m)?)?;
    m.add_function(wrap_pyfunction!(decision::point_estimate, m)?)?;
    m.add_function(wrap_pyfunction!(decision::bayes_risk, m)?)?;
    m.add_function(wrap_pyfunction!(decision::optimal_rule, m)?)?;
    m.add_function(wrap_pyfunction!(decision::two_normals_error, m)?)?;
    m.add_function(wrap_pyfunction!(decision::two_normals_regions, m)?)?;
    Ok(())
}
