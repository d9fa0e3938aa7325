//! Drawings of a network in layers, every variable below its parents, with the probabilities of its states: SVG or DOT.

use super::{Evidence, Network};
use crate::explain::short;
use std::fmt::Write;

/// Sizes in pixels; letters of the font are about this wide.
const LETTER: f64 = 7.0;
const LINE: f64 = 17.0;
const TITLE: f64 = 24.0;
const MARGIN: f64 = 16.0;
const BAR: f64 = 50.0;
const NUMBER: f64 = 56.0;
const NODE_SPACING: f64 = 28.0;
const BETWEEN_LAYERS: f64 = 56.0;
/// The number of passes that improve the order within layers.
const SWEEPS: usize = 6;

/// An SVG of the network. `marginals` has the probabilities to show, one list per variable; variables of the evidence
/// are highlighted.
pub fn to_svg(network: &Network, marginals: &[Vec<f64>], evidence: &Evidence) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_svg(network, marginals, evidence, &mut out);
    out
}

/// The network as a DOT graph.
pub fn to_dot(network: &Network) -> String {
    let quoted = |name: &str| format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""));
    let mut out = format!("digraph {} {{\n  node [shape=box];\n", quoted(network.name()));
    for (v, variable) in network.variables().iter().enumerate() {
        out += &format!("  {};\n", quoted(&variable.name));
        for p in network.parents(v) {
            let parent = &network.variables()[*p].name;
            out += &format!("  {} -> {};\n", quoted(parent), quoted(&variable.name));
        }
    }
    out + "}\n"
}

/// The position of a variable.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Placement {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

fn write_svg(
    network: &Network,
    marginals: &[Vec<f64>],
    evidence: &Evidence,
    out: &mut String,
) -> std::fmt::Result {
    let (placements, width, height) = layout(network);
    writeln!(
        out,
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0}" height="{height:.0}" viewBox="0 0 {width:.0} {height:.0}" font-family="sans-serif" font-size="12">
<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="#555"/></marker></defs>
<rect width="100%" height="100%" fill="#fff"/>"##
    )?;
    for v in 0..network.len() {
        for p in network.parents(v) {
            let (from, to) = (placements[*p], placements[v]);
            let (x1, y1) = (from.x + from.width / 2.0, from.y + from.height);
            let (x2, y2) = (to.x + to.width / 2.0, to.y);
            let bend = (y2 - y1) / 2.0;
            writeln!(
                out,
                r##"<path d="M{x1:.1} {y1:.1}C{x1:.1} {:.1} {x2:.1} {:.1} {x2:.1} {y2:.1}" fill="none" stroke="#555" marker-end="url(#tip)"/>"##,
                y1 + bend,
                y2 - bend
            )?;
        }
    }
    for (v, variable) in network.variables().iter().enumerate() {
        let Placement { x, y, width, height } = placements[v];
        let seen = evidence.state(v);
        let fill = if seen.is_some() { "#fff3d6" } else { "#f4f6fb" };
        writeln!(
            out,
            r##"<g><rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" rx="5" fill="{fill}" stroke="#334"/>
<text x="{:.1}" y="{:.1}" text-anchor="middle" font-weight="bold">{}</text>"##,
            x + width / 2.0,
            y + TITLE - 8.0,
            escaped(&variable.name)
        )?;
        for (s, state) in variable.states.iter().enumerate() {
            let base = y + TITLE + LINE * (s as f64 + 0.7);
            let bars = x + width - NUMBER - BAR;
            let p = marginals.get(v).and_then(|m| m.get(s)).copied();
            let weight = if seen == Some(s) { r#" font-weight="bold""# } else { "" };
            writeln!(
                out,
                r#"<text x="{:.1}" y="{base:.1}"{weight}>{}</text>"#,
                x + 8.0,
                escaped(state)
            )?;
            if let Some(p) = p {
                writeln!(
                    out,
                    r##"<rect x="{bars:.1}" y="{:.1}" width="{:.2}" height="10" fill="#7a9cd6"/><text x="{:.1}" y="{base:.1}" text-anchor="end">{}</text>"##,
                    base - 9.0,
                    BAR * p.clamp(0.0, 1.0),
                    x + width - 8.0,
                    short(p)
                )?;
            }
        }
        writeln!(out, "</g>")?;
    }
    writeln!(out, "</svg>")
}

/// The positions of all variables, and the size of the drawing.
fn layout(network: &Network) -> (Vec<Placement>, f64, f64) {
    let layers = ordered_layers(network);
    let mut placements = vec![Placement::default(); network.len()];
    for (placement, variable) in placements.iter_mut().zip(network.variables()) {
        let letters = |word: &String| word.chars().count() as f64 * LETTER;
        let states = variable.states.iter().map(letters).fold(0.0, f64::max);
        let rows = states + BAR + NUMBER + 20.0;
        placement.width = rows.max(letters(&variable.name) * 1.15 + 20.0);
        placement.height = TITLE + LINE * variable.states.len() as f64 + 6.0;
    }
    let row_width = |layer: &Vec<usize>| -> f64 {
        layer.iter().map(|v| placements[*v].width + NODE_SPACING).sum::<f64>() - NODE_SPACING
    };
    let widest = layers.iter().map(row_width).fold(0.0, f64::max);
    let starts: Vec<f64> =
        layers.iter().map(|layer| MARGIN + (widest - row_width(layer)) / 2.0).collect();
    let mut y = MARGIN;
    for (layer, start) in layers.iter().zip(starts) {
        let mut x = start;
        let mut tallest: f64 = 0.0;
        for v in layer {
            (placements[*v].x, placements[*v].y) = (x, y);
            x += placements[*v].width + NODE_SPACING;
            tallest = tallest.max(placements[*v].height);
        }
        y += tallest + BETWEEN_LAYERS;
    }
    (placements, widest + 2.0 * MARGIN, (y - BETWEEN_LAYERS + MARGIN).max(2.0 * MARGIN))
}

/// Layers by the length of the longest path from a root; within a layer, variables are near their neighbors
/// (Sugiyama, Tagawa & Toda, 1981).
fn ordered_layers(network: &Network) -> Vec<Vec<usize>> {
    let n = network.len();
    let mut depth = vec![0; n];
    for v in network.topological_order() {
        depth[v] = network.parents(v).iter().map(|p| depth[*p] + 1).max().unwrap_or(0);
    }
    let mut layers = vec![Vec::new(); depth.iter().max().map_or(0, |d| d + 1)];
    (0..n).for_each(|v| layers[depth[v]].push(v));
    let mut joined = vec![Vec::new(); n];
    for v in 0..n {
        for p in network.parents(v) {
            joined[v].push(*p);
            joined[*p].push(v);
        }
    }
    let mut at = vec![0.0; n];
    for sweep in 0..SWEEPS {
        for layer in &layers {
            let middle = (layer.len() as f64 - 1.0) / 2.0;
            layer.iter().enumerate().for_each(|(i, v)| at[*v] = i as f64 - middle);
        }
        let wanted = |v: usize, layer: usize| -> f64 {
            let side =
                |u: &&usize| if sweep % 2 == 0 { depth[**u] < layer } else { depth[**u] > layer };
            let near: Vec<f64> = joined[v].iter().filter(side).map(|u| at[*u]).collect();
            if near.is_empty() { at[v] } else { near.iter().sum::<f64>() / near.len() as f64 }
        };
        for (d, layer) in layers.iter_mut().enumerate() {
            layer.sort_by(|a, b| wanted(*a, d).total_cmp(&wanted(*b, d)).then(a.cmp(b)));
        }
    }
    layers
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            // Other control characters are not allowed in XML.
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probability::network::RandomNetwork;

    #[test]
    fn children_are_below_their_parents_and_boxes_do_not_overlap() {
        for seed in 0..20 {
            let network = RandomNetwork { seed, ..RandomNetwork::default() }.draw();

            let (placements, width, height) = layout(&network);

            for v in 0..network.len() {
                let here = placements[v];
                assert!(here.x >= 0.0 && here.x + here.width <= width);
                assert!(here.y >= 0.0 && here.y + here.height <= height);
                for p in network.parents(v) {
                    assert!(placements[*p].y + placements[*p].height < here.y);
                }
                for there in &placements[..v] {
                    let beside = here.x + here.width <= there.x || there.x + there.width <= here.x;
                    assert!(beside || here.y != there.y);
                }
            }
        }
    }

    #[test]
    fn names_are_escaped() {
        let network = Network::builder("<n>")
            .variable("a \"b\" <c>", ["x & y", "\u{7}"])
            .table("a \"b\" <c>", [], &[0.25, 0.75])
            .build()
            .unwrap();
        let mut evidence = Evidence::none();
        evidence.see(0, 1);

        let svg = to_svg(&network, &[vec![0.0, 1.0]], &evidence);
        let dot = to_dot(&network);

        assert!(svg.contains("a &quot;b&quot; &lt;c&gt;") && svg.contains("x &amp; y"));
        assert!(!svg.contains('\u{7}'));
        assert!(dot.contains(r#""a \"b\" <c>";"#), "{dot}");
    }
}
