//! The printed report of `mercer bayes table`.

use super::{Answer, Report, independence, moments, risk};
use crate::failure::Result;
use crate::report::terminal::{align_right, table};
use mercer::explain::short;
use mercer::probability::joint::{Cells, Total};
use mercer::probability::{Fraction, JointTable};
use std::io::{self, Write};

/// Cells of a joint table that is printed; more do not fit on a screen.
const MOST_CELLS: usize = 60;

pub fn print(report: &Report) -> Result<()> {
    let mut out = io::stdout().lock();
    let joint = &report.table;
    let names: Vec<&str> = joint.variables().iter().map(|v| v.name.as_str()).collect();
    match joint.kind() {
        Cells::Counts => {
            writeln!(out, "P({}), {} counted\n", names.join(", "), short(joint.total()))?;
        }
        Cells::Probabilities => writeln!(out, "P({})\n", names.join(", "))?,
    }
    print_table(&mut out, joint)?;
    if let (Some(given), Some(table)) = (&report.given, &report.conditional) {
        let free: Vec<&str> = table.variables().iter().map(|v| v.name.as_str()).collect();
        let share = Fraction::new(table.total(), joint.total());
        writeln!(out, "\nP({given}) = {share}")?;
        writeln!(out, "\nP({} | {given})\n", free.join(", "))?;
        print_table(&mut out, table)?;
    }
    if let Some(answer) = &report.answer {
        print_answer(&mut out, answer)?;
    }
    if let (Some(moments), by) = (&report.moments, report.by.as_deref()) {
        moments::print(&mut out, moments, report.given.as_deref(), by)?;
    }
    writeln!(out)?;
    for (name, bits) in names.iter().zip(&report.entropy) {
        writeln!(out, "entropy of {name}: {} bits", short(*bits))?;
    }
    writeln!(out, "joint entropy: {} bits", short(report.joint_entropy))?;
    if let Some(tested) = &report.independence {
        independence::print(&mut out, tested)?;
    }
    if let Some(optimal) = &report.risk {
        risk::print(&mut out, optimal, joint)?;
    }
    let free = report.parameters;
    writeln!(
        out,
        "\n{} cells, {} free parameters; {} if all were independent",
        free.cells, free.joint, free.independent
    )?;
    Ok(())
}

fn print_answer(out: &mut impl Write, answer: &Answer) -> Result<()> {
    writeln!(out, "\n{} = {}", answer.question, answer.probability)?;
    if answer.chain.steps.len() > 1 {
        writeln!(out, "\nBy the chain rule:")?;
        for step in &answer.chain.steps {
            writeln!(out, "  {} = {}", step.formula, step.probability)?;
        }
        writeln!(out, "  product = {}", answer.chain.probability)?;
    }
    if let Some(total) = &answer.total {
        print_total(out, answer, total)?;
    }
    Ok(())
}

/// The law of total probability: the formula, one line per term, and the sum.
fn print_total(out: &mut impl Write, answer: &Answer, total: &Total) -> Result<()> {
    let by = answer.by.as_deref().unwrap_or_default();
    let (event, bar) = (&answer.event, &answer.bar);
    let and = if bar.is_empty() { String::new() } else { format!(", {}", &bar[3..]) };
    writeln!(out, "\nBy the law of total probability:")?;
    writeln!(out, "  {} = sum over {by} of P({event} | {by}{and}) P({by}{bar})", answer.question)?;
    for term in &total.terms {
        let case = format!("{by}={}", term.value);
        let (conditional, weight) = (term.conditional, term.weight);
        let product = short(conditional.value() * weight.value());
        writeln!(
            out,
            "  P({event} | {case}{and}) P({case}{bar}) = {} x {} = {product}",
            plain(conditional),
            plain(weight)
        )?;
    }
    writeln!(out, "  sum = {}", total.probability)?;
    Ok(())
}

fn print_table(out: &mut impl Write, joint: &JointTable) -> Result<()> {
    match joint.variables() {
        [a, b] => {
            let mut headings = vec![format!("{} \\ {}", a.name, b.name)];
            headings.extend(b.values.iter().cloned());
            headings.push("sum".into());
            let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
            let mut rows = table(&headings);
            align_right(&mut rows, &(1..headings.len()).collect::<Vec<_>>());
            let sides = [joint.marginal(&[a.name.as_str()])?, joint.marginal(&[b.name.as_str()])?];
            for (i, value) in a.values.iter().enumerate() {
                let mut cells = vec![value.clone()];
                cells.extend(
                    (0..b.values.len())
                        .map(|j| plain(joint.probability_of_cell(i * b.values.len() + j))),
                );
                cells.push(plain(sides[0].probability_of_cell(i)));
                rows.add_row(cells);
            }
            let mut cells = vec!["sum".to_owned()];
            cells.extend((0..b.values.len()).map(|j| plain(sides[1].probability_of_cell(j))));
            cells.push("1".into());
            rows.add_row(cells);
            writeln!(out, "{rows}")?;
        }
        _ => {
            let names: Vec<&str> = joint.variables().iter().map(|v| v.name.as_str()).collect();
            let mut rows = table(&[&names[..], &["fraction", "P"]].concat());
            align_right(&mut rows, &[names.len(), names.len() + 1]);
            for k in 0..joint.cells().len().min(MOST_CELLS) {
                let words = joint.variables().iter().zip(joint.codes(k));
                let mut cells: Vec<String> = words.map(|(v, c)| v.values[c].clone()).collect();
                cells.push(
                    joint
                        .probability_of_cell(k)
                        .counts()
                        .map_or(String::new(), |(a, b)| format!("{a}/{b}")),
                );
                cells.push(short(joint.probability_of_cell(k).value()));
                rows.add_row(cells);
            }
            let rest = joint.cells().len().saturating_sub(MOST_CELLS);
            if rest > 0 {
                rows.add_row([format!("… {rest} more (see --json)")]);
            }
            writeln!(out, "{rows}")?;
        }
    }
    Ok(())
}

/// A probability as a fraction if possible, for the cells of a grid.
pub fn plain(share: Fraction) -> String {
    share.counts().map_or_else(|| short(share.value()), |(a, b)| format!("{a}/{b}"))
}
