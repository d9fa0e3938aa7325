// Screen 8: the belief network. Evidence is set by clicking a state; every belief is exact.

import { html, signal, useEffect, useLayoutEffect, useRef, useState } from "../lib/html.js";
import { call } from "../lib/engine.js";
import { CodePanel } from "../lib/code_panel.js";
import { NETWORKS } from "../lib/networks.js";

export const title = "Network";

const state = signal({ name: "earthquake", bif: NETWORKS.earthquake.bif, evidence: {}, query: "Burglary", pair: null, answer: null, error: "" });
let version = 0;

async function update(change) {
  state.value = { ...state.value, ...change };
  const own = ++version;
  try {
    const answer = await call("network", message());
    if (own !== version) return;
    const names = answer.variables.map(({ name }) => name);
    const query = names.includes(state.value.query) ? state.value.query : names[0];
    state.value = { ...state.value, answer, query, error: "" };
  } catch (error) {
    if (own === version) state.value = { ...state.value, error: error.message };
  }
}

function message() {
  const { bif, evidence, query, pair } = state.value;
  const asked = pair && !pair.some((name) => name in evidence) && pair[0] !== pair[1];
  return { bif, evidence, ...(query && { query }), ...(asked && { separation: pair }) };
}

function load(name, bif, query = null) {
  update({ name, bif, evidence: {}, query, pair: null });
}

/** Sets a state as evidence, or takes it back. */
function toggle(variable, s) {
  const { [variable.name]: before, ...others } = state.value.evidence;
  const chosen = variable.states[s];
  update({ evidence: before === chosen ? others : { ...others, [variable.name]: chosen } });
}

const three = (v) => (v === 0 ? "0" : v < 1e-4 ? v.toExponential(2) : Number(v.toPrecision(3)).toString());

export default function BeliefNetwork() {
  useEffect(() => {
    if (!state.value.answer) update({});
  }, []);
  const { name, answer, error, evidence } = state.value;
  return html`<h1 id="heading" tabindex="-1">Belief network</h1>
    <p class="muted lead">Click a state to observe it, and again to take it back: all beliefs follow, exactly, by a junction tree.</p>
    <div class="presets" role="group" aria-label="Networks">
      ${Object.entries(NETWORKS).map(([key, { title, bif, query, source }]) => html`<button type="button" title=${source}
        aria-pressed=${name === key} onClick=${() => load(key, bif, query)}>${title}</button>`)}
      <${OpenFile} />
      <button type="button" disabled=${!Object.keys(evidence).length} onClick=${() => update({ evidence: {} })}>Clear the evidence</button>
    </div>
    ${error && html`<p role="alert" class="card finding">${error}</p>`}
    ${answer && html`<${Graph} answer=${answer} />
      <div class="network-columns"><${Sums} answer=${answer} /><${Separation} answer=${answer} /></div>
      <${Tables} answer=${answer} />`}
    <${Text} />
    ${answer && html`<${CodePanel} snippets=${codeOf(answer)} />`}`;
}

function OpenFile() {
  const onChange = async (event) => {
    const [file] = event.target.files;
    if (file) load("", await file.text());
    event.target.value = "";
  };
  return html`<label class="file-button">Open a BIF file <input type="file" class="visually-hidden" accept=".bif,text/plain" onChange=${onChange} /></label>`;
}

// The graph: boxes with buttons, and arrows between them.

const [BOX, GAP, LINE, HEAD, LAYER] = [176, 26, 24, 28, 52];

function Graph({ answer }) {
  const { variables } = answer;
  const arrows = useRef(null);
  const widest = Math.max(...variables.map(({ layer }) => variables.filter((v) => v.layer === layer).length));
  const width = widest * (BOX + GAP) - GAP;
  const tops = [];
  for (let layer = 0, top = 4; ; layer++) {
    const inLayer = variables.filter((v) => v.layer === layer);
    if (!inLayer.length) break;
    tops.push(top);
    top += HEAD + LINE * Math.max(...inLayer.map((v) => v.states.length)) + LAYER;
    tops.end = top - LAYER + 8;
  }
  const boxOf = ({ layer, order, states }) => {
    const n = variables.filter((v) => v.layer === layer).length;
    const left = (width - (n * (BOX + GAP) - GAP)) / 2 + order * (BOX + GAP);
    return { left, top: tops[layer], height: HEAD + LINE * states.length };
  };
  const boxes = variables.map(boxOf);
  const active = activeEdges(answer);
  useLayoutEffect(() => {
    // Positions go through the style object, which the content policy of the page allows.
    arrows.current?.querySelectorAll(".network-node").forEach((node, v) => {
      Object.assign(node.style, { left: `${boxes[v].left}px`, top: `${boxes[v].top}px`, width: `${BOX}px` });
    });
  });
  return html`<div class="card network-scroll" tabindex="0" role="group" aria-label=${`Network ${answer.name}`}>
    <div class="network" ref=${arrows} style=${{ width: `${width}px`, height: `${tops.end}px` }}>
      <svg width=${width} height=${tops.end} aria-hidden="true">
        <defs>${["arrow", "arrow-active"].map((id) => html`<marker id=${id} class=${id} viewBox="0 0 10 10" refX="9" refY="5"
          markerWidth="8" markerHeight="8" orient="auto-start-reverse"><path d="M0 0L10 5L0 10z" /></marker>`)}</defs>
        ${variables.flatMap(({ parents }, v) =>
          parents.map((p) => {
            const on = active.has(`${p}-${v}`);
            const [from, to] = [boxes[p], boxes[v]];
            const [x1, y1, x2, y2] = [from.left + BOX / 2, from.top + from.height, to.left + BOX / 2, to.top - 2];
            return html`<path class=${on ? "edge active" : "edge"} marker-end=${on ? "url(#arrow-active)" : "url(#arrow)"}
              d=${`M${x1} ${y1}C${x1} ${y1 + 26} ${x2} ${y2 - 30} ${x2} ${y2}`} />`;
          }),
        )}
      </svg>
      ${variables.map((variable) => html`<${Node} variable=${variable} />`)}
    </div>
    <p class="pg-legend">P(evidence) = <span data-number="evidence">${three(answer.probability_of_evidence)}</span>. Most probable explanation:
      ${" "}${answer.variables.map(({ name, states }, v) => `${name} = ${states[answer.explanation.states[v]]}`).join(", ")}
      ${" "}(probability ${three(answer.explanation.probability)} given the evidence).</p>
  </div>`;
}

/** The edges of the active path between the two variables of the d-separation. */
function activeEdges({ separation }) {
  const edges = new Set();
  const path = separation?.path;
  for (let k = 0; path && k + 1 < path.length; k++) edges.add(`${path[k]}-${path[k + 1]}`).add(`${path[k + 1]}-${path[k]}`);
  return edges;
}

function Node({ variable }) {
  const { name, states, belief, prior, observed } = variable;
  const { query } = state.value;
  return html`<div class=${`network-node${observed !== null ? " observed" : ""}${query === name ? " queried" : ""}`}>
    <button type="button" class="node-name" title="Show the sums of this variable" aria-pressed=${query === name}
      onClick=${() => update({ query: name })}>${name}</button>
    ${states.map((text, s) => html`<button type="button" class="node-state" aria-pressed=${observed === s}
      onClick=${() => toggle(variable, s)}>
      <span class="belief-bar" style=${{ width: `${100 * belief[s]}%` }}></span><span class="prior-tick" style=${{ left: `${100 * prior[s]}%` }}></span>
      <span class="state-name"><span class="visually-hidden">${name} = </span>${text} </span><span class="state-value" data-number=${`${name}=${text}`}>${three(belief[s])}</span></button>`)}
  </div>`;
}

/** P(q | e) as a ratio of sums. */
function Sums({ answer: { sums, variables } }) {
  if (!sums) return null;
  const query = variables[sums.query];
  const hidden = sums.hidden.map((v) => variables[v]);
  const term = ({ states }) => states.map((s, k) => `${hidden[k].name}=${hidden[k].states[s]}`).join(", ");
  return html`<section class="card" aria-label="Sums">
    <h2>The sums: P(${query.name} | evidence)</h2>
    <p>P(${query.name}, evidence) sums the joint probability over the hidden variables
      ${" "}(${hidden.map(({ name }) => name).join(", ") || "none"}): ${sums.n_terms === null ? "very many" : sums.n_terms} terms per state.</p>
    <table class="terms"><thead><tr><th scope="col">${query.name}</th><th scope="col">P(${query.name}, evidence)</th>
      <th scope="col">÷ P(evidence)</th><th scope="col">= posterior</th></tr></thead>
      <tbody>${sums.states.map(({ state: s, joint, posterior }) => html`<tr><th scope="row">${query.states[s]}</th><td>${three(joint)}</td>
        <td>${three(sums.evidence)}</td><td><strong>${three(posterior)}</strong></td></tr>`)}</tbody></table>
    ${sums.states.map(({ state: s, terms }) => terms?.length > 0 && hidden.length > 0 && html`<details><summary>Largest terms of
      ${" "}${query.name} = ${query.states[s]}</summary><ul class="term-list">${terms.map((one) => html`<li>${three(one.probability)}: ${term(one)}</li>`)}</ul></details>`)}
  </section>`;
}

/** Whether the evidence separates two variables. */
function Separation({ answer: { separation, variables } }) {
  const { pair, evidence } = state.value;
  const names = variables.map(({ name }) => name);
  const [a, b] = pair || ["", ""];
  const choose = (k) => (event) => {
    const next = pair ? [...pair] : ["", ""];
    next[k] = event.target.value;
    update({ pair: next });
  };
  const given = Object.keys(evidence);
  const select = (k, value) => html`<label for=${`separation-${k}`} class="visually-hidden">${k ? "Second" : "First"} variable</label>
    <select id=${`separation-${k}`} value=${value} onChange=${choose(k)}><option value="">choose…</option>
    ${names.map((name) => html`<option value=${name} selected=${name === value}>${name}</option>`)}</select>`;
  return html`<section class="card" aria-label="d-separation">
    <h2>d-separation</h2>
    <p>Are ${select(0, a)} and ${select(1, b)} independent given ${given.length ? given.join(", ") : "nothing"}?</p>
    <div role="status">${verdict(a, b, evidence, separation, names)}</div>
  </section>`;
}

function verdict(a, b, evidence, separation, names) {
  if (!a || !b) return html`<p class="muted">Choose two variables. The active path is drawn in the graph.</p>`;
  if (a === b) return html`<p>Choose two different variables.</p>`;
  const seen = [a, b].find((name) => name in evidence);
  if (seen) return html`<p>${seen} is observed; choose variables that are not.</p>`;
  if (!separation) return html`<p>…</p>`;
  const path = (all) => all.map((v) => names[v]).join(" – ");
  if (!separation.separated) {
    return html`<p><strong>Not separated.</strong> The path ${path(separation.path)} is active, so they can be dependent.</p>`;
  }
  return html`<p><strong>Separated</strong>: independent in every network with this graph.</p>
    ${separation.blocked.length === 0
      ? html`<p>There is no path between them.</p>`
      : html`<ul>${separation.blocked.map(({ path: all, at, why }) => html`<li>${path(all)} is blocked at ${names[at]}, which is
        ${" "}${why === "observed" ? "observed" : "a collider, and neither it nor a descendant is observed"}.</li>`)}</ul>`}`;
}

function Tables({ answer: { variables, n_parameters: n } }) {
  return html`<details class="card"><summary class="muted">Conditional probability tables (${n} free parameters)</summary>
    <div class="network-tables">${variables.map(({ name, states, parents, rows, table }) => table && html`<table class="terms"><caption>P(${name}${parents.length
        ? ` | ${parents.map((p) => variables[p].name).join(", ")}` : ""})</caption>
      <thead><tr>${parents.map((p) => html`<th scope="col">${variables[p].name}</th>`)}${states.map((s) => html`<th scope="col">${s}</th>`)}</tr></thead>
      <tbody>${rows.map((row, r) => html`<tr>${row.map((s, k) => html`<td>${variables[parents[k]].states[s]}</td>`)}
        ${states.map((_, s) => html`<td>${three(table[r * states.length + s])}</td>`)}</tr>`)}</tbody></table>`)}</div>
  </details>`;
}

/** The network as text, to change and to use again. */
function Text() {
  const [text, setText] = useState(null);
  const onToggle = (event) => setText(event.target.open ? state.value.bif : null);
  return html`<details class="card point-table" onToggle=${onToggle}><summary>The network as BIF text</summary>
    ${text !== null && html`<label>Change variables, parents and tables
        <textarea rows="14" spellcheck="false" value=${text} onInput=${(event) => setText(event.target.value)}></textarea></label>
      <button type="button" onClick=${() => load("", text)}>Use this network</button>`}
  </details>`;
}

function codeOf({ variables }) {
  const { bif, evidence, query: asked } = state.value;
  const query = asked ?? variables[0].name;
  const given = Object.entries(evidence);
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const body = JSON.stringify({ call: "network", bif, evidence, query });
  const list = given.map(([v, s]) => `(${JSON.stringify(v)}, ${JSON.stringify(s)})`).join(", ");
  return [
    {
      name: "Command line",
      code: `cat > network.bif <<'END'\n${bif}END\nmercer bayes network network.bif --query ${quoted(query)}${given.map(([v, s]) => ` --evidence ${quoted(`${v}=${s}`)}`).join("")}\n`,
    },
    {
      name: "Rust",
      code: `use mercer::model::Monitor;
use mercer::probability::network::{bif, inference};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let network = bif::from_bif(&std::fs::read_to_string("network.bif")?)?;
    let evidence = network.evidence([${list}])?;
    let query = network.variable(${JSON.stringify(query)})?;
    let posterior = inference::query(&network, &[query], &evidence, &Monitor::quiet())?;
    println!("{:?}", posterior.probabilities); // ${variables.find(({ name }) => name === query)?.states.join(", ")}
    Ok(())
}
`,
    },
    {
      name: "curl",
      code: `# MERCER_TOKEN is the token in the address that the command printed.
curl ${location.origin}/studio/call -H "Authorization: Bearer $MERCER_TOKEN" -H 'Content-Type: application/json' -d ${quoted(body)}
`,
    },
  ];
}
