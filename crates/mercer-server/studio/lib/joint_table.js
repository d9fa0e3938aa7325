// A joint table of two variables: counts to change, and the probabilities as fractions.

import { html, signal, useEffect } from "./html.js";
import { call } from "./engine.js";
import { NumberField } from "./playground.js";

const TABLES = {
  weather: {
    title: "Weather and temperature", variables: [
      { name: "temperature", values: ["hot", "cold"] }, { name: "weather", values: ["sunny", "cloudy", "rainy"] },
    ],
    counts: [150, 40, 5, 50, 60, 60],
  },
  test: {
    title: "A medical test", variables: [
      { name: "disease", values: ["ill", "healthy"] }, { name: "test", values: ["positive", "negative"] },
    ],
    counts: [9, 1, 89, 901],
  },
  dice: {
    title: "Two coins", variables: [
      { name: "first coin", values: ["heads", "tails"] }, { name: "second coin", values: ["heads", "tails"] },
    ],
    counts: [25, 25, 25, 25],
  },
};
const SHOWN = [
  ["joint", "joint: P(a, b)"],
  ["first_given_second", "conditional: P(row | column)"],
  ["second_given_first", "conditional: P(column | row)"],
];

const state = signal({ name: "weather", counts: TABLES.weather.counts, shown: "joint", answer: null, error: "" });
let version = 0;

async function update(change) {
  state.value = { ...state.value, ...change };
  const { name, counts } = state.value;
  const own = ++version;
  try {
    const answer = await call("joint_table", { variables: TABLES[name].variables, counts });
    if (own === version) state.value = { ...state.value, answer: { ...answer, name }, error: "" };
  } catch (error) {
    if (own === version) state.value = { ...state.value, answer: null, error: error.message };
  }
}

export function JointTable() {
  useEffect(() => {
    if (!state.value.answer) update({});
  }, []);
  const { name, counts, shown, answer, error } = state.value;
  const [rows, columns] = TABLES[name].variables;
  const width = columns.values.length;
  const current = answer?.name === name ? answer : null;
  const setCount = (k, value) => Number.isFinite(value) && value >= 0 && update({ counts: counts.map((v, i) => (i === k ? value : v)) });
  const probability = (k) => current?.[shown][k]?.text ?? "–";
  return html`<section class="card joint" aria-label="Joint table">
    <h2>A table of counts, and its probabilities</h2>
    <div class="joint-tools">
      <label for="joint-example">Example</label><select id="joint-example" value=${name} onChange=${(event) => update({ name: event.target.value, counts: TABLES[event.target.value].counts })}>
        ${Object.entries(TABLES).map(([key, { title }]) => html`<option value=${key} selected=${key === name}>${title}</option>`)}</select>
      <label for="joint-shown">Show</label><select id="joint-shown" value=${shown} onChange=${(event) => (state.value = { ...state.value, shown: event.target.value })}>
        ${SHOWN.map(([key, text]) => html`<option value=${key} selected=${key === shown}>${text}</option>`)}</select>
    </div>
    ${error && html`<p role="alert" class="bad">${error}</p>`}
    <div class="pg-scroll" tabindex="0" role="group" aria-label="Counts and probabilities"><table class="terms">
      <thead><tr><th scope="col">${rows.name} \\ ${columns.name}</th>${columns.values.map((value) => html`<th scope="col">${value}</th>`)}
        <th scope="col">marginal</th></tr></thead>
      <tbody>${rows.values.map(
        (value, i) => html`<tr><th scope="row">${value}</th>${columns.values.map((other, j) => {
          const k = i * width + j;
          return html`<td><${NumberField} label=${`Count of ${value}, ${other}`} min="0" value=${counts[k]} onChange=${(v) => setCount(k, v)} /><br /><span class="fraction">${probability(k)}</span></td>`;
        })}<td class="fraction">${current?.marginals[0][i].text}</td></tr>`,
      )}</tbody>
      <tfoot><tr><th scope="row">marginal</th>${columns.values.map((_, j) => html`<td class="fraction">${current?.marginals[1][j].text}</td>`)}
        <td class="fraction">${current && `${current.total} in all`}</td></tr></tfoot>
    </table></div>
    ${current && html`<p>${current.independent
      ? "The variables are independent: every joint probability is the product of its marginals"
      : `The variables are dependent (G test: p = ${current.test.p_value_g < 1e-4 ? current.test.p_value_g.toExponential(1) : current.test.p_value_g.toFixed(4)})`}.
      ${" "}The joint distribution has ${current.parameters.joint} free parameters, independent variables ${current.parameters.independent}.</p>`}
  </section>`;
}
