// Small components and formats that several screens use.

import { html, useEffect, useState } from "./html.js";
import { call } from "./engine.js";

/** The answer of a call: `[answer, error, again]`. It is made anew when one of `inputs` changes. */
export function useCall(name, message, inputs = []) {
  const [state, setState] = useState({ answer: null, error: null });
  const [n, setN] = useState(0);
  useEffect(() => {
    let current = true;
    if (name) {
      call(name, message).then(
        (answer) => current && setState({ answer, error: null }),
        (error) => current && setState({ answer: null, error }),
      );
    }
    return () => {
      current = false;
    };
  }, [name, n, ...inputs]);
  return [state.answer, state.error, () => setN(n + 1)];
}

/** A text of the engine, in which backticks mark names. */
export function marked(text) {
  return text.split("`").map((part, k) => (k % 2 ? html`<code>${part}</code>` : part));
}

/** An error of the engine. A missing table or model is advice rather than an error. */
export function Problem({ error }) {
  if (!error) return null;
  const missing = error.status === 409;
  return html`<div class=${missing ? "notice" : "notice bad"} role=${missing ? "status" : "alert"}>${marked(error.message)}</div>`;
}

export function Loading({ what = "Working" }) {
  return html`<p class="muted" role="status">${what}…</p>`;
}

/** The color of a class or another group. */
export const color = (k) => `var(--class-${k % 10})`;

/** The names of groups with their colors. */
export function Legend({ names, label, start = 0 }) {
  return html`<ul class="legend" aria-label=${label}>
    ${names.map((name, k) => html`<li><span class="swatch" style=${{ background: color(start + k) }}></span>${name}</li>`)}
  </ul>`;
}

/** Findings of the checks: what was measured, and what to do about it. */
export function Findings({ findings, empty }) {
  if (!findings.length) return empty ? html`<p class="muted">${empty}</p>` : null;
  return html`<ul class="findings">
    ${findings.map(
      (finding) => html`<li>
        <strong><span class="code">${finding.code}</span> ${finding.title}</strong>
        <p>${marked(sentence(finding.figure))} ${marked(sentence(finding.advice))}</p>
        ${finding.command && html`<code class="command">${finding.command}</code>`}
      </li>`,
    )}
  </ul>`;
}

function sentence(text) {
  const upper = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(upper) ? upper : `${upper}.`;
}

/** A number with about four significant digits. */
export function short(x) {
  if (x === null || x === undefined || Number.isNaN(x)) return "–";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size < 1e-4 || size >= 1e7) return x.toExponential(2);
  return Number(x.toPrecision(4)).toString();
}

/** A score with four decimals. */
export const score = (x) => (x === null || x === undefined ? "–" : Math.abs(x) >= 1000 ? short(x) : x.toFixed(4));

/** A signed number with three decimals. */
export const signed = (x) => (x < 0 ? "−" : "+") + short3(Math.abs(x));
const short3 = (x) => (x >= 1e5 || (x > 0 && x < 5e-4) ? x.toExponential(2) : x.toFixed(3));

export const percent = (x, digits = 1) => `${(100 * x).toFixed(digits)} %`;

/** A probability; close to zero or one, the distance from there. */
export function probability(p) {
  if (p > 0 && p < 5e-4) return p.toExponential(1);
  if (p < 1 && p > 1 - 5e-4) return `1 − ${(1 - p).toExponential(1)}`;
  return percent(p, 2);
}

export const count = (n) => n.toLocaleString("en-US");

/** A number with its noun. */
export const plural = (n, noun) => `${count(n)} ${noun}${n === 1 ? "" : "s"}`;

export function duration(seconds) {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

/** Rows of the table as text. `extra` adds a leading cell to each row. */
export function RowTable({ table, extra, caption }) {
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${caption}>
    <table class="rows"><caption class="hidden">${caption}</caption>
      <thead><tr><th scope="col">row</th>${extra && extra.heads.map((head) => html`<th scope="col">${head}</th>`)}
        ${table.columns.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
      <tbody>${table.rows.map(
        (row, k) => html`<tr><th scope="row"><a href=${`#/why/${row.row}`} title="Why this row">${row.number ?? `sample ${row.row + 1}`}</a></th>
          ${extra && extra.cells(k).map((cell) => html`<td class="number">${cell}</td>`)}
          ${row.cells.map((cell) => html`<td>${cell === null ? html`<span class="muted">missing</span>` : cell}</td>`)}</tr>`,
      )}</tbody>
    </table></div>`;
}
