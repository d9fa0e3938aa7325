//! Model files: other programs can read them, and damaged or foreign files are refused.

use crate::cases::{estimator, names, predictions};
use mercer::catalog::{CATALOG, Capability, Card, Estimator, Input};
use mercer::data::{Column, Kind, Levels, Values};
use mercer::data::{Field, Schema};
use mercer::file;
use mercer::prelude::*;
use mercer::preprocess::{CategoryEncoding, Features, Recipe, Step};
use mercer::train::{Trained, Training, train};
use ndarray::array;
use safetensors::SafeTensors;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Records the largest allocation of the current thread.
struct RecordingAllocator;

thread_local! {
    /// The largest allocation of this thread since it was set to zero.
    pub static LARGEST: Cell<usize> = const { Cell::new(0) };
}

#[global_allocator]
static ALLOCATOR: RecordingAllocator = RecordingAllocator;

// SAFETY: every call goes to the system's allocator unchanged; the record neither allocates nor fails.
unsafe impl GlobalAlloc for RecordingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = LARGEST.try_with(|largest| largest.set(largest.get().max(layout.size())));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Rows of a numeric, a categorical and a boolean column, with missing values.
pub fn rows() -> Table {
    let levels = Arc::new(Levels::new(vec!["blue".into(), "red".into()]));
    let number = vec![1.0, 2.0, f64::NAN, 7.0, 8.0, 9.5];
    let flag = [Some(true), None, Some(false), Some(true), Some(true), Some(false)];
    let classes = Arc::new(Levels::new(vec!["no".into(), "yes".into()]));
    let column = |name: &str, values| Column { name: name.into(), values };
    Table::new(vec![
        column("number", Values::Numeric(number)),
        column("word", Values::Categorical { codes: vec![0, 0, 1, 1, 1, 0], levels }),
        column("flag", Values::Boolean(flag.to_vec())),
        column("class", Values::Categorical { codes: vec![0, 0, 0, 1, 1, 1], levels: classes }),
    ])
    .unwrap()
}

/// A small model with every kind of value that a file can hold.
pub fn model(card: &Card) -> Trained {
    let rows = rows();
    let fields = rows
        .columns()
        .iter()
        .map(|column| match &column.values {
            Values::Categorical { levels, .. } => Field::categorical(&column.name, levels.clone()),
            values => Field::new(&column.name, values.kind()),
        })
        .collect();
    let recipe = Recipe::default().with("bins=equal-width:2").unwrap();
    let (features, _) =
        Features::plan(&Schema { fields }, Some("class"), CategoryEncoding::OneHot).unwrap();
    let features = features.fit(&recipe, &rows, &Monitor::quiet()).unwrap();
    let classes = Classes::from_names(["no", "yes"]);
    let training = Training {
        estimator: estimator(card),
        features,
        task: mercer::train::Task::Classification(&classes),
        n_rows: None,
        n_folds: 0,
        seed: 0,
        recipe: mercer::preprocess::Recipe::default(),
    };
    train(training, &rows, &Monitor::quiet()).unwrap().trained
}

/// The estimators that can be trained on a table with columns of all kinds.
pub fn savable() -> impl Iterator<Item = &'static Card> {
    CATALOG.iter().filter(|card| {
        card.learns == mercer::catalog::Learns::Statistics
            && card.can(Capability::Classifier)
            && card.accepts(Input::MissingValues)
    })
}

fn some_model() -> Trained {
    model(savable().next().unwrap())
}

/// The parts of a file according to its documentation, which can be changed and assembled with a new checksum.
#[derive(Clone)]
pub struct Parts {
    pub description: Value,
    pub tensors: BTreeMap<String, Tensor>,
}

#[derive(Clone)]
pub struct Tensor {
    pub dtype: String,
    pub shape: Vec<u64>,
    pub bytes: Vec<u8>,
}

impl Parts {
    pub fn of(file: &[u8]) -> Parts {
        let header: Value = header(file);
        let length = u64::from_le_bytes(file[..8].try_into().unwrap()) as usize;
        let body = &file[8 + length..];
        let mut tensors = BTreeMap::new();
        for (name, info) in header.as_object().unwrap().iter().filter(|(n, _)| *n != "__metadata__")
        {
            let at = |k: usize| info["data_offsets"][k].as_u64().unwrap() as usize;
            tensors.insert(
                name.clone(),
                Tensor {
                    dtype: info["dtype"].as_str().unwrap().to_owned(),
                    shape: serde_json::from_value(info["shape"].clone()).unwrap(),
                    bytes: body[at(0)..at(1)].to_vec(),
                },
            );
        }
        let description = header["__metadata__"]["description"].as_str().unwrap();
        Parts { description: serde_json::from_str(description).unwrap(), tensors }
    }

    /// The file with a matching checksum.
    pub fn with_checksum(&self) -> Vec<u8> {
        self.with_metadata(|_| {})
    }

    fn with_metadata(&self, change: impl FnOnce(&mut Map<String, Value>)) -> Vec<u8> {
        let description = self.description.to_string();
        let mut hasher = Sha256::new();
        hasher.update(&description);
        for (name, tensor) in &self.tensors {
            hasher.update(format!("\n{name} {} {:?}", tensor.dtype, tensor.shape));
        }
        let (mut body, mut header) = (Vec::new(), Map::new());
        for (name, tensor) in &self.tensors {
            let start = body.len();
            body.extend(&tensor.bytes);
            let info = json!({
                "dtype": tensor.dtype, "shape": tensor.shape, "data_offsets": [start, body.len()]
            });
            header.insert(name.clone(), info);
        }
        hasher.update(&body);
        let sha256: String = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        let mut metadata = Map::new();
        metadata.insert("format".into(), "mercer".into());
        metadata.insert("version".into(), file::VERSION.to_string().into());
        metadata.insert("sha256".into(), sha256.into());
        metadata.insert("description".into(), description.into());
        change(&mut metadata);
        header.insert("__metadata__".into(), metadata.into());
        assemble(&Value::Object(header), &body)
    }
}

fn header(file: &[u8]) -> Value {
    let length = u64::from_le_bytes(file[..8].try_into().unwrap()) as usize;
    serde_json::from_slice(&file[8..8 + length]).unwrap()
}

fn assemble(header: &Value, body: &[u8]) -> Vec<u8> {
    let mut header = header.to_string().into_bytes();
    header.resize(header.len().next_multiple_of(8), b' ');
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header);
    file.extend(body);
    file
}

/// Why a file is refused.
#[track_caller]
fn refusal(file: &[u8]) -> String {
    match Trained::from_bytes(file) {
        Err(Error::File(why)) => why,
        Err(other) => panic!("an error of the wrong kind: {other:?}"),
        Ok(_) => panic!("accepted"),
    }
}

// ------------------------------------------------------------------------- written files

#[test]
fn a_model_file_is_a_valid_safetensors_file() {
    for card in savable() {
        let trained = model(card);
        let bytes = trained.to_bytes().unwrap();

        let (_, metadata) = SafeTensors::read_metadata(&bytes).unwrap();
        let safe = SafeTensors::deserialize(&bytes).unwrap();

        let entries = metadata.metadata().as_ref().unwrap();
        assert_eq!(entries["format"], "mercer");
        assert_eq!(entries["version"], file::VERSION.to_string());
        assert!(!safe.is_empty());
        for (name, tensor) in safe.tensors() {
            assert_eq!(tensor.data().len(), 8 * tensor.shape().iter().product::<usize>(), "{name}");
            assert_eq!((tensor.data().as_ptr() as usize - bytes.as_ptr() as usize) % 8, 0);
        }
        // The documented layout, assembled independently, is the same model.
        assert_eq!(Trained::from_bytes(&Parts::of(&bytes).with_checksum()).unwrap(), trained);
    }
}

#[test]
fn a_large_table_of_counts_is_stored_once_and_narrow() {
    for (id, most, dtype) in
        [("multinomial-nb", 7, "U16"), ("bernoulli-nb", 1, "U16"), ("complement-nb", 70_000, "U32")]
    {
        let card = CATALOG.iter().find(|card| card.id == id).unwrap();
        let counts = Matrix::from_shape_fn((5, 20_001), |(i, j)| {
            if j % 17 == 3 * i { f64::from(most) } else { (i + j) as f64 % 2.0 }
        });
        let classes = Classes::from_names(["a", "b", "c"]);
        let data = Dataset::classes(&counts, &[0, 1, 2, 1, 0], &classes).unwrap();
        let trained = crate::cases::trained(card, &data).unwrap();

        let bytes = trained.to_bytes().unwrap();
        let parts = Parts::of(&bytes);

        assert_eq!(parts.description["fitted"]["model"], Value::Null);
        let tables: Vec<_> = parts.tensors.values().filter(|t| t.shape.len() == 2).collect();
        assert_eq!(tables.len(), 1, "{id}");
        assert_eq!((tables[0].dtype.as_str(), &tables[0].shape[..]), (dtype, &[3, 20_001][..]));
        let loaded = Trained::from_bytes(&bytes).unwrap();
        assert_eq!(loaded, trained);
        assert_eq!(loaded.to_bytes().unwrap(), bytes);
        // A model that is not derived from its counts is stored.
        let mut other = trained.clone();
        other.fitted = estimator(card)
            .set("fit_prior", false.into())
            .unwrap()
            .fit(&data, &Monitor::quiet())
            .unwrap();
        let bytes = other.to_bytes().unwrap();
        assert!(Parts::of(&bytes).description["fitted"]["model"].is_object());
        assert_eq!(Trained::from_bytes(&bytes).unwrap(), other);
        let mut neither = parts.clone();
        neither.description["stats"] = Value::Null;
        neither.tensors.retain(|name, _| !name.starts_with("stats"));
        assert!(refusal(&neither.with_checksum()).contains("neither a model nor what makes one"));
    }
}

#[test]
fn values_without_a_json_form_survive_a_file() {
    let x = array![[1.0], [2.0], [4.0]];
    let classes =
        Classes::new(vec![Label::Float(0.1 + 0.2), Label::Int(i64::MAX), "a b\n\"".into()]);
    let estimator = Estimator::from(mercer::bayes::GaussianNb::new());
    let data = Dataset::classes(&x, &[0, 0, 2], &classes).unwrap();
    // The second class has no rows, so the logarithm of its prior is minus infinity.
    let fitted = estimator.fit(&data, &Monitor::quiet()).unwrap();
    let trained = Trained::new(estimator, Features::plain(names(1)), fitted, None);

    let loaded = Trained::from_bytes(&trained.to_bytes().unwrap()).unwrap();

    assert_eq!(loaded, trained);
    assert_eq!(
        loaded.fitted.model.as_model().factorized_likelihood().unwrap().log_priors()[1],
        f64::NEG_INFINITY
    );
}

#[test]
fn the_time_a_fit_took_is_not_in_its_file() {
    let (mut a, b) = (some_model(), some_model());
    a.fitted.certificate.seconds = 17.0;

    assert_eq!(a.to_bytes(), b.to_bytes());
}

// ------------------------------------------------------------------------- refused files

#[test]
fn every_truncation_is_refused() {
    let bytes = some_model().to_bytes().unwrap();

    for length in 0..bytes.len() {
        refusal(&bytes[..length]);
    }
    let longer = [&bytes[..], &[0]].concat();
    refusal(&longer);
}

#[test]
fn every_flipped_byte_is_refused_or_without_effect() {
    let trained = some_model();
    let bytes = trained.to_bytes().unwrap();
    let encoded = trained.features.encode(&rows(), None).unwrap();
    let expected = predictions(&trained.fitted.model, encoded.rows());
    let mut accepted = 0;

    for i in 0..bytes.len() {
        for mask in [1 << (i % 8), 0xff] {
            let mut flipped = bytes.clone();
            flipped[i] ^= mask;
            match Trained::from_bytes(&flipped) {
                Err(error) => assert!(matches!(error, Error::File(_)), "{error}"),
                Ok(loaded) => {
                    accepted += 1;
                    assert_eq!(loaded.features, trained.features);
                    assert_eq!(predictions(&loaded.fitted.model, encoded.rows()), expected);
                }
            }
        }
    }
    // Only blanks between header and tensors can differ without effect.
    assert!(accepted <= 16, "{accepted} flips were accepted");
}

#[test]
fn a_changed_value_breaks_the_checksum() {
    let mut bytes = some_model().to_bytes().unwrap();
    let last = bytes.len() - 3;
    bytes[last] ^= 4;

    let why = refusal(&bytes);

    assert!(why.contains("checksum"), "{why}");
}

#[test]
fn exchanged_tensors_are_refused() {
    let bytes = some_model().to_bytes().unwrap();
    let mut header = header(&bytes);
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let names: Vec<String> = header.as_object().unwrap().keys().cloned().collect();
    let find = |end: &str| names.iter().find(|name| name.ends_with(end)).unwrap();
    let (means, variances) = (find("gaussian-nb.means"), find("gaussian-nb.variances"));
    assert_eq!(header[means]["shape"], header[variances]["shape"]);
    let offsets = header[means]["data_offsets"].take();
    header[means]["data_offsets"] = header[variances]["data_offsets"].take();
    header[variances]["data_offsets"] = offsets;

    // Names, types, shapes and bytes are the same; only the assignment has changed.
    let why = refusal(&assemble(&header, &bytes[8 + length..]));
    assert!(why.contains("not in the expected order"), "{why}");
}

#[test]
fn a_newer_version_requires_a_newer_mercer() {
    let parts = Parts::of(&some_model().to_bytes().unwrap());
    let newer = |version: &str| {
        refusal(&parts.with_metadata(|m| {
            m.insert("version".into(), version.into());
        }))
    };

    let why = newer("2");

    assert!(why.contains("format version 2") && why.contains("a newer Mercer"), "{why}");
    for odd in ["0", "-1", "1.0", "", "one", "99999999999"] {
        newer(odd);
    }
}

#[test]
fn other_safetensors_files_are_refused_as_such() {
    let foreign = [
        &b"{}"[..],
        b"{\"__metadata__\":{}}",
        b"{\"__metadata__\":{\"format\":\"pt\"}}",
        b"{\"__metadata__\":{\"format\":\"pt\",\"version\":\"1\",\
            \"sha256\":\"\",\"description\":\"\"}}",
    ];
    for header in foreign {
        let mut file = (header.len() as u64).to_le_bytes().to_vec();
        file.extend(header);

        let why = refusal(&file);

        assert!(why.contains("not one of Mercer's"), "{why}");
    }
    for noise in [&b""[..], b"PK\x03\x04", b"\x80\x04\x95 a pickle", &[0xff; 64], &[0; 64]] {
        refusal(noise);
    }
}

#[test]
fn missing_and_additional_metadata_is_refused() {
    let parts = Parts::of(&some_model().to_bytes().unwrap());
    for name in ["format", "version", "sha256", "description"] {
        refusal(&parts.with_metadata(|m| {
            m.remove(name);
        }));
    }
    refusal(&parts.with_metadata(|m| {
        m.insert("note".into(), "not ours".into());
    }));
}

/// Every object in a description, as the path to it.
fn objects(value: &Value, path: &str, out: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            if !fields.contains_key("$tensor") {
                out.push(path.to_owned());
            }
            for (name, value) in fields {
                objects(value, &format!("{path}/{name}"), out);
            }
        }
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                objects(item, &format!("{path}/{i}"), out);
            }
        }
        _ => {}
    }
}

#[test]
fn unknown_keys_are_refused_at_every_depth() {
    for card in savable() {
        let parts = Parts::of(&model(card).to_bytes().unwrap());
        let mut paths = Vec::new();
        objects(&parts.description, "", &mut paths);
        let mut accepted = Vec::new();

        for path in paths {
            let mut parts = parts.clone();
            let object = parts.description.pointer_mut(&path).unwrap();
            object.as_object_mut().unwrap().insert("unknown".into(), json!(1));
            if Trained::from_bytes(&parts.with_checksum()).is_ok() {
                accepted.push(path);
            }
        }

        assert!(accepted.is_empty(), "accepted under {accepted:?}");
    }
}

#[test]
fn unused_tensors_are_refused() {
    let mut parts = Parts::of(&some_model().to_bytes().unwrap());
    let tensor = Tensor { dtype: "F64".into(), shape: vec![1], bytes: vec![0; 8] };
    parts.tensors.insert("stray".into(), tensor);

    let why = refusal(&parts.with_checksum());

    assert!(why.contains("`stray` is not used"), "{why}");
}

#[test]
fn inconsistent_models_are_refused() {
    let parts = Parts::of(&some_model().to_bytes().unwrap());
    for end in ["gaussian-nb.means", "gaussian-nb.variances", "log_priors", "class_weights"] {
        let name = parts.tensors.keys().find(|name| name.ends_with(end)).unwrap().clone();
        let mut changes = vec![f64::NAN, f64::INFINITY];
        if end.ends_with("variances") || end.ends_with("weights") {
            changes.push(-1.0);
        }
        if end.ends_with("variances") {
            changes.extend([0.0, 1e-320]);
        }
        for number in changes {
            let mut parts = parts.clone();
            let tensor = parts.tensors.get_mut(&name).unwrap();
            tensor.bytes[..8].copy_from_slice(&number.to_le_bytes());

            refusal(&parts.with_checksum());
        }
    }
}

/// A saved model of counts from zero to three, with a text-like number of rows.
fn model_of_counts(id: &str) -> Parts {
    let card = mercer::catalog::card(id).unwrap();
    let x = Matrix::from_shape_fn((30, 3), |(i, j)| ((i * (j + 2) + i / 7) % 4) as f64);
    let codes: Vec<u32> = (0..30).map(|i| u32::from(i % 3 == 0)).collect();
    let classes = Classes::from_names(["no", "yes"]);
    let data = Dataset::classes(&x, &codes, &classes).unwrap();
    Parts::of(&crate::cases::bytes(card, &data).unwrap())
}

#[test]
fn probabilities_above_one_are_refused() {
    let mut n_changes = 0;
    for id in ["gaussian-nb", "multinomial-nb", "bernoulli-nb", "categorical-nb", "mixed-nb"] {
        let parts = model_of_counts(id);
        let is_probability =
            |name: &&String| name.ends_with("log_probabilities") || name.ends_with("log_priors");
        let names: Vec<String> = parts.tensors.keys().filter(is_probability).cloned().collect();
        for name in names {
            for number in [1e308f64, 0.5, f64::NAN] {
                let mut parts = parts.clone();
                let tensor = parts.tensors.get_mut(&name).unwrap();
                tensor.bytes[..8].copy_from_slice(&number.to_le_bytes());

                refusal(&parts.with_checksum());

                n_changes += 1;
            }
        }
    }
    assert!(n_changes >= 15, "{n_changes}");
}

#[test]
fn a_histogram_of_empty_bins_is_refused() {
    let mut parts = model_of_counts("mixed-nb");
    let counts: Vec<String> = (parts.tensors.keys())
        .filter(|name| name.contains("value_counts") && name.ends_with("counts"))
        .cloned()
        .collect();
    assert!(!counts.is_empty(), "{:?}", parts.tensors.keys().collect::<Vec<_>>());
    for name in counts {
        parts.tensors.get_mut(&name).unwrap().bytes.fill(0);
    }

    refusal(&parts.with_checksum());
}

#[test]
fn a_network_with_more_states_than_its_tables_is_refused_before_it_is_built() {
    let parts = model_of_counts("bayes-network");
    for size in [1i64 << 32, i64::MAX] {
        let mut parts = parts.clone();
        let levels = parts.tensors.get_mut("fitted.model.bayes-network.levels").unwrap();
        levels.bytes[8..16].copy_from_slice(&size.to_le_bytes());

        let why = refusal(&parts.with_checksum());

        assert!(why.contains("Bayesian network"), "{why}");
    }
}

#[test]
fn a_model_without_columns_is_refused() {
    let x = Matrix::zeros((2, 0));
    let mut parts = Parts::of(&some_model().to_bytes().unwrap());
    parts.description["features"]["schema"]["fields"] = json!([]);
    parts.description["features"]["steps"] = json!([]);
    parts.description["stats"] = Value::Null;
    parts.tensors.retain(|name, _| !name.starts_with("stats") && !name.starts_with("features"));
    for end in ["gaussian-nb.means", "gaussian-nb.variances"] {
        let (_, tensor) = parts.tensors.iter_mut().find(|(n, _)| n.ends_with(end)).unwrap();
        (tensor.shape[1], tensor.bytes) = (0, Vec::new());
    }

    if let Ok(trained) = Trained::from_bytes(&parts.with_checksum()) {
        predictions(&trained.fitted.model, &x);
    }
}

#[test]
fn a_model_and_statistics_that_differ_in_width_are_refused() {
    let trained = some_model();
    let x = array![[1.0], [2.0], [3.0], [4.0]];
    let classes = Classes::from_names(["no", "yes"]);
    let data = Dataset::classes(&x, &[0, 0, 1, 1], &classes).unwrap();
    let narrow = trained.estimator.gather(&data, &Monitor::quiet()).unwrap().stats;

    let mixed = Trained { stats: Some(narrow), ..trained };

    refusal(&mixed.to_bytes().unwrap());
}

// ------------------------------------------------------------------------------------ saving

fn files(folder: &std::path::Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_saved_model_replaces_the_old_one_without_temporary_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.mercer");
    let trained = some_model();
    std::fs::write(&path, "an older model").unwrap();

    trained.save(&path).unwrap();
    trained.save(&path).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), trained.to_bytes().unwrap());

    assert_eq!(Trained::load(&path).unwrap(), trained);
    assert_eq!(files(folder.path()), ["model.mercer"]);
}

#[test]
fn concurrent_writers_never_leave_a_partial_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.mercer");
    // Of different lengths, and longer than a page that could be written at once.
    let whole = [vec![1u8; 300_000], vec![2u8; 1_100_000], vec![3u8; 700_000]];
    file::save(&path, &whole[0]).unwrap();
    let writing = AtomicBool::new(true);

    let n_seen = std::thread::scope(|scope| {
        let writers: Vec<_> = whole
            .iter()
            .map(|bytes| scope.spawn(|| (0..20).for_each(|_| file::save(&path, bytes).unwrap())))
            .collect();
        let reader = scope.spawn(|| {
            let mut n = 0;
            while writing.load(Ordering::Relaxed) || n == 0 {
                let seen = std::fs::read(&path).unwrap();
                assert!(whole.contains(&seen), "{} bytes of nobody's", seen.len());
                n += 1;
            }
            n
        });
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        writing.store(false, Ordering::Relaxed);
        reader.join().unwrap()
    });

    assert!(n_seen > 0);
    assert_eq!(files(folder.path()), ["model.mercer"]);
}

#[test]
fn a_failed_save_names_the_file_and_preserves_the_old_one() {
    let folder = tempfile::tempdir().unwrap();
    let trained = some_model();
    let nowhere = folder.path().join("no such folder").join("model.mercer");
    let taken = folder.path().join("taken");
    std::fs::create_dir(&taken).unwrap();
    std::fs::write(taken.join("inside"), "kept").unwrap();

    let missing = trained.save(&nowhere).unwrap_err();
    let occupied = trained.save(&taken).unwrap_err();

    assert!(matches!(&missing, Error::System { path, .. } if path.ends_with("model.mercer")));
    assert!(matches!(&occupied, Error::System { path, .. } if path.ends_with("taken")));
    assert_eq!(files(folder.path()), ["taken"]);
    assert_eq!(files(&taken), ["inside"]);
}

#[cfg(unix)]
#[test]
fn a_read_only_folder_preserves_the_old_model() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.mercer");
    std::fs::write(&path, "an older model").unwrap();
    let allow = |mode| {
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    allow(0o555);
    // The superuser may write anywhere, so there is nothing to test.
    let powerful = std::fs::write(folder.path().join("probe"), "").is_ok();

    let saved = some_model().save(&path);

    allow(0o755);
    if !powerful {
        assert!(matches!(saved, Err(Error::System { .. })));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "an older model");
        assert_eq!(files(folder.path()), ["model.mercer"]);
    }
}

#[test]
fn a_missing_file_is_named() {
    let folder = tempfile::tempdir().unwrap();

    let error = Trained::load(&folder.path().join("lost.mercer")).unwrap_err();

    assert!(matches!(error, Error::System { path, .. } if path.ends_with("lost.mercer")));
}

#[test]
fn features_from_a_file_are_checked() {
    let broken = |change: fn(&mut Features)| {
        let mut trained = some_model();
        change(&mut trained.features);
        refusal(&trained.to_bytes().unwrap())
    };

    broken(|f| drop(f.steps.pop()));
    broken(|f| f.schema.fields[0].kind = Kind::Text);
    broken(|f| f.steps[0] = Step::OneHot(Default::default()));
    broken(|f| {
        if let Step::Numeric(step) = &mut f.steps[0] {
            step.cuts = Some(vec![2.0, 1.0]);
        }
    });
    broken(|f| {
        if let Step::Numeric(step) = &mut f.steps[0] {
            step.fill = Some(f64::NAN);
        }
    });
}
