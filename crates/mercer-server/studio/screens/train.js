// Screen 2: the plan before, live progress, and the certificate after.

import { html, useEffect, useRef, useState } from "../lib/html.js";
import { call, latest, modelFile } from "../lib/engine.js";
import { CodePanel } from "../lib/code_panel.js";
import { Plot } from "../lib/charts.js";
import { dataVersion, refresh, session } from "../lib/store.js";
import { Findings, Problem, color, count, duration, marked, score, short, useCall } from "../lib/parts.js";

export const title = "Train";

const PHASES = [
  ["comparing", "compare on folds"],
  ["preprocessing", "fit the preprocessing"],
  ["fitting", "fit to all rows"],
  ["checking", "check"],
  ["done", "done"],
];
/** Milliseconds between two looks at a run. */
const POLL = 250;

export default function Train() {
  const [options, problem] = useCall(session.value?.data ? "train.options" : null, {}, [dataVersion.value]);
  const [choice, setChoice] = useState({ candidates: null, metric: null, budget: null });
  const [plan, setPlan] = useState(null);
  const [error, setError] = useState(null);
  const [run, setRun] = useState(null);
  const askPlan = useRef(null);
  askPlan.current ||= latest("train.plan", (answer) => { setPlan(answer); setError(null); }, (failed) => { setPlan(null); setError(failed); });
  const message = asMessage(choice);
  const text = JSON.stringify(message);
  useEffect(() => {
    if (options) askPlan.current(message);
  }, [options, text]);
  useRun(setRun);
  const running = Boolean(run?.is_running);
  const start = async () => {
    setError(null);
    try {
      await call("train.start", message);
      setRun(await call("train.state"));
    } catch (failed) {
      setError(failed);
    }
  };
  const missing = !session.value?.data && { status: 409, message: "No table is open; drop a file on the Data screen." };
  return html`<h1 id="heading" tabindex="-1">Train</h1>
    <${Problem} error=${missing || problem || error} />
    ${options && html`<section class="card" aria-labelledby="plan-title"><h2 id="plan-title">Plan</h2>
      <p>Predict <strong>${options.target}</strong> (${options.task}: ${marked(options.reason)}).</p>
      <${Choice} options=${options} choice=${choice} setChoice=${setChoice} disabled=${running} />
      <${PlanText} plan=${plan} />
      <p class="buttons"><button type="button" class="primary" disabled=${running || !plan} onClick=${start}>Start</button>
        ${running && html`<button type="button" onClick=${() => call("train.stop")}>Stop and keep the best</button>`}</p>
    </section>`}
    ${run && run.phase !== "none" && html`<${Progress} run=${run} greater=${plan?.greater_is_better ?? true} />`}
    ${run?.fit && html`<${Certificate} fit=${run.fit} />`}
    ${plan && !run?.fit && html`<${CodePanel} snippets=${plan.code} />`}`;
}

/** Follows the run of the session while it runs. */
function useRun(setRun) {
  useEffect(() => {
    let timer = 0;
    let alive = true;
    let known;
    const look = async () => {
      try {
        const state = await call("train.state");
        if (!alive) return;
        setRun(state);
        const now = `${state.is_running} ${state.fit?.name}`;
        if (known !== undefined && known !== now) refresh();
        known = now;
      } catch {
        // The next look tells whether the engine is back.
      }
      if (alive) timer = setTimeout(look, POLL);
    };
    look();
    return () => {
      alive = false;
      clearTimeout(timer);
    };
  }, []);
}

/** The choice as a message: settings that are empty stay at their defaults. */
function asMessage(choice) {
  const candidates = choice.candidates?.map(({ model, settings }) => ({
    model,
    settings: Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== "")),
  }));
  return {
    ...(candidates && { candidates }),
    ...(choice.metric && { metric: choice.metric }),
    ...(choice.budget && !candidates && { budget: Number(choice.budget) }),
  };
}

function Choice({ options, choice, setChoice, disabled }) {
  const first = options.baseline_choice?.id || options.estimators[0].id;
  const picks = choice.candidates;
  const set = (candidates) => setChoice({ ...choice, candidates });
  const change = (k, candidate) => set(picks.map((old, i) => (i === k ? candidate : old)));
  return html`<fieldset disabled=${disabled} class="choice"><legend class="hidden">What to fit</legend>
    <label class="radio"><input type="radio" name="what" checked=${!picks} onChange=${() => set(null)} />
      Let Mercer choose: compare a portfolio of estimators and fit the best</label>
    <label class="radio"><input type="radio" name="what" checked=${Boolean(picks)} onChange=${() => set([{ model: first, settings: {} }])} />
      Pick estimators</label>
    ${picks && html`<div class="picks">
      ${picks.map((pick, k) => html`<${Pick} key=${k} options=${options} pick=${pick} onChange=${(candidate) => change(k, candidate)}
        onRemove=${picks.length > 1 ? () => set(picks.filter((_, i) => i !== k)) : null} />`)}
      <button type="button" onClick=${() => set([...picks, { model: first, settings: {} }])}>Add another</button></div>`}
    <div class="fields">
      <label>Metric <select value=${choice.metric || options.metric} onChange=${(event) => setChoice({ ...choice, metric: event.target.value })}>
        ${options.metrics.map((metric) => html`<option value=${metric} selected=${metric === (choice.metric || options.metric)}>${metric}</option>`)}</select></label>
      ${!picks && html`<label>Time for the comparison, in seconds <input type="number" min="1" max="86400" placeholder=${options.budget}
        value=${choice.budget || ""} onInput=${(event) => setChoice({ ...choice, budget: event.target.value })} /></label>`}
    </div>
  </fieldset>`;
}

function Pick({ options, pick, onChange, onRemove }) {
  const card = options.estimators.find((card) => card.id === pick.model);
  const setting = (name, value) => onChange({ ...pick, settings: { ...pick.settings, [name]: value } });
  return html`<div class="pick">
    <div class="fields"><label>Estimator <select value=${pick.model} onChange=${(event) => onChange({ model: event.target.value, settings: {} })}>
      ${options.estimators.map(({ id }) => html`<option value=${id} selected=${id === pick.model}>${id}</option>`)}</select></label>
      ${onRemove && html`<button type="button" onClick=${onRemove}>Remove</button>`}</div>
    <p class="muted">${card.doc} <span class="formula">${card.formula}</span></p>
    <details><summary>Parameters (${card.params.length})</summary><div class="params">
      ${card.params.map((spec) => html`<label class="param"><span><strong>${spec.name}</strong> <span class="muted">${spec.type}</span></span>
        <input type="text" value=${pick.settings[spec.name] ?? ""} placeholder=${shownDefault(spec.default)}
          onInput=${(event) => setting(spec.name, event.target.value)} /><span class="why">${marked(spec.doc)}</span></label>`)}
    </div></details></div>`;
}

const shownDefault = (value) => (value === null || value === undefined ? "None" : typeof value === "string" ? value : JSON.stringify(value));

function PlanText({ plan }) {
  if (!plan) return null;
  return html`<p>${plan.n_candidates === 1
    ? html`<strong>${plan.candidates[0]}</strong> is cross-validated on ${plan.n_folds} folds`
    : html`<strong>${plan.n_candidates} candidates</strong> are compared on the same ${plan.n_folds} folds`}
    ${" of "}${count(plan.n_rows)} ${plan.is_sample ? "sampled rows" : "rows"} by ${plan.metric}; ${plan.n_candidates === 1 ? "then it" : "the best one"} is fitted to all ${count(plan.all_rows)} rows.</p>
    ${plan.n_candidates > 1 && html`<details><summary>The candidates</summary><ul class="dense">${plan.candidates.map((name) => html`<li><code>${name}</code></li>`)}</ul></details>`}
    ${plan.dropped.length > 0 && html`<p class="muted">Not used: ${plan.dropped.map(({ name, reason }, k) => html`${k > 0 && "; "}<code>${name}</code> (${marked(reason)})`)}.</p>`}`;
}

function Progress({ run, greater }) {
  const at = PHASES.findIndex(([phase]) => phase === run.phase);
  const left = run.is_running && run.seconds_left !== null ? `, about ${duration(run.seconds_left)} left in this phase` : "";
  return html`<section class="card" aria-labelledby="run-title"><h2 id="run-title">Run</h2>
    <ol class="phases">${PHASES.map(([phase, name], k) => html`<li class=${k < at || run.phase === "done" ? "past" : k === at ? "now" : ""}
      aria-current=${k === at ? "step" : undefined}>${name}</li>`)}</ol>
    <p role="status">${run.phase === "failed" ? "Failed" : run.is_running ? "Running" : "Finished"} after ${duration(run.seconds)}${left}.
      ${run.n_support_vectors && ` ${count(run.n_support_vectors)} support vectors.`}</p>
    ${run.is_running && html`<progress max="1" value=${run.fraction ?? undefined} aria-label="Progress of this phase"></progress>`}
    ${run.error && html`<div class="notice bad" role="alert">${marked(run.error)}</div>`}
    ${run.messages.map((text) => html`<p class="muted">${text}</p>`)}
    ${run.plan && html`<p><strong>Solver plan:</strong> ${run.plan}</p>`}
    <div class="side-by-side">
      <${Growing} run=${run} greater=${greater} />
      <${Convergence} run=${run} />
    </div></section>`;
}

function Growing({ run, greater }) {
  const scored = run.candidates.filter((row) => row.score !== null);
  if (!scored.length) return null;
  const best = run.is_running ? [...scored].sort((a, b) => b.n_rows - a.n_rows || (greater ? b.score - a.score : a.score - b.score)) : scored;
  const shown = best.slice(0, 10);
  const values = shown.map((row) => row.score);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const width = (row) => (high === low ? 100 : 15 + (85 * Math.abs(row.score - (greater ? low : high))) / (high - low));
  return html`<div class="growing"><h3>${scored.length} of ${run.n_candidates} candidates scored${run.round ? `, ${count(run.round.n_rows)} rows, ${run.round.n_folds} folds` : ""}</h3>
    <ol>${shown.map((row) => html`<li key=${row.name}><span class="name">${row.name}</span><span class="bar" style=${{ width: `${width(row)}%` }}></span>
      <span class="number">${score(row.score)}</span></li>`)}</ol></div>`;
}

function Convergence({ run }) {
  const points = run.curve.filter(([, violation]) => violation > 0);
  if (points.length < 2) return null;
  const ys = points.map((p) => p[1]).concat(run.tolerance || []);
  const xs = [points[0][0], points[points.length - 1][0]];
  return html`<div><h3>Convergence of the solver</h3>
    <${Plot} lines=${[{ points, color: color(0) }]} xs=${xs} ys=${[Math.min(...ys) / 2, Math.max(...ys) * 2]} logY=${true} width=${420} height=${240}
      xLabel="seconds" yLabel="largest violation" hline=${run.tolerance && { y: run.tolerance, name: "tolerance" }}
      label="Largest violation of the optimality conditions over time, on a logarithmic axis" /></div>`;
}

function Certificate({ fit }) {
  const c = fit.certificate;
  const [saved, setSaved] = useState("");
  const download = async () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await modelFile());
    link.download = "model.mercer";
    link.click();
    URL.revokeObjectURL(link.href);
    setSaved("saved as model.mercer");
  };
  const facts = [
    ["duality gap", c.duality_gap !== null && short(c.duality_gap)],
    [c.objective?.[0], c.objective && short(c.objective[1])],
    ["dual objective", c.dual !== null && short(c.dual)],
    [c.violation?.[0], c.violation && short(c.violation[1])],
    ["condition number", c.condition !== null && short(c.condition)],
    ["iterations", count(c.iterations)],
    ["rows", count(c.rows)],
    ["features", count(fit.n_features)],
    ["time of the fit", duration(c.seconds)],
  ].filter(([name, value]) => name && value);
  return html`<section class="card" aria-labelledby="certificate-title"><h2 id="certificate-title">Certificate of ${fit.name}</h2>
    <p class=${c.is_converged ? "status good" : "status bad"}>${c.status_text}</p>
    <dl class="certificate">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
    <p class="muted certificate-text">${c.text}</p>
    ${c.plan && html`<p class="muted">Plan: ${c.plan}</p>`}
    <p>${fit.doc} <span class="formula">${fit.formula}</span></p>
    ${fit.steps.length > 0 && html`<h3>Preprocessing</h3><ul class="dense">${fit.steps.map((step) => html`<li>${marked(step)}</li>`)}</ul>`}
    ${fit.findings.length > 0 && html`<h3>Findings</h3><${Findings} findings=${fit.findings} />`}
    <p class="buttons"><button type="button" onClick=${download}>Download the model</button><span role="status">${saved}</span>
      <a class="button" href="#/leaderboard">Leaderboard</a><a class="button" href="#/errors">Errors</a><a class="button" href="#/why">Why this row</a></p>
    <${CodePanel} snippets=${fit.code} /></section>`;
}
