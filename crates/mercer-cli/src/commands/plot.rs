//! `mercer plot`: the figure of a model with the rows of a table.

use crate::args::{Plot, PlotKind};
use crate::failure::{Failure, Result};
use crate::input;
use crate::report::plot::rows::PlotRows;
use crate::report::plot::{
    self, class_distributions, coefficients, decision, feature_map, gaussians,
    kernel_approximation, model_comparison, projection, tube,
};
use crate::session::Session;
use kuva::render::render::Scene;
use mercer::catalog::AnyModel;
use mercer::data::{Kind, Stream, Table};
use mercer::model::chunk_rows;
use mercer::preprocess::Encoded;
use mercer::train::Trained;
use mercer_io::Source;
use serde_json::json;
use std::ops::ControlFlow;

/// Rows of a plot.
const MAX_ROWS: usize = 5000;

pub fn run(args: Plot, session: &Session) -> Result<()> {
    let model = input::load(&args.model)?;
    let kind = match args.kind {
        Some(kind) => kind,
        None => kind_of(&model, &args)?,
    };
    let scene = match kind {
        PlotKind::Coefficients => coefficients::coefficients(&model).ok_or_else(|| {
            model.estimator.unable("be plotted by coefficients: it is not linear in its columns")
        })?,
        PlotKind::Images => match args.image {
            Some(shape) => class_distributions::images(&model, shape)?,
            None => {
                return Err(Failure::Usage(
                    "--kind images needs the size of the images: add --image ROWSxCOLUMNS".into(),
                ));
            }
        },
        kind => with_rows(&model, kind, &args, session)?,
    };
    plot::save(&args.out, scene)?;
    session.message(&format!("{}: saved {}", kind.name(), args.out.display()));
    if session.json {
        session.print_json(&json!({"kind": kind.name(), "plot": args.out}))?;
    }
    Ok(())
}

/// Classes of a plot in a report at most.
const MAX_REPORT_CLASSES: usize = 20;

/// The plot of a support vector machine for the report; `None` for other models.
pub(super) fn report_kind(model: &Trained) -> Option<PlotKind> {
    let classifier = model.fitted.model.as_model().classifier();
    let fields = &model.features.schema.fields;
    let two_columns = fields.len() == 2 && fields.iter().all(|field| field.kind == Kind::Numeric);
    match model.fitted.model {
        AnyModel::Svr(_) | AnyModel::NuSvr(_) | AnyModel::LinearSvr(_) => Some(PlotKind::Tube),
        _ if classifier.is_none() || !decision::is_svm(model) => None,
        // So many regions cannot be distinguished, and one outline per class takes longer than the fit.
        _ if classifier.is_some_and(|c| c.classes().len() > MAX_REPORT_CLASSES) => None,
        _ if two_columns => Some(PlotKind::Margin),
        _ => Some(PlotKind::Decisions),
    }
}

/// A plot of a model with its training rows, as SVG.
pub(super) fn report_figure(
    model: &Trained,
    kind: PlotKind,
    source: &Source,
    session: &Session,
) -> Result<String> {
    let rows = plot_rows(model, source, session)?;
    Ok(plot::svg(&drawn(model, kind, &rows, &[])?))
}

/// A plot that needs rows.
fn with_rows(model: &Trained, kind: PlotKind, args: &Plot, session: &Session) -> Result<Scene> {
    let Some(data) = &args.data else {
        return Err(Failure::Usage(format!(
            "--kind {} needs rows: add a table, as in `mercer plot {} rows.csv`",
            kind.name(),
            args.model.display()
        )));
    };
    let target = model.features.target.as_deref();
    let source = input::open(data, &args.reading, target, session)?;
    drawn(model, kind, &plot_rows(model, &source, session)?, &args.axes)
}

fn drawn(model: &Trained, kind: PlotKind, rows: &PlotRows, named: &[String]) -> Result<Scene> {
    let classes = input::classes(model).unwrap_or_default();
    match kind {
        PlotKind::Margin => decision::margin(model, rows, &classes, named),
        PlotKind::Decisions => decision::decision_values(model, rows, &classes),
        PlotKind::Tube => tube::tube(model, rows, named),
        PlotKind::Posterior => model_comparison::posterior(model, rows, &classes, named),
        PlotKind::Gaussians => gaussians::gaussians(model, rows, &classes, named),
        PlotKind::Projection => projection::projection(model, rows, &classes),
        PlotKind::Densities => class_distributions::distributions(model, named, Some(&rows.table)),
        PlotKind::FeatureMap => feature_map::feature_map(model, rows, &classes, named),
        PlotKind::KernelApproximation => kernel_approximation::kernel_approximation(model, rows),
        PlotKind::ApproximationError => kernel_approximation::approximation_error(model, rows),
        PlotKind::Coefficients | PlotKind::Images => {
            Err(Failure::Usage(format!("--kind {} is drawn without rows", kind.name())))
        }
    }
}

/// The plot that suits a model.
fn kind_of(model: &Trained, args: &Plot) -> Result<PlotKind> {
    let able = model.fitted.model.as_model();
    let fields = &model.features.schema.fields;
    let numeric = fields.iter().filter(|field| field.kind == Kind::Numeric).count();
    let n_axes = match args.axes.len() {
        0 if numeric == fields.len() => numeric,
        named => named,
    };
    if args.image.is_some() {
        return Ok(PlotKind::Images);
    }
    if able.regressor().is_some() {
        let linear =
            able.linear_model().is_some() && !matches!(model.fitted.model, AnyModel::LinearSvr(_));
        return Ok(if linear && n_axes != 1 { PlotKind::Coefficients } else { PlotKind::Tube });
    }
    if able.outlier_detector().is_some() {
        return Ok(PlotKind::Margin);
    }
    if able.classifier().is_some() {
        return Ok(match () {
            () if decision::is_svm(model) && n_axes == 2 => PlotKind::Margin,
            () if decision::is_svm(model) => PlotKind::Decisions,
            () if gaussians::has_gaussians(model) && n_axes == 2 => PlotKind::Gaussians,
            () if matches!(model.fitted.model, AnyModel::LinearDiscriminantAnalysis(_))
                && n_axes != 1 =>
            {
                PlotKind::Projection
            }
            () if able.probabilistic().is_some() && n_axes == 1 => PlotKind::Posterior,
            () if n_axes == 2 => PlotKind::Margin,
            () if able.factorized_likelihood().is_some() => PlotKind::Densities,
            () if able.additive_scores().is_some() && able.discriminant().is_none() => {
                PlotKind::Coefficients
            }
            () => PlotKind::Decisions,
        });
    }
    if kernel_approximation::kernel(model).is_some() {
        return Ok(PlotKind::KernelApproximation);
    }
    Err(model.estimator.unable("be plotted").into())
}

/// The first rows of a table, as read and as the model sees them.
pub(super) fn plot_rows(model: &Trained, source: &Source, session: &Session) -> Result<PlotRows> {
    let features = &model.features;
    let able = model.fitted.model.as_model();
    let classes = able.classifier().map(|classifier| classifier.classes().clone());
    let regression = able.regressor().is_some();
    let schema = match regression {
        true => features.regression_schema(),
        false => features.input_schema(classes.as_ref()),
    };
    let chunk = chunk_rows(features.n_features(), features.layout());
    let (mut table, mut parts): (Option<Table>, Vec<Encoded>) = (None, Vec::new());
    let mut n_rows = 0;
    let read = source.stream(&schema, chunk, &mut |tables| {
        for mut one in tables {
            let first = one.take_front((MAX_ROWS - n_rows).min(one.n_rows()));
            if first.n_rows() == 0 {
                continue;
            }
            n_rows += first.n_rows();
            parts.push(match regression {
                true => features.encode_regression(&first)?,
                false => features.encode(&first, classes.as_ref())?,
            });
            match &mut table {
                Some(table) => table.append(first)?,
                None => table = Some(first),
            }
        }
        let done = n_rows >= MAX_ROWS || session.interrupted();
        Ok(if done { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    });
    read.map_err(|e| input::located(e, source, || features.encoded_names()))?;
    session.check_interrupt()?;
    match (table, Encoded::join(parts)) {
        (Some(table), Some(encoded)) => Ok(PlotRows { table, encoded }),
        _ => Err(Failure::Data(format!("{} has no rows to plot", source.name()))),
    }
}
