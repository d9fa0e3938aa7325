// Screen 3: all candidates on the same folds, with intervals, and the curves of one of them.

import { html, useState } from "../lib/html.js";
import { call } from "../lib/engine.js";
import { CodePanel } from "../lib/code_panel.js";
import { Plot } from "../lib/charts.js";
import { refresh } from "../lib/store.js";
import { Legend, Loading, Problem, color, count, duration, percent, score, short, useCall } from "../lib/parts.js";

export const title = "Leaderboard";

export default function Leaderboard() {
  const [board, problem, again] = useCall("board", {});
  const [name, setName] = useState(null);
  const [message, setMessage] = useState("");
  const best = board?.rows.find((row) => row.has_predictions)?.name;
  const chosen = name || best;
  const choose = (row) => {
    setName(row);
    requestAnimationFrame(() => document.getElementById("details-title")?.scrollIntoView({ behavior: "smooth", block: "center" }));
  };
  const fit = async (row) => {
    setMessage(`Fitting ${row} to all rows …`);
    try {
      await call("train.start", { row, metric: board.metric });
      let state;
      do {
        await new Promise((resolve) => setTimeout(resolve, 150));
        state = await call("train.state");
      } while (state.is_running);
      setMessage(state.error || `${row} is fitted: ${state.fit.certificate.status_text}.`);
      await refresh();
      again();
    } catch (error) {
      setMessage(error.message);
    }
  };
  return html`<h1 id="heading" tabindex="-1">Leaderboard</h1>
    <${Problem} error=${problem} />
    ${board && html`<section class="card"><${Facts} board=${board} />
      <${Rows} board=${board} chosen=${chosen} onChoose=${choose} /></section>
      <p role="status">${message}</p>
      ${chosen && html`<${Details} key=${chosen} name=${chosen} board=${board} onFit=${fit} />`}
      <${CodePanel} snippets=${board.code} />`}`;
}

function Facts({ board }) {
  const corrected = board.corrected;
  const rows = board.is_sample ? "sampled rows" : "rows";
  const better = board.greater_is_better ? "greater" : "smaller";
  return html`<p>${`${board.metric}, ${better} is better; ${board.splitting} of ${count(board.n_rows)} ${rows}, the same for every candidate. The bars are 95 % intervals from the folds (Nadeau and Bengio), the small dots the folds; always predicting ${board.task === "regression" ? "the mean" : "the most frequent class"} scores ${score(board.baseline)}.`}</p>
    ${corrected && html`<p>${"The best of several is optimistic: corrected for the selection, the best scores "}<strong>${score(corrected.score)}</strong>${` (95 % interval ${score(corrected.low)} to ${score(corrected.high)}).`}</p>`}
    ${!board.beats_baseline && html`<p class="notice bad">No candidate is better than the baseline.</p>`}
    ${board.cut_short && html`<p class="notice">The time or a stop ended the comparison before every candidate was done.</p>`}`;
}

/** Candidates that are shown at first. */
const SHORT = 12;

const STANDINGS = { finished: "", dropped: "dropped on fewer rows", "over-budget": "no time left", failed: "failed" };

function Rows({ board, chosen, onChoose }) {
  const finals = board.rows.filter((row) => row.score !== null && row.n_rows === board.n_rows);
  const ends = finals.flatMap((row) => row.interval || [row.score]).concat(finals.map((row) => row.score));
  const near = board.baseline !== null && ends.length ? Math.abs(board.baseline - Math.min(...ends)) < 2 * (Math.max(...ends) - Math.min(...ends)) : false;
  const all = near ? ends.concat(board.baseline) : ends;
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const [showAll, setShowAll] = useState(false);
  const isShown = (row, k) => showAll || k < SHORT || row.is_fitted || row.name === chosen;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Leaderboard"><table class="board">
    <thead><tr><th scope="col">#</th><th scope="col">candidate</th><th scope="col">${board.metric}</th><th scope="col">95 % interval</th>
      <th scope="col">against the best</th><th scope="col">time</th></tr></thead>
    <tbody>${board.rows.map((row, k) => isShown(row, k) && html`<tr key=${row.name} class=${row.name === chosen ? "chosen" : ""}>
      <td>${row.score === null ? "" : k + 1}</td>
      <th scope="row">${row.has_predictions
        ? html`<button type="button" class="link" aria-pressed=${row.name === chosen} onClick=${() => onChoose(row.name)}>${row.name}</button>`
        : html`<span class="muted">${row.name}</span>`}${row.is_fitted && html` <span class="badge">fitted</span>`}
        ${!row.converged && html` <span class="badge warn">not converged</span>`}</th>
      <td class="number">${score(row.score)}</td>
      <td>${row.n_rows === board.n_rows && row.score !== null
        ? html`<${Interval} row=${row} low=${low} high=${high} baseline=${near ? board.baseline : null} />`
        : html`<span class="muted">${STANDINGS[row.standing]}${row.reason ? `: ${row.reason}` : ""}${row.n_rows && row.score !== null ? ` (${count(row.n_rows)} rows)` : ""}</span>`}</td>
      <td>${k === 0 ? "best" : row.p_value === null ? "" : html`<span class=${row.p_value < 0.05 ? "" : "muted"}>${row.p_value < 0.05 ? "worse" : "not distinguishable"} (p = ${short(row.p_value)})</span>`}</td>
      <td class="number">${duration(row.fit_seconds)}</td></tr>`)}</tbody></table></div>
    ${board.rows.length > SHORT && html`<p><button type="button" aria-expanded=${showAll} onClick=${() => setShowAll(!showAll)}>${showAll ? "Show fewer" : `Show all ${board.rows.length} candidates`}</button></p>`}`;
}

function Interval({ row, low, high, baseline }) {
  const width = 260;
  const px = (x) => 6 + ((x - low) / (high - low || 1)) * (width - 12);
  const [a, b] = row.interval || [row.score, row.score];
  return html`<svg class="chart" width=${width} height="20" viewBox=${`0 0 ${width} 20`} role="img" aria-label=${`${score(row.score)}, interval ${score(a)} to ${score(b)}`}>
    ${baseline !== null && html`<line x1=${px(baseline)} x2=${px(baseline)} y1="0" y2="20" class="reference" />`}
    ${row.fold_scores.map((x) => x >= low && x <= high && html`<circle cx=${px(x)} cy="10" r="1.6" class="fold" />`)}
    <line x1=${px(a)} x2=${px(b)} y1="10" y2="10" class="interval" /><circle cx=${px(row.score)} cy="10" r="4" style=${{ fill: color(0) }} /></svg>`;
}

function Details({ name, board, onFit }) {
  const [details, problem] = useCall("board.row", { name }, [name]);
  const row = board.rows.find((row) => row.name === name);
  return html`<section class="card" aria-labelledby="details-title"><h2 id="details-title">${name}</h2>
    <${Problem} error=${problem} />
    ${!details && !problem && html`<${Loading} />`}
    ${details && html`<p class="buttons">${!row.is_fitted && html`<button type="button" onClick=${() => onFit(name)}>Fit to all rows</button>`}
        <a class="button" href=${`#/errors/${encodeURIComponent(name)}`}>Its errors</a></p>
      ${details.report && html`<${Classification} details=${details} />`}
      ${details.regression && html`<${Regression} details=${details} />`}
      <p><code class="command">${details.command}</code></p>`}</section>`;
}

function Classification({ details }) {
  const { report, curves } = details;
  const two = curves.length === 2;
  const shown = two ? curves.slice(1) : curves;
  const named = (curve, k, area) => `${curve.class}: ${area}`;
  const facts = [["accuracy", `${score(report.accuracy.value)} (${score(report.accuracy.low)} to ${score(report.accuracy.high)})`], ["macro F1", score(report.macro_f1)],
    ["log loss", score(report.log_loss)], ["Brier score", score(report.brier)], ["calibration error", score(report.calibration_error)]];
  const bins = report.calibration;
  return html`<dl class="certificate">${facts.map(([key, value]) => html`<div><dt>${key}</dt><dd>${value}</dd></div>`)}</dl>
    ${curves.length === 0
      ? html`<p class="muted">No curves: the estimator has no probabilities, or there are too many classes.</p>`
      : html`<${Legend} names=${shown.map((curve) => curve.class)} label="Classes" />
      ${details.n_curves > curves.length && html`<p class="muted">The ${curves.length} most frequent of ${details.n_curves} classes.</p>`}
      <div class="plots">
        <figure><${Plot} xs=${[0, 1]} ys=${[0, 1]} diagonal=${true} xLabel="false positive rate" yLabel="true positive rate" label="ROC curves"
          lines=${shown.map((curve, k) => ({ points: curve.roc, color: color(k), name: named(curve, k, score(curve.roc_auc)) }))} />
          <figcaption>ROC, each class against the rest. Area: ${shown.map((curve) => `${curve.class} ${score(curve.roc_auc)}`).join(", ")}</figcaption></figure>
        <figure><${Plot} xs=${[0, 1]} ys=${[0, 1]} xLabel="recall" yLabel="precision" label="Precision-recall curves"
          lines=${shown.map((curve, k) => ({ points: curve.precision_recall, color: color(k), name: named(curve, k, score(curve.average_precision)) }))} />
          <figcaption>Precision and recall. Average precision: ${shown.map((curve) => `${curve.class} ${score(curve.average_precision)}`).join(", ")}</figcaption></figure>
        ${bins.length > 0 && html`<figure><${Plot} xs=${[0, 1]} ys=${[0, 1]} diagonal=${true} xLabel="mean confidence" yLabel="fraction correct" label="Calibration"
          lines=${[{ points: bins.map((bin) => [bin.confidence, bin.accuracy]), color: color(0) }]}
          points=${bins.map((bin) => ({ x: bin.confidence, y: bin.accuracy, r: 3 + 6 * Math.sqrt(bin.n / report.n_rows), title: `${count(bin.n)} rows: confidence ${percent(bin.confidence)}, correct ${percent(bin.accuracy)}` }))} />
          <figcaption>Calibration of held-out rows: points above the diagonal are too cautious, below too confident. Size is the number of rows.</figcaption></figure>`}
      </div>`}`;
}

function Regression({ details }) {
  const r = details.regression;
  const facts = [["R²", score(r.r_squared)], ["RMSE", short(r.rmse)], ["MAE", short(r.mae)], ["median error", short(r.median_error)],
    ["largest error", short(r.largest_error)], ["bias", short(r.bias)], ["RMSE of the mean", short(r.baseline_rmse)]];
  const values = details.points.flat();
  const span = [Math.min(...values), Math.max(...values)];
  return html`<dl class="certificate">${facts.map(([key, value]) => html`<div><dt>${key}</dt><dd>${value}</dd></div>`)}</dl>
    <div class="plots"><figure><${Plot} xs=${span} ys=${span} diagonal=${true} width=${420} height=${320} xLabel="target" yLabel="prediction"
      label="Predictions against targets" points=${details.points.map(([x, y]) => ({ x, y }))} />
      <figcaption>Held-out predictions against the target; on the diagonal they agree.</figcaption></figure></div>`;
}
