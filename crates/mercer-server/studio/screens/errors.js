// Screen 4: where the predictions of held-out rows are wrong, which rows these are, and how they differ from others.

import { html, useEffect, useState } from "../lib/html.js";
import { CodePanel } from "../lib/code_panel.js";
import { Overlay, Plot } from "../lib/charts.js";
import { Loading, Problem, RowTable, color, count, marked, percent, plural, score, short, useCall } from "../lib/parts.js";

export const title = "Errors";

export default function Errors({ rest }) {
  const [name, setName] = useState(rest[0] || null);
  const [errors, problem] = useCall("errors", name ? { name } : {}, [name]);
  const [cell, setCell] = useState(null);
  useEffect(() => {
    setCell(null);
  }, [errors?.name]);
  return html`<h1 id="heading" tabindex="-1">Errors</h1>
    <${Problem} error=${problem} />
    ${errors && html`<section class="card">
      <div class="fields"><label>Candidate <select value=${errors.name} onChange=${(event) => setName(event.target.value)}>
        ${errors.names.map((known) => html`<option value=${known} selected=${known === errors.name}>${known}</option>`)}</select></label></div>
      <p class="muted">${`Every row is predicted by a model that was fitted without its fold (${errors.splitting} of ${count(errors.n_rows)} ${errors.is_sample ? "sampled rows" : "rows"}).`}</p>
      ${errors.matrix && html`<${Matrix} matrix=${errors.matrix} cell=${cell} onChoose=${setCell} target=${errors.target} />`}
      ${errors.bins && html`<${Residuals} errors=${errors} cell=${cell} onChoose=${setCell} />`}
    </section>
    ${cell ? html`<${Cell} key=${JSON.stringify(cell)} cell=${cell} errors=${errors} />` : html`<p class="muted">Choose a cell to see its rows.</p>`}
    <${CodePanel} snippets=${errors.code} />`}`;
}

function Matrix({ matrix, cell, onChoose, target }) {
  const { classes, counts } = matrix;
  const hidden = matrix.n_classes - classes.length;
  const strongest = Math.max(1, ...counts.flatMap((row, t) => row.filter((_, p) => p !== t)));
  const isChosen = (t, p) => cell && cell.truth === classes[t].code && cell.predicted === classes[p].code;
  const style = (t, p, n) => {
    const row = classes[t].support || 1;
    const share = t === p ? n / row : Math.sqrt(n / strongest);
    const name = t === p ? "--good" : "--bad";
    return { background: n ? `color-mix(in srgb, var(${name}) ${Math.round(6 + 44 * share)}%, transparent)` : "transparent" };
  };
  const many = classes.length > 12;
  return html`<p><strong>${plural(matrix.n_errors, "error")}</strong>${`; accuracy ${score(matrix.accuracy.value)} (95 % interval ${score(matrix.accuracy.low)} to ${score(matrix.accuracy.high)}).`}
      ${hidden > 0 && ` The matrix shows the ${classes.length} of ${matrix.n_classes} classes with most errors.`}</p>
    <div class="side-by-side"><div class="scroll" tabindex="0" role="region" aria-label="Confusion matrix"><table class=${many ? "matrix many" : "matrix"}>
      <caption class="hidden">Rows by true class of ${target} (down) and predicted class (across)</caption>
      <thead><tr><th scope="col"><span class="muted">true ↓ predicted →</span></th>
        ${classes.map((c) => html`<th scope="col" title=${c.name}><span>${c.name}</span></th>`)}<th scope="col">recall</th></tr></thead>
      <tbody>${counts.map((row, t) => html`<tr><th scope="row">${classes[t].name}</th>
        ${row.map((n, p) => html`<td style=${style(t, p, n)} class=${isChosen(t, p) ? "chosen" : ""}>${n > 0
          ? html`<button type="button" class="cell" aria-pressed=${Boolean(isChosen(t, p))} aria-label=${`${n} rows of ${classes[t].name} predicted as ${classes[p].name}`}
              onClick=${() => onChoose({ truth: classes[t].code, predicted: classes[p].code })}>${n}</button>`
          : html`<span class="muted">·</span>`}</td>`)}
        <td class="number">${percent(classes[t].recall)}</td></tr>`)}</tbody>
      <tfoot><tr><th scope="row">precision</th>${classes.map((c) => html`<td class="number">${percent(c.precision, many ? 0 : 1)}</td>`)}<td></td></tr></tfoot>
    </table></div>
    ${matrix.pairs.length > 0 && html`<div><h3>Most frequent errors</h3><ol class="pairs">${matrix.pairs.map((pair) => html`<li>
      <button type="button" class="link" onClick=${() => onChoose({ truth: pair.truth, predicted: pair.predicted })}>${pair.truth_name} as ${pair.predicted_name}</button>
      <span class="number">${count(pair.n)}</span></li>`)}</ol></div>`}</div>`;
}

function Residuals({ errors, cell, onChoose }) {
  const r = errors.regression;
  const most = Math.max(...errors.bins.map((bin) => bin.n), 1);
  const values = errors.points.flat();
  const span = [Math.min(...values), Math.max(...values)];
  return html`<p>R² ${score(r.r_squared)}, RMSE ${short(r.rmse)}, MAE ${short(r.mae)}. Bins of the residual, prediction minus target, in units of the RMSE:</p>
    <div class="side-by-side"><ul class="bins">${errors.bins.map((bin, k) => html`<li><button type="button" disabled=${bin.n === 0} aria-pressed=${cell?.bin === k}
        onClick=${() => onChoose({ bin: k })}><span class="name">${bin.name}</span> <span class="muted">${bin.range}</span></button>
        <span class="bar" style=${{ width: `${(60 * bin.n) / most}%` }}></span> <span class="number">${count(bin.n)}</span></li>`)}</ul>
      <figure><${Plot} xs=${span} ys=${span} diagonal=${true} width=${400} height=${300} xLabel="target" yLabel="prediction" label="Predictions against targets"
        points=${errors.points.map(([x, y]) => ({ x, y }))} /></figure></div>`;
}

function Cell({ cell, errors }) {
  const isError = cell.bin !== undefined || cell.truth !== cell.predicted;
  const [withAll, setWithAll] = useState(false);
  const [rows, problem] = useCall("errors.cell", { name: errors.name, ...cell, with_all: withAll }, [withAll, errors.name]);
  const details = (k) => {
    const d = rows.details[k];
    return d.residual === undefined
      ? [d.p_predicted === null ? "–" : percent(d.p_predicted), d.p_truth === null ? "–" : percent(d.p_truth)]
      : [short(d.prediction), short(d.residual)];
  };
  const heads = cell.bin === undefined ? ["P(predicted)", "P(true)"] : ["prediction", "residual"];
  return html`<section class="card" aria-labelledby="cell-title"><${Problem} error=${problem} />
    ${!rows && !problem && html`<${Loading} />`}
    ${rows && html`<h2 id="cell-title">${rows.groups[0]}: ${plural(rows.n_inside, "row")}</h2>
      ${isError && cell.bin === undefined && html`<label class="radio"><input type="checkbox" checked=${withAll} onChange=${(event) => setWithAll(event.target.checked)} />
        compare with all other rows instead of the correct ones of the same class</label>`}
      <h3>How they differ from the ${plural(rows.n_others, "row")} “${rows.groups[1]}”</h3>
      ${rows.n_inside < 5 && html`<p class="muted">With so few rows most differences are chance.</p>`}
      <ul class="legend" aria-label="Groups"><li><span class="swatch" style=${{ background: color(1) }}></span>${rows.groups[0]}</li>
        <li><span class="swatch" style=${{ background: color(0) }}></span>${rows.groups[1]}</li></ul>
      <div class="differences">${rows.differences.map((d) => html`<figure class=${d.is_beyond_chance ? "" : "weak"}>
        <figcaption><strong>${d.column}</strong> ${marked(d.text)}<span class="why">distance ${d.distance.toFixed(2)}${d.is_beyond_chance ? "" : ", within chance"}</span></figcaption>
        <${Overlay} histogram=${d.histogram} groups=${rows.groups} label=${`${d.column}: ${d.text}`} /></figure>`)}</div>
      ${rows.differences.length === 0 && html`<p class="muted">There is no column to compare.</p>`}
      <h3>The rows${rows.n_inside > rows.rows.length ? `: the first ${rows.rows.length}` : ""}, the ${cell.bin === undefined ? "most confident" : "largest errors"} first</h3>
      <${RowTable} table=${rows} caption="Rows of the cell" extra=${{ heads, cells: details }} />`}
  </section>`;
}
