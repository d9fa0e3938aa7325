// Screen 1: the table, its columns, and what is suspicious about it.

import { html, useEffect, useRef, useState } from "../lib/html.js";
import { call, openFile } from "../lib/engine.js";
import { CodePanel } from "../lib/code_panel.js";
import { Histogram } from "../lib/charts.js";
import { dataChanged, dataVersion, session } from "../lib/store.js";
import { Findings, Legend, Loading, Problem, RowTable, count, marked, percent, useCall } from "../lib/parts.js";

export const title = "Data";

export default function Data() {
  const [busy, setBusy] = useState("");
  const [error, setError] = useState(null);
  const [filter, setFilter] = useState("");
  const [from, setFrom] = useState(0);
  const known = session.value;
  const hasData = Boolean(known?.data);
  const [table, problem] = useCall(hasData ? "data.describe" : null, { filter, from }, [dataVersion.value, filter, from]);

  /** Changes the table; the page stays usable, and an error leaves the table as it was. */
  const change = async (what, action) => {
    setBusy(what);
    setError(null);
    try {
      await action();
      await dataChanged();
    } catch (failed) {
      setError(failed);
    }
    setBusy("");
  };
  const open = (file) => {
    setFrom(0);
    setFilter("");
    return change(`Reading ${file.name}`, () => openFile(file));
  };
  useDrop(open);
  const startProblem = known?.problem && { message: known.problem };
  return html`<h1 id="heading" tabindex="-1">Data</h1>
    <${Problem} error=${error || startProblem || problem} />
    ${busy && html`<${Loading} what=${busy} />`}
    <${Opener} onOpen=${open} compact=${hasData} />
    ${hasData && !table && !problem && html`<${Loading} what="Reading the profile" />`}
    ${table && html`<${Summary} table=${table} change=${change} busy=${busy} />
      <section class="card" aria-labelledby="suspicions"><h2 id="suspicions">Suspicions</h2>
        <${Findings} findings=${table.findings} empty=${table.target ? "The checks found nothing suspicious." : "Choose a target: most checks need it. The others found nothing."} /></section>
      <${Columns} table=${table} change=${change} busy=${busy} filter=${filter} setFilter=${setFilter} from=${from} setFrom=${setFrom} />
      <${Preview} />
      <${CodePanel} snippets=${table.code} />`}`;
}

/** Accepts files that are dropped anywhere on the page. */
function useDrop(open) {
  const handler = useRef(open);
  handler.current = open;
  useEffect(() => {
    const over = (event) => event.preventDefault();
    const drop = (event) => {
      event.preventDefault();
      const file = event.dataTransfer?.files?.[0];
      if (file) handler.current(file);
    };
    window.addEventListener("dragover", over);
    window.addEventListener("drop", drop);
    return () => {
      window.removeEventListener("dragover", over);
      window.removeEventListener("drop", drop);
    };
  }, []);
}

function Opener({ onOpen, compact }) {
  const field = useRef(null);
  const onChange = () => {
    const file = field.current.files[0];
    if (file) onOpen(file);
    field.current.value = "";
  };
  return html`<div class=${compact ? "opener compact" : "opener"}>
    ${!compact && html`<p><strong>Drop a table here</strong></p>`}
    <p class="muted">${compact ? "Drop another file anywhere on the page, or" : "CSV, TSV, JSON lines or svmlight, plain or gzip. The file is read by the command on this machine and kept in its memory; nothing leaves it."}</p>
    <label class="file">Open a file<input type="file" ref=${field} onChange=${onChange} /></label>
  </div>`;
}

function Summary({ table, change, busy }) {
  const onTarget = (event) => change("Reading", () => call("data.target", { target: event.target.value || null }));
  const other = table.task?.other;
  return html`<section class="card" aria-label="Table">
    <p class="facts"><strong>${table.name}</strong> <span>${marked(table.format)}</span> <span>${count(table.n_rows)} rows</span>
      <span>${count(table.n_columns)} columns</span> <span>${count(table.n_missing)} missing values</span></p>
    ${table.is_sample && html`<p class="notice">Counts and types are those of all rows. Distributions, checks and comparisons use a random
      sample of ${count(table.sampled_rows)} rows.</p>`}
    <div class="fields">
      <label>Target <select value=${table.target || ""} onChange=${onTarget} disabled=${Boolean(busy)}>
        <option value="" selected=${!table.target}>choose …</option>
        ${table.column_names.map((name) => html`<option value=${name} selected=${name === table.target}>${name}</option>`)}
      </select></label>
      ${table.task && html`<span><strong>${table.task.name}</strong>: ${marked(table.task.reason)}${table.task.classes.length > 0 && ` (${table.task.classes.slice(0, 8).join(", ")}${table.task.classes.length > 8 ? ", …" : ""})`}</span>
        ${other && html`<button type="button" disabled=${Boolean(busy)} onClick=${() => change("Reading", () => call("data.target", { target: table.target, task: other }))}>Treat as ${other}</button>`}
        <a class="button primary" href="#/train">Train</a>`}
    </div></section>`;
}

function Columns({ table, change, busy, filter, setFilter, from, setFrom }) {
  const pages = table.n_matching > table.columns.length;
  return html`<section class="card" aria-labelledby="columns-title">
    <div class="row-between"><h2 id="columns-title">Columns</h2>
      <label>Filter <input type="text" value=${filter} onInput=${(event) => {
        setFrom(0);
        setFilter(event.target.value);
      }} /></label></div>
    ${table.groups.length > 1 && html`<${Legend} names=${table.groups} label=${table.group_label} />`}
    <div class="scroll" tabindex="0" role="region" aria-label="Columns of the table">
    <table class="columns"><thead><tr><th scope="col">column</th><th scope="col">type and why</th><th scope="col">missing</th>
      <th scope="col">values</th><th scope="col">distribution${table.groups.length > 1 ? ` by ${table.group_label}` : ""}</th></tr></thead>
      <tbody>${table.columns.map((column) => html`<${Column} key=${column.name} column=${column} table=${table} change=${change} busy=${busy} />`)}</tbody>
    </table></div>
    ${pages && html`<p class="pages"><button type="button" disabled=${from === 0} onClick=${() => setFrom(Math.max(0, from - 60))}>Previous</button>
      columns ${from + 1} to ${from + table.columns.length} of ${count(table.n_matching)}
      <button type="button" disabled=${from + table.columns.length >= table.n_matching} onClick=${() => setFrom(from + table.columns.length)}>Next</button></p>`}
  </section>`;
}

function Column({ column, table, change, busy }) {
  const onType = (event) => {
    const type = event.target.value === "infer" ? null : event.target.value;
    change("Reading", () => call("data.type", { column: column.name, type }));
  };
  const value = column.ignored ? "ignore" : column.type;
  const unused = column.ignored || column.dropped;
  return html`<tr class=${unused ? "unused" : ""}>
    <th scope="row">${column.name}${column.is_target && html` <span class="badge">target</span>`}</th>
    <td>${column.types.length === 0 ? column.type : html`<select aria-label=${`Type of ${column.name}`} value=${value} onChange=${onType} disabled=${Boolean(busy)}>
        ${column.types.map((type) => html`<option value=${type} selected=${type === value}>${type}</option>`)}
        ${!column.is_target && html`<option value="ignore" selected=${value === "ignore"}>ignore</option>`}
        ${(column.declared || column.ignored) && html`<option value="infer">infer again</option>`}</select>`}
      <span class="why">${column.ignored ? "left out by you" : marked(column.why)}</span>
      ${column.dropped && !column.ignored && html`<span class="why warn">not used: ${marked(column.dropped)}</span>`}</td>
    <td>${column.n_missing > 0
      ? html`<span class="meter" aria-hidden="true"><span style=${{ width: `${100 * column.missing_fraction}%` }}></span></span>
        ${percent(column.missing_fraction)}<span class="why">${count(column.n_missing)} rows</span>`
      : html`<span class="muted">none</span>`}</td>
    <td><${Values} column=${column} /></td>
    <td><${Histogram} histogram=${column.histogram} groups=${table.groups} label=${`Distribution of ${column.name}`} />
      ${column.histogram?.has_tails && html`<span class="why">the outer bars hold the tails</span>`}</td>
  </tr>`;
}

function Values({ column }) {
  const h = column.histogram;
  if (h?.kind === "numeric" && column.range) {
    return html`${column.range}<span class="why">mean ${h.mean}, median ${h.median}${h.deviation ? `, deviation ${h.deviation}` : ""}</span>`;
  }
  const totals = h?.levels?.map((level, b) => [level, h.counts.reduce((sum, group) => sum + group[b], 0)]);
  const all = totals?.reduce((sum, [, n]) => sum + n, 0) || 1;
  const shown = totals && totals[0]?.[1] >= 0.01 * all ? totals.slice(0, 4).map(([level, n]) => `${level} ${percent(n / all, 0)}`) : column.examples;
  return html`${column.distinct} distinct<span class="why">${shown.join(", ")}${totals?.length > 4 || !totals ? ", …" : ""}</span>`;
}

function Preview() {
  const [from, setFrom] = useState(0);
  const [shown, setShown] = useState(false);
  const [rows, error] = useCall(shown ? "data.rows" : null, { from }, [dataVersion.value, from]);
  return html`<details class="card" onToggle=${(event) => setShown(event.target.open)}><summary>Rows</summary>
    <${Problem} error=${error} />
    ${rows && html`<${RowTable} table=${rows} caption="Rows of the table" />
      <p class="pages"><button type="button" disabled=${from === 0} onClick=${() => setFrom(Math.max(0, from - 50))}>Previous</button>
      rows ${from + 1} to ${from + rows.rows.length} of ${count(rows.n_rows)}${rows.is_sample ? " in the sample" : ""}
      <button type="button" disabled=${from + rows.rows.length >= rows.n_rows} onClick=${() => setFrom(from + 50)}>Next</button></p>
      ${rows.n_columns > rows.columns.length && html`<p class="muted">The first ${rows.columns.length} of ${count(rows.n_columns)} columns.</p>`}`}
  </details>`;
}
