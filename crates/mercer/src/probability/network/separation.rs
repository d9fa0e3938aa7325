//! d-separation: conditional independence that follows from the graph alone.
//!
//! A path between two variables is active given others if every chain or fork on it is not given, and every collider is
//! given or has a given descendant. If no path is active, the two are independent in every network with this graph
//! (Pearl, 1988). Found by a traversal that stores from which direction each variable was reached (Shachter's Bayes ball, 1998; Koller &
//! Friedman, algorithm 3.1).

use super::{Network, check_index};
use crate::error::{Error, Result};
use std::collections::VecDeque;

/// Whether two variables are d-separated, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Separation {
    /// No path is active: the two are conditionally independent. The shortest paths are listed, each with one variable
    /// that blocks it.
    Separated {
        /// Some paths and the variable on each that blocks it.
        blocked: Vec<BlockedPath>,
    },
    /// The shortest active path, from the first to the second.
    Connected {
        /// The variables on it.
        path: Vec<usize>,
    },
}

/// A blocked path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockedPath {
    /// The variables on it, from the first to the second.
    pub path: Vec<usize>,
    /// The blocking variable.
    pub at: usize,
    /// Why it blocks.
    pub why: Block,
}

/// Why a variable blocks a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    /// It is given, and not a collider on the path.
    Seen,
    /// It is a collider, and neither it nor a descendant is given.
    Collider,
}

/// The direction from which a variable was reached.
#[derive(Clone, Copy, PartialEq, Eq)]
enum From {
    Child = 0,
    Parent = 1,
}

/// Whether `a` and `b` are d-separated by `given`.
///
/// # Errors
/// If an index is out of range, or `a` and `b` are equal or among the given.
pub fn d_separation(network: &Network, a: usize, b: usize, given: &[usize]) -> Result<Separation> {
    check(network, a, b, given)?;
    let graph = Graph::new(network, given);
    match graph.open_path(a, b) {
        Some(path) => Ok(Separation::Connected { path }),
        None => Ok(Separation::Separated { blocked: graph.blocked_paths(a, b) }),
    }
}

/// All variables that are not d-separated from `a` by the given ones.
///
/// # Errors
/// If an index is out of range.
pub fn reachable(network: &Network, a: usize, given: &[usize]) -> Result<Vec<usize>> {
    for v in given.iter().chain([&a]) {
        check_index(network, *v)?;
    }
    let graph = Graph::new(network, given);
    let trail = graph.walk(a);
    let reached = |v: &usize| *v != a && !graph.seen[*v] && trail[*v].iter().any(Option::is_some);
    Ok((0..network.len()).filter(reached).collect())
}

fn check(network: &Network, a: usize, b: usize, given: &[usize]) -> Result<()> {
    for v in given.iter().chain([&a, &b]) {
        check_index(network, *v)?;
    }
    let refuse = |v: usize, why: &str| {
        let variable = network.variables()[v].name.clone();
        Err(Error::Network { variable, why: why.into() })
    };
    match () {
        _ if a == b => refuse(a, "it is not d-separated from itself"),
        _ if given.contains(&a) => refuse(a, "it is both queried and given"),
        _ if given.contains(&b) => refuse(b, "it is both queried and given"),
        _ => Ok(()),
    }
}

struct Graph<'a> {
    network: &'a Network,
    children: Vec<Vec<usize>>,
    seen: Vec<bool>,
    /// Given, or with a given descendant.
    opens: Vec<bool>,
}

/// The predecessor of each variable and direction.
type Trail = Vec<[Option<(usize, usize)>; 2]>;

impl<'a> Graph<'a> {
    fn new(network: &'a Network, given: &[usize]) -> Graph<'a> {
        let n = network.len();
        let mut children = vec![Vec::new(); n];
        for v in 0..n {
            network.parents(v).iter().for_each(|p| children[*p].push(v));
        }
        let mut seen = vec![false; n];
        given.iter().for_each(|v| seen[*v] = true);
        let mut opens = seen.clone();
        for v in network.topological_order().into_iter().rev() {
            opens[v] |= children[v].iter().any(|c| opens[*c]);
        }
        Graph { network, children, seen, opens }
    }

    /// Every variable reached from `a` along active paths, the nearest first.
    fn walk(&self, a: usize) -> Trail {
        let mut trail: Trail = vec![[None; 2]; self.network.len()];
        let mut open = VecDeque::from([(a, From::Child)]);
        trail[a][From::Child as usize] = Some((a, From::Child as usize));
        while let Some((v, from)) = open.pop_front() {
            let (up, down) = match from {
                From::Child => (!self.seen[v], !self.seen[v]),
                From::Parent => (self.opens[v], !self.seen[v]),
            };
            let ups = self.network.parents(v).iter().filter(|_| up).map(|p| (*p, From::Child));
            let downs = self.children[v].iter().filter(|_| down).map(|c| (*c, From::Parent));
            for (u, side) in ups.chain(downs) {
                if trail[u][side as usize].is_none() {
                    trail[u][side as usize] = Some((v, from as usize));
                    open.push_back((u, side));
                }
            }
        }
        trail
    }

    fn open_path(&self, a: usize, b: usize) -> Option<Vec<usize>> {
        let trail = self.walk(a);
        let back = |mut side: usize| {
            let (mut v, mut path) = (b, vec![b]);
            while let Some((before, from)) = trail[v][side].filter(|(before, _)| *before != v) {
                path.push(before);
                (v, side) = (before, from);
            }
            path.reverse();
            path
        };
        let paths = (0..2).filter(|side| trail[b][*side].is_some()).map(back);
        paths.min_by_key(Vec::len)
    }

    /// Blocked paths with distinct blocking variables: each is removed from the graph before the next path is searched.
    fn blocked_paths(&self, a: usize, b: usize) -> Vec<BlockedPath> {
        let mut removed = vec![false; self.network.len()];
        let mut found = Vec::new();
        while let Some(path) = self.any_path(a, b, &removed) {
            let Some((at, why)) = self.block_on(&path) else { break };
            removed[at] = true;
            found.push(BlockedPath { path, at, why });
        }
        found
    }

    /// The shortest undirected path.
    fn any_path(&self, a: usize, b: usize, removed: &[bool]) -> Option<Vec<usize>> {
        let mut before = vec![None; self.network.len()];
        before[a] = Some(a);
        let mut open = VecDeque::from([a]);
        while let Some(v) = open.pop_front() {
            if v == b {
                let mut path = vec![b];
                while path[path.len() - 1] != a {
                    path.extend(before[path[path.len() - 1]]);
                }
                path.reverse();
                return Some(path);
            }
            for u in self.network.parents(v).iter().chain(&self.children[v]) {
                if before[*u].is_none() && !removed[*u] {
                    before[*u] = Some(v);
                    open.push_back(*u);
                }
            }
        }
        None
    }

    fn block_on(&self, path: &[usize]) -> Option<(usize, Block)> {
        path.windows(3).find_map(|three| {
            let parents = self.network.parents(three[1]);
            let meets = parents.contains(&three[0]) && parents.contains(&three[2]);
            match meets {
                true if !self.opens[three[1]] => Some((three[1], Block::Collider)),
                false if self.seen[three[1]] => Some((three[1], Block::Seen)),
                _ => None,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two causes, their effect, and a report of it.
    fn effect() -> Network {
        Network::builder("effect")
            .variable("a", ["0", "1"])
            .variable("b", ["0", "1"])
            .variable("effect", ["0", "1"])
            .variable("report", ["0", "1"])
            .table("a", [], &[0.5; 2])
            .table("b", [], &[0.5; 2])
            .table("effect", ["a", "b"], &[0.5; 8])
            .table("report", ["effect"], &[0.5; 4])
            .build()
            .unwrap()
    }

    #[test]
    fn causes_are_independent_until_their_effect_is_given() {
        let network = effect();
        let ask = |given: &[usize]| d_separation(&network, 0, 1, given).unwrap();

        let blocked = BlockedPath { path: vec![0, 2, 1], at: 2, why: Block::Collider };
        assert_eq!(ask(&[]), Separation::Separated { blocked: vec![blocked] });
        assert_eq!(ask(&[2]), Separation::Connected { path: vec![0, 2, 1] });
        // A given descendant of the collider activates the path.
        assert_eq!(ask(&[3]), Separation::Connected { path: vec![0, 2, 1] });
    }

    #[test]
    fn a_chain_is_blocked_by_a_given_variable() {
        let network = effect();

        let separation = d_separation(&network, 0, 3, &[2]).unwrap();

        let blocked = BlockedPath { path: vec![0, 2, 3], at: 2, why: Block::Seen };
        assert_eq!(separation, Separation::Separated { blocked: vec![blocked] });
        assert_eq!(reachable(&network, 0, &[]).unwrap(), [2, 3]);
        assert_eq!(reachable(&network, 0, &[3]).unwrap(), [1, 2]);
    }

    #[test]
    fn invalid_queries_are_refused() {
        let network = effect();

        assert!(d_separation(&network, 0, 0, &[]).is_err());
        assert!(d_separation(&network, 0, 1, &[1]).is_err());
        assert!(d_separation(&network, 0, 9, &[]).is_err());
    }
}
