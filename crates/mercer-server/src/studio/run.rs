//! A run: candidates are compared on the same folds, and the best one is fitted to all rows, on a thread of its own.

use super::board::Board;
use super::data::{Data, SEED};
use super::session::Session;
use crate::error::{ApiError, ApiResult};
use mercer::catalog::Learns;
use mercer::data::Kind;
use mercer::evaluate::{Metric, Splitting};
use mercer::model::{Convergence, Plan, Progress};
use mercer::train::checks::{Finding, FitFacts, check_fit};
use mercer::train::select::{
    Candidate, DEFAULT_BUDGET, LeaderboardRow, Round, SelectionOptions, Standing, portfolio,
    portfolio_folds, select_on_sample,
};
use mercer::train::{ColumnSelection, Outcome, Reference, Trained, Training, train};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Folds of a comparison, as by default in `mercer train`.
const N_FOLDS: usize = 10;
/// Points of the convergence curve; beyond it every second one is dropped.
const MAX_POINTS: usize = 1_000;
/// Training rows that a fitted model predicts, to compare with held-out rows.
const MAX_PREDICTED_ROWS: usize = 2_000;

/// What to run.
pub(super) struct Request {
    /// The candidates; `None` compares the portfolio.
    pub candidates: Option<Vec<Candidate>>,
    /// A row of the leaderboard, to be fitted without a comparison.
    pub row: Option<String>,
    pub metric: Metric,
    /// The time for the portfolio.
    pub budget: Option<Duration>,
}

/// A model that was fitted to all rows.
pub(super) struct Fit {
    pub data: Arc<Data>,
    /// The name of the candidate on the leaderboard.
    pub name: String,
    pub candidate: Candidate,
    pub trained: Trained,
    pub findings: Vec<Finding>,
    pub seconds: f64,
}

impl Fit {
    /// Whether the model reads a text column.
    pub fn has_text(&self) -> bool {
        self.trained.features.schema.fields.iter().any(|field| field.kind == Kind::Text)
    }
}

/// Where a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Comparing,
    Preprocessing,
    Fitting,
    Checking,
    Done,
    Failed,
}

impl Phase {
    pub fn name(self) -> &'static str {
        match self {
            Phase::Comparing => "comparing",
            Phase::Preprocessing => "preprocessing",
            Phase::Fitting => "fitting",
            Phase::Checking => "checking",
            Phase::Done => "done",
            Phase::Failed => "failed",
        }
    }
}

/// A run that can be followed and stopped.
pub(super) struct Run {
    /// Ends the comparison, whose best candidate is then fitted.
    stop_comparing: Arc<AtomicBool>,
    /// Ends the fit, whose current model is kept.
    stop_fitting: Arc<AtomicBool>,
    start: Instant,
    state: Mutex<State>,
}

/// What is known of a run.
pub(super) struct State {
    pub phase: Phase,
    pub phase_start: Instant,
    pub candidates: Vec<Value>,
    pub n_candidates: usize,
    /// Rows and folds of the round.
    pub round: Option<(usize, usize)>,
    pub progress: Option<Progress>,
    /// The last state of an iterative solver.
    pub convergence: Option<Convergence>,
    /// Seconds since the start of the fit and the largest violation.
    pub curve: Vec<(f64, f64)>,
    pub plan: Option<String>,
    pub messages: Vec<String>,
    pub error: Option<String>,
    pub seconds: Option<f64>,
}

impl State {
    /// The seconds that the phase is expected to need still.
    pub fn seconds_left(&self) -> Option<f64> {
        let progress = self.progress?;
        let fraction = progress.fraction().or_else(|| {
            // Solvers converge about geometrically: the fraction of the way is that of the logarithms.
            let Convergence { violation, tolerance, .. } = progress.convergence?;
            let (_, first) = self.curve.first()?;
            let known = tolerance > 0.0 && *first > tolerance && violation > 0.0;
            known.then(|| ((first / violation).ln() / (first / tolerance).ln()).clamp(0.0, 1.0))
        })?;
        let seconds = self.phase_start.elapsed().as_secs_f64();
        (fraction > 0.02).then(|| seconds * (1.0 - fraction) / fraction)
    }

    fn add_point(&mut self, seconds: f64, violation: f64) {
        if !violation.is_finite() {
            return;
        }
        if self.curve.len() >= MAX_POINTS {
            self.curve = self.curve.iter().copied().step_by(2).collect();
        }
        self.curve.push((seconds, violation));
    }
}

impl Run {
    /// Starts a run on a thread of its own. The session holds its results when they are there.
    pub fn start(session: &Session, data: Arc<Data>, request: Request) -> ApiResult<Arc<Run>> {
        data.target()?;
        let now = Instant::now();
        let run = Arc::new(Run {
            stop_comparing: Arc::default(),
            stop_fitting: Arc::default(),
            start: now,
            state: Mutex::new(State {
                phase: Phase::Comparing,
                phase_start: now,
                candidates: Vec::new(),
                n_candidates: 0,
                round: None,
                progress: None,
                convergence: None,
                curve: Vec::new(),
                plan: None,
                messages: Vec::new(),
                error: None,
                seconds: None,
            }),
        });
        {
            let mut held = session.held();
            if held.run.as_ref().is_some_and(|run| run.is_running()) {
                return Err(ApiError::new(409, "a fit is running; stop it first"));
            }
            held.run = Some(Arc::clone(&run));
        }
        let (session, shared) = (session.clone(), Arc::clone(&run));
        let spawned =
            std::thread::Builder::new().name("mercer-studio-fit".into()).spawn(move || {
                let work = std::panic::AssertUnwindSafe(|| shared.work(&session, &data, request));
                let outcome = std::panic::catch_unwind(work).unwrap_or_else(|_| {
                    Err(ApiError::new(500, "the fit failed by an internal error"))
                });
                let mut state = shared.state();
                state.seconds = Some(shared.start.elapsed().as_secs_f64());
                state.phase = match outcome {
                    Ok(()) => Phase::Done,
                    Err(error) => {
                        state.error = Some(error.message);
                        Phase::Failed
                    }
                };
            });
        spawned.map_err(|_| ApiError::new(503, "the system refuses another thread"))?;
        Ok(run)
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn is_running(&self) -> bool {
        !matches!(self.state().phase, Phase::Done | Phase::Failed)
    }

    pub fn seconds(&self) -> f64 {
        self.state().seconds.unwrap_or_else(|| self.start.elapsed().as_secs_f64())
    }

    /// Ends the current phase and keeps the best so far.
    pub fn stop(&self) {
        let flag = match self.state().phase {
            Phase::Comparing => &self.stop_comparing,
            _ => &self.stop_fitting,
        };
        flag.store(true, Ordering::Relaxed);
    }

    /// Ends everything; the results are not wanted any more.
    pub fn abandon(&self) {
        self.stop_comparing.store(true, Ordering::Relaxed);
        self.stop_fitting.store(true, Ordering::Relaxed);
    }

    fn enter(&self, phase: Phase) {
        let mut state = self.state();
        state.phase = phase;
        state.phase_start = Instant::now();
        state.progress = None;
    }

    fn say(&self, message: impl Into<String>) {
        self.state().messages.push(message.into());
    }

    fn work(&self, session: &Session, data: &Arc<Data>, request: Request) -> ApiResult<()> {
        let (board, name) = match request.row.clone() {
            Some(name) => (session.board()?, name),
            None => {
                let (board, best) = self.compare(session, data, &request)?;
                let board = Arc::new(board);
                let mut held = session.held();
                if self.is_current(&held.run) {
                    held.board = Some(Arc::clone(&board));
                }
                (board, best)
            }
        };
        let fit = Arc::new(self.fit(session, data, board.row(&name)?, &board)?);
        let mut held = session.held();
        if self.is_current(&held.run) {
            held.fit = Some(fit);
        }
        Ok(())
    }

    fn is_current(&self, run: &Option<Arc<Run>>) -> bool {
        run.as_ref().is_some_and(|run| std::ptr::eq(Arc::as_ptr(run), self))
    }

    /// Compares candidates on the folds of the session; also returns the name of the best of them.
    fn compare(
        &self,
        session: &Session,
        data: &Arc<Data>,
        request: &Request,
    ) -> ApiResult<(Board, String)> {
        let target = data.target()?;
        let columns = selection(data);
        let schema = data.profile.schema();
        let on = (target.name.as_str(), target.task());
        let is_portfolio = request.candidates.is_none();
        let candidates = match &request.candidates {
            Some(candidates) => candidates.clone(),
            None => portfolio(&schema, data.profile.n_rows, on, columns)?,
        };
        let options = SelectionOptions {
            metric: request.metric,
            splitting: splitting(data),
            group: None,
            time: None,
            budget: request.budget.or(is_portfolio.then_some(DEFAULT_BUDGET)),
            columns,
            weights: None,
            steps: &[],
        };
        self.state().n_candidates = candidates.len();
        let monitor = session
            .monitor()
            .cancelled_by(Arc::clone(&self.stop_comparing))
            .on_progress(|progress| self.state().progress = Some(progress));
        let mut on_round = |round: &Round<'_>| {
            let rows: Vec<Value> = round.rows.iter().map(|row| candidate_row(row)).collect();
            let mut state = self.state();
            state.candidates = rows;
            state.round = Some((round.n_rows, round.n_folds));
            if round.is_finished {
                state.phase_start = Instant::now();
            }
        };
        let mut board = select_on_sample(
            candidates,
            &schema,
            on,
            &data.rows,
            &options,
            &monitor,
            &mut on_round,
        )?;
        board.is_sample = data.rows.is_partial;
        if self.stop_comparing.load(Ordering::Relaxed) {
            self.say("the comparison was stopped; the best candidate so far is fitted");
        }
        let best = board.best().map(|row| row.name.clone());
        let best = best.ok_or_else(|| ApiError::bad("no candidate could be fitted"))?;
        let earlier = session.held().board.clone();
        Ok((Board::merged(earlier.as_deref(), Arc::clone(data), board), best))
    }

    /// Fits a candidate to all rows.
    fn fit(
        &self,
        session: &Session,
        data: &Arc<Data>,
        row: &LeaderboardRow,
        board: &Board,
    ) -> ApiResult<Fit> {
        let start = Instant::now();
        let target = data.target()?;
        let candidate = row.candidate.clone();
        self.enter(Phase::Preprocessing);
        let monitor = session
            .monitor()
            .cancelled_by(Arc::clone(&self.stop_fitting))
            .on_progress(|progress| self.on_progress(progress))
            .on_plan(|plan: &Plan| self.state().plan = Some(plan.to_string()));
        let recipe = candidate.recipe(&[])?;
        let estimator = candidate.estimator.clone();
        let (schema, card) = (data.profile.schema(), estimator.card());
        let name = Some(target.name.as_str());
        let planned = selection(data).plan(schema, name, card, recipe.categories)?;
        let (features, rows) =
            planned.features.fit_and_cache_counts(&recipe, &data.source, &monitor)?;
        self.enter(Phase::Fitting);
        // The comparison has scored the candidate already; only statistics give densities at no further fits.
        let has_statistics = card.learns == Learns::Statistics;
        let training = Training {
            estimator,
            features,
            task: target.task(),
            n_rows: Some(data.profile.n_rows),
            n_folds: if has_statistics { N_FOLDS } else { 0 },
            seed: SEED,
            recipe,
        };
        let mut outcome = train(training, &rows, &monitor)?;
        self.enter(Phase::Checking);
        if let Some(predictions) = &row.predictions {
            outcome.set_scores(predictions, &target.classes);
        }
        let sample = &data.checked.table;
        outcome.trained.reference =
            (sample.n_rows() > 0).then(|| Reference::of(sample, &outcome.trained.features.schema));
        let findings = findings(data, &outcome, board);
        Ok(Fit {
            data: Arc::clone(data),
            name: row.name.clone(),
            candidate,
            trained: outcome.trained,
            findings,
            seconds: start.elapsed().as_secs_f64(),
        })
    }

    fn on_progress(&self, progress: Progress) {
        let mut state = self.state();
        state.progress = Some(progress);
        if let Some(convergence) = progress.convergence {
            let seconds = state.phase_start.elapsed().as_secs_f64();
            state.convergence = Some(convergence);
            state.add_point(seconds, convergence.violation);
        }
    }
}

/// The columns that candidates may learn from.
pub(super) fn selection(data: &Data) -> ColumnSelection<'_> {
    ColumnSelection { ignore: &data.choices.ignore, only: &[], unusable: &data.unusable }
}

/// The folds of all comparisons of a table.
pub(super) fn splitting(data: &Data) -> Splitting {
    Splitting::folds(portfolio_folds(data.profile.n_rows, N_FOLDS), SEED)
}

/// A candidate while the comparison runs.
fn candidate_row(row: &LeaderboardRow) -> Value {
    let standing = match &row.standing {
        Standing::Finished => "finished",
        Standing::Dropped => "dropped",
        Standing::OverBudget => "over-budget",
        Standing::Failed(_) => "failed",
    };
    json!({"name": row.name, "score": row.score, "n_rows": row.n_rows, "standing": standing})
}

/// The findings about the table and the fit.
fn findings(data: &Data, outcome: &Outcome, board: &Board) -> Vec<Finding> {
    let classification = outcome.evaluation.as_ref().map(|e| e.report());
    let regression = outcome.regression.as_ref().map(|e| e.report());
    let table = &data.checked.table;
    let stride = table.n_rows().div_ceil(MAX_PREDICTED_ROWS).max(1);
    let some: Vec<usize> = (0..table.n_rows()).step_by(stride).collect();
    let rows = table.rows_at(&some).ok().filter(|rows| rows.n_rows() > 0);
    let of_fit = check_fit(&FitFacts {
        trained: &outcome.trained,
        classification: classification.as_ref(),
        regression: regression.as_ref(),
        leaderboard: Some(&board.board),
        grid_edges: &[],
        rows: rows.as_ref(),
    });
    let mut findings: Vec<Finding> = data.findings.iter().cloned().chain(of_fit).collect();
    findings.sort_by_key(|finding| finding.code.code());
    findings
}
