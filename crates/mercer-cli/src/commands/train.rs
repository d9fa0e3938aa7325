//! `mercer train`: from a table to a saved model, its certificate and its cross-validated scores.

use super::check::Commands;
use super::{check, columns, plot, select, unsupervised};
use crate::args::{SemiSupervised, Train};
use crate::failure::{Failure, Result};
use crate::input;
use crate::report::{Paths, TrainReport, terminal, train_page};
use crate::session::Session;
use mercer::catalog::{Capability, Estimator, Learns};
use mercer::data::{Classes, ColumnProfile, Kind, Profile, Stream};
use mercer::evaluate::Metric;
use mercer::model::Monitor;
use mercer::preprocess::{CachedCounts, DroppedColumn, Features, Recipe};
use mercer::train::checks::{Check, Finding, FitFacts, check_fit, check_table};
use mercer::train::select::{
    Candidate, Importance, Leaderboard, LearningPoint, RefitOptions, Sample, learning_curve,
    permutation_importance,
};
use mercer::train::{
    Choice, ColumnSelection, Effect, EmOptions, Outcome, Reference, SupervisedTask, TargetError,
    Task, Trained, Training, check_regression_target, choose_estimator, classes_of_target,
    find_target, labels_of_target, partial_dependence, recipe_for, similar_classes, train,
    train_semi_supervised,
};
use mercer_io::Source;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub fn run(mut args: Train, session: &Session) -> Result<()> {
    if args.keep_best {
        session.save_on_interrupt();
    }
    session.check_output(&model_path(&args))?;
    report_path(&args).map_or(Ok(()), |path| session.check_output(&path))?;
    let text = args.texts.iter().map(|name| (name.clone(), Kind::Text.into()));
    args.reading.columns.extend(text);
    let like = args.like.as_deref().map(input::load).transpose()?;
    let target = args.target.clone().or_else(|| like.as_ref()?.features.target.clone());
    let source =
        input::open_several(&args.data, &args.more, &args.reading, target.as_deref(), session)?;
    let profile = input::profile(&source, session)?;
    if let Some(choice) = unsupervised::requested(&args, like.as_ref())? {
        return unsupervised::train_unsupervised(&args, choice, like, &source, &profile, session);
    }
    let target = target_column(target.as_deref(), &source, &profile)?;
    if !session.json {
        session.message(&terminal::profile(&profile, &target.name));
    }
    columns::check_weights(args.weights.as_deref(), Some(&target.name), &profile)?;
    let task = task(&args, target, like.as_ref(), session)?;
    let table = (&source, &profile, target);
    let unusable = unusable_columns(&args, like.as_ref(), table, session)?;
    let table_checks =
        TableChecks::new(&args, &profile, (target, task), &unusable, &source, session)?;
    let regression = task == SupervisedTask::Regression;
    check_options(&args, regression)?;
    let board = compare(&args, like.as_ref(), table, task, &unusable, session)?;
    let is_named = args.model.is_some();
    let best = board.as_ref().and_then(Leaderboard::best).filter(|_| !is_named);
    let command = best.map(|best| take_over(&mut args, &target.name, &best.candidate));
    let Choice { estimator, reason } =
        choose(&args, &profile, (target, task), like.as_ref(), board.as_ref())?;
    let classes = target_classes(&args, target, (task, estimator.id()), &source, like.as_ref())?;
    report_similar_classes(&classes, session);
    args.decision.check(&classes, session)?;
    let more = unlabeled_rows(&args, &target.name, session)?;
    report_estimator(estimator.id(), &reason, args.weights.as_deref(), session);
    let bar = session.bar("training");
    let monitor = session.monitor(&bar);
    let recipe = recipe(&estimator, &args.prepare, args.features.as_deref(), args.append)?;
    let (features, rows) =
        fit_features(&args, (&estimator, &recipe), like, table, &unusable, &monitor, session)?;
    // The comparison has scored the winner on held-out rows already.
    let best = board.as_ref().and_then(Leaderboard::best);
    let compared = best.and_then(|row| row.predictions.as_ref());
    let has_statistics = estimator.card().learns == Learns::Statistics;
    let is_scored = compared.is_some() && (!has_statistics || args.split.is_special());
    let task = if regression { Task::Regression } else { Task::Classification(&classes) };
    let training = Training {
        estimator,
        features: features.clone(),
        task,
        n_rows: Some(profile.n_rows),
        n_folds: if is_scored { 0 } else { args.folds.into() },
        seed: args.seed,
        recipe: fold_recipe(recipe, args.like.is_some()),
    };
    let fold_recipe = training.recipe.clone();
    let more = more.as_ref().map(CachedCounts::new);
    let outcome = fit(&args, training, &rows, more.as_ref(), &monitor);
    bar.finish_and_clear();
    if outcome.is_err() || !args.keep_best {
        session.check_interrupt()?;
    }
    let mut outcome =
        outcome.map_err(|e| input::located(e, &source, || features.encoded_names()))?;
    if let Some(predictions) = compared {
        outcome.set_scores(predictions, &classes);
    }
    outcome.trained.decision = args.decision.rule(&outcome.trained, session)?;
    outcome.trained.reference = table_checks.reference(&outcome.trained);
    let figures = report_figures(&args, &outcome.trained, &source, session);
    let selection = board.filter(|_| !is_named).zip(command);
    let fit = (&outcome, &fold_recipe, task);
    let findings = findings(&args, table_checks, fit, selection.as_ref(), &monitor);
    finish(&args, session, &profile, (&reason, selection), findings, outcome, figures)
}

/// Adds the preprocessing of the best candidate to the options, and returns the command that trains it again.
fn take_over(args: &mut Train, target: &str, best: &Candidate) -> String {
    let command = select::command(args, target, best);
    args.prepare.splice(0..0, best.steps.iter().cloned());
    args.features.clone_from(&best.map);
    command
}

/// The table of further rows without a target, if there is one.
fn unlabeled_rows(args: &Train, target: &str, session: &Session) -> Result<Option<Source>> {
    let path = args.semi_supervised.unlabeled_data.as_ref();
    path.map(|path| input::open(path, &args.reading, Some(target), session)).transpose()
}

/// Trains on labeled rows, or also on unlabeled ones if the options ask for it.
fn fit<S: Stream>(
    args: &Train,
    training: Training<'_>,
    rows: &S,
    more: Option<&S>,
    monitor: &Monitor<'_>,
) -> std::result::Result<Outcome, S::Error> {
    match args.semi_supervised.options() {
        Some(options) => train_semi_supervised(training, &options, rows, more, monitor),
        None => train(training, rows, monitor),
    }
}

/// The columns that are no features: identifiers, constants and duplicates.
fn unusable_columns(
    args: &Train,
    like: Option<&Trained>,
    (source, profile, target): (&Source, &Profile, &ColumnProfile),
    session: &Session,
) -> Result<Vec<DroppedColumn>> {
    // With --text, the other columns are not features anyway.
    if like.is_some() || args.keep_columns || !args.texts.is_empty() {
        return Ok(Vec::new());
    }
    let except = columns::left_out(&args.ignore, args.weights.as_deref());
    columns::unusable(profile, Some(&target.name), &except, source, session)
}

/// The leaderboard of the portfolio, or of a named estimator on special folds; `None` if neither is asked for.
fn compare(
    args: &Train,
    like: Option<&Trained>,
    (source, profile, target): (&Source, &Profile, &ColumnProfile),
    task: SupervisedTask,
    unusable: &[DroppedColumn],
    session: &Session,
) -> Result<Option<Leaderboard>> {
    let candidates = candidates(args, like)?;
    if candidates.is_none() && !select::is_requested(args, like) {
        return Ok(None);
    }
    let classes = target_classes(args, target, (task, "the portfolio"), source, None)?;
    let asked = select::Comparison { unusable, ..args.into() };
    let (rows, of) = ((source, profile), (task, &classes));
    select::leaderboard(&asked, candidates, rows, target, of, session).map(Some)
}

fn report_estimator(id: &str, reason: &str, weights: Option<&str>, session: &Session) {
    session.message(&format!("estimator: {id} ({reason})"));
    if let Some(weights) = weights {
        session.message(&format!("sample weights: column `{weights}`"));
    }
}

fn report_similar_classes(classes: &Classes, session: &Session) {
    for (first, second) in similar_classes(classes) {
        session.message(&format!(
            "the classes `{first}` and `{second}` differ only by case or blanks; make them equal if they mean the same"
        ));
    }
}

/// The findings about the table and the fit, with the commands of their remedies.
fn findings(
    args: &Train,
    table_checks: TableChecks,
    (outcome, recipe, task): (&Outcome, &Recipe, Task<'_>),
    selection: Option<&(Leaderboard, String)>,
    monitor: &Monitor<'_>,
) -> Findings {
    let board = selection.map(|(board, _)| board);
    let list = check::reported(table_checks.of_fit(outcome, board), &args.ignored);
    let explained = match report_path(args) {
        Some(_) => table_checks.explain(&outcome.trained, recipe, task, board, monitor),
        None => Explained::default(),
    };
    let fit = selection.map(|(_, command)| command.clone());
    let fit = fit.or_else(|| Some(fit_command(args, &table_checks.command, &outcome.trained)));
    Findings { list, commands: Commands { table: table_checks.command, fit }, explained }
}

/// Training rows that a fitted model predicts, to compare with held-out rows.
const MAX_PREDICTED_ROWS: usize = 2000;

/// The command that trains a named estimator again.
fn fit_command(args: &Train, of_table: &str, trained: &Trained) -> String {
    let settings = args.settings.iter().map(|(key, value)| format!("{key}={value}"));
    let settings = settings.map(|setting| format!(" --set {}", select::quoted(&setting)));
    let map = args.features.as_ref().map(|map| format!(" --features {}", select::quoted(map)));
    let options = settings.chain(map).collect::<String>();
    format!("{of_table} --model {}{options}", trained.estimator.id())
}

/// The time for importances, and that for the learning curve.
const IMPORTANCE_BUDGET: Duration = Duration::from_secs(3);
/// Columns whose effect is plotted.
const MAX_EFFECTS: usize = 6;

/// What the columns contribute to the predictions.
#[derive(Default)]
struct Explained {
    importances: Vec<Importance>,
    metric: &'static str,
    effects: Vec<Effect>,
    learning_curve: Vec<LearningPoint>,
}

/// What was found about a table and a fit.
#[derive(Default)]
pub(super) struct Findings {
    list: Vec<Finding>,
    /// The commands that the options of a remedy are added to.
    commands: Commands,
    explained: Explained,
}

/// The checks of the table, and what those of the fit need.
struct TableChecks {
    sample: Sample,
    findings: Vec<Finding>,
    /// The command that remedies are added to.
    command: String,
}

impl TableChecks {
    /// Checks the table and reports what is suspicious in a line each.
    fn new(
        args: &Train,
        profile: &Profile,
        target: (&ColumnProfile, SupervisedTask),
        unusable: &[DroppedColumn],
        source: &Source,
        session: &Session,
    ) -> Result<TableChecks> {
        let ignore = columns::left_out(&args.ignore, args.weights.as_deref());
        let dropped = unusable.iter().map(|column| column.name.clone());
        let left_out: Vec<String> = ignore.iter().cloned().chain(dropped).collect();
        let sample = match args.no_checks {
            true => None,
            false => check::read_sample(profile, Some(target), &left_out, source, session)?,
        };
        let sample = sample.unwrap_or_else(Sample::empty);
        let findings = match args.no_checks {
            true => Vec::new(),
            false => check_table(profile, Some(target), &ignore, unusable, &sample),
        };
        let findings = check::reported(findings, &args.ignored);
        let command = select::command_of_table(args, &target.0.name);
        // Dropped columns have been reported with their reasons.
        for finding in findings.iter().filter(|f| f.code != Check::UnusableColumns) {
            let line = format!("{} {}: {}", finding.code, finding.title, finding.figure);
            session.message(&terminal::wrap(&line, 2));
        }
        Ok(TableChecks { sample, findings, command })
    }

    /// The importances of the columns and the effects of the most important ones. A report without them is no reason to
    /// lose a trained model.
    fn explain(
        &self,
        trained: &Trained,
        recipe: &Recipe,
        task: Task<'_>,
        board: Option<&Leaderboard>,
        monitor: &Monitor<'_>,
    ) -> Explained {
        let default = match task {
            Task::Classification(_) => Metric::Accuracy,
            Task::Regression | Task::Unsupervised => Metric::RSquared,
        };
        let metric = board.map_or(default, |board| board.metric);
        let table = &self.sample.table;
        let options = RefitOptions {
            estimator: &trained.estimator,
            features: &trained.features,
            recipe,
            task,
            metric,
            budget: IMPORTANCE_BUDGET,
        };
        let importances = match trained.features.map.is_some() || table.n_rows() == 0 {
            true => Vec::new(),
            false => permutation_importance(&options, table, &monitor.silent()).unwrap_or_default(),
        };
        let learning_curve = match trained.features.map.is_some() || table.n_rows() == 0 {
            true => Vec::new(),
            false => learning_curve(&options, table, &monitor.silent()).unwrap_or_default(),
        };
        let important: Vec<String> = match importances.is_empty() {
            false => importances.iter().map(|importance| importance.column.clone()).collect(),
            true => trained.features.schema.fields.iter().map(|f| f.name.clone()).collect(),
        };
        let effects = important.iter().take(MAX_EFFECTS);
        let effects = effects.filter_map(|name| partial_dependence(trained, table, name).ok()?);
        let effects = effects.collect();
        Explained { metric: metric.name(), effects, importances, learning_curve }
    }

    /// The distributions of the feature columns.
    fn reference(&self, trained: &Trained) -> Option<Reference> {
        let rows = &self.sample.table;
        (rows.n_rows() > 0).then(|| Reference::of(rows, &trained.features.schema))
    }

    /// All findings: those of the table and those of the fit.
    fn of_fit(&self, outcome: &Outcome, board: Option<&Leaderboard>) -> Vec<Finding> {
        let classification = outcome.evaluation.as_ref().filter(|e| e.n_rows() > 0);
        let regression = outcome.regression.as_ref().filter(|e| e.n_rows() > 0);
        let (classification, regression) =
            (classification.map(|e| e.report()), regression.map(|e| e.report()));
        let n_rows = self.sample.table.n_rows();
        let stride = n_rows.div_ceil(MAX_PREDICTED_ROWS).max(1);
        let some: Vec<usize> = (0..n_rows).step_by(stride).collect();
        let rows = self.sample.table.rows_at(&some).ok().filter(|rows| rows.n_rows() > 0);
        let of_fit = check_fit(&FitFacts {
            trained: &outcome.trained,
            classification: classification.as_ref(),
            regression: regression.as_ref(),
            leaderboard: board,
            grid_edges: &[],
            rows: rows.as_ref(),
        });
        let mut findings: Vec<Finding> = self.findings.iter().cloned().chain(of_fit).collect();
        findings.sort_by_key(|finding| finding.code.code());
        findings
    }
}

/// The named estimator as the only candidate, if its folds are other than plain ones.
fn candidates(args: &Train, like: Option<&Trained>) -> Result<Option<Vec<Candidate>>> {
    let Some(id) = args.model.as_deref().filter(|_| args.split.is_special()) else {
        if args.split.is_special() && !select::is_requested(args, like) {
            return Err(Failure::Usage(
                "--group, --time, --repeats and --hold-out need a comparison or a named estimator: add --model, or \
                 remove --like, --budget 0, --folds 0 and options that belong to one estimator"
                    .into(),
            ));
        }
        return Ok(None);
    };
    if args.append || !args.likelihoods.is_empty() || args.semi_supervised.options().is_some() {
        return Err(Failure::Usage(
            "--group, --time, --repeats and --hold-out do not work with --append, --likelihood or unlabeled rows"
                .into(),
        ));
    }
    let mut candidate = Candidate::new(id)?;
    for (name, text) in &args.settings {
        candidate = candidate.set_from_str(name, text)?;
    }
    if let Some(map) = &args.features {
        candidate = candidate.mapped(map);
    }
    Ok(Some(vec![candidate]))
}

/// The task: given by the user, that of the named estimator, or inferred from the target.
fn task(
    args: &Train,
    target: &ColumnProfile,
    like: Option<&Trained>,
    session: &Session,
) -> Result<SupervisedTask> {
    let named =
        named(args, like)?.map(|choice| match choice.estimator.card().can(Capability::Regressor) {
            true => SupervisedTask::Regression,
            false => SupervisedTask::Classification,
        });
    if let (Some(asked), Some(named)) = (args.task, named)
        && asked != named
    {
        return Err(Failure::Usage(format!(
            "--task {asked}: the named estimator is for {named}; choose another --model, or remove --task"
        )));
    }
    if let Some(task) = args.task.or(named) {
        return Ok(task);
    }
    let task = SupervisedTask::infer(target);
    let (reason, other) = (task.reason(target), task.other());
    let change = match (other, target.kind) {
        (SupervisedTask::Regression, kind) if kind != Kind::Numeric => String::new(),
        _ => format!("; `--task {other}` to change"),
    };
    session.message(&format!("task: {task} ({reason}{change})"));
    Ok(task)
}

/// The figures of the report that need the training rows: those of support vector machines. A report without a figure
/// is no reason to lose a trained model.
fn report_figures(
    args: &Train,
    trained: &Trained,
    source: &Source,
    session: &Session,
) -> Vec<String> {
    let kind = plot::report_kind(trained).filter(|_| report_path(args).is_some());
    let figure = kind.and_then(|kind| plot::report_figure(trained, kind, source, session).ok());
    figure.into_iter().collect()
}

impl SemiSupervised {
    /// The options of expectation maximization, if there are unlabeled rows to learn from.
    fn options(&self) -> Option<EmOptions> {
        (self.unlabeled || self.unlabeled_data.is_some()).then_some(EmOptions {
            weight: self.unlabeled_weight,
            tolerance: self.unlabeled_tolerance,
            max_iterations: self.unlabeled_iterations,
        })
    }
}

/// The target column: the one that the user names, or the labels of a format that carries its own.
pub(super) fn target_column<'a>(
    name: Option<&str>,
    source: &Source,
    profile: &'a Profile,
) -> Result<&'a ColumnProfile> {
    find_target(name.or(source.label_column()), profile).map_err(|e| target_failure(e, source))
}

/// The failure of a target, with the file and the options that help.
pub(super) fn target_failure(error: TargetError, source: &Source) -> Failure {
    let hint = match &error {
        TargetError::Unnamed { columns } => {
            return Failure::Usage(format!(
                "{}: name the target column with --target; the columns are {}",
                source.name(),
                columns.join(", ")
            ));
        }
        TargetError::MissingValues { task: SupervisedTask::Classification, .. } => {
            " with `--unlabeled`".to_owned()
        }
        TargetError::Continuous { column, .. } => {
            format!(" (`--model ols`, or `--column {column}=categorical`)")
        }
        _ => String::new(),
    };
    Failure::Data(format!("{}: {error}{hint}", source.name()))
}

/// Refuses options about classes for a regressor.
fn check_options(args: &Train, regression: bool) -> Result<()> {
    if regression && !args.decision.is_empty() {
        return Err(Failure::Usage(
            "--cost, --reject and --prior need a classifier; the estimator is a regressor".into(),
        ));
    }
    if regression && args.semi_supervised.options().is_some() {
        return Err(Failure::Usage(
            "--unlabeled needs a classifier; the estimator is a regressor".into(),
        ));
    }
    Ok(())
}

/// The classes of the target, together with those of the model to be like; none for a regressor.
fn target_classes(
    args: &Train,
    target: &ColumnProfile,
    (task, estimator): (SupervisedTask, &str),
    source: &Source,
    like: Option<&Trained>,
) -> Result<Classes> {
    if task == SupervisedTask::Regression {
        check_regression_target(target, estimator).map_err(|e| target_failure(e, source))?;
        return Ok(Classes::default());
    }
    let unlabeled = args.semi_supervised.options().is_some();
    let failure = |e| target_failure(e, source);
    Ok(match like {
        // A part may have rows of a single class: the others are known from the model.
        Some(like) => {
            let classes = labels_of_target(target, unlabeled).map_err(failure)?;
            input::classes(like)?.union(&classes).0
        }
        None => classes_of_target(target, unlabeled).map_err(failure)?,
    })
}

/// The estimator that the user names, that of the model to be like, or one chosen for the table; with the
/// parameters that the user sets.
fn choose(
    args: &Train,
    profile: &Profile,
    target: (&ColumnProfile, SupervisedTask),
    like: Option<&Trained>,
    board: Option<&Leaderboard>,
) -> Result<Choice> {
    let chosen = board.filter(|_| args.model.is_none());
    if let Some((board, best)) = chosen.and_then(|board| Some((board, board.best()?))) {
        let (n, metric) = (board.rows.len(), board.metric);
        let reason = format!("best of {n} candidates by cross-validated {metric}");
        return Ok(Choice { estimator: best.candidate.estimator.clone(), reason });
    }
    let choice = match named(args, like)? {
        Some(choice) => choice,
        None => {
            let profile = columns::without_weights(profile, args.weights.as_deref());
            choose_estimator(&profile, target, &args.texts, args.features.is_some())
        }
    };
    Ok(Choice { estimator: with_settings(args, choice.estimator)?, ..choice })
}

/// The estimator that the user names, or that of the model to be like.
pub(super) fn named(args: &Train, like: Option<&Trained>) -> Result<Option<Choice>> {
    Ok(match (&args.model, like) {
        (Some(id), _) => Some(Choice {
            estimator: Estimator::from_id(id)?,
            reason: "named by --model".to_owned(),
        }),
        (None, Some(like)) => Some(Choice {
            estimator: like.estimator.clone(),
            reason: "that of the model named by --like".to_owned(),
        }),
        (None, None) => None,
    })
}

/// The estimator with the parameters that the user sets.
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

/// The preprocessing for an estimator, with the steps and the feature map that the user sets.
pub(super) fn recipe(
    estimator: &Estimator,
    steps: &[String],
    map: Option<&str>,
    append: bool,
) -> Result<Recipe> {
    let mut recipe = steps.iter().try_fold(Recipe::default(), |recipe, step| recipe.with(step))?;
    if let Some(map) = map {
        recipe = recipe.mapped(map)?;
        if append {
            recipe = recipe.appended()?;
        }
    }
    Ok(recipe_for(estimator, recipe)?)
}

/// Fits the preprocessing, unless it is that of another model.
fn fit_features<'s>(
    args: &Train,
    (estimator, recipe): (&Estimator, &Recipe),
    like: Option<Trained>,
    (source, profile, target): (&'s Source, &Profile, &ColumnProfile),
    unusable: &[DroppedColumn],
    monitor: &Monitor<'_>,
    session: &Session,
) -> Result<(Features, CachedCounts<'s, Source>)> {
    let (features, rows) = match like {
        Some(like) => (like.features, CachedCounts::new(source)),
        None => {
            let mut ignore = columns::left_out(&args.ignore, args.weights.as_deref());
            ignore.extend(args.split.group.clone());
            let selection = ColumnSelection { ignore: &ignore, only: &args.texts, unusable };
            let card = (estimator.card(), recipe.categories);
            let target = Some(target.name.as_str());
            let mut planned = columns::plan(selection, "--text", profile, target, card, session)?;
            planned.weights = args.weights.clone();
            let fitted = planned.clone().fit_and_cache_counts(recipe, source, monitor);
            fitted.map_err(|e| input::located(e, source, || planned.encoded_names()))?
        }
    };
    show_steps(&features, session);
    Ok((features, rows))
}

/// The recipe of the folds: features of another model are not fitted again.
pub(super) fn fold_recipe(recipe: Recipe, like: bool) -> Recipe {
    if like { Recipe { target: recipe.target, ..Recipe::default() } } else { recipe }
}

/// Reports the preprocessing, one line per kind of step.
pub(super) fn show_steps(features: &Features, session: &Session) {
    for line in features.summary() {
        session.message(&line);
    }
    if let Some(map) = &features.map {
        session.message(&map.description());
    }
}

/// Saves the model and the report, and prints the report.
pub(super) fn finish(
    args: &Train,
    session: &Session,
    profile: &Profile,
    (reason, selection): (&str, Option<(Leaderboard, String)>),
    findings: Findings,
    outcome: Outcome,
    figures: Vec<String>,
) -> Result<()> {
    let paths = Paths { model: model_path(args), page: report_path(args) };
    let mut report = TrainReport::new(&args.data, profile, reason, &outcome, &paths);
    (report.leaderboard, report.command) = selection.unzip();
    report.set_findings(&findings.list, &findings.commands)?;
    let Explained { importances, metric, effects, learning_curve } = findings.explained;
    report.learning_curve = learning_curve;
    (report.importances, report.importance_metric, report.effects) = (importances, metric, effects);
    let trained = outcome.trained;
    trained.save(&paths.model).map_err(Failure::model(&paths.model.display().to_string()))?;
    if let Some(page) = &paths.page {
        let text = train_page::page(&report, &trained, figures)?;
        mercer::file::save(page, text.as_bytes())
            .map_err(Failure::model(&page.display().to_string()))?;
    }
    if session.json {
        session.print_json(&report)?;
    } else if !session.is_quiet() {
        terminal::train(&report, &terminal::findings(&findings.list, &findings.commands))?;
    }
    if session.interrupted() {
        return Err(Failure::Interrupted { saved: true });
    }
    let certificate = &trained.fitted.certificate;
    if args.strict && !certificate.status.is_converged() {
        return Err(Failure::NotConverged(certificate.to_string()));
    }
    Ok(())
}

/// The file of the model: by default the name of the table without its extensions, in the current folder.
fn model_path(args: &Train) -> PathBuf {
    args.out.clone().unwrap_or_else(|| {
        let name = Path::new(&args.data).file_name().and_then(|n| n.to_str()).unwrap_or("model");
        let stem = name.split('.').next().filter(|s| !s.is_empty() && *s != "-");
        PathBuf::from(stem.unwrap_or("model")).with_extension("mercer")
    })
}

fn report_path(args: &Train) -> Option<PathBuf> {
    if args.no_report {
        return None;
    }
    Some(args.report.clone().unwrap_or_else(|| model_path(args).with_extension("html")))
}
