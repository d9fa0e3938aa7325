//! Level lines of a function on a grid (marching squares), and the nearest point of lines.

use std::collections::{BTreeMap, BTreeSet};

/// A point of a plot.
pub type Point = (f64, f64);

/// A function on a rectangular grid.
pub struct Grid {
    pub xs: Vec<f64>,
    pub ys: Vec<f64>,
    /// One value per point, `x` varies fastest.
    pub values: Vec<f64>,
}

/// An edge of the grid: the index of its first point, and its direction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    pub i: usize,
    pub j: usize,
    pub upright: bool,
}

impl Edge {
    /// The other end.
    pub fn end(self) -> (usize, usize) {
        if self.upright { (self.i, self.j + 1) } else { (self.i + 1, self.j) }
    }
}

/// The lines around a set of grid points; `crossing` is the point where a line crosses an edge, and `joined` tells
/// whether the lower left and the upper right corner of a saddle cell belong together. Pieces that are `drawn` already,
/// as those between two sets are, are left out.
pub fn outlines(
    (wide, high): (usize, usize),
    inside: &dyn Fn(usize, usize) -> bool,
    joined: &dyn Fn(usize, usize) -> bool,
    crossing: &dyn Fn(Edge) -> Point,
    drawn: &mut BTreeSet<(Edge, Edge)>,
) -> Vec<Vec<Point>> {
    let mut neighbors: BTreeMap<Edge, Vec<Edge>> = BTreeMap::new();
    for j in 0..high.saturating_sub(1) {
        for i in 0..wide.saturating_sub(1) {
            let corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)];
            let within = corners.map(|(i, j)| inside(i, j));
            // Edge k joins the corners k and k + 1: bottom, right, top, left.
            let edges = [(i, j, false), (i + 1, j, true), (i, j + 1, false), (i, j, true)]
                .map(|(i, j, upright)| Edge { i, j, upright });
            let crossed: Vec<Edge> =
                (0..4).filter(|k| within[*k] != within[(k + 1) % 4]).map(|k| edges[k]).collect();
            let pieces = match crossed.as_slice() {
                [a, b] => vec![(*a, *b)],
                [bottom, right, top, left] if joined(i, j) => {
                    vec![(*bottom, *right), (*top, *left)]
                }
                [bottom, right, top, left] => vec![(*bottom, *left), (*right, *top)],
                _ => Vec::new(),
            };
            for (a, b) in pieces {
                if !drawn.insert((a.min(b), a.max(b))) {
                    continue;
                }
                neighbors.entry(a).or_default().push(b);
                neighbors.entry(b).or_default().push(a);
            }
        }
    }
    let chains = chains(neighbors).into_iter();
    chains.map(|chain| chain.into_iter().map(crossing).collect()).collect()
}

impl Grid {
    fn value(&self, i: usize, j: usize) -> f64 {
        self.values[j * self.xs.len() + i]
    }

    /// The lines where the function has a level, by linear interpolation along the edges of the grid; none where it is
    /// not finite.
    pub fn level_lines(&self, level: f64) -> Vec<Vec<Point>> {
        if self.values.iter().any(|v| !v.is_finite()) {
            return Vec::new();
        }
        let inside = |i: usize, j: usize| self.value(i, j) > level;
        let joined = |i: usize, j: usize| {
            let corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)];
            let center = corners.iter().map(|(i, j)| self.value(*i, *j)).sum::<f64>() / 4.0;
            (center > level) == inside(i, j)
        };
        let crossing = |edge: Edge| {
            let (i, j) = edge.end();
            let (from, to) = (self.value(edge.i, edge.j), self.value(i, j));
            let fraction = (level - from) / (to - from);
            let at = |axis: &[f64], a: usize, b: usize| axis[a] + fraction * (axis[b] - axis[a]);
            (at(&self.xs, edge.i, i), at(&self.ys, edge.j, j))
        };
        let size = (self.xs.len(), self.ys.len());
        outlines(size, &inside, &joined, &crossing, &mut BTreeSet::new())
    }

    /// The gradient of an affine function, `None` if the function is not affine or constant.
    pub fn affine_gradient(&self) -> Option<(f64, f64)> {
        let (wide, high) = (self.xs.len(), self.ys.len());
        let start = self.value(0, 0);
        let slope = |value: f64, axis: &[f64]| (value - start) / (axis[axis.len() - 1] - axis[0]);
        let gradient =
            (slope(self.value(wide - 1, 0), &self.xs), slope(self.value(0, high - 1), &self.ys));
        let scale = self.values.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        let affine = |i: usize, j: usize| {
            start + gradient.0 * (self.xs[i] - self.xs[0]) + gradient.1 * (self.ys[j] - self.ys[0])
        };
        let fits = (0..high)
            .all(|j| (0..wide).all(|i| (affine(i, j) - self.value(i, j)).abs() <= 1e-6 * scale));
        let steep = gradient.0 * gradient.0 + gradient.1 * gradient.1 > 0.0;
        (fits && steep).then_some(gradient)
    }
}

/// Joins pairs of neighbors to chains: open ones from end to end, closed ones back to their start.
fn chains(mut neighbors: BTreeMap<Edge, Vec<Edge>>) -> Vec<Vec<Edge>> {
    let ends: Vec<Edge> =
        neighbors.iter().filter(|(_, of)| of.len() == 1).map(|(edge, _)| *edge).collect();
    let all: Vec<Edge> = neighbors.keys().copied().collect();
    let mut chains = Vec::new();
    for start in ends.into_iter().chain(all) {
        let mut chain = vec![start];
        let mut at = start;
        while let Some(next) = neighbors.get_mut(&at).and_then(Vec::pop) {
            if let Some(back) = neighbors.get_mut(&next)
                && let Some(k) = back.iter().position(|edge| *edge == at)
            {
                back.remove(k);
            }
            chain.push(next);
            at = next;
        }
        if chain.len() > 1 {
            chains.push(chain);
        }
    }
    chains
}

/// The point of polylines that is nearest to a point; `None` without lines.
pub fn nearest(point: Point, lines: &[Vec<Point>]) -> Option<Point> {
    let candidates = lines.iter().flat_map(|line| line.windows(2)).map(|piece| {
        let (a, b) = (piece[0], piece[1]);
        let (dx, dy) = (b.0 - a.0, b.1 - a.1);
        let length = (dx * dx + dy * dy).max(f64::MIN_POSITIVE);
        let along = (((point.0 - a.0) * dx + (point.1 - a.1) * dy) / length).clamp(0.0, 1.0);
        (a.0 + along * dx, a.1 + along * dy)
    });
    let distance = |q: &Point| (q.0 - point.0).powi(2) + (q.1 - point.1).powi(2);
    candidates.min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

/// The part of a segment within a rectangle (Liang and Barsky 1984); `None` if it lies outside.
pub fn clipped(
    (a, b): (Point, Point),
    (left, right): (f64, f64),
    (bottom, top): (f64, f64),
) -> Option<(Point, Point)> {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let (mut from, mut to) = (0.0f64, 1.0f64);
    let sides = [(-dx, a.0 - left), (dx, right - a.0), (-dy, a.1 - bottom), (dy, top - a.1)];
    for (slope, room) in sides {
        if slope == 0.0 {
            if room < 0.0 {
                return None;
            }
        } else if slope < 0.0 {
            from = from.max(room / slope);
        } else {
            to = to.min(room / slope);
        }
    }
    let at = |t: f64| (a.0 + t * dx, a.1 + t * dy);
    (from <= to).then(|| (at(from), at(to)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(n: usize, f: impl Fn(f64, f64) -> f64) -> Grid {
        let axis: Vec<f64> = (0..=n).map(|k| -2.0 + 4.0 * k as f64 / n as f64).collect();
        let values = axis.iter().flat_map(|y| axis.iter().map(|x| f(*x, *y)).collect::<Vec<_>>());
        Grid { xs: axis.clone(), ys: axis.clone(), values: values.collect() }
    }

    #[test]
    fn the_level_line_of_a_plane_is_one_exact_line() {
        let plane = grid(17, |x, y| 2.0 * x - y);

        let lines = plane.level_lines(0.5);

        assert_eq!(lines.len(), 1);
        assert!(lines[0].iter().all(|(x, y)| (2.0 * x - y - 0.5).abs() < 1e-12));
        assert_eq!(plane.affine_gradient().map(|(a, b)| (a.round(), b.round())), Some((2.0, -1.0)));
    }

    #[test]
    fn the_level_line_of_a_cone_is_one_closed_circle() {
        let cone = grid(80, |x, y| x.hypot(y));

        let lines = cone.level_lines(1.0);

        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].first(), lines[0].last());
        assert!(lines[0].iter().all(|(x, y)| (x.hypot(*y) - 1.0).abs() < 1e-3));
        assert_eq!(cone.affine_gradient(), None);
    }

    #[test]
    fn a_saddle_has_two_lines_and_missing_values_none() {
        assert_eq!(grid(8, |x, y| x * y).level_lines(0.3).len(), 2);
        assert!(grid(8, |_, _| f64::NAN).level_lines(0.0).is_empty());
    }

    #[test]
    fn the_nearest_point_lies_within_a_piece_or_at_its_end() {
        let line = vec![vec![(0.0, 0.0), (2.0, 0.0)]];

        assert_eq!(nearest((1.0, 3.0), &line), Some((1.0, 0.0)));
        assert_eq!(nearest((5.0, 3.0), &line), Some((2.0, 0.0)));
        assert_eq!(nearest((0.0, 0.0), &[]), None);
    }

    #[test]
    fn a_segment_is_clipped_to_the_picture() {
        let picture = ((0.0, 1.0), (0.0, 1.0));

        let inside = clipped(((0.5, 0.5), (2.5, 0.5)), picture.0, picture.1);

        assert_eq!(inside, Some(((0.5, 0.5), (1.0, 0.5))));
        assert_eq!(clipped(((2.0, 2.0), (3.0, 2.0)), picture.0, picture.1), None);
    }
}
