// The code that fits what a playground shows: a command, Python, Rust and curl, with the points.

import { toCsv, className } from "./points.js";

const OWN = {
  svc: { python: ["mercer.svm", "SVC"], rust: ["svm", "Svc"], call: "margin" },
  svr: { python: ["mercer.svm", "SVR"], rust: ["svm", "Svr"], call: "tube" },
  "gaussian-nb": { python: ["mercer.naive_bayes", "GaussianNB"], rust: ["bayes", "GaussianNb"], call: "bayes" },
  lda: { python: ["mercer.discriminant_analysis", "LinearDiscriminantAnalysis"], rust: ["discriminant", "LinearDiscriminantAnalysis"], call: "bayes" },
  qda: { python: ["mercer.discriminant_analysis", "QuadraticDiscriminantAnalysis"], rust: ["discriminant", "QuadraticDiscriminantAnalysis"], call: "bayes" },
  rda: { python: ["mercer.discriminant_analysis", "RegularizedDiscriminantAnalysis"], rust: ["discriminant", "RegularizedDiscriminantAnalysis"], call: "bayes" },
};

/**
 * @param {string} model An estimator of the catalog.
 * @param {object} parameters Its parameters by name.
 * @param {object} message The message to the engine.
 */
export function snippets(model, parameters, points, message) {
  const regression = model === "svr";
  return [
    { name: "Command line", code: command(model, parameters, points, regression) },
    { name: "Python", code: python(model, parameters, points, regression) },
    { name: "Rust", code: rust(model, parameters, points, regression) },
    { name: "curl", code: curl(OWN[model].call, message) },
  ];
}

function command(model, parameters, points, regression) {
  const plain = (value) => (typeof value === "string" ? value : JSON.stringify(value));
  const set = Object.entries(parameters).map(([name, value]) => ` \\\n  --set '${name}=${plain(value)}'`);
  const target = regression ? "y --prepare target=none" : "class";
  return `cat > points.csv <<'END'
${toCsv(points, regression)}END
mercer train points.csv --target ${target} --model ${model} --prepare scale=none --folds 0${set.join("")}
`;
}

function python(model, parameters, points, regression) {
  const [module, name] = OWN[model].python;
  const keyword = ([key, value]) => `${key}=${JSON.stringify(value)}`;
  const rows = (row) => wrapped(points.map(row));
  const data = regression
    ? `X = [\n${rows(({ x }) => `[${x}]`)}\n]\ny = [\n${rows(({ y }) => `${y}`)}\n]`
    : `X = [\n${rows(({ x, y }) => `[${x}, ${y}]`)}\n]\ny = [\n${rows(({ c }) => `"${className(c)}"`)}\n]`;
  return `from ${module} import ${name}

${data}
model = ${name}(${Object.entries(parameters).map(keyword).join(", ")}).fit(X, y)
print(model.certificate_)
`;
}

function rust(model, parameters, points, regression) {
  const [module, name] = OWN[model].rust;
  const rows = (row) => wrapped(points.map(row), "    ");
  const float = (v) => (Number.isInteger(v) ? `${v}.0` : `${v}`);
  const json = JSON.stringify(parameters);
  const data = regression
    ? `    let x = ndarray::array![\n${rows(({ x }) => `[${float(x)}]`)}\n    ];
    let y = [\n${rows(({ y }) => float(y))}\n    ];
    let data = Dataset::regression(&x, &y)?;`
    : `    let x = ndarray::array![\n${rows(({ x, y }) => `[${float(x)}, ${float(y)}]`)}\n    ];
    let classes = Classes::from_names([${used(points).map((c) => `"${className(c)}"`).join(", ")}]);
    let codes = [\n${rows(({ c }) => `${used(points).indexOf(c)}`)}\n    ];
    let data = Dataset::classes(&x, &codes, &classes)?;`;
  return `use mercer::${module}::${name};
use mercer::prelude::*;

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
${data}
    let parameters: ${name} = serde_json::from_str(r#"${json}"#)?;
    let fitted = parameters.fit(&data, &Monitor::quiet())?;
    println!("{}", fitted.certificate);
    Ok(())
}
`;
}

function curl(call, message) {
  const body = JSON.stringify({ call, ...message }).replaceAll("'", "'\\''");
  return `# MERCER_TOKEN is the token in the address that the command printed.
curl ${location.origin}/studio/call -H "Authorization: Bearer $MERCER_TOKEN" -H 'Content-Type: application/json' -d '${body}'
`;
}

const used = (points) => [...new Set(points.map(({ c }) => c))].sort();

/** Items in lines of at most about 110 characters. */
function wrapped(items, indent = "") {
  const lines = [];
  let line = "";
  for (const item of items) {
    if (line && line.length + item.length > 100) {
      lines.push(line);
      line = "";
    }
    line += `${line ? " " : `${indent}    `}${item},`;
  }
  return [...lines, line].join("\n");
}
