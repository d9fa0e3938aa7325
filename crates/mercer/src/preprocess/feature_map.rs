//! A kernel map between prepared columns and an estimator: `rff:1000`, `rff:error=0.05`, `nystroem:500`,
//! `sketch:500:2`, `chi2`, `poly:2`.
//!
//! The map is fitted once, to a sample of the rows that any way of reading them gives alike, and kept in
//! the model. After that it knows nothing of the rows before: they go through it block by block.

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

/// Rows looked at together.
const LOOK: usize = 4096;
/// Rows a map is fitted to, at least and for every center.
const SAMPLE: usize = 4096;
const SAMPLE_BY_CENTER: usize = 16;

/// At most so many columns where an error is asked for and no number.
const MOST_WAVES: usize = 16384;
const MOST_CENTERS: usize = 2000;

/// The words for maps.
const KNOWN: &str = "rff:N, nystroem:N, sketch:N:DEGREE, chi2, chi2:STEPS or poly:DEGREE, and behind commas \
                     parameters of the map as in `nystroem:500,kernel=laplacian,gamma=0.1`; rff:error=E and \
                     nystroem:error=E for as many columns as such an error takes";

/// A map as it is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FeatureMapRecipe {
    /// The words that asked for it.
    pub asked: String,
    params: MapParams,
    /// Whether nobody said what inner products are multiplied by.
    open_gamma: bool,
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

/// A fitted map.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeatureMap {
    /// The words that asked for it.
    pub asked: String,
    /// What was learned.
    pub map: FittedFeatureMap,
    /// How near it is to its kernel, on the rows it was fitted to.
    pub certificate: Certificate,
}

/// A fitted map of any kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FittedFeatureMap {
    /// Random Fourier features.
    Rff(Box<RbfSamplerModel>),
    /// Nyström's map.
    Nystroem(Box<NystroemModel>),
    /// A tensor sketch.
    Sketch(PolynomialCountSketchModel),
    /// Waves over logarithms.
    Chi2(AdditiveChi2SamplerModel),
    /// Products written out.
    Poly(PolynomialFeaturesModel),
}

impl FeatureMapRecipe {
    /// The map of some words.
    ///
    /// # Errors
    /// [`Error::Parameter`] with what is allowed.
    pub fn parse(asked: &str) -> Result<FeatureMapRecipe> {
        let refuse = || Error::Parameter {
            name: "features".into(),
            found: format!("`{asked}`"),
            expected: KNOWN.into(),
        };
        let mut parts = outside_parentheses(asked).into_iter();
        let head = parts.next().unwrap_or_default();
        let mut words = head.split(':');
        let name = words.next().unwrap_or_default();
        // What a map is asked for may stand in the place of its number.
        let (named, numbers): (Vec<&str>, Vec<&str>) = words.partition(|word| word.contains('='));
        let numbers = numbers.into_iter().map(str::parse);
        let numbers: Vec<usize> =
            numbers.collect::<std::result::Result<_, _>>().map_err(|_| refuse())?;
        let settings: Vec<&str> = named.into_iter().chain(parts).collect();
        let by_error = settings.iter().any(|setting| setting.trim_start().starts_with("error="));
        let numbers = match name {
            "rff" if by_error && numbers.is_empty() => vec![MOST_WAVES],
            "nystroem" if by_error && numbers.is_empty() => vec![MOST_CENTERS],
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
                    // Estimators have a constant of their own.
                    .include_bias(false),
            ),
            _ => return Err(refuse()),
        };
        let mut recipe = FeatureMapRecipe { asked: asked.to_owned(), params, open_gamma: true };
        for setting in settings {
            let (name, word) = setting.split_once('=').ok_or_else(refuse)?;
            recipe.set(name.trim(), word.trim())?;
        }
        recipe.check()?;
        Ok(recipe)
    }

    fn set(&mut self, name: &str, word: &str) -> Result<()> {
        let value = serde_json::from_str(word).unwrap_or_else(|_| Value::String(word.to_owned()));
        match &mut self.params {
            MapParams::Rff(params) => *params = set(params, name, value)?,
            MapParams::Nystroem(params) => *params = set(params, name, value)?,
            MapParams::Sketch(params) => *params = set(params, name, value)?,
            MapParams::Chi2(params) => *params = set(params, name, value)?,
            MapParams::Poly(params) => *params = set(params, name, value)?,
        }
        self.open_gamma &= name != "gamma";
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

    /// Whether cells must not be below zero.
    pub fn needs_nonnegative(&self) -> bool {
        match &self.params {
            MapParams::Chi2(_) => true,
            MapParams::Nystroem(params) => params.kernel.to_string().contains("chi2"),
            _ => false,
        }
    }

    /// How many rows the map is fitted to.
    fn sample(&self) -> usize {
        match &self.params {
            MapParams::Nystroem(params) => SAMPLE.max(SAMPLE_BY_CENTER * params.n_components),
            _ => SAMPLE,
        }
    }

    fn seed(&self) -> u64 {
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
                if self.open_gamma {
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
        Ok(FeatureMap { asked: self.asked.clone(), map, certificate })
    }

    /// Fits the map to a sample of the rows that features make of a stream.
    ///
    /// # Errors
    /// What reading or fitting failed with, or [`Error::Stopped`].
    pub fn fit_stream<S: Stream>(
        &self,
        features: &Features,
        stream: &S,
        monitor: &Monitor<'_>,
    ) -> std::result::Result<FeatureMap, S::Error> {
        let wanted = self.sample();
        monitor.reserve("a sample of rows", (wanted * features.n_cells() * 16) as u64)?;
        // The rows of the smallest keys; a key follows from the place of the row, so that waves and threads
        // do not matter.
        let mut kept: Vec<(u64, Encoded)> = Vec::new();
        let (mut seen, mut bar) = (0u64, u64::MAX);
        let mut stopped = None;
        stream.stream(&features.input_schema(None), LOOK, &mut |tables| {
            for table in &tables {
                let rows = features.encode(table, None)?;
                // Here a row still has its place.
                check_cells(&rows.rows(), Missing::Refused)
                    .map_err(|e| e.after_rows(seen as usize))?;
                for i in 0..table.n_rows() {
                    let key = mix(self.seed() ^ mix(seen + i as u64));
                    if key <= bar {
                        kept.push((key, rows.select(&[i])));
                    }
                }
                seen += table.n_rows() as u64;
                if kept.len() >= 2 * wanted {
                    kept.sort_by_key(|(key, _)| *key);
                    kept.truncate(wanted);
                    bar = kept[wanted - 1].0;
                }
            }
            monitor.report(seen, None);
            stopped = monitor.stop();
            Ok(if stopped.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        if stopped.is_some() {
            return Err(Error::Stopped.into());
        }
        kept.sort_by_key(|(key, _)| *key);
        kept.truncate(wanted);
        let rows = Encoded::join(kept.into_iter().map(|(_, row)| row).collect());
        let rows = rows.ok_or(Error::NoRows)?;
        let mut map = self.fit(&rows.rows(), monitor)?;
        let n = rows.rows().n_rows() as u64;
        if n < seen {
            let fitted = format!("fitted to {n} of {seen} rows");
            map.certificate = map.certificate.note_first(fitted);
        }
        Ok(map)
    }
}

/// The parts of a text between commas that no parenthesis encloses.
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

/// Spreads every bit over all others (SplitMix64, Steele, Lea & Flood 2014).
fn mix(x: u64) -> u64 {
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

    /// How many columns a row has.
    pub fn n_inputs(&self) -> usize {
        self.transformer().n_inputs()
    }

    /// How many columns the new rows have.
    pub fn n_outputs(&self) -> usize {
        self.transformer().n_outputs()
    }

    /// Whether new rows of sparse rows are sparse.
    pub fn keeps_sparse(&self) -> bool {
        matches!(self.map, FittedFeatureMap::Poly(_))
    }

    /// Whether the new columns say something by themselves, as products of columns do and waves do not.
    pub fn is_interpretable(&self) -> bool {
        matches!(self.map, FittedFeatureMap::Poly(_))
    }

    /// What the new columns are called.
    pub fn names(&self, inputs: &[String]) -> Vec<String> {
        let word = match &self.map {
            FittedFeatureMap::Rff(_) => "rff",
            FittedFeatureMap::Nystroem(_) => "nystroem",
            FittedFeatureMap::Sketch(_) => "sketch",
            FittedFeatureMap::Chi2(_) => "chi2-",
            FittedFeatureMap::Poly(_) => "poly",
        };
        let numbered = || (1..=self.n_outputs()).map(|k| format!("{word}{k}")).collect();
        self.transformer().feature_names_out(inputs).unwrap_or_else(numbered)
    }

    /// The map in a sentence, with what was measured of it.
    pub fn description(&self) -> String {
        let (n, m) = (self.n_inputs(), self.n_outputs());
        format!("{}: {n} columns become {m}; {}", self.asked, self.certificate)
    }

    /// The new rows.
    ///
    /// # Errors
    /// If a cell is not finite.
    pub fn dense(&self, x: &Rows<'_>) -> Result<Matrix> {
        match (&self.map, x) {
            // A column that is smaller than it ever was when the map was fitted counts as nothing.
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

    /// The new rows of sparse rows, where those are sparse too.
    ///
    /// # Errors
    /// If a cell is not finite.
    pub fn sparse(&self, x: &Rows<'_>) -> Result<Option<Sparse>> {
        self.transformer().transform_sparse(x)
    }

    /// Refuses a map that no fit could have made.
    ///
    /// # Errors
    /// What does not fit.
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
    fn words_become_maps_and_others_are_refused() {
        for word in
            ["rff:10", "nystroem:5", "sketch:8", "sketch:8:3", "chi2", "chi2:3", "poly:2", "poly"]
        {
            assert!(FeatureMapRecipe::parse(word).is_ok(), "{word}");
        }
        assert!(
            FeatureMapRecipe::parse("nystroem:5,kernel=rbf(gamma=0.1)+poly(degree=2,coef0=1)")
                .is_ok()
        );
        assert!(FeatureMapRecipe::parse("rff:10,directions=orthogonal,random_state=3").is_ok());
        for word in ["", "rff", "rff:ten", "rff:1:2", "waves:3", "rff:10,", "poly:-1"] {
            let error = FeatureMapRecipe::parse(word).unwrap_err().to_string();
            assert!(error.contains("nystroem:N"), "{word}: {error}");
        }
        for word in [
            "rff:error=0.05",
            "nystroem:error=0.01,landmarks=pivoted-cholesky",
            "rff:500,error=0.1",
        ] {
            assert!(FeatureMapRecipe::parse(word).is_ok(), "{word}");
        }
        for word in ["rff:error=0", "nystroem:error=1", "rff:error=few"] {
            let error = FeatureMapRecipe::parse(word).unwrap_err().to_string();
            assert!(error.contains("float in (0, 1)"), "{word}: {error}");
        }
        assert!(FeatureMapRecipe::parse("sketch:error=0.1").is_err());
        assert!(FeatureMapRecipe::parse("rff:0").unwrap_err().to_string().contains("n_components"));
        assert!(
            FeatureMapRecipe::parse("rff:5,width=2").unwrap_err().to_string().contains("`width`")
        );
    }
}
