// Charts in SVG, made by hand: histograms by group, curves, points.

import { html } from "./html.js";
import { color, count, short } from "./parts.js";

/** Bars by bin or level, stacked by group. */
export function Histogram({ histogram, groups, width = 220, height = 56, label }) {
  if (!histogram) return html`<span class="muted">–</span>`;
  const { counts } = histogram;
  const n = counts[0].length;
  const totals = Array.from({ length: n }, (_, b) => counts.reduce((sum, group) => sum + group[b], 0));
  const top = Math.max(...totals, 1);
  const step = width / n;
  const name = (b) => histogram.levels ? histogram.levels[b] : `${histogram.edges[b]} to ${histogram.edges[b + 1]}`;
  const bars = [];
  for (let b = 0; b < n; b += 1) {
    let y = height;
    const parts = counts.map((group, g) => {
      const h = (group[b] / top) * height;
      y -= h;
      return html`<rect x=${b * step + 0.5} y=${y} width=${Math.max(step - 1, 0.5)} height=${h} style=${{ fill: color(g) }} />`;
    });
    const detail = counts.length > 1 ? counts.map((group, g) => `${groups[g]}: ${count(group[b])}`).join("\n") : count(totals[b]);
    bars.push(html`<g>${parts}<rect x=${b * step} y="0" width=${step} height=${height} fill="transparent"><title>${name(b)}
${detail}</title></rect></g>`);
  }
  return html`<svg class="chart" width=${width} height=${height} viewBox=${`0 0 ${width} ${height}`} role="img"
    aria-label=${label || "distribution"}>${bars}<line x1="0" x2=${width} y1=${height} y2=${height} class="axis" /></svg>`;
}

/** Two distributions over each other, each as fractions of its group. */
export function Overlay({ histogram, groups, width = 260, height = 70, label }) {
  if (!histogram) return null;
  const n = histogram.counts[0].length;
  const fractions = histogram.counts.map((group) => {
    const total = group.reduce((sum, x) => sum + x, 0) || 1;
    return group.map((x) => x / total);
  });
  const top = Math.max(...fractions.flat(), 1e-9);
  const step = width / n;
  const name = (b) => histogram.levels ? histogram.levels[b] : `${histogram.edges[b]} to ${histogram.edges[b + 1]}`;
  return html`<svg class="chart" width=${width} height=${height} viewBox=${`0 0 ${width} ${height}`} role="img" aria-label=${label}>
    ${Array.from({ length: n }, (_, b) => html`<g>
      ${fractions.map((group, g) => {
        const h = (group[b] / top) * (height - 2);
        const w = step / 2 - 1;
        return html`<rect x=${b * step + g * (step / 2) + 0.5} y=${height - h} width=${Math.max(w, 0.5)} height=${h}
          style=${{ fill: color(g === 0 ? 1 : 0) }} />`;
      })}
      <rect x=${b * step} y="0" width=${step} height=${height} fill="transparent"><title>${name(b)}
${fractions.map((group, g) => `${groups[g]}: ${(100 * group[b]).toFixed(0)} %`).join("\n")}</title></rect></g>`)}
    <line x1="0" x2=${width} y1=${height} y2=${height} class="axis" /></svg>`;
}

const PAD = { left: 46, right: 10, top: 8, bottom: 30 };

/** Axes with ticks around a plot of lines and points. `lines`: `{points, color, dashed, name}`. */
export function Plot({ lines = [], points = [], xs, ys, width = 330, height = 250, xLabel, yLabel, logY = false, label, diagonal = false, hline }) {
  const w = width - PAD.left - PAD.right;
  const h = height - PAD.top - PAD.bottom;
  const ly = logY ? Math.log10 : (v) => v;
  const [x0, x1] = xs[0] === xs[1] ? [xs[0] - 1, xs[1] + 1] : xs;
  const [a, b] = [ly(ys[0]), ly(ys[1])];
  const [y0, y1] = a === b ? [a - 1, b + 1] : [a, b];
  const px = (x) => PAD.left + ((x - x0) / (x1 - x0)) * w;
  const py = (y) => PAD.top + h - ((ly(y) - y0) / (y1 - y0)) * h;
  const path = (list) => list.map(([x, y], k) => `${k ? "L" : "M"}${px(x).toFixed(1)},${py(y).toFixed(1)}`).join("");
  const yTicks = logY
    ? range(Math.ceil(y0), Math.floor(y1), Math.max(1, Math.round((y1 - y0) / 5))).map((e) => 10 ** e)
    : ticks(y0, y1);
  return html`<svg class="chart plot" width=${width} height=${height} viewBox=${`0 0 ${width} ${height}`} role="img" aria-label=${label}>
    ${ticks(x0, x1).map((x) => html`<g><line x1=${px(x)} x2=${px(x)} y1=${PAD.top} y2=${PAD.top + h} class="grid" />
      <text x=${px(x)} y=${height - 16} text-anchor="middle">${tick(x)}</text></g>`)}
    ${yTicks.map((y) => html`<g><line x1=${PAD.left} x2=${PAD.left + w} y1=${py(y)} y2=${py(y)} class="grid" />
      <text x=${PAD.left - 5} y=${py(y) + 4} text-anchor="end">${logY ? y.toExponential(0) : tick(y)}</text></g>`)}
    ${xLabel && html`<text x=${PAD.left + w / 2} y=${height - 3} text-anchor="middle">${xLabel}</text>`}
    ${yLabel && html`<text transform=${`translate(11,${PAD.top + h / 2}) rotate(-90)`} text-anchor="middle">${yLabel}</text>`}
    ${diagonal && html`<line x1=${px(Math.max(x0, y0))} y1=${py(Math.max(x0, y0))} x2=${px(Math.min(x1, y1))} y2=${py(Math.min(x1, y1))} class="reference" />`}
    ${hline && html`<g><line x1=${PAD.left} x2=${PAD.left + w} y1=${py(hline.y)} y2=${py(hline.y)} class="reference" />
      <text x=${PAD.left + w} y=${py(hline.y) - 4} text-anchor="end">${hline.name}</text></g>`}
    ${points.map(({ x, y, r = 2.2, fill, title }) => html`<circle cx=${px(x)} cy=${py(y)} r=${r} style=${{ fill: fill || color(0) }} class="point">
      ${title && html`<title>${title}</title>`}</circle>`)}
    ${lines.map((line) => html`<path d=${path(line.points)} class=${line.dashed ? "line dashed" : "line"} style=${{ stroke: line.color }}>
      ${line.name && html`<title>${line.name}</title>`}</path>`)}
  </svg>`;
}

/** A small curve without axes, with a mark at a position. */
export function Sparkline({ points, at, width = 180, height = 34, ys }) {
  if (!points || points.length < 2) return null;
  const x0 = points[0][0];
  const x1 = points[points.length - 1][0];
  const values = points.map((p) => p[1]);
  const [y0, y1] = ys || [Math.min(...values), Math.max(...values)];
  const px = (x) => ((x - x0) / (x1 - x0 || 1)) * width;
  const py = (y) => height - 2 - ((y - y0) / (y1 - y0 || 1)) * (height - 4);
  const d = points.map(([x, y], k) => `${k ? "L" : "M"}${px(x).toFixed(1)},${py(y).toFixed(1)}`).join("");
  return html`<svg class="chart spark" viewBox=${`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
    <path d=${d} class="line" vector-effect="non-scaling-stroke" style=${{ stroke: color(0) }} />
    ${Number.isFinite(at) && html`<line x1=${px(at)} x2=${px(at)} y1="0" y2=${height} class="mark" vector-effect="non-scaling-stroke" />`}</svg>`;
}

function range(from, to, step) {
  const all = [];
  for (let x = from; x <= to; x += step) all.push(x);
  return all;
}

/** Round numbers between two bounds. */
export function ticks(low, high, n = 5) {
  const rough = (high - low) / n;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough) || rough;
  const first = Math.ceil(low / step - 1e-9);
  return range(first, Math.floor(high / step + 1e-9), 1).map((k) => k * step);
}

function tick(x) {
  return Math.abs(x) < 1e-12 ? "0" : short(x);
}
