//! `mercer train`: from a table to a saved model, judged and told about.

use super::unsupervised;
use crate::args::{Reading, SemiSupervised, Train};
use crate::failure::{Failure, Result};
use crate::input;
use crate::report::{Paths, TrainReport, html, terminal};
use crate::session::Session;
use mercer::catalog::{Capability, Card, Estimator, Input};
use mercer::data::{Classes, Kind, Label};
use mercer::data::{Field, Schema};
use mercer::preprocess::{
    CachedCounts, CategoryEncoding, DropReason, Features, Reads, Recipe, TextRecipe,
};
use mercer::train::{EmOptions, Outcome, Task, Trained, Training, train, train_semi_supervised};
use mercer_io::{ColumnProfile, Format, Profile, Source};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A numeric target with more different values than this is something to measure, not to name.
const MOST_NUMERIC_CLASSES: usize = 100;
/// What an svmlight file and a folder of texts call their labels.
pub(super) const OWN_TARGET: &str = "label";

/// Estimators that keep a product for every pair of columns, and how many words they tell apart unless the
/// user says otherwise.
const BY_PAIRS: [&str; 3] = ["ols", "ridge", "ridge-cv"];
const MOST_WORDS_OF_PAIRS: usize = 1000;
/// Why texts have no say.
const UNASKED: &str = "they hold text; `--text COLUMN` learns from the words of one";

pub fn run(mut args: Train, session: &Session) -> Result<()> {
    if args.keep_best {
        session.be_patient();
    }
    let texts = args.texts.iter().map(|name| (name.clone(), Kind::Text));
    args.reading.columns.extend(texts);
    let like = args.like.as_deref().map(input::load).transpose()?;
    let target = args.target.clone().or_else(|| like.as_ref()?.features.target.clone());
    let source = input::open(&args.data, &args.reading, target.as_deref(), session)?;
    let profile = input::profile(&source, session)?;
    if let Some((estimator, reason)) = unsupervised::asked_for(&args, like.as_ref())? {
        return unsupervised::train_alone(
            &args,
            (estimator, reason),
            like,
            &source,
            &profile,
            session,
        );
    }
    let target = find_target(target, &source, &profile)?;
    if !session.json {
        session.say(&terminal::profile(&profile, &target.name));
    }
    let (estimator, reason) = choose(&args, &profile, target, like.as_ref())?;
    let card = estimator.card();
    if args.features.is_some() && !matches!(card.reads(), Reads::Numeric | Reads::NumericAndText) {
        return Err(Failure::Usage(format!(
            "--features: `{}` reads {}, and a map makes real numbers; choose an estimator for those, as \
             logistic, linear-svc, ridge or lda",
            card.id,
            card.inputs.iter().map(|input| input.name()).collect::<Vec<_>>().join(", ")
        )));
    }
    let numbers = card.can(Capability::Regressor);
    let classes = if numbers {
        check_numbers(target, &source, estimator.id())?;
        Classes::default()
    } else {
        find_classes(target, &source, like.as_ref(), args.partly.how().is_some())?
    };
    if numbers && !args.deciding.is_empty() {
        let why =
            "--cost, --reject and --prior are about classes, and this estimator learns numbers";
        return Err(Failure::Usage(why.into()));
    }
    args.deciding.check(&classes, session)?;
    let more = match &args.partly.unlabeled_data {
        Some(path) => Some(input::open(path, &args.reading, Some(&target.name), session)?),
        None => None,
    };
    session.say(&format!("{}: {reason}", estimator.id()));
    let mut recipe = recipe_for(card, &args.prepare)?;
    if let Some(map) = &args.features {
        recipe = recipe.mapped(map)?;
    }
    let features = match &like {
        Some(like) => like.features.clone(),
        None => {
            let texts = asked_texts(&args.reading);
            let columns =
                Columns { ignore: &args.ignore, only: &args.texts, by: "--text", texts: &texts };
            let card = (estimator.card(), recipe.words);
            columns.plan(&profile, Some(&target.name), card, session)?
        }
    };
    let bar = session.bar("training");
    let monitor = session.monitor(&bar);
    let (features, looked) = match &like {
        Some(like) => (like.features.clone(), CachedCounts::new(&source)),
        None => {
            let planned = features.clone();
            let looked = features.fit_and_cache_counts(&recipe, &source, &monitor);
            looked.map_err(|e| input::placed(e, &source, || planned.encoded_names()))?
        }
    };
    if let Some(map) = &features.map {
        session.say(&map.description());
    }
    let training = Training {
        estimator,
        features,
        task: if numbers { Task::Regression } else { Task::Classification(&classes) },
        n_rows: Some(profile.n_rows),
        n_folds: args.folds.into(),
        seed: args.seed,
    };
    let features = training.features.clone();
    let outcome = match args.partly.how() {
        Some(_) if numbers => {
            return Err(Failure::Usage(
                "--unlabeled is about classes, and this estimator learns numbers".into(),
            ));
        }
        Some(how) => {
            let more = more.as_ref().map(CachedCounts::new);
            train_semi_supervised(training, &how, &looked, more.as_ref(), &monitor)
        }
        None => train(training, &looked, &monitor),
    };
    bar.finish_and_clear();
    if outcome.is_err() || !args.keep_best {
        session.check_interrupt()?;
    }
    let mut outcome =
        outcome.map_err(|e| input::placed(e, &source, || features.encoded_names()))?;
    outcome.trained.decision = args.deciding.rule(&outcome.trained, &classes, session)?;
    let paths = Paths { model: model_path(&args), page: page_path(&args) };
    finish(&args, session, &profile, &reason, outcome, paths)
}

impl SemiSupervised {
    /// How rows without a class are learned from, if they are.
    fn how(&self) -> Option<EmOptions> {
        (self.unlabeled || self.unlabeled_data.is_some()).then_some(EmOptions {
            weight: self.unlabeled_weight,
            tolerance: self.unlabeled_tolerance,
            max_iterations: self.unlabeled_rounds,
        })
    }
}

/// Saves and tells.
pub(super) fn finish(
    args: &Train,
    session: &Session,
    profile: &Profile,
    reason: &str,
    outcome: Outcome,
    paths: Paths,
) -> Result<()> {
    let report = TrainReport::new(&args.data, profile, reason, &outcome, &paths);
    let trained = outcome.trained;
    trained.save(&paths.model).map_err(Failure::model(&paths.model.display().to_string()))?;
    if let Some(page) = &paths.page {
        let text = html::page(&report, &trained)?;
        mercer::file::save(page, text.as_bytes())
            .map_err(Failure::model(&page.display().to_string()))?;
    }
    if session.json {
        session.print_json(&report)?;
    } else {
        terminal::train(&report)?;
    }
    if session.interrupted() {
        return Err(Failure::Interrupted { saved: true });
    }
    if args.strict && trained.fitted.certificate.stopped().is_some() {
        return Err(Failure::NotConverged(format!("the fit was {}", trained.fitted.certificate)));
    }
    Ok(())
}

/// The column to learn.
pub(super) fn find_target<'a>(
    name: Option<String>,
    source: &Source,
    profile: &'a Profile,
) -> Result<&'a ColumnProfile> {
    let present = || profile.columns.iter().map(|c| c.name.as_str()).collect::<Vec<_>>().join(", ");
    let sparse = profile.columns.iter().any(|c| c.kind == Kind::Sparse);
    let name = match name {
        Some(name) => name,
        None if sparse || source.format() == Format::Folder => OWN_TARGET.to_owned(),
        None => {
            return Err(Failure::Usage(format!(
                "name the column to learn with --target; {} has {}",
                source.name(),
                present()
            )));
        }
    };
    profile.columns.iter().find(|c| c.name == name).ok_or_else(|| {
        Failure::Data(format!(
            "{} has no column `{name}` to learn; it has {}",
            source.name(),
            present()
        ))
    })
}

/// Whether the target is something to measure, not to name.
pub(super) fn is_quantity(target: &ColumnProfile) -> bool {
    let n = target.levels.len();
    let measured = target.kind == Kind::Numeric && (!target.integers || n > MOST_NUMERIC_CLASSES);
    n == 0 || (measured && n > 20)
}

/// Refuses a target that is not a number in every row.
pub(super) fn check_numbers(target: &ColumnProfile, source: &Source, id: &str) -> Result<()> {
    let place = format!("{}, column `{}`", source.name(), target.name);
    if let Some(line) = target.first_missing_line {
        return Err(Failure::Data(format!(
            "{place}: {} rows have no value, the first in line {line}, so there is no number to \
             learn from; fill them in or remove the rows",
            target.n_missing
        )));
    }
    if target.kind != Kind::Numeric {
        return Err(Failure::Data(format!(
            "{place}: it is {}, and {id} learns numbers; choose an estimator for classes",
            target.kind
        )));
    }
    Ok(())
}

/// The classes of the target: its words, exactly as the file has them.
pub(super) fn find_classes(
    target: &ColumnProfile,
    source: &Source,
    like: Option<&Trained>,
    partly: bool,
) -> Result<Classes> {
    let place = || format!("{}, column `{}`", source.name(), target.name);
    if let Some(line) = target.first_missing_line.filter(|_| !partly) {
        return Err(Failure::Data(format!(
            "{}: {} rows have no value, the first in line {line}, so there is no class to learn \
             from; fill them in, remove the rows, or learn from them without a class with \
             `--unlabeled`",
            place(),
            target.n_missing
        )));
    }
    if is_quantity(target) {
        return Err(Failure::Data(format!(
            "{}: it holds {} different numbers, a quantity and not a class; choose an estimator \
             for quantities (`--model ols`). If they are names, say `--column {}=categorical`",
            place(),
            n_distinct(target),
            target.name
        )));
    }
    let classes = Classes::new(target.levels.names().iter().map(|w| Label::parse(w)).collect());
    if classes.len() == 1 {
        return Err(Failure::Data(format!(
            "{}: every row has the same class, `{}`; a classifier needs at least two",
            place(),
            classes.labels()[0]
        )));
    }
    Ok(match like {
        Some(like) => input::classes(like)?.union(&classes).0,
        None => classes,
    })
}

/// The estimator the user named, the one of the model to be like, or a sensible one for the table,
/// and why.
fn choose(
    args: &Train,
    profile: &Profile,
    target: &ColumnProfile,
    like: Option<&Trained>,
) -> Result<(Estimator, String)> {
    let (estimator, reason) = match named(args, like)? {
        Some(named) => named,
        None if args.features.is_some() => {
            let id = if is_quantity(target) { "ridge" } else { "logistic" };
            (
                Estimator::from_id(id)?,
                "chosen because it is quick on the columns of a map".to_owned(),
            )
        }
        None if is_quantity(target) => {
            choose_for_quantity(profile, target, !args.texts.is_empty())?
        }
        None => sensible(profile, &target.name, &args.texts)?,
    };
    Ok((with_settings(args, estimator)?, reason))
}

/// The estimator the user named, or the one of the model to be like, and why.
pub(super) fn named(args: &Train, like: Option<&Trained>) -> Result<Option<(Estimator, String)>> {
    Ok(match (&args.model, like) {
        (Some(id), _) => Some((Estimator::from_id(id)?, "as asked".to_owned())),
        (None, Some(like)) => {
            Some((like.estimator.clone(), "as the model it is to be like".to_owned()))
        }
        (None, None) => None,
    })
}

/// The same with the parameters that were set.
pub(super) fn with_settings(args: &Train, mut estimator: Estimator) -> Result<Estimator> {
    if !args.likelihoods.is_empty() {
        let by_name: serde_json::Map<String, Value> =
            args.likelihoods.iter().map(|(k, v)| (k.clone(), Value::from(v.as_str()))).collect();
        estimator = estimator.set("likelihood", by_name.into())?;
    }
    for (key, value) in &args.settings {
        estimator = estimator.set_from_str(key, value)?;
    }
    Ok(estimator)
}

/// Least squares, or ridge where there are hardly more rows than columns, or words.
fn choose_for_quantity(
    profile: &Profile,
    target: &ColumnProfile,
    texts: bool,
) -> Result<(Estimator, String)> {
    let width: usize = profile.columns.iter().map(|c| c.width.max(c.levels.len()).max(1)).sum();
    let quantity = format!(
        "chosen because `{}` is a quantity ({} different numbers)",
        target.name,
        n_distinct(target)
    );
    let few = profile.n_rows < 3 * width as u64;
    Ok(if few || texts {
        let estimator = Estimator::from_id("ridge")?.set_from_str("alpha_from", "evidence")?;
        let why = if texts {
            "words are many".to_owned()
        } else {
            format!("{} rows are few for {width} columns", profile.n_rows)
        };
        (estimator, format!("{quantity} and {why}; the rows choose the price on long coefficients"))
    } else {
        (Estimator::from_id("ols")?, format!("{quantity} and rows are many for the columns"))
    })
}

fn n_distinct(target: &ColumnProfile) -> String {
    if target.distinct_capped {
        format!("more than {}", target.n_distinct)
    } else {
        target.n_distinct.to_string()
    }
}

/// Bell curves where all columns are numbers, else a likelihood a column.
fn sensible(profile: &Profile, target: &str, only: &[String]) -> Result<(Estimator, String)> {
    let used = |name: &str| name != target && (only.is_empty() || only.iter().any(|n| n == name));
    let count =
        |kind: Kind| profile.columns.iter().filter(|c| c.kind == kind && used(&c.name)).count();
    let gaps = profile.columns.iter().any(|c| used(&c.name) && c.n_missing > 0);
    let (numbers, texts) = (count(Kind::Numeric), count(Kind::Text));
    let words = count(Kind::Categorical) + count(Kind::Boolean);
    let (id, mut reason) = if count(Kind::Sparse) > 0 {
        let reason = "chosen because the features are sparse numbers and it reads them in one pass \
                      without filling in the zeros";
        ("gaussian-nb", reason.to_owned())
    } else if texts > 0 && numbers + words == 0 {
        ("multinomial-nb", "chosen because there is nothing but text: it counts words".to_owned())
    } else if words + texts == 0 {
        ("gaussian-nb", format!("chosen because all {numbers} columns are numbers"))
    } else {
        let kinds = [(numbers, "of numbers"), (words, "of words"), (texts, "of text")];
        let kinds = kinds.iter().filter(|(n, _)| *n > 0).map(|(n, kind)| format!("{n} {kind}"));
        let kinds = kinds.collect::<Vec<_>>().join(", ");
        ("mixed-nb", format!("chosen because it takes every kind of column as it is ({kinds})"))
    };
    if gaps && id != "multinomial-nb" {
        reason += "; it skips missing values exactly";
    }
    Ok((Estimator::from_id(id)?, reason))
}

/// The recipe of some steps for an estimator that can use what they make.
pub(super) fn recipe_for(card: &Card, steps: &[String]) -> Result<Recipe> {
    let recipe = steps.iter().try_fold(Recipe::default(), |recipe, step| recipe.with(step))?;
    if recipe.text.is_signed() && matches!(card.reads(), Reads::Counts | Reads::Mixed) {
        return Err(Failure::Usage(format!(
            "--prepare hash-sign=alternate: half of the words count negative, and `{}` reads counts; leave \
             it out, or choose an estimator for real numbers, as sgd, logistic or linear-svc",
            card.id
        )));
    }
    let mut recipe = if card.reads() == Reads::Categorical { recipe.for_codes() } else { recipe };
    let usual = TextRecipe::default().selection;
    if BY_PAIRS.contains(&card.id) && recipe.text.hash.is_none() && recipe.text.selection == usual {
        recipe.text.selection.max_features = Some(MOST_WORDS_OF_PAIRS);
    }
    Ok(recipe)
}

/// Refuses estimators that learn from rows alone: there is no truth to judge them by.
pub(super) fn refuse_alone(card: &Card) -> Result<()> {
    if !card.is_unsupervised() {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "`{}` learns from rows alone, and there is no truth to compare it by; `mercer train` takes it",
        card.id
    )))
}

/// Which columns have a say.
pub(super) struct Columns<'a> {
    pub ignore: &'a [String],
    /// No others than these, where there are any.
    pub only: &'a [String],
    /// The option that names them.
    pub by: &'a str,
    /// Those that somebody said hold text.
    pub texts: &'a [String],
}

/// The columns that somebody said hold text.
pub(super) fn asked_texts(reading: &Reading) -> Vec<String> {
    let texts = reading.columns.iter().filter(|(_, kind)| *kind == Kind::Text);
    texts.map(|(name, _)| name.clone()).collect()
}

impl Columns<'_> {
    /// How the columns become features, and which have no say.
    pub fn plan(
        &self,
        profile: &Profile,
        target: Option<&str>,
        card: (&Card, CategoryEncoding),
        session: &Session,
    ) -> Result<Features> {
        let mut schema: Schema = profile.schema();
        for name in self.ignore {
            if schema.field(name).is_none() {
                return Err(Failure::Usage(format!("--ignore {name}: there is no such column")));
            }
            schema = schema.without(name);
        }
        if let Some(name) = self.only.iter().find(|name| schema.field(name).is_none()) {
            return Err(Failure::Usage(format!("there is no column `{name}` to learn from")));
        }
        if !self.only.is_empty() {
            let used = |name: &String| Some(name.as_str()) == target || self.only.contains(name);
            let (used, left_out) = schema.fields.into_iter().partition(|f| used(&f.name));
            schema = Schema { fields: used };
            let names: Vec<String> = left_out.iter().map(|f: &Field| f.name.clone()).collect();
            say_left_out(&names, &format!("{} names what to learn from", self.by), session);
        }
        let mut reads = card.0.reads();
        let asked = |name: &str| self.texts.iter().any(|text| text == name);
        if card.0.accepts(Input::TextOnRequest) && schema.fields.iter().any(|f| asked(&f.name)) {
            reads = Reads::NumericAndText;
            let used = |f: &Field| {
                f.kind != Kind::Text || asked(&f.name) || Some(f.name.as_str()) == target
            };
            let (used, left_out) = schema.fields.into_iter().partition(used);
            schema = Schema { fields: used };
            say_left_out(
                &left_out.iter().map(|f: &Field| f.name.clone()).collect::<Vec<_>>(),
                UNASKED,
                session,
            );
        }
        planned(&schema, target, card, reads, session)
    }
}

fn planned(
    schema: &Schema,
    target: Option<&str>,
    (card, words): (&Card, CategoryEncoding),
    reads: Reads,
    session: &Session,
) -> Result<Features> {
    let (features, left_out) = Features::plan_for(schema, target, words, reads)?;
    let unasked = card.accepts(Input::TextOnRequest);
    for (why, words) in [
        (DropReason::Empty, "they have no values".to_owned()),
        (
            DropReason::Text,
            if unasked { UNASKED } else { "they hold text, which needs a text model" }.to_owned(),
        ),
        (
            DropReason::Categorical,
            format!(
                "they hold words, and {} learns from numbers; `--prepare words=indicators` uses \
                 them all the same",
                card.id
            ),
        ),
    ] {
        let names: Vec<String> =
            left_out.iter().filter(|(_, w)| *w == why).map(|(n, _)| n.clone()).collect();
        say_left_out(&names, &words, session);
    }
    Ok(features)
}

fn say_left_out(names: &[String], why: &str, session: &Session) {
    if !names.is_empty() {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        session.say(&format!("not used: {} ({why})", names.join(", ")));
    }
}

/// Where the model goes: the table's name without its endings, in this folder.
pub(super) fn model_path(args: &Train) -> PathBuf {
    args.out.clone().unwrap_or_else(|| {
        let name = Path::new(&args.data).file_name().and_then(|n| n.to_str()).unwrap_or("model");
        let stem = name.split('.').next().filter(|s| !s.is_empty() && *s != "-");
        PathBuf::from(stem.unwrap_or("model")).with_extension("mercer")
    })
}

pub(super) fn page_path(args: &Train) -> Option<PathBuf> {
    if args.no_report {
        return None;
    }
    Some(args.report.clone().unwrap_or_else(|| model_path(args).with_extension("html")))
}
