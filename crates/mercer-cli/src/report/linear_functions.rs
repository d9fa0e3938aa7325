//! The linear functions `f(x) = w·x + b` of a model: of each class, of each pair of classes, or one alone.
//!
//! Linear classifiers and regressors store them; support vector machines with a linear kernel have `w = Σ β x` over
//! their support vectors; linear discriminant analysis derives `β_y = Σ⁻¹ (μ_y − x̄)` and `γ_y`, which differ from
//! `Σ⁻¹ μ_y` and its intercept by a function that is common to all classes and cancels in every decision.

use super::terminal::{align_right, table};
use crate::failure::Result;
use mercer::data::{Classes, Label};
use mercer::explain::short;
use mercer::kernel::KernelExpansion;
use mercer::model::Tree;
use mercer::train::Trained;
use mercer_num::Matrix;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::Write;

/// Terms that are printed; text has very many.
const MAX_TERMS: usize = 100;
/// Functions that fit beside each other on a screen.
const MAX_FUNCTIONS: usize = 12;

/// The linear functions of a model.
#[derive(Serialize)]
pub struct LinearFunctions {
    /// The encoded columns.
    features: Vec<String>,
    functions: Vec<LinearFunction>,
    /// The mean and the standard deviation that columns were scaled by. The coefficients are those of the values before
    /// scaling.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scaled: Vec<(f64, f64)>,
    /// The two-class form of a discriminant.
    #[serde(skip_serializing_if = "Option::is_none")]
    two_class_rule: Option<TwoClassRule>,
}

#[derive(Serialize)]
struct LinearFunction {
    /// A class, `a against b`, or the target.
    name: String,
    coefficients: Vec<f64>,
    intercept: f64,
}

/// The name of a term, and its coefficient in every function.
pub type Term = (String, Vec<String>);

/// Predict `class` where `weights · x > threshold`.
#[derive(Serialize)]
struct TwoClassRule {
    class: String,
    weights: Vec<f64>,
    threshold: f64,
}

impl LinearFunctions {
    /// `None` if the model has no linear functions, or its features are those of a kernel map without a meaning.
    pub fn of(model: &Trained) -> Option<LinearFunctions> {
        let map = model.features.map.as_ref();
        if map.is_some_and(|map| !map.is_interpretable()) {
            return None;
        }
        let (mut weights, mut intercepts) = weights(model)?;
        let scaled = in_original_units(model, &mut weights, &mut intercepts);
        let features = model.features.names();
        if intercepts.len() != weights.nrows() || features.len() != weights.ncols() {
            return None;
        }
        let classes = model.fitted.model.as_model().classifier().map(|c| c.classes().clone());
        let names = names(model, classes.as_ref(), weights.nrows())?;
        let functions: Vec<LinearFunction> = (names.into_iter().zip(weights.outer_iter()))
            .zip(&intercepts)
            .map(|((name, row), b)| LinearFunction {
                name,
                coefficients: row.to_vec(),
                intercept: *b,
            })
            .collect();
        let two_class_rule =
            classes.as_ref().and_then(|classes| two_class_rule(classes, &functions));
        Some(LinearFunctions { features, functions, scaled, two_class_rule })
    }

    /// The names of the functions, and the intercept and the largest coefficients, measured in standard deviations of
    /// the columns, with one value per function; `None` if there are too many functions for a page.
    pub fn largest(&self, n: usize) -> Option<(Vec<String>, Vec<Term>)> {
        if self.functions.len() > MAX_FUNCTIONS {
            return None;
        }
        let size = |j: usize| {
            let scale = self.scaled.get(j).map_or(1.0, |(_, scale)| *scale);
            self.functions.iter().map(|f| (f.coefficients[j] * scale).abs()).fold(0.0, f64::max)
        };
        let mut order: Vec<usize> = (0..self.features.len()).collect();
        order.sort_by(|a, b| size(*b).total_cmp(&size(*a)));
        order.truncate(n);
        let intercepts = self.functions.iter().map(|f| short(f.intercept)).collect();
        let mut rows = vec![("(intercept)".to_owned(), intercepts)];
        rows.extend(order.into_iter().map(|j| {
            let values = self.functions.iter().map(|f| short(f.coefficients[j]));
            (self.features[j].clone(), values.collect())
        }));
        Some((self.functions.iter().map(|f| f.name.clone()).collect(), rows))
    }

    /// One line per term; `sorted` by the largest absolute coefficient.
    pub fn print(&self, out: &mut impl Write, sorted: bool) -> Result<()> {
        let shown = &self.functions[..self.functions.len().min(MAX_FUNCTIONS)];
        let mut headings = vec!["term"];
        headings.extend(shown.iter().map(|f| f.name.as_str()));
        let mut rows = table(&headings);
        align_right(&mut rows, &(1..headings.len()).collect::<Vec<_>>());
        let line = |name: &str, values: Vec<f64>| -> Vec<String> {
            std::iter::once(name.to_owned()).chain(values.into_iter().map(short)).collect()
        };
        rows.add_row(line("(intercept)", shown.iter().map(|f| f.intercept).collect()));
        let mut order: Vec<usize> = (0..self.features.len()).collect();
        let rest = order.len().saturating_sub(MAX_TERMS);
        if sorted || rest > 0 {
            let largest = |j: usize| {
                self.functions.iter().map(|f| f.coefficients[j].abs()).fold(0.0, f64::max)
            };
            order.sort_by(|a, b| largest(*b).total_cmp(&largest(*a)));
            order.truncate(MAX_TERMS);
        }
        for j in order {
            let values = shown.iter().map(|f| f.coefficients[j]).collect();
            rows.add_row(line(&self.features[j], values));
        }
        let units = match self.scaled.is_empty() {
            true => "",
            false => ", in the units of the columns (the fit scaled them)",
        };
        writeln!(out, "\nlinear functions f(x) = w.x + b{units}:\n{rows}")?;
        if rest > 0 {
            writeln!(out, "{rest} smaller coefficients (see --json)")?;
        }
        let more = self.functions.len() - shown.len();
        if more > 0 {
            writeln!(out, "{more} more functions (see --json)")?;
        }
        if let Some(rule) = &self.two_class_rule {
            let terms: Vec<String> = (rule.weights.iter().zip(&self.features))
                .take(MAX_FUNCTIONS)
                .map(|(w, name)| format!("{} {name}", short(*w)))
                .collect();
            let dots = if self.features.len() > MAX_FUNCTIONS { " + ..." } else { "" };
            let sum = terms.join(" + ") + dots;
            writeln!(out, "{} if w.x = {sum} > {}", rule.class, short(rule.threshold))?;
        }
        writeln!(out)?;
        Ok(())
    }
}

/// Turns functions of scaled features into functions of the original values: `w (x - m) / s + b` has the weight `w / s` and
/// the intercept `b - w m / s`. Returns the shifts and scales; none if no feature was scaled, or not by these alone.
fn in_original_units(
    model: &Trained,
    weights: &mut Matrix,
    intercepts: &mut [f64],
) -> Vec<(f64, f64)> {
    let scales = model.features.affine_scales().unwrap_or_default();
    if scales.len() != weights.ncols() || scales.iter().all(|scale| *scale == (0.0, 1.0)) {
        return Vec::new();
    }
    for (mut row, b) in weights.outer_iter_mut().zip(intercepts) {
        for (w, (shift, scale)) in row.iter_mut().zip(&scales) {
            *w /= scale;
            *b -= *w * shift;
        }
    }
    scales
}

/// One row of weights per function, and the intercepts.
fn weights(model: &Trained) -> Option<(Matrix, Vec<f64>)> {
    let able = model.fitted.model.as_model();
    if let Some(discriminant) = able.discriminant() {
        let intercepts = discriminant.derived("intercepts")?;
        return Some((discriminant.derived("coefficients")?, intercepts.iter().copied().collect()));
    }
    if let Some(linear) = able.linear_model() {
        let terms = linear.terms();
        let row =
            Matrix::from_shape_vec((1, terms.coefficients.len()), terms.coefficients.to_vec());
        return Some((row.ok()?, vec![terms.intercept]));
    }
    let fields = model.fitted.model.fields();
    if let Some(expansion) = value::<KernelExpansion>(&fields, "expansion") {
        let weights = match one_vs_one(&fields, &expansion) {
            Some(n_support) => pairwise_weights(&expansion, &n_support)?,
            None => expansion.weights()?,
        };
        return Some((weights, expansion.intercepts.clone()));
    }
    Some((value(&fields, "coefficients")?, value(&fields, "intercepts")?))
}

fn value<T: DeserializeOwned>(fields: &Tree, name: &str) -> Option<T> {
    fields.get(name)?.clone().into_value().ok()
}

/// The numbers of support vectors by class, if there are more than two classes in pairs.
fn one_vs_one(fields: &Tree, expansion: &KernelExpansion) -> Option<Vec<usize>> {
    let n_support: Vec<usize> = value(fields, "n_support")?;
    let pairs = n_support.len() * n_support.len().saturating_sub(1) / 2;
    let several = n_support.len() > 2 && expansion.coefficients.nrows() == n_support.len() - 1;
    (several && expansion.intercepts.len() == pairs).then_some(n_support)
}

/// The weights of every pair of classes, from the layout of LIBSVM: the coefficients of a support vector of class `a`
/// against class `b` are in row `b − 1` for `a < b` and in row `b` otherwise.
fn pairwise_weights(expansion: &KernelExpansion, n_support: &[usize]) -> Option<Matrix> {
    // The layout only matters for the sums: without it the kernel is checked to be linear.
    expansion.weights()?;
    let mut ends = vec![0];
    n_support.iter().for_each(|n| ends.push(ends[ends.len() - 1] + n));
    let k = n_support.len();
    let mut rows = Vec::new();
    for a in 0..k {
        for b in a + 1..k {
            let mut w = vec![0.0; expansion.n_columns];
            for (of, row) in [(a, b - 1), (b, a)] {
                for i in ends[of]..ends[of + 1] {
                    let beta = expansion.coefficients[[row, i]];
                    w.iter_mut().zip(expansion.vectors.row(i)).for_each(|(w, x)| *w += beta * x);
                }
            }
            rows.extend(w);
        }
    }
    Matrix::from_shape_vec((k * (k - 1) / 2, expansion.n_columns), rows).ok()
}

/// What each function decides.
fn names(model: &Trained, classes: Option<&Classes>, n: usize) -> Option<Vec<String>> {
    let Some(classes) = classes else {
        let target = model.features.target.clone().unwrap_or_else(|| "f(x)".into());
        return (n == 1).then(|| vec![target]);
    };
    let labels: Vec<String> = classes.labels().iter().map(Label::to_string).collect();
    let pairs =
        value::<String>(&model.fitted.model.fields(), "multiclass").as_deref() == Some("ovo");
    match labels.len() {
        2 if n == 1 => Some(vec![format!("{} (f > 0)", labels[1])]),
        k if pairs && k > 2 && n == k * (k - 1) / 2 => {
            let pair = |a: usize| {
                let labels = &labels;
                (a + 1..k).map(move |b| format!("{} against {}", labels[a], labels[b]))
            };
            Some((0..k).flat_map(pair).collect())
        }
        k if k == n => Some(labels),
        _ => None,
    }
}

/// `(w₂ − w₁)·x > b₁ − b₂`, if there are two classes with a function each.
fn two_class_rule(classes: &Classes, functions: &[LinearFunction]) -> Option<TwoClassRule> {
    let [first, second] = functions else { return None };
    let class = classes.labels().get(1)?.to_string();
    let weights = second.coefficients.iter().zip(&first.coefficients).map(|(b, a)| b - a);
    let threshold = first.intercept - second.intercept;
    Some(TwoClassRule { class, weights: weights.collect(), threshold })
}
