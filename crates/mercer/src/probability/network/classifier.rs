//! A Bayesian network classifier: the class is one of the variables of the network.
//!
//! `log p(c, x) = log p(c | parents of c) + Σⱼ log p(xⱼ | parents of xⱼ)`
//!
//! The structure maximizes a score by hill climbing; the tables are `p(b | a) = (N_ab + α) / (N_a + α k)`. The
//! posterior of the class depends on its Markov blanket only: its parents, its children and their other parents
//! (Friedman, Geiger & Goldszmidt, 1997). The sufficient statistics are the counts of all combinations of codes in every
//! class, so any split of the rows gives the same model. A row with missing values counts for the tables whose
//! variables are all observed, and not for the structure; at prediction time missing values are marginalized exactly.

use super::inference::query;
use super::learn::{HillClimb, Observations, Score, naive};
use super::scoring::{codes_of, log_conditional, score_rows};
use super::{Evidence, Network, Variable};
use crate::model::AlphaParam;
use crate::model::{Certificate, Stop};
use crate::prelude::*;
use crate::stats::{ByClass, Combinations};
use mercer_num::random::Random;
use ndarray::ArrayView1;

choice! {
    /// The score of a structure.
    pub enum StructureScore {
        /// The Bayesian information criterion.
        Bic = "bic",
        /// The Bayesian Dirichlet equivalent uniform score.
        Bdeu = "bdeu",
    }
}

params! {
    /// Bayesian network classifier, for dependent categorical columns.
    pub struct BayesNetwork {
        /// Score of the structure: `bic`, the Bayesian information criterion, or `bdeu`, the marginal likelihood under
        /// uniform Dirichlet priors (Bayesian Dirichlet equivalent uniform).
        criterion: StructureScore = StructureScore::Bic, OneOf(StructureScore::VALUES);
        /// Equivalent sample size of the prior of `bdeu`. Larger values allow more edges.
        sample_size: f64 = 10.0, Above(0.0);
        /// Maximum number of parents of a column, including the class.
        max_parents: usize = 3, Between(1.0, 20.0);
        /// Length of the tabu list: the search continues through structures of lower score, and the last `tabu` steps may
        /// not be undone. 0 stops at the first local optimum. Larger values search longer.
        tabu: usize = 0, Any;
        /// Make the class a parent of every column, as in naive Bayes; otherwise its edges are learned, too.
        augment: bool = false, Any;
        ..AlphaParam;
    }
    formula = "argmax_c log P(c | parents(c)) + Σⱼ log p(xⱼ | parents(xⱼ))";
    lecture = 3;
    attributes = [
        own("levels_", "list of int", "Number of categories of each column."),
        own(
            "parents_",
            "list of list of int",
            "Parents of each variable in ascending order; the class is the last variable.",
        ),
        own("tables_", "list of ndarray", "`p(code | codes of the parents)` of each variable, in row-major order."),
        own("score_", "float", "Score of the structure."),
    ];
}

/// A network over the columns and, as the last variable, the class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BayesNetworkModel {
    /// The classes in code order.
    pub classes: Classes,
    /// The number of categories of each column.
    pub levels: Vec<usize>,
    /// The parents of each variable, ascending; the class is the last variable.
    pub parents: Vec<Vec<usize>>,
    /// `p(code | codes of the parents)`, in row-major order of the codes of the parents, then the code of the
    /// variable.
    pub tables: Vec<Vec<f64>>,
    /// The score of the structure.
    pub score: f64,
}

impl Accumulate for BayesNetwork {
    type Stats = ByClass<Combinations>;
    type Model = BayesNetworkModel;

    fn observe(&self, stats: &mut Self::Stats, batch: &Dataset<'_>) -> Result<()> {
        stats.push_rows(batch, |batch, group_of_row, class_weights| {
            Combinations::of_rows(batch.rows(), group_of_row, batch.weights(), class_weights.len())
        })
    }

    fn finish(&self, stats: &Self::Stats) -> Result<Self::Model> {
        Ok(self.finish_within(stats, &Monitor::quiet())?.0)
    }

    fn finish_within(
        &self,
        stats: &Self::Stats,
        monitor: &Monitor<'_>,
    ) -> Result<(Self::Model, Option<Stop>)> {
        stats.classes().check_several()?;
        let weights = stats.weights();
        if weights.iter().sum::<f64>() <= 0.0 {
            return Err(Error::NoRows);
        }
        let (_, counts) = stats.observed();
        let seen = counts.levels();
        let levels: Vec<usize> = seen.iter().map(|n| (*n).max(1)).collect();
        let data = observations(stats, &seen, &levels)?;
        let class = levels.len();
        let Structure { parents, score, stopped } = self.structure(&data, class, monitor)?;
        let tables = (0..=class)
            .map(|v| {
                let mut counts = vec![0.0; cells(&levels, weights.len(), &parents[v], v)];
                data.count(v, &parents[v], &mut counts);
                let k = if v == class { weights.len() } else { levels[v] };
                let seen = |s: usize| v != class || weights[s] > 0.0;
                // Class priors are not smoothed, as in naive Bayes.
                let alpha = if v == class && parents[v].is_empty() { 0.0 } else { self.alpha };
                counts.chunks_exact(k).flat_map(|row| smoothed(row, alpha, seen)).collect()
            })
            .collect();
        let classes = stats.classes().clone();
        Ok((BayesNetworkModel { classes, levels, parents, tables, score }, stopped))
    }

    fn certificate(&self, _stats: &Self::Stats, model: &Self::Model) -> Certificate {
        Certificate::iterative(true, None)
            .objective(self.score().name(), model.score)
            .note("structure by hill climbing: a local maximum of the score")
            .iterations(1)
    }
}

impl BayesNetwork {
    fn score(&self) -> Score {
        match self.criterion {
            StructureScore::Bic => Score::Bic,
            StructureScore::Bdeu => Score::Bdeu { sample_size: self.sample_size },
        }
    }

    fn structure(
        &self,
        data: &Observations,
        class: usize,
        monitor: &Monitor<'_>,
    ) -> Result<Structure> {
        if data.complete().total().is_err() {
            // Without a complete row no structure can be scored: the naive one is used.
            return Ok(Structure { parents: naive(data, class)?, score: 0.0, stopped: None });
        }
        let climb = HillClimb {
            score: self.score(),
            max_parents: self.max_parents,
            tabu: self.tabu,
            class: self.augment.then_some(class),
            ..HillClimb::default()
        };
        let Fitted { model: parents, certificate } = climb.climb(data, monitor)?;
        let score = certificate.primal().unwrap_or(0.0);
        Ok(Structure { parents, score, stopped: certificate.stopped() })
    }
}

/// The parents of every variable, the score, and why the search stopped early.
struct Structure {
    parents: Vec<Vec<usize>>,
    score: f64,
    stopped: Option<Stop>,
}

/// The rows as observations of a network, with the class as the last variable. A column that is always missing has one
/// state.
fn observations(
    stats: &ByClass<Combinations>,
    seen: &[usize],
    levels: &[usize],
) -> Result<Observations> {
    let (codes, counts) = stats.observed();
    let mut columns = vec![Vec::new(); levels.len() + 1];
    let mut weights = Vec::new();
    for (group, class) in codes.iter().enumerate() {
        for (row, weight) in counts.rows(group) {
            for (column, (code, n)) in columns.iter_mut().zip(row.iter().zip(seen)) {
                column.push(if *n == 0 { 0 } else { *code });
            }
            columns[levels.len()].push(*class);
            weights.push(weight);
        }
    }
    Observations::new(variables(levels, stats.classes().len()), columns)?.weighted(weights)
}

fn variables(levels: &[usize], n_classes: usize) -> Vec<Variable> {
    let states = |n: usize| (0..n).map(|s| s.to_string()).collect();
    let column = |(j, n): (usize, &usize)| Variable { name: format!("x{j}"), states: states(*n) };
    let class = Variable { name: "class".into(), states: states(n_classes) };
    levels.iter().enumerate().map(column).chain([class]).collect()
}

fn cells(levels: &[usize], n_classes: usize, parents: &[usize], v: usize) -> usize {
    let size = |u: usize| levels.get(u).copied().unwrap_or(n_classes);
    parents.iter().chain([&v]).map(|u| size(*u)).product()
}

/// Smoothed probabilities of counts; impossible states have probability zero.
fn smoothed(counts: &[f64], alpha: f64, possible: impl Fn(usize) -> bool) -> Vec<f64> {
    let pseudocount = |s: usize| if possible(s) { alpha } else { 0.0 };
    let total: f64 = counts.iter().enumerate().map(|(s, n)| n + pseudocount(s)).sum();
    let n_possible = (0..counts.len()).filter(|s| possible(*s)).count().max(1) as f64;
    let probability = |(s, n): (usize, &f64)| match total > 0.0 {
        true => (n + pseudocount(s)) / total,
        // No counts and no smoothing: uniform.
        false => f64::from(u8::from(possible(s))) / n_possible,
    };
    counts.iter().enumerate().map(probability).collect()
}

impl BayesNetworkModel {
    /// The network, for any query; the class is its last variable.
    ///
    /// # Errors
    /// If the fields are not a valid network.
    pub fn network(&self) -> Result<Network> {
        let variables = variables(&self.levels, self.classes.len());
        Network::new("classifier", variables, self.parents.clone(), self.tables.clone())
    }

    /// The columns that the class depends on if all are observed: its parents, its children and their other parents.
    pub fn markov_blanket(&self) -> Vec<usize> {
        let class = self.levels.len();
        let mut blanket = self.parents[class].clone();
        for (j, parents) in self.parents[..class].iter().enumerate() {
            if parents.contains(&class) {
                blanket.push(j);
                blanket.extend(parents.iter().filter(|p| **p != class));
            }
        }
        blanket.sort_unstable();
        blanket.dedup();
        blanket
    }

    /// `log p` of a variable given its parents, for every class.
    fn term(&self, v: usize, states: &[usize], out: &mut [f64]) {
        let class = self.levels.len();
        let n_classes = self.classes.len();
        let size = |u: usize| self.levels.get(u).copied().unwrap_or(n_classes);
        for (c, out) in out.iter_mut().enumerate() {
            let state = |u: usize| if u == class { c } else { states[u] };
            let at = self.parents[v].iter().chain([&v]).fold(0, |at, u| at * size(*u) + state(*u));
            *out = self.tables[v][at].ln();
        }
    }

    /// `log p(c, x)` of the observed codes.
    fn score(&self, network: &Network, codes: &[Option<usize>], scores: &mut [f64]) -> Result<()> {
        let class = self.levels.len();
        let states: Option<Vec<usize>> = codes.iter().copied().collect();
        if let Some(states) = states {
            let mut term = vec![0.0; scores.len()];
            scores.fill(0.0);
            for v in 0..=class {
                self.term(v, &states, &mut term);
                scores.iter_mut().zip(&term).for_each(|(s, t)| *s += t);
            }
            return Ok(());
        }
        let mut evidence = Evidence::none();
        let seen = codes.iter().enumerate().filter_map(|(j, code)| Some((j, (*code)?)));
        seen.for_each(|(j, code)| evidence.see(j, code));
        match query(network, &[class], &evidence, &Monitor::quiet()) {
            Ok(found) => {
                let joint = found.probabilities.iter().map(|p| p.ln() + found.log_evidence);
                scores.iter_mut().zip(joint).for_each(|(s, p)| *s = p);
                Ok(())
            }
            Err(Error::Impossible { .. }) => {
                scores.fill(f64::NEG_INFINITY);
                Ok(())
            }
            Err(other) => Err(other),
        }
    }
}

impl Classifier for BayesNetworkModel {
    fn classes(&self) -> &Classes {
        &self.classes
    }

    /// The marginal probabilities of the classes.
    fn log_prior_fallback(&self) -> Option<Vec<f64>> {
        let network = self.network().ok()?;
        let marginal =
            query(&network, &[self.levels.len()], &Evidence::none(), &Monitor::quiet()).ok()?;
        Some(marginal.probabilities.iter().map(|p| p.ln()).collect())
    }

    fn n_columns(&self) -> usize {
        self.levels.len()
    }

    /// The joint log-likelihoods `log p(c, x)`.
    fn scores(&self, x: &Rows<'_>) -> Result<Matrix> {
        let network = self.network()?;
        score_rows(self, &self.levels, x, |codes, scores| self.score(&network, codes, scores))
    }
}

impl Probabilistic for BayesNetworkModel {}

impl Generative for BayesNetworkModel {
    /// Given a class, rows of other classes are rejected; no rows if the class has probability zero.
    fn sample(&self, n: usize, given: Option<u32>, random: &mut Random) -> (Matrix, Vec<u32>) {
        let width = self.levels.len();
        let mut drawn = Vec::new();
        let possible = given.is_none_or(|c| {
            self.log_prior_fallback().is_some_and(|priors| priors[c as usize] > f64::NEG_INFINITY)
        });
        if let Some(network) = self.network().ok().filter(|_| possible) {
            while drawn.len() < n {
                let more = network.sample(n - drawn.len(), random).into_iter();
                drawn.extend(more.filter(|row| given.is_none_or(|c| row[width] == c as usize)));
            }
        }
        let rows = Matrix::from_shape_fn((drawn.len(), width), |(i, j)| drawn[i][j] as f64);
        (rows, drawn.iter().map(|row| row[width] as u32).collect())
    }
}

impl AdditiveScores for BayesNetworkModel {
    /// The intercept is the table of the class, the term of a column the logarithm of its table. With missing values the
    /// terms are those of the chain rule in column order.
    fn terms(&self, row: &[f64]) -> Result<(Vec<f64>, Matrix)> {
        self.check_columns(&Rows::from(ArrayView1::from(row)))?;
        let codes = codes_of(row, &self.levels, 0)?;
        let (width, n_classes) = (self.levels.len(), self.classes.len());
        let mut terms = Matrix::zeros((width, n_classes));
        let mut intercepts = vec![0.0; n_classes];
        if let Some(states) = codes.iter().copied().collect::<Option<Vec<usize>>>() {
            self.term(width, &states, &mut intercepts);
            for (j, mut term) in terms.outer_iter_mut().enumerate() {
                self.term(j, &states, term.as_slice_mut().unwrap_or_default());
            }
            return Ok((intercepts, terms));
        }
        let network = self.network()?;
        let mut seen = vec![None; width];
        self.score(&network, &seen, &mut intercepts)?;
        let mut before = intercepts.clone();
        let mut after = vec![0.0; n_classes];
        for j in (0..width).filter(|j| codes[*j].is_some()) {
            seen[j] = codes[j];
            self.score(&network, &seen, &mut after)?;
            for (c, term) in terms.row_mut(j).iter_mut().enumerate() {
                *term = log_conditional(after[c], before[c]);
            }
            before.copy_from_slice(&after);
        }
        Ok((intercepts, terms))
    }
}

impl Check for BayesNetworkModel {
    fn check(&self) -> Result<()> {
        let n_variables = self.levels.len() + 1;
        let size = |u: &usize| self.levels.get(*u).copied().unwrap_or(self.classes.len());
        // Before the states are allocated: a table with as many cells as its variables have states bounds them.
        let is_table = |v: usize| {
            let mut variables = self.parents[v].iter().chain([&v]).map(size);
            let cells = variables.try_fold(1usize, |n, k| n.checked_mul(k));
            cells == Some(self.tables[v].len())
        };
        let fits = !self.levels.is_empty()
            && self.classes.len() >= 2
            && self.levels.iter().all(|n| *n >= 1)
            && self.parents.len() == n_variables
            && self.tables.len() == n_variables
            && self.parents.iter().flatten().all(|p| *p < n_variables)
            && self.parents.iter().all(|p| p.is_sorted_by(|a, b| a < b))
            && (0..n_variables).all(is_table);
        if fits && self.network().is_ok() {
            return Ok(());
        }
        Err(Error::File("the fields of the Bayesian network are inconsistent".into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fair coins, and a class that tells whether the first two differ, with 10 % noise.
    fn parity(n: usize) -> (Matrix, Vec<u32>) {
        let mut random = Random::new(5);
        let x = Matrix::from_shape_fn((n, 3), |_| f64::from(u8::from(random.uniform() < 0.5)));
        let codes = x.outer_iter().map(|row| {
            let differ = row[0] != row[1];
            u32::from(differ != (random.uniform() < 0.1))
        });
        let codes = codes.collect();
        (x, codes)
    }

    fn fit(params: BayesNetwork, x: &Matrix, codes: &[u32]) -> BayesNetworkModel {
        let classes = Classes::from_names(["alike", "differ"]);
        let data = Dataset::classes(x, codes, &classes).unwrap();
        params.fit(&data, &Monitor::quiet()).unwrap().model
    }

    #[test]
    fn an_augmented_network_learns_parity() {
        let (x, codes) = parity(400);
        let errors = |model: &BayesNetworkModel| {
            let found = model.predict(&Rows::from(&x)).unwrap();
            found.iter().zip(&codes).filter(|(a, b)| a != b).count()
        };

        // A single edge of the class does not improve the score; with the class as a parent of all columns, one edge
        // between the coins does.
        let model = fit(BayesNetwork::new().augment(true), &x, &codes);

        assert!(errors(&model) < 60, "{}", errors(&model));
        assert_eq!(model.markov_blanket(), [0, 1, 2]);
        assert!(model.parents[0].contains(&1) || model.parents[1].contains(&0));
    }

    #[test]
    fn missing_values_are_marginalized_and_terms_sum_to_the_score() {
        let (x, codes) = parity(300);
        let model = fit(BayesNetwork::new().augment(true), &x, &codes);
        let joint = |row: &[f64]| model.scores(&Rows::from(ArrayView1::from(row))).unwrap();

        let marginal = joint(&[1.0, f64::NAN, 0.0]);

        for c in 0..2 {
            let sum: f64 = [0.0, 1.0].iter().map(|b| joint(&[1.0, *b, 0.0])[[0, c]].exp()).sum();
            assert!((marginal[[0, c]].exp() - sum).abs() < 1e-14);
            for row in [[1.0, f64::NAN, 0.0], [1.0, 0.0, 1.0]] {
                let (start, terms) = model.terms(&row).unwrap();
                let total = start[c] + terms.column(c).sum();
                assert!((total - joint(&row)[[0, c]]).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn independent_columns_are_not_in_the_markov_blanket() {
        let mut random = Random::new(8);
        let codes: Vec<u32> = (0..500).map(|_| u32::from(random.uniform() < 0.4)).collect();
        let x = Matrix::from_shape_fn((500, 3), |(i, j)| match j {
            0 => f64::from(codes[i] ^ u32::from(random.uniform() < 0.2)),
            _ => f64::from(u8::from(random.uniform() < 0.5)),
        });

        let model = fit(BayesNetwork::new(), &x, &codes);

        assert_eq!(model.markov_blanket(), [0]);
        assert!(model.score < 0.0);
    }
}
