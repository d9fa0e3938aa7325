//! The served models: loaded, validated, and replaced when their files change.

use crate::config::Config;
use crate::error::{ApiError, ApiResult, StartError};
use crate::metrics::{Metrics, ModelMetrics};
use crate::token::hexadecimal;
use mercer::data::{Column, Field, Kind, Label, Table, Values};
use mercer::predict::{PredictOptions, Predictions};
use mercer::train::Trained;
use mercer_num::Sparse;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

/// Digits of the hash that name a version.
const VERSION_DIGITS: usize = 12;
/// Rows with a lower density than this fraction of the held-out training rows are counted as rows of low density.
const LOW_DENSITY_FRACTION: f64 = 0.01;

/// A version of a model, ready to predict.
pub(crate) struct Served {
    pub name: String,
    /// The first digits of the hash.
    pub version: String,
    /// The SHA-256 of the file.
    pub sha256: String,
    pub trained: Trained,
    /// The classes in code order; empty for other models than classifiers.
    pub labels: Vec<Label>,
    /// The index of each column by name.
    pub positions: HashMap<String, usize>,
    /// The log density below which a row is counted as one of low density.
    pub low_density: Option<f64>,
    /// Whether the bits of a prediction do not depend on the other rows of its table. Kernel evaluations choose the
    /// storage of the rows by their contents, so that a row may differ in its last bit.
    pub is_row_wise: bool,
    /// The time of a prediction in nanoseconds per row, zero if none was measured yet.
    nanoseconds_per_row: AtomicU64,
}

impl Served {
    fn from_bytes(name: &str, bytes: &[u8]) -> mercer::Result<Served> {
        let trained = Trained::from_bytes(bytes)?;
        let sha256 = hexadecimal(&Sha256::digest(bytes));
        let classifier = trained.fitted.model.as_model().classifier();
        let labels = classifier.map_or_else(Vec::new, |model| model.classes().labels().to_vec());
        let fields = trained.features.schema.fields.iter().enumerate();
        let positions = fields.map(|(k, field)| (field.name.clone(), k)).collect();
        let low_density = match &trained.densities {
            Some(densities) => Some(densities.threshold(LOW_DENSITY_FRACTION)?),
            None => None,
        };
        let has_kernel = trained.estimator.card().specs.iter().any(|spec| spec.name == "kernel");
        let served = Served {
            is_row_wise: !has_kernel && trained.features.map.is_none(),
            name: name.to_owned(),
            version: sha256[..VERSION_DIGITS].to_owned(),
            sha256,
            labels,
            positions,
            low_density,
            trained,
            nanoseconds_per_row: AtomicU64::new(0),
        };
        served.self_test()?;
        Ok(served)
    }

    /// Predicts one row, so that a model that cannot predict is never served.
    fn self_test(&self) -> mercer::Result<()> {
        let columns = self.trained.features.schema.fields.iter().map(probe_column).collect();
        Predictions::of(&self.trained, &Table::new(columns)?, &PredictOptions::default()).map(drop)
    }

    /// The expected time of a prediction in nanoseconds; `None` before the first one.
    pub fn expected_nanoseconds(&self, n_rows: usize) -> Option<u64> {
        let per_row = self.nanoseconds_per_row.load(Ordering::Relaxed);
        (per_row > 0).then(|| per_row.saturating_mul(n_rows as u64))
    }

    /// Takes the time of a prediction into the running mean.
    pub fn measured(&self, n_rows: usize, nanoseconds: u64) {
        let new = (nanoseconds / n_rows.max(1) as u64).max(1);
        let old = self.nanoseconds_per_row.load(Ordering::Relaxed);
        let mean = if old == 0 { new } else { (7 * old + new) / 8 };
        self.nanoseconds_per_row.store(mean.max(1), Ordering::Relaxed);
    }
}

/// A cell that every step accepts: zero, the first level, false, an empty text.
fn probe_column(field: &Field) -> Column {
    let values = match field.kind {
        Kind::Numeric => Values::Numeric(vec![0.0]),
        Kind::Boolean => Values::Boolean(vec![Some(false)]),
        Kind::Categorical => {
            Values::Categorical { codes: vec![0], levels: Arc::clone(&field.levels) }
        }
        Kind::Text => Values::Text(vec![Some(String::new())]),
        Kind::Sparse => {
            Values::Sparse(Sparse::new((1, field.width), vec![0, 0], Vec::new(), Vec::new()))
        }
    };
    Column { name: field.name.clone(), values }
}

/// A model under its name, with the file it comes from.
pub(crate) struct Slot {
    pub name: String,
    pub metrics: Arc<ModelMetrics>,
    path: PathBuf,
    current: RwLock<Arc<Served>>,
    state: RwLock<FileState>,
}

/// What was last seen of a file: its modification time and its size.
type FileState = Option<(SystemTime, u64)>;

impl Slot {
    fn load(path: &Path, metrics: &mut Metrics) -> Result<Slot, StartError> {
        let shown = path.display();
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        let valid = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
        if name.is_empty() || name.len() > 100 || !name.bytes().all(valid) || name.starts_with('.')
        {
            return Err(StartError::Settings(format!(
                "{shown}: the name of a model is that of its file, up to 100 letters, digits, `.`, `_` and `-`; \
                 rename the file"
            )));
        }
        let state = file_state(path);
        let bytes = std::fs::read(path).map_err(|e| StartError::Model(format!("{shown}: {e}")))?;
        let served = Served::from_bytes(&name, &bytes)
            .map_err(|e| StartError::Model(format!("{shown}: {e}")))?;
        Ok(Slot {
            metrics: metrics.add_model(&name, &served.trained.features.schema),
            name,
            path: path.to_owned(),
            current: RwLock::new(Arc::new(served)),
            state: RwLock::new(state),
        })
    }

    /// The version that is served now.
    pub fn served(&self) -> Arc<Served> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Loads the file again if it has changed. A file that is missing, damaged or cannot predict leaves the old
    /// version in place.
    fn reload(&self, log: &dyn Fn(&str)) {
        let state = file_state(&self.path);
        let known = *self.state.read().unwrap_or_else(PoisonError::into_inner);
        if state == known || state.is_none() {
            return;
        }
        *self.state.write().unwrap_or_else(PoisonError::into_inner) = state;
        let old = self.served();
        let loaded = std::fs::read(&self.path)
            .map_err(|e| e.to_string())
            .and_then(|bytes| Served::from_bytes(&self.name, &bytes).map_err(|e| e.to_string()));
        match loaded {
            Ok(new) if new.sha256 == old.sha256 => {}
            Ok(new) => {
                log(&format!(
                    "model {}: version {} replaces {}",
                    self.name, new.version, old.version
                ));
                *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(new);
                self.metrics.count_reload(true);
            }
            Err(why) => {
                log(&format!(
                    "model {}: {}: {why}; version {} stays in place",
                    self.name,
                    self.path.display(),
                    old.version
                ));
                self.metrics.count_reload(false);
            }
        }
    }
}

fn file_state(path: &Path) -> FileState {
    let about = std::fs::metadata(path).ok()?;
    Some((about.modified().ok()?, about.len()))
}

/// All models, in the order of the command line.
pub(crate) struct Models {
    pub slots: Vec<Slot>,
}

impl Models {
    pub fn load(paths: &[PathBuf], metrics: &mut Metrics) -> Result<Models, StartError> {
        let mut slots: Vec<Slot> = Vec::with_capacity(paths.len());
        for path in paths {
            let slot = Slot::load(path, metrics)?;
            if let Some(other) = slots.iter().find(|other| other.name == slot.name) {
                return Err(StartError::Settings(format!(
                    "{} and {} are both named `{}`; rename one of the files",
                    other.path.display(),
                    path.display(),
                    slot.name
                )));
            }
            slots.push(slot);
        }
        if slots.is_empty() {
            return Err(StartError::Settings("no model is given".into()));
        }
        Ok(Models { slots })
    }

    /// Loads the files that have changed.
    pub fn reload(&self, config: &Config) {
        self.slots.iter().for_each(|slot| slot.reload(&*config.log));
    }

    /// The model with a name, and its version if one is requested.
    pub fn find(&self, name: &str, version: Option<&str>) -> ApiResult<(&Slot, Arc<Served>)> {
        let slot = self.slots.iter().find(|slot| slot.name == name).ok_or_else(|| {
            ApiError::new(404, format!("there is no model `{}`", name.escape_debug()))
        })?;
        let served = slot.served();
        match version {
            Some(version) if version != served.version => Err(ApiError::new(
                404,
                format!("model `{name}` is served in version `{}` only", served.version),
            )),
            _ => Ok((slot, served)),
        }
    }

    /// The only model, or the one that the request names.
    pub fn chosen(&self, name: Option<&str>) -> ApiResult<(&Slot, Arc<Served>)> {
        match (name, self.slots.as_slice()) {
            (Some(name), _) => self.find(name, None),
            (None, [only]) => Ok((only, only.served())),
            (None, slots) => {
                let names: Vec<&str> = slots.iter().map(|slot| slot.name.as_str()).collect();
                Err(ApiError::bad(format!(
                    "several models are served; choose one with `?model=`: {}",
                    names.join(", ")
                )))
            }
        }
    }
}
