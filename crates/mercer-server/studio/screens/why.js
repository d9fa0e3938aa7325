// Screen 5: why a row is predicted as it is, and what a change would do.

import { html, useEffect, useRef, useState } from "../lib/html.js";
import { latest } from "../lib/engine.js";
import { CodePanel } from "../lib/code_panel.js";
import { Sparkline } from "../lib/charts.js";
import { Loading, Problem, count, marked, percent, probability, short, signed } from "../lib/parts.js";

export const title = "Why";

export default function Why({ rest }) {
  const [row, setRow] = useState(Math.max(0, Number.parseInt(rest[0], 10) || 0));
  const [cells, setCells] = useState({});
  // Counts rows and undone changes, so that texts begin anew.
  const [generation, setGeneration] = useState(0);
  const [answer, setAnswer] = useState(null);
  const [error, setError] = useState(null);
  const [curves, setCurves] = useState(null);
  const [flip, setFlip] = useState(null);
  const calls = useRef(null);
  const fail = (failed) => setError(failed);
  calls.current ||= {
    why: latest("why", (found) => { setAnswer(found); setError(null); }, fail),
    curves: latest("why.curves", setCurves, () => setCurves(null)),
    flip: latest("why.flip", setFlip, () => setFlip(null)),
  };
  const wanted = Number.parseInt(rest[0], 10);
  useEffect(() => {
    if (Number.isFinite(wanted)) choose(wanted);
  }, [wanted]);
  const text = JSON.stringify(cells);
  useEffect(() => {
    const message = { row, cells };
    calls.current.why(message);
    calls.current.curves(message);
    calls.current.flip(message);
  }, [row, text]);
  const undo = () => {
    setCells({});
    setGeneration((n) => n + 1);
  };
  const choose = (k) => {
    undo();
    setRow(Math.max(0, k));
  };
  const change = (name, value) => setCells((old) => ({ ...old, [name]: value }));
  const changed = Object.keys(cells).length > 0;
  return html`<h1 id="heading" tabindex="-1">Why this ${answer?.texts.length ? "text" : "row"}</h1>
    <${Problem} error=${error} />
    ${answer && html`<section class="card"><div class="fields">
      <button type="button" disabled=${row === 0} onClick=${() => choose(row - 1)}>Previous</button>
      <label>Row <input type="number" min="1" max=${answer.n_rows} value=${row + 1}
        onChange=${(event) => choose(Math.min(answer.n_rows, Number(event.target.value) || 1) - 1)} /></label>
      <span class="muted">of ${count(answer.n_rows)}${answer.is_sample ? " in the sample" : ""}</span>
      <button type="button" disabled=${row + 1 >= answer.n_rows} onClick=${() => choose(row + 1)}>Next</button>
      <button type="button" disabled=${!changed} onClick=${undo}>Undo all changes</button>
      <span class="muted">model: <strong>${answer.model}</strong></span></div></section>
      <${Prediction} answer=${answer} changed=${changed} />
      ${answer.texts.map((shown, k) => html`<${Text} key=${`${generation}-${answer.row}-${k}`} text=${shown} answer=${answer} index=${k} onChange=${change} />`)}
      <div class="why-grid">
        <${Sum} answer=${answer} />
        <div><${Flip} flip=${flip} change=${change} />
          <${Controls} answer=${answer} cells=${cells} curves=${curves} change=${change} /></div>
      </div>
      <${CodePanel} snippets=${answer.code} />`}
    ${!answer && !error && html`<${Loading} />`}`;
}

function Prediction({ answer, changed }) {
  const p = answer.prediction;
  const isRight = p.class !== undefined && p.class === answer.truth;
  return html`<section class="card prediction" aria-live="polite">
    <p class="headline">${answer.target} = <strong>${p.class ?? short(p.value)}</strong>
      ${p.interval && html` <span class="muted">${percent(p.interval.coverage, 0)} interval ${short(p.interval.low)} to ${short(p.interval.high)}</span>`}
      <span class="muted">in the table: ${answer.truth ?? "missing"}${changed ? " (before your changes)" : ""}</span>
      ${p.class !== undefined && !changed && html`<span class=${isRight ? "badge good" : "badge warn"}>${isRight ? "agrees" : "differs"}</span>`}</p>
    ${p.proba && html`<ul class="probabilities">${p.proba.slice(0, 6).map(([name, value], k) => html`<li key=${name}><span class="name">${name}</span>
      <span class="bar" style=${{ width: `${Math.max(0.4, 55 * value)}%` }}></span><span class="number" data-class=${name}>${probability(value)}</span></li>`)}</ul>`}
    ${p.n_unseen > 0 && html`<p class="muted">${p.n_unseen} category that the model does not know.</p>`}</section>`;
}

/** The contributions as bars that lead from the start to the total. */
function Sum({ answer }) {
  const e = answer.explanation;
  if (e.problem) return html`<section class="card"><h2>Contributions</h2><p class="muted">${marked(e.problem)}</p></section>`;
  const parts = [{ name: e.start.name, value: "", contribution: e.start.value }, ...e.contributions];
  if (e.rest) parts.push({ name: `${e.rest.n} smaller ones`, value: "", contribution: e.rest.contribution });
  // Predictions of a regressor are drawn from the mean prediction, scores of classes from zero.
  const base = e.measure === "prediction" ? e.start.value : 0;
  let at = 0;
  const steps = parts.map((part) => {
    const from = at;
    at += part.contribution;
    return { ...part, from, to: at };
  });
  if (base) steps[0].from = base;
  const ends = steps.flatMap((step) => [step.from, step.to]).concat(base);
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const pos = (x) => (100 * (x - low)) / (high - low || 1);
  const against = e.against ? ` of ${e.of} against ${e.against}` : ` of ${e.of}`;
  return html`<section class="card" aria-labelledby="sum-title"><h2 id="sum-title">${e.measure === "prediction" ? "Prediction" : e.measure === "log-odds" ? "Log-odds" : "Decision value"}${against}</h2>
    ${e.note && html`<p class="muted">${e.note}</p>`}
    <table class="sum"><thead class="hidden"><tr><th scope="col">part</th><th scope="col">value</th><th scope="col">bar</th><th scope="col">contribution</th></tr></thead>
    <tbody>${steps.map((step, k) => html`<tr key=${step.name}><th scope="row">${step.name}</th><td class="muted">${step.value}</td>
      <td class="track"><span class=${step.contribution < 0 ? "step down" : "step up"} style=${{ left: `${pos(Math.min(step.from, step.to))}%`, width: `${Math.max(0.4, Math.abs(pos(step.to) - pos(step.from)))}%` }}></span>
        <span class="zero" style=${{ left: `${pos(base)}%` }}></span></td>
      <td class="number">${k === 0 ? short(step.contribution) : signed(step.contribution)}</td></tr>`)}
      <tr class="total"><th scope="row">sum</th><td></td><td class="track"><span class="zero" style=${{ left: `${pos(base)}%` }}></span>
        ${e.total !== null && html`<span class="end" style=${{ left: `${pos(e.total)}%` }}></span>`}</td>
        <td class="number" data-total>${e.total === null ? "undefined" : short(e.total)}</td></tr></tbody></table></section>`;
}

function Flip({ flip, change }) {
  if (!flip || !flip.is_classifier || (!flip.n_columns && !flip.strikes)) return null;
  const strikes = flip.strikes && html`<p class="strikes">Striking the ${flip.strikes.tokens.length === 1 ? "strongest token" : `${flip.strikes.tokens.length} strongest tokens`}
    ${" of "}<strong>${flip.strikes.column}</strong> (${flip.strikes.tokens.join(", ")}) makes it <strong>${flip.strikes.class}</strong>.</p>`;
  if (!flip.n_columns) return html`<section class="card" aria-labelledby="flip-title"><h2 id="flip-title">What changes the class</h2>${strikes}</section>`;
  const [first, ...others] = flip.changes;
  const size = (c) => (c.size === null ? "another category" : `${c.size.toFixed(2)} standard deviations`);
  const sentence = (c) => html`<strong>${c.column}</strong> from ${c.from} to <strong>${c.to}</strong> makes it <strong>${c.class}</strong> <span class="muted">(${size(c)})</span>
    <button type="button" onClick=${() => change(c.column, c.cell)}>Apply</button>`;
  return html`<section class="card" aria-labelledby="flip-title"><h2 id="flip-title">The smallest change of one column</h2>
    ${first ? html`<p class="flip">${sentence(first)}</p>` : html`<p class="muted">No change of a single column within the range of the table leads to another class than ${flip.class}.</p>`}
    ${strikes}
    ${others.length > 0 && html`<details><summary>${others.length} other ${others.length === 1 ? "change" : "changes"}</summary>
      <ul class="dense">${others.slice(0, 20).map((c) => html`<li>${sentence(c)}</li>`)}</ul></details>`}</section>`;
}

function Controls({ answer, cells, curves, change }) {
  const columns = answer.columns.filter((column) => column.kind !== "text" && column.kind !== "sparse");
  if (!columns.length) return null;
  const all = (curves?.curves || []).flatMap((curve) => curve.points.map((point) => point[1])).filter(Number.isFinite);
  const ys = curves?.of ? [0, 1] : [Math.min(...all), Math.max(...all)];
  return html`<section class="card" aria-labelledby="controls-title"><h2 id="controls-title">Change values</h2>
    ${curves && html`<p class="muted">${`The curve over a slider is ${curves.measure} along the column, the others as they are.`}</p>`}
    ${answer.n_columns > answer.columns.length && html`<p class="muted">These are the ${answer.columns.length} columns with the largest contributions of ${count(answer.n_columns)}.</p>`}
    <ul class="controls">${columns.map((column) => html`<${Control} key=${column.name} column=${column} isChanged=${column.name in cells} ys=${ys}
      points=${curves?.curves.find((curve) => curve.column === column.name)?.points} change=${change} />`)}</ul></section>`;
}

function Control({ column, isChanged, points, ys, change }) {
  const { name, kind, value } = column;
  const set = (next) => change(name, next);
  let field = null;
  if (kind === "numeric" && column.min !== null && column.max > column.min) {
    const step = column.integers ? 1 : (column.max - column.min) / 500;
    field = html`<div class="slider"><${Sparkline} points=${points} at=${value} ys=${ys} />
      <input type="range" aria-label=${name} min=${column.min} max=${column.max} step=${step} value=${value ?? (column.min + column.max) / 2}
        onInput=${(event) => set(round(Number(event.target.value), column))} /></div>`;
  } else if (kind === "categorical") {
    field = html`<select aria-label=${name} value=${value ?? ""} onChange=${(event) => set(event.target.value || null)}>
      <option value="" selected=${value === null}>missing</option>
      ${column.levels.map((level) => html`<option value=${level} selected=${level === value}>${level}</option>`)}</select>`;
  } else if (kind === "boolean") {
    field = html`<select aria-label=${name} value=${String(value)} onChange=${(event) => set(event.target.value === "null" ? null : event.target.value === "true")}>
      <option value="null" selected=${value === null}>missing</option><option value="true" selected=${value === true}>true</option>
      <option value="false" selected=${value === false}>false</option></select>`;
  }
  return html`<li class=${isChanged ? "changed" : ""}><span class="name">${name}${isChanged && html` <span class="badge">changed</span>`}</span>
    ${field || html`<span class="muted">cannot be changed</span>`}<span class="number">${column.shown}</span>
    ${kind === "numeric" && column.has_missing && html`<button type="button" class="small" disabled=${value === null} onClick=${() => set(null)}>missing</button>`}</li>`;
}

/** A slider's position with few digits. */
function round(x, column) {
  if (column.integers) return Math.round(x);
  const digits = Math.max(0, 3 - Math.floor(Math.log10(column.max - column.min)));
  return Number(x.toFixed(Math.min(12, digits)));
}

/** A text with its tokens colored by their contribution; a click strikes a token. */
function Text({ text, answer, index, onChange }) {
  // The tokens of the text before any was struck, each with whether it is.
  const [spans, setSpans] = useState(text.spans);
  const [struck, setStruck] = useState(new Set());
  const [editing, setEditing] = useState(null);
  useEffect(() => {
    if (spans === null) setSpans(text.spans);
  }, [text]);
  if (spans === null) return null;
  const column = answer.columns.filter((known) => known.kind === "text")[index];
  const now = new Map(text.spans.filter((span) => span.log_odds !== null).map((span) => [span.text, span.log_odds]));
  const strongest = Math.max(1e-9, ...spans.map((span) => Math.abs(span.log_odds ?? 0)));
  const e = answer.explanation;
  const toggle = (k) => {
    const next = new Set(struck);
    if (!next.delete(k)) next.add(k);
    setStruck(next);
    onChange(column.name, spans.filter((_, i) => !next.has(i)).map((span) => span.text).join(""));
  };
  const reset = () => {
    setStruck(new Set());
    onChange(column.name, spans.map((span) => span.text).join(""));
  };
  const edit = (value) => {
    onChange(column.name, value);
    setEditing(null);
    setStruck(new Set());
    setSpans(null);
  };
  const side = (x) => (x > 0 ? "for" : "against");
  return html`<section class="card" aria-labelledby=${`text-${index}`}><h2 id=${`text-${index}`}>${column?.name ?? "text"}</h2>
    <p class="muted">Green tokens speak for ${e.of}, red and dotted ones ${e.against ? `for ${e.against}` : "against it"}; the stronger, the larger the contribution.
      Choose a token to strike it and see the prediction move. ${text.n_unknown} of ${count(text.n_terms)} tokens are not in the vocabulary.</p>
    ${editing === null ? html`<div class="text">${spans.map((span, k) => span.log_odds === null ? span.text
      : html`<button type="button" class=${`token ${side(span.log_odds)}${struck.has(k) ? " struck" : ""}`} aria-pressed=${struck.has(k)}
          style=${{ "--s": `${Math.round(8 + 60 * Math.sqrt(Math.abs(span.log_odds) / strongest))}%` }}
          title=${`${signed(now.get(span.text) ?? span.log_odds)}${struck.has(k) ? ", struck" : ""}`} onClick=${() => toggle(k)}>${span.text}</button>`)}</div>
      <p class="buttons"><button type="button" disabled=${struck.size === 0} onClick=${reset}>Restore all tokens</button>
        <button type="button" onClick=${() => setEditing(spans.map((span) => span.text).join(""))}>Edit the text</button></p>`
    : html`<label class="hidden" for=${`edit-${index}`}>Text</label><textarea id=${`edit-${index}`} rows="8" value=${editing} onInput=${(event) => setEditing(event.target.value)}></textarea>
      <p class="buttons"><button type="button" class="primary" onClick=${() => edit(editing)}>Predict</button><button type="button" onClick=${() => setEditing(null)}>Cancel</button></p>`}
  </section>`;
}
