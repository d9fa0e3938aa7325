//! A Bayesian network with the class in it, learned from rows and used to tell classes.
//!
//! `log p(c, x) = log p(c | parents of c) + Σⱼ log p(xⱼ | parents of xⱼ)`
//!
//! The arrows are those of the largest score, by hill climbing; the tables `p(b | a) = (N_ab + α) / (N_a + α k)`.
//! What a row tells about its class it tells through the class's Markov blanket: its parents, its
//! children and their other parents (Friedman, Geiger & Goldszmidt, 1997). Fitting needs how often each
//! combination of codes occurs in each class and nothing else, so any split of the rows gives the same
//! model. A row with a gap counts for the tables it shows whole, and for the arrows not at all; when
//! a row is told, gaps are summed over, exactly.

use super::inference::query;
use super::learn::{HillClimb, Observations, Score, naive};
use super::{Evidence, Network, Variable};
use crate::model::AlphaParam;
use crate::model::{Certificate, Stop};
use crate::prelude::*;
use crate::stats::{ByClass, Combinations, category, not_a_category};
use mercer_num::random::Random;
use ndarray::ArrayView1;
use rayon::prelude::*;

/// Rows scored by one thread at a time.
const CHUNK: usize = 256;

choice! {
    /// What arrows are judged by.
    pub enum ArrowScore {
        /// The Bayesian information criterion.
        Bic = "bic",
        /// The probability of the rows under even Dirichlet priors.
        Bdeu = "bdeu",
    }
}

params! {
    /// A Bayesian network with the class in it, for columns of categories that depend on each other.
    pub struct BayesNetwork {
        /// What arrows are judged by: `bic`, the likelihood less a price for every number to choose, or
        /// `bdeu`, the probability of the rows under even Dirichlet priors.
        criterion: ArrowScore = ArrowScore::Bic, OneOf(ArrowScore::WORDS);
        /// How many rows the prior of `bdeu` is worth. Larger values draw more arrows.
        sample_size: f64 = 10.0, Above(0.0);
        /// No column gets more parents than this, the class among them.
        max_parents: usize = 3, Between(1.0, 20.0);
        /// How many of the last steps may not be undone while the climb goes on over worse networks;
        /// 0 climbs to the first top and stays. Larger values look further.
        tabu: usize = 0, Any;
        /// Whether the class is a parent of every column from the start, as in naive Bayes; otherwise its
        /// arrows are found as all others are.
        augment: bool = false, Any;
        ..AlphaParam;
    }
}

/// The columns and, last, the class, with their arrows and tables.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BayesNetworkModel {
    /// The classes in code order.
    pub classes: Classes,
    /// How many codes each column has.
    pub levels: Vec<usize>,
    /// The columns and the class a variable leans on, rising; the class is the last variable.
    pub parents: Vec<Vec<usize>>,
    /// `p(code | codes of the parents)`: the codes of the parents in order, the last turning fastest,
    /// then the codes of the variable.
    pub tables: Vec<Vec<f64>>,
    /// The score of the arrows.
    pub score: f64,
}

impl Accumulate for BayesNetwork {
    type Stats = ByClass<Combinations>;
    type Model = BayesNetworkModel;

    fn observe(&self, stats: &mut Self::Stats, batch: &Dataset<'_>) -> Result<()> {
        stats.push_rows(batch, |batch, slots, class_weights| {
            Combinations::of_rows(batch.rows(), slots, batch.weights(), class_weights.len())
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
        let (_, counts) = stats.seen();
        let seen = counts.levels();
        let levels: Vec<usize> = seen.iter().map(|n| (*n).max(1)).collect();
        let data = observations(stats, &seen, &levels)?;
        let class = levels.len();
        let Found { parents, score, stopped } = self.arrows(&data, class, monitor)?;
        let tables = (0..=class)
            .map(|v| {
                let mut counts = vec![0.0; cells(&levels, weights.len(), &parents[v], v)];
                data.count(v, &parents[v], &mut counts);
                let k = if v == class { weights.len() } else { levels[v] };
                let seen = |s: usize| v != class || weights[s] > 0.0;
                // How common the classes are is not smoothed, as nowhere in naive Bayes.
                let alpha = if v == class && parents[v].is_empty() { 0.0 } else { self.alpha };
                counts.chunks_exact(k).flat_map(|row| shares(row, alpha, seen)).collect()
            })
            .collect();
        let classes = stats.classes().clone();
        Ok((BayesNetworkModel { classes, levels, parents, tables, score }, stopped))
    }

    fn certificate(&self, _stats: &Self::Stats, model: &Self::Model) -> Certificate {
        Certificate::iterative(true, None)
            .objective(self.rule().name(), model.score)
            .note("structure by hill climbing: a local maximum of the score")
            .iterations(1)
    }
}

impl BayesNetwork {
    fn rule(&self) -> Score {
        match self.criterion {
            ArrowScore::Bic => Score::Bic,
            ArrowScore::Bdeu => Score::Bdeu { sample_size: self.sample_size },
        }
    }

    fn arrows(&self, data: &Observations, class: usize, monitor: &Monitor<'_>) -> Result<Found> {
        if data.complete().total().is_err() {
            // No row shows everything: nothing but the class is known to matter.
            return Ok(Found { parents: naive(data, class)?, score: 0.0, stopped: None });
        }
        let climb = HillClimb {
            score: self.rule(),
            max_parents: self.max_parents,
            tabu: self.tabu,
            class: self.augment.then_some(class),
            ..HillClimb::default()
        };
        let Fitted { model: parents, certificate } = climb.climb(data, monitor)?;
        let score = certificate.primal().unwrap_or(0.0);
        Ok(Found { parents, score, stopped: certificate.stopped() })
    }
}

/// Arrows: the parents of every variable, the score they have, and why there was no time for better ones.
struct Found {
    parents: Vec<Vec<usize>>,
    score: f64,
    stopped: Option<Stop>,
}

/// The rows as a network sees them, the class as the last variable. A column that never had a value
/// has one state, which tells nothing.
fn observations(
    stats: &ByClass<Combinations>,
    seen: &[usize],
    levels: &[usize],
) -> Result<Observations> {
    let (codes, counts) = stats.seen();
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

/// Counts as shares; states that cannot be have none.
fn shares(counts: &[f64], alpha: f64, possible: impl Fn(usize) -> bool) -> Vec<f64> {
    let added = |s: usize| if possible(s) { alpha } else { 0.0 };
    let total: f64 = counts.iter().enumerate().map(|(s, n)| n + added(s)).sum();
    let n_possible = (0..counts.len()).filter(|s| possible(*s)).count().max(1) as f64;
    let share = |(s, n): (usize, &f64)| match total > 0.0 {
        true => (n + added(s)) / total,
        // Never seen and nothing added: even odds.
        false => f64::from(u8::from(possible(s))) / n_possible,
    };
    counts.iter().enumerate().map(share).collect()
}

impl BayesNetworkModel {
    /// The network itself, to ask it anything; the class is its last variable.
    ///
    /// # Errors
    /// If the parts do not make a network.
    pub fn network(&self) -> Result<Network> {
        let variables = variables(&self.levels, self.classes.len());
        Network::new("classifier", variables, self.parents.clone(), self.tables.clone())
    }

    /// The columns that tell about the class where all is seen: its parents, its children and their
    /// other parents.
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

    /// The codes of a row; a code that no training row had tells as little as a gap.
    fn codes(&self, row: &[f64]) -> std::result::Result<Vec<Option<usize>>, usize> {
        let code = |(j, (x, n)): (usize, (&f64, &usize))| {
            let code = category(*x).ok_or(j)?;
            Ok(code.map(|c| c as usize).filter(|c| c < n))
        };
        row.iter().zip(&self.levels).enumerate().map(code).collect()
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

    /// `log p(c, what the codes show)`.
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

    fn n_columns(&self) -> usize {
        self.levels.len()
    }

    /// The joint log-likelihoods `log p(c, x)`.
    fn scores(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.check_columns(x)?;
        let n_classes = self.classes.len();
        let network = self.network()?;
        let mut out = Matrix::zeros((x.n_rows(), n_classes));
        let cells = out.as_slice_mut().expect("a fresh matrix is contiguous");
        let scored: Vec<Result<()>> = cells
            .par_chunks_mut(CHUNK * n_classes)
            .enumerate()
            .map(|(k, scores)| {
                for (at, scores) in scores.chunks_exact_mut(n_classes).enumerate() {
                    let i = k * CHUNK + at;
                    let row = x.row(i);
                    let codes = self.codes(&row).map_err(|j| not_a_category(i, j, row[j]))?;
                    self.score(&network, &codes, scores)?;
                }
                Ok(())
            })
            .collect();
        // The first bad cell in the order of the rows, whichever thread found one first.
        scored.into_iter().collect::<Result<()>>()?;
        Ok(out)
    }
}

impl Probabilistic for BayesNetworkModel {}

impl Generative for BayesNetworkModel {
    fn sample(&self, n: usize, random: &mut Random) -> (Matrix, Vec<u32>) {
        let width = self.levels.len();
        let drawn = self.network().map(|network| network.sample(n, random)).unwrap_or_default();
        let rows = Matrix::from_shape_fn((n, width), |(i, j)| drawn[i][j] as f64);
        (rows, drawn.iter().map(|row| row[width] as u32).collect())
    }
}

impl AdditiveScores for BayesNetworkModel {
    /// What stands before is the class's own table; a column adds the logarithm of its own. With gaps
    /// the columns are seen one after another, and each adds what seeing it changes.
    fn terms(&self, row: &[f64]) -> Result<(Vec<f64>, Matrix)> {
        self.check_columns(&Rows::from(ArrayView1::from(row)))?;
        let codes = self.codes(row).map_err(|j| not_a_category(0, j, row[j]))?;
        let (width, n_classes) = (self.levels.len(), self.classes.len());
        let mut terms = Matrix::zeros((width, n_classes));
        let mut start = vec![0.0; n_classes];
        if let Some(states) = codes.iter().copied().collect::<Option<Vec<usize>>>() {
            self.term(width, &states, &mut start);
            for (j, mut term) in terms.outer_iter_mut().enumerate() {
                self.term(j, &states, term.as_slice_mut().unwrap_or_default());
            }
            return Ok((start, terms));
        }
        let network = self.network()?;
        let mut seen = vec![None; width];
        self.score(&network, &seen, &mut start)?;
        let mut before = start.clone();
        let mut after = vec![0.0; n_classes];
        for j in (0..width).filter(|j| codes[*j].is_some()) {
            seen[j] = codes[j];
            self.score(&network, &seen, &mut after)?;
            for (c, term) in terms.row_mut(j).iter_mut().enumerate() {
                // What was impossible before stays so whatever comes next.
                *term = if before[c] == f64::NEG_INFINITY { 0.0 } else { after[c] - before[c] };
            }
            before.copy_from_slice(&after);
        }
        Ok((start, terms))
    }
}

impl Check for BayesNetworkModel {
    fn check(&self) -> Result<()> {
        let fits = !self.levels.is_empty()
            && self.classes.len() >= 2
            && self.levels.iter().all(|n| *n >= 1)
            && self.parents.iter().all(|p| p.is_sorted_by(|a, b| a < b));
        match self.network() {
            Ok(_) if fits => Ok(()),
            _ => Err(Error::File("a network of columns and class that no fit could make".into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two fair coins, and a class that is whether they differ, now and then wrong.
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
    fn what_no_single_column_tells_a_network_can() {
        let (x, codes) = parity(400);
        let errors = |model: &BayesNetworkModel| {
            let found = model.predict(&Rows::from(&x)).unwrap();
            found.iter().zip(&codes).filter(|(a, b)| a != b).count()
        };

        // One step at a time sees nothing in two coins that tell only together; with the class as a
        // parent of all, one arrow between the coins does.
        let model = fit(BayesNetwork::new().augment(true), &x, &codes);

        assert!(errors(&model) < 60, "{}", errors(&model));
        assert_eq!(model.markov_blanket(), [0, 1, 2]);
        assert!(model.parents[0].contains(&1) || model.parents[1].contains(&0));
    }

    #[test]
    fn gaps_are_summed_over_and_terms_add_up() {
        let (x, codes) = parity(300);
        let model = fit(BayesNetwork::new().augment(true), &x, &codes);
        let joint = |row: &[f64]| model.scores(&Rows::from(ArrayView1::from(row))).unwrap();

        let gap = joint(&[1.0, f64::NAN, 0.0]);

        for c in 0..2 {
            let sum: f64 = [0.0, 1.0].iter().map(|b| joint(&[1.0, *b, 0.0])[[0, c]].exp()).sum();
            assert!((gap[[0, c]].exp() - sum).abs() < 1e-14);
            for row in [[1.0, f64::NAN, 0.0], [1.0, 0.0, 1.0]] {
                let (start, terms) = model.terms(&row).unwrap();
                let total = start[c] + terms.column(c).sum();
                assert!((total - joint(&row)[[0, c]]).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn independent_columns_are_out_of_the_blanket() {
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
