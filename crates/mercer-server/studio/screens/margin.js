// Screen 6: the margin playground. A support vector machine is fitted exactly while its points move.

import { html } from "../lib/html.js";
import { call } from "../lib/engine.js";
import { CodePanel } from "../lib/code_panel.js";
import { contours, nearest } from "../lib/contour.js";
import { drawCurves, drawField, inUnits, rgb } from "../lib/drawing.js";
import { Choice, Keys, PlaneView, Playground, PointTable, Presets, Slider } from "../lib/playground.js";
import { snippets } from "../lib/point_code.js";
import { CLASSIFICATION, REGRESSION, className } from "../lib/points.js";

export const title = "Margin";

/** Seconds that a fit may take while points move, and when they rest. */
const SECONDS = { moving: 0.3, still: 3 };
/** Seconds of the leave-one-out error in one call. */
const LEAVE_ONE_OUT = { moving: 0.01, still: 0.25 };
const KERNELS = [
  ["linear", "linear: x·z"],
  ["poly", "polynomial: (γ x·z + coef0)^degree"],
  ["rbf", "RBF: exp(−γ|x − z|²)"],
  ["sigmoid", "sigmoid: tanh(γ x·z + coef0)"],
  ["laplacian", "Laplacian: exp(−γ Σ|x − z|)"],
  ["chi2", "chi-squared, for coordinates ≥ 0"],
  ["formula", "a formula of kernels"],
];

const playground = new Playground({
  screen: "margin",
  label: "Points of the support vector machine. N and P select points, arrows move them, Enter adds one.",
  initial: {
    preset: "overlapping",
    parameters: {
      task: "classification", kernel: "linear", formula: "rbf(gamma=0.5)+0.1*linear", C: 1, gammaRule: "number", gamma: 0.5,
      degree: 3, coef0: 1, slackPower: 1, margin: "soft", multiclass: "ovo", epsilon: 0.3,
    },
  },
  sets: ({ task }) => (task === "regression" ? REGRESSION : CLASSIFICATION),
  isRegression: ({ task }) => task === "regression",
  request,
  onAnswer,
  whenStill: leaveOneOut,
  drawBack,
  drawFront,
  look,
});

// Messages

const uses = ({ kernel }) => ({
  gamma: !["linear", "formula"].includes(kernel),
  coef0: ["poly", "sigmoid"].includes(kernel),
  degree: kernel === "poly",
});

/** The parameters of the estimator that differ from its defaults or are on the screen. */
function estimatorParameters({ parameters: p, points, regression }) {
  const needs = uses(p);
  const hard = !regression && p.margin === "hard";
  return {
    kernel: p.kernel === "formula" ? p.formula : p.kernel,
    ...(!hard && { C: p.C }),
    ...(needs.gamma && { gamma: p.gammaRule === "number" ? p.gamma : p.gammaRule }),
    ...(needs.degree && { degree: p.degree }),
    ...(needs.coef0 && { coef0: p.coef0 }),
    ...(regression && { epsilon: p.epsilon }),
    ...(hard && { margin: "hard" }),
    ...(!regression && !hard && p.slackPower !== 1 && { slack_power: p.slackPower }),
    ...(!regression && nClasses(points) > 2 && { multiclass: p.multiclass }),
    tol: 1e-6,
  };
}

const nClasses = (points) => new Set(points.map(({ c }) => c)).size;

function request(playground, columns, still) {
  const { points, regression } = playground;
  // Several functions share the limit of an answer.
  const n = nClasses(points);
  const grid = playground.grid(n > 3 ? Math.min(columns, 120) : columns);
  const message = {
    points: points.map(({ x, y }) => [x, y]),
    parameters: estimatorParameters(playground),
    ...(!regression && { classes: points.map(({ c }) => c) }),
  };
  // Another view of the same model has the same leave-one-out error.
  const key = JSON.stringify(message);
  playground.asked = { grid, n: points.length, key };
  const known = playground.leftOut?.complete && playground.leftOut.key === key;
  Object.assign(message, { grid, seconds: still ? SECONDS.still : SECONDS.moving });
  if (regression) return ["tube", message];
  if (!still && !known) message.leave_one_out = { first: 0, seconds: LEAVE_ONE_OUT.moving };
  return ["margin", message];
}

function onAnswer(playground, answer, still) {
  playground.grid0 = playground.asked.grid;
  playground.curves = answer.functions?.map((f) => curvesOf(f, playground.grid0));
  playground.toMargin = answer.functions?.length === 1 ? slackLines(playground, answer) : [];
  const part = answer.leave_one_out;
  const { n, key } = playground.asked;
  if (part?.next === n) playground.leftOut = leftOutOf(part, n, key);
  else if (playground.leftOut?.key !== key) playground.leftOut = null;
  if (still) playground.snippets = codeOf(playground);
}

function codeOf(playground) {
  const parameters = estimatorParameters(playground);
  const { points, regression } = playground;
  const message = { points: points.map(({ x, y }) => [x, y]), parameters, grid: { x: [-4, 4], y: [-3, 3], columns: 9, rows: 7 } };
  if (!regression) message.classes = points.map(({ c }) => c);
  return snippets(regression ? "svr" : "svc", parameters, points, message);
}

/** The leave-one-out errors of the rows before `next`; `key` identifies the points and the parameters. */
function leftOutOf({ next, refits, misclassified, undecided }, n, key) {
  return { next, refits, undecided, misclassified: new Set(misclassified), n, key, complete: next === n };
}

/** Leaves out the rows in turn, part by part, as long as nothing changes. */
async function leaveOneOut(playground, [name, message], isCurrent) {
  if (name !== "margin" || !playground.answer?.fitted || playground.leftOut?.complete) return;
  const { n, key } = playground.asked;
  const found = { next: 0, refits: 0, misclassified: [], undecided: [] };
  const grid = { ...message.grid, columns: 2, rows: 2 };
  while (found.next < n && isCurrent()) {
    const part = { first: found.next, seconds: LEAVE_ONE_OUT.still };
    let answer;
    try {
      answer = (await call(name, { ...message, grid, leave_one_out: part })).leave_one_out;
    } catch {
      return;
    }
    if (!answer || !isCurrent()) return;
    if (answer.next === found.next) {
      playground.leftOut = { ...leftOutOf(found, n, key), tooSlow: true };
      playground.touch();
      return;
    }
    found.misclassified.push(...answer.misclassified);
    found.undecided.push(...answer.undecided);
    found.refits += answer.refits;
    found.next = answer.next;
    playground.leftOut = leftOutOf(found, n, key);
    playground.plane.invalidate("front");
    playground.touch();
  }
}

// Drawing

function curvesOf({ values }, grid) {
  const at = (level) => inUnits(contours(values, grid.columns, grid.rows, level), grid);
  return { boundary: at(0), positive: at(1), negative: at(-1) };
}

/** For every point with a slack, the nearest point of the margin of its class. */
function slackLines(playground, { slack, functions: [f] }) {
  const { curves: [curves], points } = playground;
  return slack.map((xi, i) => {
    if (xi <= 1e-3 || !points[i]) return null;
    return nearest(points[i].c === f.positive ? curves.positive : curves.negative, [points[i].x, points[i].y]);
  });
}

function drawBack(context, plane, { answer, grid0, curves, regression }) {
  if (regression) return answer.curve && drawTube(context, plane, answer, grid0);
  if (!answer.fitted) return answer.witness && drawWitness(context, plane, answer);
  if (answer.regions) drawRegions(context, plane, answer, grid0);
  else drawDecisionValues(context, plane, answer.functions[0], grid0);
  drawMargins(context, plane, answer, curves);
}

function drawDecisionValues(context, plane, { positive, negative, values }, grid) {
  const colors = [rgb(plane.colors.classes[negative]), rgb(plane.colors.classes[positive])];
  drawField(context, plane, grid, (k) => {
    const f = values[k];
    const [r, g, b] = colors[f >= 0 ? 1 : 0];
    return [r, g, b, 22 + 52 * Math.min(1, Math.abs(f))];
  });
}

function drawRegions(context, plane, { regions }, grid) {
  const colors = plane.colors.classes.map(rgb);
  drawField(context, plane, grid, (k) => [...colors[regions[k]], 62]);
}

function drawMargins(context, plane, { functions }, curves) {
  const several = functions.length > 1;
  functions.forEach(({ positive, negative }, k) => {
    context.globalAlpha = several ? 0.55 : 1;
    context.setLineDash([7, 5]);
    context.lineWidth = several ? 1 : 1.8;
    context.strokeStyle = plane.colors.classes[positive];
    drawCurves(context, plane, curves[k].positive);
    context.strokeStyle = negative === null ? plane.colors.muted : plane.colors.classes[negative];
    drawCurves(context, plane, curves[k].negative);
    context.setLineDash([]);
    context.lineWidth = several ? 1.4 : 2.6;
    context.strokeStyle = plane.colors.text;
    drawCurves(context, plane, curves[k].boundary);
    context.globalAlpha = 1;
  });
}

/** Two convex combinations that coincide: lines from their points to the place where they meet. */
function drawWitness(context, plane, { witness: { combinations, in_plane: inPlane } }) {
  for (const { class: c, points, coefficients, position } of combinations) {
    context.strokeStyle = plane.colors.classes[c];
    context.fillStyle = plane.colors.classes[c];
    points.forEach((i, k) => {
      const point = plane.points[i];
      if (!point) return;
      const at = plane.toPixels(point.x, point.y);
      context.globalAlpha = 0.9;
      context.lineWidth = 1 + 4 * coefficients[k];
      context.beginPath();
      if (inPlane) {
        context.moveTo(...at);
        context.lineTo(...plane.toPixels(...position));
      } else context.arc(...at, 10 + 10 * coefficients[k], 0, 2 * Math.PI);
      context.stroke();
      context.globalAlpha = 1;
    });
  }
  if (!inPlane) return;
  const [px, py] = plane.toPixels(...combinations[0].position);
  context.beginPath();
  context.arc(px, py, 7, 0, 2 * Math.PI);
  context.fillStyle = plane.colors.bad;
  context.fill();
  context.lineWidth = 2;
  context.strokeStyle = plane.colors.card;
  context.stroke();
}

function drawTube(context, plane, { curve, epsilon }, grid) {
  const [x0, x1] = grid.x;
  const xs = curve.map((_, k) => x0 + ((x1 - x0) * k) / (curve.length - 1));
  const shifted = (by) => [curve.map((y, k) => [xs[k], y + by])];
  const edge = [...shifted(epsilon)[0], ...shifted(-epsilon)[0].reverse()];
  context.beginPath();
  edge.forEach(([x, y]) => context.lineTo(...plane.toPixels(x, y)));
  context.fillStyle = plane.colors.classes[0];
  context.globalAlpha = 0.18;
  context.fill();
  context.globalAlpha = 1;
  context.strokeStyle = plane.colors.classes[0];
  context.lineWidth = 1.8;
  context.setLineDash([7, 5]);
  drawCurves(context, plane, shifted(epsilon));
  drawCurves(context, plane, shifted(-epsilon));
  context.setLineDash([]);
  context.strokeStyle = plane.colors.text;
  context.lineWidth = 2.6;
  drawCurves(context, plane, shifted(0));
}

/** Slacks: lines to the margin, or to the edge of the tube. */
function drawFront(context, plane, { answer, toMargin, regression }) {
  if (!answer?.fitted) return;
  const targets = regression
    ? answer.outside?.map((outside, i) => {
        const point = plane.points[i];
        if (!outside || !point) return null;
        return [point.x, answer.values[i] + Math.sign(point.y - answer.values[i]) * answer.epsilon];
      })
    : toMargin;
  context.lineWidth = 1.3;
  targets?.forEach((target, i) => {
    const point = plane.points[i];
    if (!target || !point) return;
    context.strokeStyle = plane.colors.classes[point.c];
    context.beginPath();
    context.moveTo(...plane.toPixels(point.x, point.y));
    context.lineTo(...plane.toPixels(...target));
    context.stroke();
  });
}

/** Support vectors have a ring and a size by alpha; those at the bound have a dot. */
function look(index, { answer, leftOut, points, regression }) {
  if (!answer?.fitted) return {};
  const alpha = regression ? Math.abs(answer.beta?.[index] ?? 0) : answer.alpha?.[index] ?? 0;
  const marks = [];
  if (!regression && answer.predicted?.[index] !== undefined && answer.predicted[index] !== points[index].c) marks.push("wrong");
  if (leftOut?.misclassified.has(index)) marks.push("left-out");
  const size = points.length > 100 ? 0.8 : 1;
  if (alpha <= 0) return { radius: 4.5 * size, mark: marks.join(" ") };
  const largest = answer.bound ?? Math.max(...answer.alpha);
  const bounded = answer.bound !== null && alpha >= answer.bound * (1 - 1e-8);
  const radius = size * (5 + 4.5 * Math.sqrt(Math.min(1, alpha / largest)));
  return { radius, ring: bounded ? "bounded" : "free", mark: marks.join(" ") };
}

// The page

export default function MarginPlayground({ rest }) {
  playground.tick.value;
  return html`<h1 id="heading" tabindex="-1">Margin playground</h1>
    <p class="muted lead">${playground.regression
      ? "Support vector regression, fitted exactly while you drag: errors within the tube cost nothing."
      : "A support vector machine, fitted while you drag to its optimum; the certificate says how close."}</p>
    <${Presets} playground=${playground} />
    <div class="playground">
      <${PlaneView} playground=${playground} rest=${rest} />
      <div class="playground-side">
        <${Parameters} />
        <${Findings} />
      </div>
    </div>
    <${Certificate} />
    <${CodePanel} snippets=${playground.snippets} />
    <${PointTable} playground=${playground} />
    <${Keys} />`;
}

function Parameters() {
  playground.tick.value;
  const p = playground.parameters;
  const { regression, points } = playground;
  const set = (name) => (value) => playground.setParameters({ [name]: value });
  const needs = uses(p);
  const hard = p.margin === "hard" && !regression;
  const setTask = (task) => {
    playground.setParameters({ task });
    playground.loadPreset(task === "regression" ? "sine" : "overlapping", false);
  };
  return html`<section class="card pg-controls" aria-label="Parameters">
    <${Choice} label="Task" value=${p.task} onChange=${setTask}
      options=${[["classification", "classification (svc)"], ["regression", "regression (svr)"]]} />
    <${Choice} label="Kernel" value=${p.kernel} onChange=${set("kernel")} options=${KERNELS} />
    ${p.kernel === "formula" &&
    html`<label class="pg-choice"><span>Formula</span><input type="text" value=${p.formula} spellcheck="false"
      onChange=${(event) => set("formula")(event.target.value)} /></label>`}
    ${!regression &&
    html`<${Choice} label="Margin" value=${p.margin} onChange=${set("margin")}
      options=${[["soft", "soft: violations cost C"], ["hard", "hard: no violations"]]} />`}
    ${!hard && html`<${Slider} label="C" value=${p.C} onChange=${set("C")} min=${1e-3} max=${1e5} log
      title="Inverse regularization strength: larger values fit the points more closely" />`}
    ${needs.gamma &&
    html`<${Choice} label="gamma" value=${p.gammaRule} onChange=${set("gammaRule")}
        options=${[["number", "a number"], ["scale", "scale: from the variance"], ["auto", "auto: 1 / columns"]]} />
      ${p.gammaRule === "number" &&
      html`<${Slider} label="γ" value=${p.gamma} onChange=${set("gamma")} min=${1e-3} max=${1e2} log
        title="Larger values make the kernel narrower" />`}`}
    ${needs.degree && html`<${Slider} label="degree" value=${p.degree} min=${1} max=${10} step=${1}
      onChange=${(v) => set("degree")(Math.round(v))} />`}
    ${needs.coef0 && html`<${Slider} label="coef0" value=${p.coef0} min=${-3} max=${3} step=${0.05} signed onChange=${set("coef0")}
      title="Independent term of the polynomial and the sigmoid kernel" />`}
    ${!regression && !hard &&
    html`<${Slider} label="slack power" value=${p.slackPower} min=${1} max=${4} step=${0.1} onChange=${set("slackPower")}
      title="Exponent of the slack in the loss: 1 is the hinge loss, 2 the squared hinge loss" />`}
    ${!regression && nClasses(points) > 2 &&
    html`<${Choice} label="Classes" value=${p.multiclass} onChange=${set("multiclass")}
      options=${[["ovo", "one-vs-one"], ["ovr", "one-vs-rest"], ["crammer_singer", "Crammer-Singer"]]} />`}
    ${regression && html`<${Slider} label="epsilon" value=${p.epsilon} min=${0} max=${2} step=${0.01} onChange=${set("epsilon")}
      title="Half-width of the tube within which errors cost nothing" />`}
  </section>`;
}

const short = (v, digits = 4) => (v === null || v === undefined ? "–" : Number(v.toPrecision(digits)).toString());

function Findings() {
  playground.tick.value;
  const { answer, error, regression } = playground;
  if (error) return html`<section class="card finding" role="alert"><h2>No model</h2><p>${error}</p></section>`;
  if (!answer) return html`<section class="card"><p class="muted">…</p></section>`;
  if (!answer.fitted) return html`<${NotSeparable} answer=${answer} />`;
  return html`<section class="card" aria-label="Fitted model">
    <dl class="numbers">${(regression ? tubeNumbers(answer) : marginNumbers(answer)).map(
      ([name, value, title]) => html`<div title=${title}><dt>${name}</dt><dd data-number=${name} class=${String(value).length > 24 ? "long" : ""}>${value}</dd></div>`,
    )}</dl>
    <p class="pg-legend">${regression
      ? "Ring: support vector, sized by |β|. Dot: β at its bound C. Lines: errors beyond the tube."
      : "Ring: support vector, sized by α. Dot: α at its bound C. Lines: slacks ξ. Cross: misclassified. Dashed red ring: misclassified when left out."}</p>
  </section>`;
}

function marginNumbers(answer) {
  const { functions, weights, intercepts, alpha, bound } = answer;
  const margin = functions.length === 1 ? functions[0].margin : null;
  const atBound = bound === null ? 0 : alpha.filter((a) => a >= bound * (1 - 1e-8)).length;
  const n = playground.points.length;
  return [
    ["Support vectors", `${answer.n_support} of ${n}`, "Points with α > 0; without the others the model is the same"],
    ...(bound === null ? [] : [["At the bound α = C", atBound]]),
    ["Training errors", `${answer.training_errors} of ${n}`],
    ["Leave-one-out errors", leftOutText(), "Each point is predicted by a model that was fitted without it; the kernel stays the same"],
    ...(functions.length === 1 ? [["Margin 1/‖w‖", short(margin), "Distance between the boundary and a margin line, in the feature space"]] : []),
    ...(weights ? [["f(x)", `${short(weights[0], 3)} x₁ ${signed(weights[1])} x₂ ${signed(intercepts[0])}`]] : []),
    ["Kernel", answer.kernel],
    gapNumber(answer),
  ];
}

/** The duality gap, or that there is none. */
function gapNumber({ certificate: { relative_gap: gap, converged } }) {
  const text = gap === null ? "withdrawn" : `${gap.toExponential(1)}${converged ? "" : ", not converged"}`;
  return ["Relative duality gap", text, "No model is better by more than this fraction of the objective"];
}

const signed = (v) => `${v < 0 ? "−" : "+"} ${short(Math.abs(v), 3)}`;

function leftOutText() {
  const found = playground.leftOut;
  if (!found) return "…";
  if (found.tooSlow) return "a fit takes too long";
  if (!found.complete) return `${found.misclassified.size} of ${found.next} so far`;
  const unknown = found.undecided.length ? `, ${found.undecided.length} undecided` : "";
  const percent = ((100 * found.misclassified.size) / found.n).toFixed(1);
  return `${found.misclassified.size} of ${found.n} (${percent} %)${unknown}`;
}

function tubeNumbers(answer) {
  const n = playground.points.length;
  return [
    ["Support vectors", `${answer.n_support} of ${n}`, "Points with β ≠ 0: on the edge of the tube or outside"],
    ["Outside of the tube", `${answer.n_outside} of ${n}`],
    ["Mean absolute error", short(answer.mean_absolute_error)],
    ["Kernel", answer.kernel],
    gapNumber(answer),
  ];
}

function NotSeparable({ answer: { reason, message, witness } }) {
  const title = { not_separable: "Not separable", undecided: "Undecided", stopped: "Stopped" }[reason];
  return html`<section class="card finding" role="status"><h2>${title}</h2>
    ${witness &&
    html`<p>A hard margin does not exist. The witness: two convex combinations, one of each class, ${witness.in_plane
        ? "meet in the red dot, so no line has the classes on different sides"
        : "coincide in the feature space of the kernel, so no hyperplane there separates the classes"}
        ${" "}(distance ${witness.distance.toExponential(1)}).</p>
      ${witness.combinations.map(
        ({ class: c, points, coefficients }) => html`<p class="combination"><span class=${`class-name class-${c}`}>${className(c)}</span>
          ${" "}${points.slice(0, 4).map((i, k) => html`${k > 0 && " + "}${coefficients[k].toFixed(3)} × point ${i + 1}`)}
          ${points.length > 4 && ` + ${points.length - 4} more`}</p>`,
      )}`}
    <details><summary>The library says</summary><p>${message}</p></details>
  </section>`;
}

function Certificate() {
  playground.tick.value;
  const { answer, refit } = playground;
  const certificate = answer?.certificate;
  if (!certificate) return null;
  const kind = certificate.converged ? "good" : "warn";
  return html`<section class=${`card pg-certificate ${kind}`} aria-label="Certificate">
    <h2>Certificate</h2>
    ${certificate.sentences.map((sentence) => html`<p>${sentence}</p>`)}
    <p class="muted small">${certificate.text}</p>
    <p class="muted small">Fitted in ${(1000 * certificate.seconds).toFixed(1)} ms; the answer took
      ${" "}${refit.stats.milliseconds.toFixed(0)} ms on a grid of ${refit.stats.columns} columns.</p>
  </section>`;
}
