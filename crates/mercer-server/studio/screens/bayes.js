// Screen 7: the Bayes playground. Gaussian classes in the plane, Bayes' theorem for a bag of candies, and a joint table.

import { html } from "../lib/html.js";
import { CodePanel } from "../lib/code_panel.js";
import { contours } from "../lib/contour.js";
import { drawCurves, drawField, inUnits, rgb } from "../lib/drawing.js";
import { Choice, Keys, PlaneView, Playground, PointTable, Presets, Slider } from "../lib/playground.js";
import { snippets } from "../lib/point_code.js";
import { GAUSSIANS, className } from "../lib/points.js";
import { Candy } from "../lib/candy.js";
import { JointTable } from "../lib/joint_table.js";

export const title = "Bayes";

const MODELS = [
  ["gaussian-nb", "Gaussian naive Bayes"],
  ["lda", "linear discriminant analysis"],
  ["qda", "quadratic discriminant analysis"],
  ["rda", "regularized discriminant analysis"],
];
const NAMES = Object.fromEntries(MODELS);

const playground = new Playground({
  screen: "bayes",
  label: "Points of Gaussian classes. N and P select points, arrows move them, Enter adds one.",
  initial: {
    preset: "correlated",
    parameters: {
      model: "qda", shrinkage: 0, regParam: 0, strategy: "diagonal", rdaParam: 0.3, alpha: 0.5, gamma: 0.1, smoothing: 0,
      // Weights of the classes A to E; 0 as the first takes the frequencies of the points.
      priors: "points", priorA: 1, priorB: 1, priorC: 1, priorD: 1, priorE: 1,
    },
  },
  sets: () => GAUSSIANS,
  request,
  onAnswer,
  drawBack,
  look,
});

// Messages

function estimatorParameters({ parameters: p }) {
  switch (p.model) {
    case "gaussian-nb": return p.smoothing > 0 ? { var_smoothing: p.smoothing } : {};
    case "lda": return p.shrinkage > 0 ? { shrinkage: p.shrinkage } : {};
    case "qda": return p.regParam > 0 ? { reg_param: p.regParam } : {};
    default:
      if (p.strategy === "friedman") return { strategy: "friedman", alpha: p.alpha, gamma: p.gamma };
      return { strategy: p.strategy, reg_param: p.rdaParam };
  }
}

const observed = (points) => [...new Set(points.map(({ c }) => c))].sort();

/** The weights of the priors of the observed classes, or `null` for those of the points. */
function priors({ parameters: p, points }) {
  if (p.priors === "points") return null;
  return observed(points).map((c) => p[`prior${className(c)}`]);
}

function messageOf(playground, grid) {
  const { points, parameters } = playground;
  const weights = priors(playground);
  return {
    points: points.map(({ x, y }) => [x, y]),
    classes: points.map(({ c }) => c),
    model: parameters.model,
    parameters: estimatorParameters(playground),
    ...(weights && { priors: weights }),
    grid,
  };
}

function request(playground, columns) {
  const n = observed(playground.points).length;
  const grid = playground.grid(n > 3 ? Math.min(columns, 140) : columns);
  playground.asked = grid;
  return ["bayes", messageOf(playground, grid)];
}

function onAnswer(playground, answer, still) {
  const grid = (playground.grid0 = playground.asked);
  // The boundary of a class: where it is as probable as the most probable of the others.
  playground.boundaries = answer.posterior.map((values, c) => {
    const others = answer.posterior.filter((_, k) => k !== c);
    const lead = values.map((p, k) => p - Math.max(...others.map((other) => other[k])));
    return inUnits(contours(lead, grid.columns, grid.rows, 0), grid);
  });
  if (answer.posterior.length === 2) playground.boundaries.pop();
  if (still) playground.snippets = codeOf(playground, answer);
}

function codeOf(playground, answer) {
  const grid = { x: [-4, 4], y: [-3, 3], columns: 9, rows: 7 };
  const parameters = estimatorParameters(playground);
  if (playground.parameters.priors !== "points") parameters.priors = answer.priors;
  return snippets(playground.parameters.model, parameters, playground.points, messageOf(playground, grid));
}

// Drawing

function drawBack(context, plane, { answer, grid0, boundaries }) {
  drawPosterior(context, plane, answer, grid0);
  context.strokeStyle = plane.colors.text;
  context.lineWidth = 2.4;
  boundaries.forEach((curves) => drawCurves(context, plane, curves));
  answer.gaussians.forEach((gaussian) => drawGaussian(context, plane, gaussian));
}

/** Every color is the mean of the class colors, weighted by the posterior. */
function drawPosterior(context, plane, { posterior, classes }, grid) {
  const colors = classes.map((c) => rgb(plane.colors.classes[c]));
  drawField(context, plane, grid, (k) => {
    const mixed = [0, 1, 2].map((part) => colors.reduce((sum, color, c) => sum + posterior[c][k] * color[part], 0));
    const certain = Math.max(...posterior.map((values) => values[k]));
    return [...mixed, 18 + 66 * certain ** 2];
  });
}

/** The ellipses at one and two standard deviations. */
function drawGaussian(context, plane, { class: c, mean, ellipse }) {
  context.strokeStyle = plane.colors.classes[c];
  for (const [distance, width, dash] of [[1, 2.2, []], [2, 1.4, [6, 5]]]) {
    context.lineWidth = width;
    context.setLineDash(dash);
    drawCurves(context, plane, [ellipse.map(([x, y]) => [mean[0] + distance * (x - mean[0]), mean[1] + distance * (y - mean[1])])]);
  }
  context.setLineDash([]);
  const [px, py] = plane.toPixels(...mean);
  context.lineWidth = 2.5;
  context.strokeStyle = plane.colors.text;
  context.beginPath();
  context.moveTo(px - 6, py);
  context.lineTo(px + 6, py);
  context.moveTo(px, py - 6);
  context.lineTo(px, py + 6);
  context.stroke();
}

function look(index, { answer, points }) {
  const predicted = answer?.predicted?.[index];
  const wrong = predicted !== undefined && predicted !== points[index].c;
  return { radius: 4.5, mark: wrong ? "wrong" : "" };
}

// The page

export default function BayesPlayground({ rest }) {
  playground.tick.value;
  return html`<h1 id="heading" tabindex="-1">Bayes playground</h1>
    <p class="muted lead">Each class is a Gaussian; Bayes' theorem turns densities and priors into the posterior, drawn as color.</p>
    <${Presets} playground=${playground} />
    <div class="playground">
      <${PlaneView} playground=${playground} rest=${rest} />
      <div class="playground-side"><${Parameters} /><${Findings} /></div>
    </div>
    <${Sigmoid} />
    <${CodePanel} snippets=${playground.snippets} />
    <${Candy} />
    <${JointTable} />
    <${PointTable} playground=${playground} />
    <${Keys} />`;
}

function Parameters() {
  playground.tick.value;
  const p = playground.parameters;
  const set = (name) => (value) => playground.setParameters({ [name]: value });
  return html`<section class="card pg-controls" aria-label="Parameters">
    <${Choice} label="Model" value=${p.model} onChange=${set("model")} options=${MODELS} />
    ${p.model === "gaussian-nb" &&
    html`<${Slider} label="smoothing" value=${p.smoothing} min=${0} max=${1} step=${0.01} onChange=${set("smoothing")}
      title="Fraction of the largest variance that is added to all variances" />`}
    ${p.model === "lda" &&
    html`<${Slider} label="shrinkage" value=${p.shrinkage} min=${0} max=${1} step=${0.01} onChange=${set("shrinkage")}
      title="Weight of a multiple of the identity in the covariance" />`}
    ${p.model === "qda" &&
    html`<${Slider} label="reg_param" value=${p.regParam} min=${0} max=${1} step=${0.01} onChange=${set("regParam")}
      title="Weight of the identity in each covariance" />`}
    ${p.model === "rda" && html`<${Regularization} p=${p} set=${set} />`}
    <${Choice} label="Priors" value=${p.priors} onChange=${set("priors")}
      options=${[["points", "frequencies of the points"], ["weights", "by sliders"]]} />
    ${p.priors !== "points" &&
    observed(playground.points).map((c) => {
      const name = `prior${className(c)}`;
      return html`<${Slider} label=${`prior of ${className(c)}`} value=${p[name]} min=${0.01} max=${100} log onChange=${set(name)}
        title="Weight of the class; the weights are divided by their sum" />`;
    })}
  </section>`;
}

function Regularization({ p, set }) {
  return html`<${Choice} label="Strategy" value=${p.strategy} onChange=${set("strategy")}
      options=${[["diagonal", "towards the diagonal"], ["identity", "towards the identity"], ["friedman", "Friedman's"]]} />
    ${p.strategy === "friedman"
      ? html`<${Slider} label="alpha" value=${p.alpha} min=${0} max=${1} step=${0.01} onChange=${set("alpha")}
            title="Weight of the pooled covariance: 0 is quadratic, 1 linear discriminant analysis" />
          <${Slider} label="gamma" value=${p.gamma} min=${0} max=${1} step=${0.01} onChange=${set("gamma")}
            title="Weight of a multiple of the identity" />`
      : html`<${Slider} label="λ" value=${p.rdaParam} min=${0} max=${1} step=${0.01} onChange=${set("rdaParam")}
          title="Shrinkage intensity; 1 towards the diagonal is Gaussian naive Bayes" />`}`;
}

const three = (v) => Number(v.toPrecision(3)).toString();

function Findings() {
  playground.tick.value;
  const { answer, error, points } = playground;
  if (error) return html`<section class="card finding" role="alert"><h2>No model</h2><p>${error}</p></section>`;
  if (!answer) return html`<section class="card"><p class="muted">…</p></section>`;
  return html`<section class="card" aria-label="Fitted model">
    <dl class="numbers">
      <div><dt>Training errors</dt><dd data-number="Training errors">${answer.training_errors} of ${points.length}</dd></div>
    </dl>
    <table class="gaussians"><caption class="visually-hidden">Gaussians of the classes</caption>
      <thead><tr><th scope="col">class</th><th scope="col">prior</th><th scope="col">mean μ</th><th scope="col">covariance Σ</th></tr></thead>
      <tbody>${answer.gaussians.map(
        ({ class: c, mean, covariance: [[a, b], [, d]] }, k) => html`<tr><th scope="row"><span class=${`class-name class-${c}`}>${className(c)}</span></th>
          <td data-number=${`prior ${className(c)}`}>${three(answer.priors[k])}</td><td>${three(mean[0])}, ${three(mean[1])}</td>
          <td>${three(a)} ${three(b)}<br />${three(b)} ${three(d)}</td></tr>`,
      )}</tbody></table>
    <p class="pg-legend">Cross: mean. Ellipses: one and two standard deviations. Color: posterior. Red cross: misclassified.
      ${" "}${answer.certificate.sentences[0]}</p>
  </section>`;
}

const WIDTH = 720;
const HEIGHT = 230;

/** The posterior along Fisher's direction: the model, LDA and logistic regression. */
function Sigmoid() {
  playground.tick.value;
  const sigmoid = playground.answer?.sigmoid;
  if (!sigmoid) return null;
  const { points, answer, parameters } = playground;
  const [left, right, top, bottom] = [44, 10, 12, 34];
  const px = (t) => left + ((t / sigmoid.reach + 1) / 2) * (WIDTH - left - right);
  const py = (p) => top + (1 - p) * (HEIGHT - top - bottom);
  const path = (curve) =>
    curve.map((p, k) => `${k ? "L" : "M"}${px(sigmoid.reach * ((2 * k) / (curve.length - 1) - 1)).toFixed(1)} ${py(p).toFixed(1)}`).join("");
  const [first, second] = answer.classes.map(className);
  const own = parameters.model !== "lda";
  const vector = (w) => `(${w.map(three).join(", ")})`;
  return html`<section class="card sigmoid" aria-label="Posterior along Fisher's direction">
    <h2>The sigmoid: a generative and a discriminative model</h2>
    <p>Along Fisher's direction, P(${second} | x) of linear discriminant analysis is the logistic sigmoid σ(w·x + b). Logistic regression
      ${" "}fits w and b directly: w = ${vector(sigmoid.lda_weights)} of LDA against ${vector(sigmoid.logistic_weights)}.</p>
    <svg viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label="Posterior probability against the position along Fisher's direction">
      ${[0, 0.5, 1].map((p) => html`<line class="pg-grid" x1=${left} x2=${WIDTH - right} y1=${py(p)} y2=${py(p)} />
        <text x=${left - 6} y=${py(p) + 4} text-anchor="end">${p}</text>`)}
      <text x=${(left + WIDTH) / 2} y=${HEIGHT - 4} text-anchor="middle">position along w</text>
      ${sigmoid.projections.map((t, i) => points[i] && html`<circle class=${`dot class-${points[i].c}`} r="3.2" cx=${px(t)}
        cy=${points[i].c === answer.classes[1] ? py(1) - 4 : py(0) + 4} />`)}
      <path class="curve lda" d=${path(sigmoid.lda)} />
      <path class="curve logistic" d=${path(sigmoid.logistic)} />
      ${own && html`<path class="curve own" d=${path(sigmoid.model)} />`}
    </svg>
    <p class="pg-legend"><span class="key lda"></span>LDA <span class="key logistic"></span>logistic regression
      ${own && html` <span class="key own"></span>${NAMES[parameters.model]}, along the same line`}.
      Points of ${first} lie at 0, of ${second} at 1.</p>
  </section>`;
}
