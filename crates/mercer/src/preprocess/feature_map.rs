//! Feature maps between the encoded columns and an estimator: kernel approximations and polynomial features, written
//! `rff:1000`, `rff:error=0.05`, `nystroem:500`, `sketch:500:2`, `chi2`, `poly:2`.
//!
//! The map is fitted to a random sample of the rows, which does not depend on how they are read, and stored in the
//! model. Rows are transformed block by block.

use super::{Encoded, Features};
use crate::data::{Dataset, Stream, check_cells};
use crate::error::{Error, Result};
use crate::kernel::{
    AdditiveChi2Sampler, AdditiveChi2SamplerModel, Degrees, Gamma, GammaRule, Nystroem,
    NystroemModel, PolynomialCountSketch, PolynomialCountSketchModel, PolynomialFeatures,
    PolynomialFeaturesModel, RbfSampler, RbfSamplerModel,
};
use crate::model::{Certificate, Check, Fit, Monitor, Params, Transformer, set};
use mercer_num::rows::Missing;
use mercer_num::{Matrix, Rows, Sparse};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::ops::ControlFlow;

/// Rows that are read together.
const ROWS_PER_TABLE: usize = 4096;
/// The minimum number of rows that a map is fitted to,
const MIN_SAMPLE_ROWS: usize = 4096;
/// and the number of rows per landmark.
const ROWS_PER_LANDMARK: usize = 16;

/// The maximum number of features if an error is given instead of their number.
const MAX_FOURIER_FEATURES: usize = 16384;
const MAX_LANDMARKS: usize = 2000;

/// The syntax of feature maps.
const SYNTAX: &str = "rff:N, nystroem:N, sketch:N:DEGREE, chi2, chi2:STEPS or poly:DEGREE, with parameters \
                     after commas as in `nystroem:500,kernel=laplacian,gamma=0.1`; rff:error=E and nystroem:error=E \
                     choose the number of features by the approximation error";

/// A feature map before it is fitted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FeatureMapRecipe {
    /// The map as the user wrote it.
    pub spec: String,
    params: MapParams,
    /// Whether `gamma` is not set by the user.
    default_gamma: bool,
    /// Whether the features follow the encoded columns instead of replacing them.
    #[serde(default)]
    append: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum MapParams {
    Rff(RbfSampler),
    Nystroem(Nystroem),
    Sketch(PolynomialCountSketch),
    Chi2(AdditiveChi2Sampler),
    Poly(PolynomialFeatures),
}

/// A fitted feature map.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeatureMap {
    /// The map as the user wrote it.
    pub spec: String,
    /// The fitted map.
    pub map: FittedFeatureMap,
    /// Whether the features follow the encoded columns instead of replacing them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub append: bool,
    /// The certificate, with the approximation error on the sample.
    pub certificate: Certificate,
}

/// The fitted feature maps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FittedFeatureMap {
    /// Random Fourier features.
    Rff(Box<RbfSamplerModel>),
    /// Nyström features.
    Nystroem(Box<NystroemModel>),
    /// A tensor sketch.
    Sketch(PolynomialCountSketchModel),
    /// Additive chi-squared features.
    Chi2(AdditiveChi2SamplerModel),
    /// Polynomial features.
    Poly(PolynomialFeaturesModel),
}

impl FeatureMapRecipe {
    /// Parses a feature map.
    ///
    /// # Errors
    /// [`Error::Parameter`] with what is allowed.
    pub fn parse(spec: &str) -> Result<FeatureMapRecipe> {
        let refuse = || Error::Parameter {
            name: "features".into(),
            found: format!("`{spec}`"),
            expected: SYNTAX.into(),
        };
        let mut parts = outside_parentheses(spec).into_iter();
        let head = parts.next().unwrap_or_default();
        let mut fields = head.split(':');
        let name = fields.next().unwrap_or_default();
        // A parameter may stand in place of the number.
        let (named, numbers): (Vec<&str>, Vec<&str>) =
            fields.partition(|field| field.contains('='));
        let numbers = numbers.into_iter().map(str::parse);
        let numbers: Vec<usize> =
            numbers.collect::<std::result::Result<_, _>>().map_err(|_| refuse())?;
        let settings: Vec<&str> = named.into_iter().chain(parts).collect();
        let by_error = settings.iter().any(|setting| setting.trim_start().starts_with("error="));
        let numbers = match name {
            "rff" if by_error && numbers.is_empty() => vec![MAX_FOURIER_FEATURES],
            "nystroem" if by_error && numbers.is_empty() => vec![MAX_LANDMARKS],
            _ => numbers,
        };
        let scale = Gamma::Rule(GammaRule::Scale);
        let params = match (name, numbers[..].first(), numbers.get(1), numbers.len()) {
            ("rff", Some(n), None, _) => {
                MapParams::Rff(RbfSampler::new().n_components(*n).gamma(scale))
            }
            ("nystroem", Some(n), None, _) => {
                MapParams::Nystroem(Nystroem::new().n_components(*n).gamma(Some(scale)))
            }
            ("sketch", Some(n), degree, 1 | 2) => MapParams::Sketch(
                PolynomialCountSketch::new()
                    .n_components(*n)
                    .degree(degree.copied().unwrap_or(2))
                    .coef0(1.0),
            ),
            ("chi2", steps, None, _) => MapParams::Chi2(
                AdditiveChi2Sampler::new().sample_steps(steps.copied().unwrap_or(2)),
            ),
            ("poly", degree, None, _) => MapParams::Poly(
                PolynomialFeatures::new()
                    .degree(Degrees::UpTo(degree.copied().unwrap_or(2)))
                    // The estimators have an intercept.
                    .include_bias(false),
            ),
            _ => return Err(refuse()),
        };
        let mut recipe =
            FeatureMapRecipe { spec: spec.to_owned(), params, default_gamma: true, append: false };
        for setting in settings {
            let (name, value) = setting.split_once('=').ok_or_else(refuse)?;
            recipe.set(name.trim(), value.trim())?;
        }
        recipe.check()?;
        Ok(recipe)
    }

    /// The same map whose features follow the encoded columns instead of replacing them: the estimator is linear in
    /// both.
    ///
    /// # Errors
    /// For polynomial features, which contain the columns already.
    pub fn appended(mut self) -> Result<FeatureMapRecipe> {
        if matches!(self.params, MapParams::Poly(_)) {
            return Err(Error::Parameter {
                name: "append".into(),
                found: format!("`{}`, whose features contain the columns already", self.spec),
                expected: "rff, nystroem, sketch or chi2".into(),
            });
        }
        self.append = true;
        Ok(self)
    }

    fn set(&mut self, name: &str, text: &str) -> Result<()> {
        let value = serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
        match &mut self.params {
            MapParams::Rff(params) => *params = set(params, name, value)?,
            MapParams::Nystroem(params) => *params = set(params, name, value)?,
            MapParams::Sketch(params) => *params = set(params, name, value)?,
            MapParams::Chi2(params) => *params = set(params, name, value)?,
            MapParams::Poly(params) => *params = set(params, name, value)?,
        }
        self.default_gamma &= name != "gamma";
        Ok(())
    }

    fn check(&self) -> Result<()> {
        match &self.params {
            MapParams::Rff(params) => params.check(),
            MapParams::Nystroem(params) => params.check(),
            MapParams::Sketch(params) => params.check(),
            MapParams::Chi2(params) => params.check(),
            MapParams::Poly(params) => params.check(),
        }
    }

    /// Whether the map needs nonnegative features.
    pub fn needs_nonnegative(&self) -> bool {
        match &self.params {
            MapParams::Chi2(_) => true,
            MapParams::Nystroem(params) => params.kernel.to_string().contains("chi2"),
            _ => false,
        }
    }

    /// The number of rows that the map is fitted to.
    pub(super) fn sample_rows(&self) -> usize {
        match &self.params {
            MapParams::Nystroem(params) => {
                MIN_SAMPLE_ROWS.max(ROWS_PER_LANDMARK * params.n_components)
            }
            _ => MIN_SAMPLE_ROWS,
        }
    }

    pub(super) fn seed(&self) -> u64 {
        match &self.params {
            MapParams::Rff(params) => params.random_state as u64,
            MapParams::Nystroem(params) => params.random_state as u64,
            MapParams::Sketch(params) => params.random_state as u64,
            MapParams::Chi2(_) | MapParams::Poly(_) => 0,
        }
    }

    /// Fits the map to rows.
    ///
    /// # Errors
    /// As the map's own fit.
    pub fn fit(&self, rows: &Rows<'_>, monitor: &Monitor<'_>) -> Result<FeatureMap> {
        let data = Dataset::unlabeled(*rows);
        let (map, certificate) = match &self.params {
            MapParams::Rff(params) => {
                let fitted = params.fit(&data, monitor)?;
                (FittedFeatureMap::Rff(Box::new(fitted.model)), fitted.certificate)
            }
            MapParams::Nystroem(params) => {
                let fitted = params.fit(&data, monitor)?;
                (FittedFeatureMap::Nystroem(Box::new(fitted.model)), fitted.certificate)
            }
            MapParams::Sketch(params) => {
                let mut params = params.clone();
                if self.default_gamma {
                    params.gamma = 1.0 / rows.n_columns().max(1) as f64;
                }
                let fitted = params.fit(&data, monitor)?;
                (FittedFeatureMap::Sketch(fitted.model), fitted.certificate)
            }
            MapParams::Chi2(params) => {
                let fitted = params.fit(&data, monitor)?;
                (FittedFeatureMap::Chi2(fitted.model), fitted.certificate)
            }
            MapParams::Poly(params) => {
                let fitted = params.fit(&data, monitor)?;
                (FittedFeatureMap::Poly(fitted.model), fitted.certificate)
            }
        };
        Ok(FeatureMap { spec: self.spec.clone(), map, append: self.append, certificate })
    }

    /// Fits the map to a sample of the encoded rows of a stream.
    ///
    /// # Errors
    /// What reading or fitting failed with, or [`Error::Stopped`].
    pub fn fit_stream<S: Stream>(
        &self,
        features: &Features,
        stream: &S,
        monitor: &Monitor<'_>,
    ) -> std::result::Result<FeatureMap, S::Error> {
        let wanted = self.sample_rows();
        monitor.reserve("a sample of rows", (wanted * features.n_encoded() * 16) as u64)?;
        // The rows with the smallest hashes of their index, so that the sample does not depend on blocks and threads.
        let mut sample: Vec<(u64, Encoded)> = Vec::new();
        let (mut n_read, mut max_key) = (0u64, u64::MAX);
        let mut stopped = None;
        stream.stream(&features.input_schema(None), ROWS_PER_TABLE, &mut |tables| {
            for table in &tables {
                let rows = features.encode(table, None)?;
                // Checked here, where the index of the row is known.
                check_cells(&rows.rows(), Missing::Refused)
                    .map_err(|e| e.after_rows(n_read as usize))?;
                for i in 0..table.n_rows() {
                    let key = mix(self.seed() ^ mix(n_read + i as u64));
                    if key <= max_key {
                        sample.push((key, rows.select(&[i])));
                    }
                }
                n_read += table.n_rows() as u64;
                if sample.len() >= 2 * wanted {
                    sample.sort_by_key(|(key, _)| *key);
                    sample.truncate(wanted);
                    max_key = sample[wanted - 1].0;
                }
            }
            monitor.report(n_read, None);
            stopped = monitor.stop();
            Ok(if stopped.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        if stopped.is_some() {
            return Err(Error::Stopped.into());
        }
        sample.sort_by_key(|(key, _)| *key);
        sample.truncate(wanted);
        let rows = Encoded::join(sample.into_iter().map(|(_, row)| row).collect());
        let rows = rows.ok_or(Error::NoRows)?;
        let mut map = self.fit(&rows.rows(), monitor)?;
        let n = rows.rows().n_rows() as u64;
        if n < n_read {
            let fitted = format!("fitted to {n} of {n_read} rows");
            map.certificate = map.certificate.note_first(fitted);
        }
        Ok(map)
    }
}

/// Splits a text at commas outside parentheses.
fn outside_parentheses(text: &str) -> Vec<&str> {
    let (mut depth, mut first, mut parts) = (0i32, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[first..at]);
                first = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[first..]);
    parts
}

/// The finalizer of SplitMix64 (Steele, Lea & Flood, 2014).
pub(super) fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl FeatureMap {
    fn transformer(&self) -> &dyn Transformer {
        match &self.map {
            FittedFeatureMap::Rff(map) => map.as_ref(),
            FittedFeatureMap::Nystroem(map) => map.as_ref(),
            FittedFeatureMap::Sketch(map) => map,
            FittedFeatureMap::Chi2(map) => map,
            FittedFeatureMap::Poly(map) => map,
        }
    }

    /// The number of input columns.
    pub fn n_inputs(&self) -> usize {
        self.transformer().n_inputs()
    }

    /// The number of features.
    pub fn n_outputs(&self) -> usize {
        self.transformer().n_outputs() + if self.append { self.n_inputs() } else { 0 }
    }

    /// Whether the features of sparse rows are sparse.
    pub fn keeps_sparse(&self) -> bool {
        matches!(self.map, FittedFeatureMap::Poly(_))
    }

    /// Whether a single feature has a meaning: products of columns have one, random features do not.
    pub fn is_interpretable(&self) -> bool {
        matches!(self.map, FittedFeatureMap::Poly(_))
    }

    /// The names of the features.
    pub fn names(&self, inputs: &[String]) -> Vec<String> {
        let prefix = match &self.map {
            FittedFeatureMap::Rff(_) => "rff",
            FittedFeatureMap::Nystroem(_) => "nystroem",
            FittedFeatureMap::Sketch(_) => "sketch",
            FittedFeatureMap::Chi2(_) => "chi2-",
            FittedFeatureMap::Poly(_) => "poly",
        };
        let map = self.transformer();
        let numbered = || (1..=map.n_outputs()).map(|k| format!("{prefix}{k}")).collect();
        let mapped = map.feature_names_out(inputs).unwrap_or_else(numbered);
        match self.append {
            true => inputs.iter().cloned().chain(mapped).collect(),
            false => mapped,
        }
    }

    /// A description with the approximation error.
    pub fn description(&self) -> String {
        let (n, m) = (self.n_inputs(), self.n_outputs());
        match self.append {
            true => {
                let mapped = m - n;
                let spec = &self.spec;
                format!("{spec}: {n} columns and {mapped} features of them; {}", self.certificate)
            }
            false => {
                format!("{}: {n} columns mapped to {m} features; {}", self.spec, self.certificate)
            }
        }
    }

    /// The dense features of some rows.
    ///
    /// # Errors
    /// If a cell is not finite.
    pub fn dense(&self, x: &Rows<'_>) -> Result<Matrix> {
        let mapped = self.mapped(x)?;
        if !self.append {
            return Ok(mapped);
        }
        let mut all = Matrix::zeros((x.n_rows(), self.n_outputs()));
        for (i, (mut to, features)) in all.outer_iter_mut().zip(mapped.outer_iter()).enumerate() {
            let cells = x.row(i).into_iter().chain(features.iter().copied());
            to.iter_mut().zip(cells).for_each(|(to, cell)| *to = cell);
        }
        Ok(all)
    }

    /// The features of the map alone.
    fn mapped(&self, x: &Rows<'_>) -> Result<Matrix> {
        match (&self.map, x) {
            // A value below the minimum of the training rows would be negative after scaling; it is set to zero.
            (FittedFeatureMap::Chi2(map), x) => {
                let cells = Matrix::from_shape_vec(
                    (x.n_rows(), x.n_columns()),
                    (0..x.n_rows())
                        .flat_map(|i| x.row(i))
                        .map(|v| if v < 0.0 { 0.0 } else { v })
                        .collect(),
                )
                .map_err(|_| Error::NoFeatures)?;
                map.transform(&Rows::from(&cells))
            }
            (_, x) => self.transformer().transform(x),
        }
    }

    /// The sparse features of sparse rows, if they stay sparse.
    ///
    /// # Errors
    /// If a cell is not finite.
    pub fn sparse(&self, x: &Rows<'_>) -> Result<Option<Sparse>> {
        self.transformer().transform_sparse(x)
    }

    /// Checks a map that was read from a file.
    ///
    /// # Errors
    /// [`Error::File`] if it is inconsistent.
    pub fn check(&self) -> Result<()> {
        match &self.map {
            FittedFeatureMap::Rff(map) => map.check(),
            FittedFeatureMap::Nystroem(map) => map.check(),
            FittedFeatureMap::Sketch(map) => map.check(),
            FittedFeatureMap::Chi2(map) => map.check(),
            FittedFeatureMap::Poly(map) => map.check(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn feature_maps_are_parsed_and_others_refused() {
        for spec in
            ["rff:10", "nystroem:5", "sketch:8", "sketch:8:3", "chi2", "chi2:3", "poly:2", "poly"]
        {
            assert!(FeatureMapRecipe::parse(spec).is_ok(), "{spec}");
        }
        assert!(
            FeatureMapRecipe::parse("nystroem:5,kernel=rbf(gamma=0.1)+poly(degree=2,coef0=1)")
                .is_ok()
        );
        assert!(FeatureMapRecipe::parse("rff:10,directions=orthogonal,random_state=3").is_ok());
        for spec in ["", "rff", "rff:ten", "rff:1:2", "waves:3", "rff:10,", "poly:-1"] {
            let error = FeatureMapRecipe::parse(spec).unwrap_err().to_string();
            assert!(error.contains("nystroem:N"), "{spec}: {error}");
        }
        for spec in [
            "rff:error=0.05",
            "nystroem:error=0.01,landmarks=pivoted-cholesky",
            "rff:500,error=0.1",
        ] {
            assert!(FeatureMapRecipe::parse(spec).is_ok(), "{spec}");
        }
        for spec in ["rff:error=0", "nystroem:error=1", "rff:error=few"] {
            let error = FeatureMapRecipe::parse(spec).unwrap_err().to_string();
            assert!(error.contains("float in (0, 1)"), "{spec}: {error}");
        }
        assert!(FeatureMapRecipe::parse("sketch:error=0.1").is_err());
        assert!(FeatureMapRecipe::parse("rff:0").unwrap_err().to_string().contains("n_components"));
        assert!(
            FeatureMapRecipe::parse("rff:5,width=2").unwrap_err().to_string().contains("`width`")
        );
    }
}
