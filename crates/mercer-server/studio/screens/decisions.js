// Screen 9: decisions. Costs, rejection and priors over held-out predictions, with what they cost.

import { html, signal, useEffect } from "../lib/html.js";
import { call, latest } from "../lib/engine.js";
import { CodePanel } from "../lib/code_panel.js";
import { Plot } from "../lib/charts.js";
import { Problem, color, count, percent, short } from "../lib/parts.js";
import { Choice, NumberField, Slider } from "../lib/playground.js";
import { session } from "../lib/store.js";

export const title = "Decisions";

const initial = { name: null, costs: null, reject: null, priors: null, positive: null };
const rule = signal(initial);
const answer = signal(null);
const problem = signal(null);
const stored = signal("");

const ask = latest("decisions", (found) => {
  answer.value = found;
  problem.value = null;
}, (error) => (problem.value = error));

function messageOf(value = rule.value) {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null));
}

function update(change) {
  rule.value = { ...rule.value, ...change };
  stored.value = "";
  ask(messageOf());
}

export default function Decisions() {
  // Another table or model has other classes.
  useEffect(() => {
    rule.value = initial;
    answer.value = null;
    ask({});
  }, [session.value?.data?.name, session.value?.model?.name]);
  const found = answer.value;
  return html`<h1 id="heading" tabindex="-1">Decisions</h1>
    <p class="muted lead">What errors cost, how often classes occur, and when to give no answer: the rule of least expected cost on held-out rows.</p>
    <${Problem} error=${problem.value} />
    ${found && html`<div class="decisions">
      <${Controls} found=${found} />
      <div><${Figures} found=${found} /><${Charts} found=${found} /></div>
    </div>
    <${CodePanel} snippets=${codeOf(found)} />`}`;
}

function Controls({ found }) {
  const { classes, costs, threshold } = found;
  const binary = classes.length === 2;
  const setCost = (c, a) => (value) => update({ costs: costs.map((row, i) => row.map((cost, j) => (i === c && j === a ? value : cost))) });
  // Costs t and 1 − t of a false alarm and a miss have the threshold t.
  const setThreshold = (t) => {
    const bounded = Math.min(0.999, Math.max(0.001, t));
    update({ costs: [[0, Number(bounded.toPrecision(4))], [Number((1 - bounded).toPrecision(4)), 0]] });
  };
  const setName = (name) => update({ ...initial, name });
  return html`<section class="card pg-controls" aria-label="Rule">
    <${Choice} label="Candidate" value=${found.name} options=${found.candidates.map((name) => [name, name])} onChange=${setName} />
    <${Choice} label="Curves of" value=${String(found.positive)} options=${classes.map((name, c) => [String(c), name])}
      onChange=${(c) => update({ positive: Number(c) })} />
    <h2>Costs</h2>
    ${binary && html`<${Slider} label="threshold" value=${Number((threshold ?? 0.5).toPrecision(4))} min=${0.01} max=${0.99} step=${0.01} onChange=${setThreshold}
      title=${`The probability from which ${classes[1]} is predicted; it follows from the costs`} />`}
    <div class="pg-scroll" tabindex="0" role="group" aria-label="Cost matrix"><table class="terms"><thead><tr><th scope="col">true \\ predicted</th>
      ${classes.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
      <tbody>${classes.map((name, c) => html`<tr><th scope="row">${name}</th>${classes.map((other, a) => html`<td>
        <${NumberField} label=${`Cost of predicting ${other} for ${name}`} value=${costs[c][a]} onChange=${setCost(c, a)} /></td>`)}</tr>`)}</tbody></table></div>
    <h2>Rejection</h2>
    <label class="pg-check"><input type="checkbox" checked=${rule.value.reject !== null}
      onChange=${(event) => update({ reject: event.target.checked ? 0.2 : null })} /> allow no answer</label>
    ${rule.value.reject !== null && html`<${Slider} label="its cost" value=${rule.value.reject} min=${0} max=${1} step=${0.01}
      onChange=${(reject) => update({ reject })} title="A row is rejected if every class has a larger expected cost" />`}
    <h2>Priors</h2>
    <label class="pg-check"><input type="checkbox" checked=${rule.value.priors !== null}
      onChange=${(event) => update({ priors: event.target.checked ? found.frequencies.map((p) => Number(p.toPrecision(3))) : null })} /> differ from the table</label>
    ${rule.value.priors !== null && classes.map((name, c) => html`<${Slider} label=${name} value=${rule.value.priors[c]} min=${0} max=${1} step=${0.01}
      onChange=${(weight) => update({ priors: rule.value.priors.map((w, k) => (k === c ? weight : w)) })}
      title="Weight of the class among future rows; the weights are divided by their sum" />`)}
    <${Store} found=${found} />
  </section>`;
}

function Store({ found }) {
  const store = async () => {
    try {
      await call("decisions.store", messageOf({ ...rule.value, positive: null }));
      stored.value = "The rule is part of the model now; download it on the Train screen.";
    } catch (error) {
      stored.value = error.message;
    }
  };
  return html`<p><button type="button" class="primary" disabled=${!found.can_store} onClick=${store}>Store in the model</button></p>
    <p role="status" class="small">${stored.value || (found.can_store ? "" : "Fit this candidate to all rows on the Train screen to store the rule.")}</p>`;
}

function Figures({ found }) {
  const { rule: chosen, most_probable: plain, classes, n_rows: n, priors, frequencies } = found;
  const [cost, before] = [chosen.risk.empirical_risk, plain.risk.empirical_risk];
  const moved = priors.some((p, c) => Math.abs(p - frequencies[c]) > 1e-12);
  const cell = (v) => (moved ? short(v) : count(Math.round(v)));
  const rejects = rule.value.reject !== null;
  return html`<section class="card decision-figures" aria-label="Cost">
    <dl class="numbers">
      <div><dt>Mean cost per row</dt><dd><strong data-number="cost">${short(cost)}</strong></dd></div>
      <div><dt>With the most probable class</dt><dd data-number="plain cost">${short(before)}</dd></div>
      <div><dt>Saved</dt><dd>${before > 0 ? percent((before - cost) / before) : "–"}</dd></div>
      ${rejects && html`<div><dt>Rejected</dt><dd data-number="rejected">${percent(chosen.risk.rejected_fraction)}</dd></div>`}
      <div><dt>Accuracy of the answers</dt><dd>${chosen.risk.accuracy_of_answered === null ? "–" : percent(chosen.risk.accuracy_of_answered)}</dd></div>
    </dl>
    <div class="pg-scroll" tabindex="0" role="group" aria-label="Confusion matrix"><table class="terms"><caption>Decisions on ${count(n)} held-out
      ${" "}rows${moved ? ", weighted to the new priors" : ""}</caption>
      <thead><tr><th scope="col">true \\ decided</th>${classes.map((name) => html`<th scope="col">${name}</th>`)}${rejects && html`<th scope="col">no answer</th>`}</tr></thead>
      <tbody>${classes.map((name, c) => html`<tr><th scope="row">${name}</th>
        ${chosen.confusion[c].slice(0, classes.length + (rejects ? 1 : 0)).map((v, a) => html`<td class=${a === c ? "right" : ""}>${cell(v)}</td>`)}</tr>`)}</tbody></table></div>
  </section>`;
}

function Charts({ found }) {
  const { operating_point: at, most_probable_point: plain, classes, positive } = found;
  const marks = (x, y) => [
    ...(plain[x] !== null && plain[y] !== null ? [{ x: plain[x], y: plain[y], r: 4, fill: "var(--muted)", title: "most probable class" }] : []),
    ...(at[x] !== null && at[y] !== null ? [{ x: at[x], y: at[y], r: 6, fill: color(1), title: "the rule" }] : []),
  ];
  const unit = [0, 1];
  return html`<section class="card" aria-label="Curves"><div class="plots">
    ${found.roc && html`<figure><figcaption>ROC of ${classes[positive]}, area ${found.roc_auc?.toFixed(3)}</figcaption>
      <${Plot} xs=${unit} ys=${unit} diagonal xLabel="false positive rate" yLabel="recall" label="ROC curve with the operating point"
        lines=${[{ points: found.roc, color: color(0) }]} points=${marks("false_positive_rate", "recall")} /></figure>
    <figure><figcaption>Precision and recall, average precision ${found.average_precision?.toFixed(3)}</figcaption>
      <${Plot} xs=${unit} ys=${unit} xLabel="recall" yLabel="precision" label="Precision-recall curve with the operating point"
        lines=${[{ points: found.precision_recall, color: color(0) }]} points=${marks("recall", "precision")} /></figure>`}
    ${found.cost_curve && html`<figure><figcaption>Cost by threshold, without rejection</figcaption>
      <${Plot} xs=${unit} ys=${[0, Math.max(...found.cost_curve.map(([, c]) => c), 1e-9)]} xLabel=${`probability of ${classes[1]}`} yLabel="mean cost"
        label="Mean cost against the threshold" lines=${[{ points: found.cost_curve, color: color(0) }]} points=${thresholdMark(found)} /></figure>`}
    ${found.calibration.length > 0 && html`<figure><figcaption>Reliability, calibration error ${found.calibration_error?.toFixed(3)}</figcaption>
      <${Plot} xs=${unit} ys=${unit} diagonal xLabel="confidence" yLabel="accuracy" label="Accuracy against confidence"
        lines=${[{ points: found.calibration.map((bin) => [bin.confidence, bin.accuracy]), color: color(0) }]}
        points=${found.calibration.map((bin) => ({ x: bin.confidence, y: bin.accuracy, r: 3.5, title: `${bin.n} rows` }))} /></figure>`}
    </div>
    <p class="pg-legend">Large mark: the rule. Small gray mark: the most probable class. A rejected row is no alarm.</p></section>`;
}

function thresholdMark({ threshold, cost_curve: curve }) {
  if (threshold === null) return [];
  const [, y] = curve[Math.round(threshold * (curve.length - 1))];
  return [{ x: threshold, y, r: 6, fill: color(1), title: "threshold of the costs" }];
}

function codeOf({ classes, costs, priors, frequencies }) {
  const { reject, priors: changed } = rule.value;
  const quoted = (text) => `'${String(text).replaceAll("'", "'\\''")}'`;
  const table = [`true,${classes.join(",")}`, ...classes.map((name, c) => `${name},${costs[c].join(",")}`)].join("\n");
  const options = [
    " --cost costs.csv",
    ...(reject !== null ? [` --reject ${reject}`] : []),
    ...(changed !== null ? classes.map((name, c) => ` --prior ${quoted(`${name}=${priors[c]}`)} --trained-prior ${quoted(`${name}=${frequencies[c]}`)}`) : []),
  ];
  const message = JSON.stringify({ call: "decisions", ...messageOf() });
  return [
    { name: "Command line", code: `cat > costs.csv <<'END'\n${table}\nEND\nmercer decide model.mercer${options.join("")} --out model.mercer\n` },
    {
      name: "Python",
      code: `import numpy as np

costs = np.array(${JSON.stringify(costs)})  # one row per true class
risks = model.predict_proba(X) @ costs  # expected cost of predicting each class
decided = np.asarray(model.classes_)[risks.argmin(axis=1)]
${reject !== null ? `rejected = risks.min(axis=1) > ${reject}\n` : ""}`,
    },
    { name: "curl", code: `# MERCER_TOKEN is the token in the address that the command printed.
curl ${location.origin}/studio/call -H "Authorization: Bearer $MERCER_TOKEN" -H 'Content-Type: application/json' -d ${quoted(message)}
` },
  ];
}
