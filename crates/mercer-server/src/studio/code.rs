//! What a screen shows, as a command, in Python, in Rust and over HTTP.

use super::data::Data;
use mercer::evaluate::Metric;
use mercer::train::SupervisedTask;
use mercer::train::select::{Candidate, Leaderboard, shell_word};
use serde::Serialize;
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// Code of one interface.
#[derive(Serialize)]
pub(super) struct Snippet {
    name: &'static str,
    code: String,
}

/// The same in several interfaces.
#[derive(Serialize)]
#[serde(transparent)]
pub(super) struct Snippets(Vec<Snippet>);

impl Snippets {
    fn new(command: String, python: String, rust: String, curl: String) -> Snippets {
        let snippet = |name, code| Snippet { name, code };
        Snippets(vec![
            snippet("Command", command),
            snippet("Python", python),
            snippet("Rust", rust),
            snippet("curl", curl),
        ])
    }

    /// The profile and the checks of a table.
    pub fn of_table(data: &Data) -> Snippets {
        let target = data.target.as_ref().map(|target| target.name.as_str());
        let options = format!("{}{}", target_option(data), type_options(data));
        let data_word = shell_word(&data.name);
        let python_target = target.map_or("None".to_owned(), python_text);
        Snippets::new(
            format!("mercer profile {data_word}{options}\nmercer check {data_word}{options}"),
            format!(
                "import mercer\nimport pandas as pd\n\n{}\nprint(table.describe(include=\"all\"))\n\
                 for finding in mercer.check(table, target={python_target}):\n    print(finding)\n",
                python_table(data)
            ),
            format!(
                "{}let profile = source.profile(&|_, _| true)?;\nfor column in &profile.columns {{\n    \
                 println!(\"{{}}: {{}}, {{}} missing\", column.name, column.type_name(), column.n_missing);\n}}\n",
                rust_source(data)
            ),
            call("data.describe", "{}"),
        )
    }

    /// The selection from the portfolio.
    pub fn of_selection(data: &Data, metric: Metric, budget: Option<Duration>) -> Snippets {
        let mut options = vec!["--metric".to_owned(), metric.name().to_owned()];
        if let Some(budget) = budget {
            options.extend(["--budget".to_owned(), format!("{}s", budget.as_secs_f64())]);
        }
        let class = match is_regression(data) {
            true => "AutoRegressor",
            false => "AutoClassifier",
        };
        let seconds = budget.map_or(60.0, |budget| budget.as_secs_f64());
        let rust = format!(
            "{}let candidates = portfolio(&profile.schema(), profile.n_rows, (target, task), columns)?;\n\
             let board = select_model(candidates, &profile.schema(), profile.n_rows, (target, task),\n    \
             &source, &options, &Monitor::quiet(), &mut |_| ())?;\n\
             println!(\"{{:?}}\", board.best().map(|row| (&row.name, row.score)));\n",
            rust_source(data)
        );
        Snippets::new(
            train_command(data, &options),
            format!(
                "from mercer import {class}\nimport pandas as pd\n\n{}\nmodel = {class}(metric={}, budget={seconds}, \
                 n_folds={})\nmodel.fit({})\nprint(model.leaderboard_)\n",
                python_table(data),
                python_text(metric.name()),
                super::run::splitting(data).n_folds,
                python_arguments(data),
            ),
            rust,
            call("train.start", &format!("{{\"metric\": \"{metric}\"}}")),
        )
    }

    /// A candidate, fitted.
    pub fn of_candidate(data: &Data, candidate: &Candidate) -> Snippets {
        let card = candidate.estimator.card();
        let (import, made) = python_estimator(candidate);
        let python = format!(
            "import pandas as pd\n{import}\nfrom mercer.preprocessing import TableVectorizer\n\
             from sklearn.pipeline import make_pipeline\n\n{}\nmodel = make_pipeline(TableVectorizer(), {made})\n\
             model.fit({})\n",
            python_table(data),
            python_arguments(data),
        );
        let set: String = candidate
            .settings
            .iter()
            .map(|(name, value)| format!(".set({name:?}, json!({value}))?"))
            .collect();
        let rust = format!(
            "let candidate = Candidate::new({:?})?{set};\nlet recipe = candidate.recipe(&[])?;\n\
             let training = Training {{ estimator: candidate.estimator, features, task, n_rows: None, n_folds: 10, seed: 0, \
             recipe }};\nlet outcome = train(training, &source, &Monitor::quiet())?;\n\
             println!(\"{{}}\", outcome.trained.fitted.certificate);\noutcome.trained.save(\"model.mercer\".as_ref())?;\n",
            card.id
        );
        let model = model_file(data);
        Snippets::new(
            train_command(data, &candidate.options()),
            python,
            format!("{}{rust}", rust_source(data)),
            format!(
                "mercer serve {model} &\ncurl -H 'Content-Type: text/csv' --data-binary @{} \
                 'http://localhost:8080/predict?proba'",
                shell_word(&data.name)
            ),
        )
    }

    /// The held-out predictions of a candidate.
    pub fn of_errors(data: &Data, candidate: &Candidate) -> Snippets {
        let arguments = python_arguments(data);
        let target = data.target.as_ref().map_or_else(String::new, |t| python_text(&t.name));
        let n_folds = super::run::splitting(data).n_folds;
        let compared = match is_regression(data) {
            true => format!("print((predicted - table[{target}]).describe())"),
            false => format!("print(pd.crosstab(table[{target}], predicted))"),
        };
        let mut snippets = Snippets::of_candidate(data, candidate);
        let [command, python, _, curl] = snippets.0.as_mut_slice() else { return snippets };
        command.code += " --json";
        python.code = python.code.replace(
            &format!("model.fit({arguments})\n"),
            &format!(
                "predicted = cross_val_predict(model, {arguments}, cv={n_folds})\n{compared}\n"
            ),
        );
        python.code.insert_str(0, "from sklearn.model_selection import cross_val_predict\n");
        curl.code = call("errors", &format!("{{\"name\": {}}}", python_text(&candidate.name())));
        snippets
    }

    /// The comparison.
    pub fn of_board(data: &Data, board: &Leaderboard) -> Snippets {
        let metric = board.metric;
        let command = format!(
            "mercer compare {}{}{} --metric {metric}",
            shell_word(&data.name),
            target_option(data),
            type_options(data),
        );
        let mut snippets = Snippets::of_selection(data, metric, None);
        snippets.0[0].code = command;
        snippets.0[3].code = call("board", "{}");
        snippets
    }

    /// The explanation of a row.
    pub fn of_row(data: &Data, candidate: &Candidate, number: Option<usize>) -> Snippets {
        let (model, row) = (model_file(data), number.unwrap_or(1));
        let (import, made) = python_estimator(candidate);
        let (features, target) = python_columns(data);
        Snippets::new(
            format!("mercer explain {model} {} --row {row}", shell_word(&data.name)),
            format!(
                "import pandas as pd\n{import}\nfrom mercer.preprocessing import TableVectorizer\n\n{}\n\
                 rows = TableVectorizer().fit_transform({features})\nmodel = {made}.fit(rows, {target})\n\
                 print(model.explain(rows[{}]))\n",
                python_table(data),
                row - 1,
            ),
            format!(
                "{}let model = Trained::load({model:?}.as_ref())?;\n\
                 let table = source.read(&model.features.input_schema(None))?;\n\
                 let row = RowToExplain::new(&model, &table, {})?;\nprintln!(\"{{:?}}\", row.explain()?);\n",
                rust_source(data),
                row - 1,
            ),
            format!(
                "mercer serve {model} &\nsed -n '1p;{}p' {} | curl -H 'Content-Type: text/csv' --data-binary @- \
                 http://localhost:8080/explain",
                row + 1,
                shell_word(&data.name)
            ),
        )
    }
}

/// The command that trains with some options.
pub(super) fn train_command(data: &Data, options: &[String]) -> String {
    let words: String = options.iter().map(|word| format!(" {}", shell_word(word))).collect();
    let (target, types) = (target_option(data), type_options(data));
    format!("mercer train {}{target}{types}{words}", shell_word(&data.name))
}

fn is_regression(data: &Data) -> bool {
    data.target.as_ref().is_some_and(|target| target.task == SupervisedTask::Regression)
}

fn target_option(data: &Data) -> String {
    let target = data.target.as_ref();
    let target = target.map(|target| {
        let task = data.choices.task.map_or_else(String::new, |task| format!(" --task {task}"));
        format!(" --target {}{task}", shell_word(&target.name))
    });
    target.unwrap_or_default()
}

fn type_options(data: &Data) -> String {
    let types = data.choices.types.iter();
    let types =
        types.map(|(name, of)| format!(" --column {}", shell_word(&format!("{name}={of}"))));
    let ignored = data.choices.ignore.iter().map(|name| format!(" --ignore {}", shell_word(name)));
    types.chain(ignored).collect()
}

/// The file that `mercer train` writes by default.
fn model_file(data: &Data) -> String {
    let name = Path::new(&data.name).file_name().and_then(|n| n.to_str()).unwrap_or("model");
    let stem = name.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or("model");
    shell_word(&format!("{stem}.mercer"))
}

fn call(name: &str, message: &str) -> String {
    let rest = message.trim_start_matches('{').trim_end_matches('}');
    let rest = if rest.is_empty() { String::new() } else { format!(", {rest}") };
    format!(
        "# the address and the token that `mercer studio` printed\n\
         curl -H \"Authorization: Bearer $TOKEN\" --data '{{\"call\": \"{name}\"{rest}}}' $URL/studio/call"
    )
}

fn python_table(data: &Data) -> String {
    let read = match data.source.format() {
        mercer_io::Format::JsonLines => {
            format!("pd.read_json({}, lines=True)", python_text(&data.name))
        }
        mercer_io::Format::Parquet => format!("pd.read_parquet({})", python_text(&data.name)),
        _ => format!("pd.read_csv({}, sep=None, engine=\"python\")", python_text(&data.name)),
    };
    format!("table = {read}")
}

fn python_arguments(data: &Data) -> String {
    let (features, target) = python_columns(data);
    format!("{features}, {target}")
}

/// The features and the target.
fn python_columns(data: &Data) -> (String, String) {
    match &data.target {
        Some(target) => {
            let name = python_text(&target.name);
            let left_out = data.choices.ignore.iter().map(|name| python_text(name));
            let names: Vec<String> = [name.clone()].into_iter().chain(left_out).collect();
            (format!("table.drop(columns=[{}])", names.join(", ")), format!("table[{name}]"))
        }
        None => ("table".into(), "None".into()),
    }
}

/// The import of an estimator's class, and the call that makes it.
fn python_estimator(candidate: &Candidate) -> (String, String) {
    let card = candidate.estimator.card();
    let (module, class) = card.python.rsplit_once('.').unwrap_or(("", card.python));
    let setting = |(name, value): &(String, Value)| format!("{name}={}", python_value(value));
    let settings: Vec<String> = candidate.settings.iter().map(setting).collect();
    (format!("from mercer.{module} import {class}"), format!("{class}({})", settings.join(", ")))
}

/// A text as a Python literal; JSON's escapes are Python's.
fn python_text(text: &str) -> String {
    Value::from(text).to_string()
}

fn python_value(value: &Value) -> String {
    match value {
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        Value::Null => "None".into(),
        other => other.to_string(),
    }
}

fn rust_source(data: &Data) -> String {
    let target = data.target.as_ref().map(|target| target.name.as_str());
    let target = target.map_or("None".to_owned(), |name| format!("Some({name:?}.into())"));
    format!(
        "let options = Options {{ target: {target}, ..Options::default() }};\n\
         let source = Source::open({:?}, &options)?;\n",
        data.name
    )
}
