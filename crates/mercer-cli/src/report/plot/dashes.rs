//! Dashed lines as pieces. The raster backend starts the dash pattern again at every point of a path, so that a curve of
//! many points comes out solid.

use kuva::render::render::{Primitive, Scene};

/// Replaces dashed lines by their dashes.
pub fn split_dashes(mut scene: Scene) -> Scene {
    let mut elements = Vec::with_capacity(scene.elements.len());
    for element in scene.elements {
        let Primitive::PolyLine { points, stroke, stroke_width, stroke_dasharray } = element else {
            elements.push(element);
            continue;
        };
        let lengths: Vec<f64> = (stroke_dasharray.iter().flat_map(|all| all.split([' ', ','])))
            .filter_map(|length| length.parse().ok())
            .filter(|length| *length > 0.0)
            .collect();
        let pieces = if lengths.is_empty() { vec![points] } else { cut(&points, &lengths) };
        elements.extend(pieces.into_iter().map(|points| Primitive::PolyLine {
            points,
            stroke: stroke.clone(),
            stroke_width,
            stroke_dasharray: None,
        }));
    }
    scene.elements = elements;
    scene
}

/// The drawn pieces of a polyline: the first length is drawn, the second left out, and so on.
fn cut(points: &[(f64, f64)], lengths: &[f64]) -> Vec<Vec<(f64, f64)>> {
    let mut pieces = Vec::new();
    let Some(first) = points.first() else { return pieces };
    let (mut k, mut left, mut piece) = (0, lengths[0], vec![*first]);
    for pair in points.windows(2) {
        let (mut from, to) = (pair[0], pair[1]);
        loop {
            let length = (to.0 - from.0).hypot(to.1 - from.1);
            if length <= left || !length.is_finite() {
                left -= length;
                piece.push(to);
                break;
            }
            let t = left / length;
            from = (from.0 + t * (to.0 - from.0), from.1 + t * (to.1 - from.1));
            piece.push(from);
            if k % 2 == 0 {
                pieces.push(std::mem::take(&mut piece));
            }
            k += 1;
            left = lengths[k % lengths.len()];
            piece = vec![from];
        }
    }
    if k % 2 == 0 && piece.len() > 1 {
        pieces.push(piece);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_continue_over_the_points_of_a_line() {
        let line: Vec<(f64, f64)> = (0..=10).map(|k| (f64::from(k), 0.0)).collect();

        let pieces = cut(&line, &[3.0, 2.0]);

        // Drawn from 0 to 3 and from 5 to 8, the rest left out.
        let ends: Vec<(f64, f64)> =
            pieces.iter().map(|piece| (piece[0].0, piece[piece.len() - 1].0)).collect();
        assert_eq!(ends, [(0.0, 3.0), (5.0, 8.0)]);
    }
}
