//! The values of hyperparameters to try.

use crate::catalog::Estimator;
use crate::error::{Error, Result};
use crate::train::select::Candidate;
use mercer_num::random::Random;
use serde::Serialize;
use serde_json::Value;

/// Values of a range without a given number of them.
const DEFAULT_RANGE_VALUES: usize = 5;

/// The grids of estimators, by id: hyperparameters with values as `--grid` takes them. A value with `x` in front is a
/// multiple of `1 / Σ var(x_j)`, which is `gamma=scale` of the encoded rows.
const DEFAULTS: &[(&str, &[(&str, &str)])] = &[
    ("svc", &[("C", "0.1,1,10,100,1000"), ("gamma", "x0.1,x0.3,x1,x3,x10")]),
    ("nu-svc", &[("nu", "0.05,0.1,0.2,0.4"), ("gamma", "x0.1,x0.3,x1,x3,x10")]),
    ("svr", &[("C", "0.1,1,10,100"), ("gamma", "x0.1,x0.3,x1,x3"), ("epsilon", "0.03,0.1,0.3")]),
    ("nu-svr", &[("C", "0.1,1,10,100"), ("gamma", "x0.1,x0.3,x1,x3"), ("nu", "0.25,0.5,0.75")]),
    (
        "kernel-ridge",
        &[("kernel", "rbf,laplacian"), ("alpha", "0.001,0.01,0.1,1"), ("gamma", "x0.1,x0.3,x1,x3")],
    ),
    ("kernel-perceptron", &[("kernel", "rbf"), ("gamma", "x0.1,x0.3,x1,x3,x10")]),
    ("ridge", &[("alpha", "1e-3:1e4:15")]),
    ("lasso", &[("alpha", "1e-4:1:9")]),
    ("elastic-net", &[("alpha", "1e-4:1:9"), ("l1_ratio", "0.1,0.5,0.9")]),
    ("logistic", &[("C", "1e-3:1e3:7")]),
    ("linear-svc", &[("C", "1e-3:1e3:7")]),
    ("linear-svr", &[("C", "1e-3:1e3:7"), ("epsilon", "0,0.1,0.3")]),
    ("sgd", &[("alpha", "1e-6:1e-2:5")]),
    ("sgd-regressor", &[("alpha", "1e-6:1e-2:5")]),
    ("perceptron", &[("alpha", "1e-6:1e-2:5"), ("penalty", "l2")]),
    ("passive-aggressive", &[("C", "1e-3:10:5")]),
    ("passive-aggressive-regressor", &[("C", "1e-3:10:5")]),
    ("mlp", &[("hidden_layer_sizes", "[20],[50],[100],[50,50]"), ("alpha", "1e-4,1e-2,1")]),
    (
        "mlp-regressor",
        &[("hidden_layer_sizes", "[20],[50],[100],[50,50]"), ("alpha", "1e-4,1e-2,1")],
    ),
    ("gaussian-nb", &[("var_smoothing", "1e-12:1e-1:12")]),
    ("multinomial-nb", &[("alpha", "0.001:10:9")]),
    ("complement-nb", &[("alpha", "0.001:10:9")]),
    ("bernoulli-nb", &[("alpha", "0.001:10:9")]),
    ("categorical-nb", &[("alpha", "0.001:10:9")]),
    ("mixed-nb", &[("weights", "equal,learned")]),
];

/// A value of a hyperparameter.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum GridValue {
    /// The value itself.
    Given(Value),
    /// A multiple of `1 / Σ var(x_j)` of the encoded rows.
    Relative(f64),
}

/// A hyperparameter and its values.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Axis {
    /// The name of the hyperparameter.
    pub name: String,
    /// The values to try, in ascending order if they are numbers.
    pub values: Vec<GridValue>,
}

/// The hyperparameters to search over.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Grid {
    /// One axis per hyperparameter.
    pub axes: Vec<Axis>,
}

impl Grid {
    /// The axes that the user gives: values separated by commas, or `low:high` or `low:high:n` for values at equal
    /// ratios.
    ///
    /// # Errors
    /// If the estimator has no such hyperparameter or refuses a value, or a name occurs twice.
    pub fn parse(estimator: &Estimator, given: &[(String, String)]) -> Result<Grid> {
        let mut grid = Grid { axes: Vec::new() };
        for (name, values) in given {
            if grid.axes.iter().any(|axis| axis.name == *name) {
                return Err(Error::Parameter {
                    name: name.clone(),
                    found: "two lists of values".into(),
                    expected: "one list; separate values by commas".into(),
                });
            }
            let values = values_of(name, values)?;
            for value in &values {
                // A multiple of a width stands for a number.
                let value = match value {
                    GridValue::Given(value) => value.clone(),
                    GridValue::Relative(multiple) => Value::from(*multiple),
                };
                estimator.set(name, value)?.check()?;
            }
            grid.axes.push(Axis { name: name.clone(), values });
        }
        Ok(grid)
    }

    /// The default grid of an estimator, without the hyperparameters that the user has set.
    ///
    /// # Errors
    /// [`Error::Parameter`] if there is none.
    pub fn default_for(estimator: &Estimator, set: &[String]) -> Result<Grid> {
        let axes = DEFAULTS.iter().find(|(id, _)| *id == estimator.id()).map_or(&[][..], |d| d.1);
        let open = axes.iter().filter(|(name, _)| !set.iter().any(|known| known == name));
        let open: Vec<(String, String)> =
            open.map(|(name, values)| ((*name).to_owned(), (*values).to_owned())).collect();
        if open.is_empty() {
            return Err(Error::Parameter {
                name: "grid".into(),
                found: format!("no default grid for {}", estimator.id()),
                expected: "values of a hyperparameter, such as `--grid C=0.1,1,10`".into(),
            });
        }
        Grid::parse(estimator, &open)
    }

    /// The number of settings.
    pub fn n_settings(&self) -> usize {
        self.axes.iter().map(|axis| axis.values.len()).product()
    }

    /// All settings; the last axis varies fastest.
    pub fn settings(&self) -> Vec<Vec<(String, GridValue)>> {
        let mut all = vec![Vec::new()];
        for axis in &self.axes {
            let with = |setting: Vec<(String, GridValue)>| {
                let each = axis.values.iter();
                each.map(move |value| {
                    let mut setting = setting.clone();
                    setting.push((axis.name.clone(), value.clone()));
                    setting
                })
            };
            all = all.into_iter().flat_map(with).collect();
        }
        all
    }

    /// Settings drawn at random: numbers log-uniformly between the smallest and the largest value of their axis (uniformly
    /// if one of them is not positive), other values uniformly.
    pub fn random_settings(&self, n: usize, seed: u64) -> Vec<Vec<(String, GridValue)>> {
        let mut random = Random::new(seed);
        let mut draw = |axis: &Axis| (axis.name.clone(), axis.draw(&mut random));
        (0..n).map(|_| self.axes.iter().map(&mut draw).collect()).collect()
    }
}

impl Axis {
    fn draw(&self, random: &mut Random) -> GridValue {
        let numbers: Option<Vec<f64>> = self.values.iter().map(GridValue::number).collect();
        let integers = self.values.iter().all(|v| matches!(v, GridValue::Given(v) if v.is_i64()));
        match numbers {
            Some(numbers) if numbers.len() > 1 => {
                let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
                let high = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let u = random.uniform();
                let value = match low > 0.0 {
                    true => low * (high / low).powf(u),
                    false => low + (high - low) * u,
                };
                // Three digits, so that the command that trains the best setting is short.
                let value: f64 = format!("{value:.2e}").parse().unwrap_or(value);
                match &self.values[0] {
                    GridValue::Relative(_) => GridValue::Relative(value),
                    GridValue::Given(_) if integers => {
                        GridValue::Given((value.round() as i64).into())
                    }
                    GridValue::Given(_) => GridValue::Given(value.into()),
                }
            }
            _ => self.values[random.below(self.values.len())].clone(),
        }
    }
}

impl GridValue {
    /// The value as a number.
    pub fn number(&self) -> Option<f64> {
        match self {
            GridValue::Given(value) => value.as_f64(),
            GridValue::Relative(multiple) => Some(*multiple),
        }
    }

    /// The value on given rows, whose columns have this total variance.
    pub fn resolved(&self, total_variance: f64) -> Value {
        match self {
            GridValue::Given(value) => value.clone(),
            GridValue::Relative(multiple) => {
                let gamma = multiple / if total_variance > 0.0 { total_variance } else { 1.0 };
                Value::from(format!("{gamma:.2e}").parse().unwrap_or(gamma))
            }
        }
    }
}

/// The estimator with a setting.
///
/// # Errors
/// If the estimator refuses a value.
pub(super) fn with_setting(
    base: &Candidate,
    setting: &[(String, GridValue)],
    total_variance: f64,
) -> Result<Candidate> {
    setting.iter().try_fold(base.clone(), |candidate, (name, value)| {
        candidate.set(name, value.resolved(total_variance))
    })
}

/// The values of a list `0.1,1,10` or of a range `1e-3:1e3:7`.
fn values_of(name: &str, text: &str) -> Result<Vec<GridValue>> {
    let refuse = |found: &str| {
        Error::Parameter {
        name: name.to_owned(),
        found: format!("`{found}`"),
        expected: "values separated by commas (0.1,1,10), or a range low:high or low:high:n with 0 < low < high".into(),
    }
    };
    let mut values = match range_of(text) {
        Some(range) => {
            let (relative, low, high, n) = range.ok_or_else(|| refuse(text))?;
            let at = |k: usize| low * (high / low).powf(k as f64 / (n - 1) as f64);
            // Round powers of ten stay round.
            let round = |v: f64| format!("{v:.3e}").parse().unwrap_or(v);
            let value = |v: f64| match relative {
                true => GridValue::Relative(v),
                false => GridValue::Given(v.into()),
            };
            (0..n).map(|k| value(round(at(k)))).collect()
        }
        None => split_list(text).iter().map(|value| value_of(value)).collect::<Vec<_>>(),
    };
    if values.is_empty() || split_list(text).iter().any(String::is_empty) {
        return Err(refuse(text));
    }
    if let Some(numbers) = values.iter().map(GridValue::number).collect::<Option<Vec<f64>>>() {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|a, b| numbers[*a].total_cmp(&numbers[*b]));
        values = order.into_iter().map(|k| values[k].clone()).collect();
        values.dedup();
    }
    Ok(values)
}

/// The bounds and the number of values of a range; `None` if the text is none, `Some(None)` if it is a wrong one.
#[expect(clippy::option_option, reason = "no range, a wrong range, a range")]
fn range_of(text: &str) -> Option<Option<(bool, f64, f64, usize)>> {
    let relative = text.starts_with('x');
    let parts: Vec<&str> = text.trim_start_matches('x').split(':').collect();
    if !(2..=3).contains(&parts.len())
        || parts.iter().any(|part| part.trim_start_matches('x').parse::<f64>().is_err())
    {
        return None;
    }
    let number = |k: usize| parts[k].trim_start_matches('x').parse::<f64>().ok();
    let n = match parts.get(2) {
        Some(n) => n.parse().unwrap_or(0),
        None => DEFAULT_RANGE_VALUES,
    };
    let bounds =
        number(0).zip(number(1)).filter(|(low, high)| *low > 0.0 && low < high && high.is_finite());
    Some(bounds.filter(|_| n >= 2).map(|(low, high)| (relative, low, high, n)))
}

/// The parts of a list; commas within brackets do not separate.
fn split_list(text: &str) -> Vec<String> {
    let (mut parts, mut depth) = (vec![String::new()], 0i32);
    for c in text.chars() {
        depth += match c {
            '[' | '(' => 1,
            ']' | ')' => -1,
            _ => 0,
        };
        match c {
            ',' if depth <= 0 => parts.push(String::new()),
            _ => parts.last_mut().into_iter().for_each(|part| part.push(c)),
        }
    }
    parts.iter().map(|part| part.trim().to_owned()).collect()
}

fn value_of(text: &str) -> GridValue {
    if let Some(multiple) = text.strip_prefix('x').and_then(|m| m.parse().ok()) {
        return GridValue::Relative(multiple);
    }
    let value = serde_json::from_str(text).ok();
    // JSON knows no `1e-3` with a capital letter, no `.5` and no `+1`, but people write them.
    let value =
        value.or_else(|| text.parse::<f64>().ok().filter(|v| v.is_finite()).map(Value::from));
    GridValue::Given(value.unwrap_or_else(|| Value::String(text.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::CATALOG;

    fn parse(id: &str, name: &str, values: &str) -> Result<Grid> {
        Grid::parse(&Estimator::from_id(id).unwrap(), &[(name.to_owned(), values.to_owned())])
    }

    fn numbers(grid: &Grid) -> Vec<f64> {
        grid.axes[0].values.iter().map(|v| v.number().unwrap()).collect()
    }

    #[test]
    fn every_default_grid_is_accepted_by_its_estimator() {
        let mut n_settings = 0;
        for (id, _) in DEFAULTS {
            let grid = Grid::default_for(&Estimator::from_id(id).unwrap(), &[]).unwrap();
            n_settings += grid.n_settings();
            assert_eq!(grid.settings().len(), grid.n_settings(), "{id}");
        }
        assert_eq!((DEFAULTS.len(), CATALOG.len()), (25, 42), "a new estimator may need a grid");
        assert!(n_settings > 200);
    }

    #[test]
    fn lists_and_ranges_are_sorted_numbers() {
        assert_eq!(numbers(&parse("svc", "C", "10,0.1,1,1").unwrap()), [0.1, 1.0, 10.0]);
        assert_eq!(
            numbers(&parse("svc", "C", "1e-1:1e3").unwrap()),
            [0.1, 1.0, 10.0, 100.0, 1000.0]
        );
        assert_eq!(numbers(&parse("svc", "C", "0.01:100:3").unwrap()), [0.01, 1.0, 100.0]);
        assert_eq!(numbers(&parse("svc", "gamma", "x0.1:x10:3").unwrap()), [0.1, 1.0, 10.0]);
        let layers = parse("mlp", "hidden_layer_sizes", "[50],[20,10]").unwrap();
        assert_eq!(layers.axes[0].values.len(), 2);
    }

    #[test]
    fn wrong_values_are_refused_with_the_name() {
        for (name, values) in [
            ("C", "0,1"),
            ("C", "1,,2"),
            ("C", "10:1"),
            ("C", "1:10:1"),
            ("D", "1"),
            ("kernel", "rbff"),
        ] {
            let error = parse("svc", name, values).unwrap_err().to_string();
            assert!(error.contains(name), "{error}");
        }
    }

    #[test]
    fn random_settings_stay_within_the_axis_and_repeat_with_the_seed() {
        let estimator = Estimator::from_id("svc").unwrap();
        let given = [("C", "0.1,10"), ("kernel", "rbf,poly"), ("degree", "2,5")];
        let given = given.map(|(name, values)| (name.to_owned(), values.to_owned()));
        let grid = Grid::parse(&estimator, &given).unwrap();

        let drawn = grid.random_settings(50, 3);

        assert_eq!(drawn, grid.random_settings(50, 3));
        assert_ne!(drawn, grid.random_settings(50, 4));
        for setting in &drawn {
            let c = setting[0].1.number().unwrap();
            assert!((0.1..=10.0).contains(&c));
            let degree = setting[2].1.number().unwrap();
            assert!((2.0..=5.0).contains(&degree) && degree.fract() == 0.0);
            let base = Candidate::new("svc").unwrap();
            assert!(with_setting(&base, setting, 1.0).is_ok());
        }
    }
}
