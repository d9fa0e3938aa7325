// Sequential updating: five kinds of bags of candies, and what each candy drawn says about the bag.

import { html, signal, useEffect } from "./html.js";
import { call } from "./engine.js";
import { NumberField } from "./playground.js";

const BAGS = ["all cherry", "75 % cherry", "half and half", "75 % lime", "all lime"];
const PRIORS = [0.1, 0.2, 0.4, 0.2, 0.1];
const LIME = [0, 0.25, 0.5, 0.75, 1];
const MAX_DRAWS = 60;

const state = signal({ weights: PRIORS, draws: [], answer: null, error: "" });
let version = 0;

async function update(change) {
  state.value = { ...state.value, ...change };
  const { weights, draws } = state.value;
  const own = ++version;
  try {
    const answer = await call("belief", message(weights, draws));
    if (own === version) state.value = { ...state.value, answer, error: "" };
  } catch (error) {
    if (own === version) state.value = { ...state.value, error: error.message };
  }
}

function message(weights, draws) {
  const sum = weights.reduce((a, b) => a + b, 0);
  return {
    hypotheses: BAGS,
    priors: weights.map((w) => w / sum),
    outcomes: [
      { name: "cherry", likelihoods: LIME.map((p) => 1 - p) },
      { name: "lime", likelihoods: LIME },
    ],
    observed: draws,
  };
}

const three = (v) => Number(v.toPrecision(3)).toString();
const percent = (v) => `${(100 * v).toFixed(1)} %`;

export function Candy() {
  useEffect(() => {
    if (!state.value.answer) update({});
  }, []);
  const { weights, draws, answer, error } = state.value;
  const last = answer?.steps.at(-1);
  const draw = (name) => draws.length < MAX_DRAWS && update({ draws: [...draws, name] });
  return html`<section class="card candy" aria-label="Candy bags">
    <h2>Sequential updating: which bag of candies is it?</h2>
    <p>There are five kinds of bags. Draw candies from an unknown one; after each, Bayes' theorem turns the posterior into the
      ${" "}prior of the next.</p>
    <div class="candy-tools">
      <button type="button" class="cherry" onClick=${() => draw("cherry")}>Draw a cherry</button>
      <button type="button" class="lime" onClick=${() => draw("lime")}>Draw a lime</button>
      <button type="button" disabled=${!draws.length} onClick=${() => update({ draws: draws.slice(0, -1) })}>Take back</button>
      <button type="button" disabled=${!draws.length && weights === PRIORS} onClick=${() => update({ draws: [], weights: PRIORS })}>Start again</button>
      <span class="drawn" role="status">${draws.length ? `${draws.length} drawn: ${draws.filter((d) => d === "lime").length} lime` : "nothing drawn yet"}</span>
    </div>
    ${error && html`<p role="alert" class="bad">${error}</p>`}
    ${last && html`<div class="candy-columns"><${Posteriors} steps=${answer.steps} />
      <${Terms} weights=${weights} answer=${answer} /></div>
      <p>The next candy is a lime with probability <strong data-number="next lime">${three(last.predictive[1])}</strong>.</p>`}
  </section>`;
}

const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT] = [460, 230, 34, 30, 10, 84];

/** The posterior of every bag after each draw. */
function Posteriors({ steps }) {
  const px = (k) => LEFT + (k / Math.max(5, steps.length - 1)) * (WIDTH - LEFT - RIGHT);
  const py = (p) => TOP + (1 - p) * (HEIGHT - TOP - BOTTOM);
  const line = (h) => steps.map(({ posterior }, k) => `${k ? "L" : "M"}${px(k).toFixed(1)} ${py(posterior[h]).toFixed(1)}`).join("");
  const ends = labelPositions(steps.at(-1).posterior.map(py));
  return html`<svg viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label="Posterior of each bag after each draw">
    ${[0, 0.5, 1].map((p) => html`<line class="pg-grid" x1=${LEFT} x2=${WIDTH - RIGHT} y1=${py(p)} y2=${py(p)} />
      <text x=${LEFT - 6} y=${py(p) + 4} text-anchor="end">${p}</text>`)}
    <text x=${(LEFT + WIDTH - RIGHT) / 2} y=${HEIGHT - 6} text-anchor="middle">candies drawn</text>
    ${BAGS.map((bag, h) => html`<path class=${`bag bag-${h}`} d=${line(h)} />
      ${steps.map(({ posterior }, k) => html`<circle class=${`bag-dot bag-${h}`} r="2.6" cx=${px(k)} cy=${py(posterior[h])} />`)}
      <text class="end" x=${px(steps.length - 1) + 7} y=${ends[h] + 4}>${bag}</text>`)}
  </svg>`;
}

/** Heights at least 13 apart, in the order of the given ones. */
function labelPositions(heights) {
  const order = heights.map((_, k) => k).sort((a, b) => heights[a] - heights[b] || a - b);
  const out = [];
  let last = -Infinity;
  for (const k of order) out[k] = last = Math.max(heights[k], last + 13);
  const excess = Math.max(0, last - (HEIGHT - BOTTOM + 4));
  return out.map((y) => y - excess);
}

/** Bayes' theorem for the last draw: prior times likelihood, divided by the evidence. */
function Terms({ weights, answer }) {
  const { last, steps } = answer;
  const setWeight = (h, value) => Number.isFinite(value) && value >= 0 && update({ weights: weights.map((w, k) => (k === h ? value : w)) });
  if (!last) {
    return html`<table class="terms"><caption>Prior of each bag; change the weights to change it</caption>
      <thead><tr><th scope="col">bag</th><th scope="col">weight</th><th scope="col">prior</th></tr></thead>
      <tbody>${BAGS.map((bag, h) => html`<tr><th scope="row">${bag}</th>
        <td><${NumberField} label=${`Weight of ${bag}`} min="0" value=${weights[h]} onChange=${(value) => setWeight(h, value)} /></td>
        <td>${percent(steps[0].posterior[h])}</td></tr>`)}</tbody></table>`;
  }
  return html`<table class="terms"><caption>Bayes' theorem for draw ${steps.length - 1}, a ${steps.at(-1).observation}</caption>
    <thead><tr><th scope="col">bag</th><th scope="col">prior</th><th scope="col">× likelihood</th><th scope="col">= joint</th>
      <th scope="col">÷ evidence = posterior</th></tr></thead>
    <tbody>${last.hypotheses.map(
      ({ name, prior, likelihood, joint, posterior }) => html`<tr><th scope="row">${name}</th><td>${three(prior)}</td><td>${three(likelihood)}</td>
        <td>${three(joint)}</td><td><strong>${three(posterior)}</strong></td></tr>`,
    )}</tbody>
    <tfoot><tr><th scope="row">sum</th><td>1</td><td></td><td data-number="evidence">${three(last.evidence)}</td><td>1</td></tr></tfoot></table>`;
}
