// Points in the plane: ready-made sets, links, tables, and what was before.

/** Coordinates are multiples of this, so that a link and a table hold them exactly. */
const STEP = 1000;
export const MAX_POINTS = 2000;
export const MAX_CLASSES = 5;

export const snap = (v) => Math.round(v * STEP) / STEP;
export const point = (x, y, c = 0) => ({ x: snap(x), y: snap(y), c });
export const className = (c) => "ABCDEFGH"[c];

/** Random numbers that are the same on every run (mulberry32). */
function random(seed) {
  let state = seed;
  const uniform = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  return { uniform, normal };
}

function cloud(draw, n, [x, y], [sx, sy], c) {
  return Array.from({ length: n }, () => point(x + sx * draw.normal(), y + sy * draw.normal(), c));
}

/** The ready-made sets: points by name, with the parameters that suit them. */
export const CLASSIFICATION = {
  separable: {
    title: "Separable",
    parameters: { kernel: "linear", C: 10 },
    points: (r) => [...cloud(r, 20, [-1.7, -0.6], [0.5, 0.7], 0), ...cloud(r, 20, [1.6, 0.7], [0.5, 0.7], 1)],
  },
  overlapping: {
    title: "Overlapping",
    parameters: { kernel: "linear", C: 1 },
    points: (r) => [...cloud(r, 30, [-0.8, -0.4], [0.9, 0.9], 0), ...cloud(r, 30, [0.9, 0.5], [0.9, 0.9], 1)],
  },
  outlier: {
    title: "Outlier",
    parameters: { kernel: "linear", C: 1 },
    points: (r) => [
      ...cloud(r, 20, [-1.7, -0.4], [0.5, 0.6], 0), ...cloud(r, 20, [1.6, 0.5], [0.5, 0.6], 1), point(-0.9, 0.9, 1),
    ],
  },
  xor: {
    title: "XOR",
    parameters: { kernel: "rbf", gammaRule: "number", gamma: 0.5, C: 10 },
    points: (r) =>
      [[-1.4, -1.2, 0], [1.4, 1.2, 0], [-1.4, 1.2, 1], [1.4, -1.2, 1]].flatMap(([x, y, c]) =>
        cloud(r, 14, [x, y], [0.45, 0.4], c),
      ),
  },
  circles: {
    title: "Circles",
    parameters: { kernel: "poly", degree: 2, gammaRule: "number", gamma: 1, coef0: 1, C: 10 },
    points: (r) =>
      Array.from({ length: 72 }, (_, i) => {
        const [angle, radius] = [2 * Math.PI * r.uniform(), (i % 2 ? 2.2 : 0.9) + 0.22 * r.normal()];
        return point(radius * Math.cos(angle), radius * Math.sin(angle), i % 2);
      }),
  },
  moons: {
    title: "Moons",
    parameters: { kernel: "rbf", gammaRule: "number", gamma: 0.6, C: 10 },
    points: (r) =>
      Array.from({ length: 80 }, (_, i) => {
        const angle = Math.PI * r.uniform();
        const [x, y] = i % 2 ? [1 - Math.cos(angle), 0.5 - Math.sin(angle)] : [Math.cos(angle), Math.sin(angle)];
        return point(1.7 * (x - 0.5) + 0.2 * r.normal(), 1.7 * (y - 0.25) + 0.2 * r.normal(), i % 2);
      }),
  },
  spiral: {
    title: "Spiral",
    parameters: { kernel: "rbf", gammaRule: "number", gamma: 2, C: 100 },
    points: (r) =>
      Array.from({ length: 120 }, (_, i) => {
        const t = 0.35 + (Math.floor(i / 2) / 60) * 3;
        const angle = 1.6 * t + Math.PI * (i % 2);
        const radius = 0.78 * t;
        return point(radius * Math.cos(angle) + 0.05 * r.normal(), radius * Math.sin(angle) + 0.05 * r.normal(), i % 2);
      }),
  },
  classes: {
    title: "Three classes",
    parameters: { kernel: "linear", C: 1 },
    points: (r) => [
      ...cloud(r, 22, [-1.7, -0.9], [0.6, 0.5], 0), ...cloud(r, 22, [1.7, -0.7], [0.6, 0.5], 1),
      ...cloud(r, 22, [0.1, 1.5], [0.6, 0.5], 2),
    ],
  },
};

export const REGRESSION = {
  sine: {
    title: "Sine",
    parameters: { kernel: "rbf", gammaRule: "number", gamma: 0.5, C: 10, epsilon: 0.3 },
    points: (r) =>
      Array.from({ length: 45 }, (_, i) => {
        const x = -3.6 + (7.2 * (i + 0.5 * r.uniform())) / 45;
        return point(x, 1.5 * Math.sin(1.5 * x) + 0.3 * r.normal());
      }),
  },
  line: {
    title: "Line with outliers",
    parameters: { kernel: "linear", C: 1, epsilon: 0.3 },
    points: (r) => [
      ...Array.from({ length: 30 }, (_, i) => {
        const x = -3.5 + (7 * i) / 29;
        return point(x, 0.5 * x + 0.2 * r.normal());
      }),
      point(2.2, -2.2), point(2.9, -1.9),
    ],
  },
  step: {
    title: "Step",
    parameters: { kernel: "rbf", gammaRule: "number", gamma: 2, C: 10, epsilon: 0.15 },
    points: (r) =>
      Array.from({ length: 44 }, (_, i) => {
        const x = -3.5 + (7 * i) / 43;
        return point(x, (x < 0 ? -1 : 1) + 0.12 * r.normal());
      }),
  },
};

/** A cloud of correlated coordinates. */
function tilted(draw, n, [x, y], [sx, sy], correlation, c) {
  return Array.from({ length: n }, () => {
    const [u, v] = [draw.normal(), draw.normal()];
    return point(x + sx * u, y + sy * (correlation * u + Math.sqrt(1 - correlation ** 2) * v), c);
  });
}

export const GAUSSIANS = {
  correlated: {
    title: "Two covariances",
    parameters: { model: "qda" },
    points: (r) => [...tilted(r, 40, [-1, -0.4], [1, 0.9], 0.75, 0), ...tilted(r, 40, [1.2, 0.6], [0.7, 0.8], -0.5, 1)],
  },
  shared: {
    title: "One covariance",
    parameters: { model: "lda" },
    points: (r) => [...tilted(r, 40, [-0.9, 0.5], [0.9, 0.8], 0.7, 0), ...tilted(r, 40, [0.9, -0.5], [0.9, 0.8], 0.7, 1)],
  },
  nested: {
    title: "One inside the other",
    parameters: { model: "qda" },
    points: (r) => [...cloud(r, 50, [0, 0], [0.45, 0.4], 0), ...cloud(r, 50, [0.2, 0], [1.7, 1.3], 1)],
  },
  independent: {
    title: "Independent columns",
    parameters: { model: "gaussian-nb" },
    points: (r) => [...cloud(r, 40, [-1.1, 0.2], [0.9, 0.4], 0), ...cloud(r, 40, [1, 0], [0.5, 1.1], 1)],
  },
  rare: {
    title: "A rare class",
    parameters: { model: "lda" },
    points: (r) => [...cloud(r, 70, [-0.7, 0], [0.9, 0.9], 0), ...cloud(r, 9, [1.2, 0.5], [0.6, 0.6], 1)],
  },
  three: {
    title: "Three classes",
    parameters: { model: "qda" },
    points: (r) => [
      ...tilted(r, 30, [-1.6, -0.8], [0.7, 0.6], 0.6, 0), ...tilted(r, 30, [1.6, -0.7], [0.6, 0.7], -0.6, 1),
      ...tilted(r, 30, [0.1, 1.3], [1, 0.45], 0, 2),
    ],
  },
  few: {
    title: "Few points",
    parameters: { model: "rda" },
    points: (r) => [...tilted(r, 4, [-1, 0], [0.9, 0.7], 0.8, 0), ...tilted(r, 4, [1.1, 0.3], [0.8, 0.8], 0.5, 1)],
  },
};

/** The points of a ready-made set. */
export function preset(sets, name) {
  const set = sets[name];
  return { points: set.points(random(20250521)), parameters: set.parameters };
}

/** A part of a link: fields `name=value` joined by `&`, points last. */
export function encode(fields, points) {
  let last = 0;
  const all = points.map(({ x, y, c }) => {
    const own = c === last ? "" : `,${(last = c)}`;
    return `${Math.round(x * STEP)},${Math.round(y * STEP)}${own}`;
  });
  const parts = Object.entries(fields).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return [...parts, `p=${all.join("~")}`].join("&");
}

/** The fields and points of a part of a link, or `null` if it is none. */
export function decode(text) {
  const fields = Object.fromEntries(
    text.split("&").map((part) => {
      const at = part.indexOf("=");
      return [part.slice(0, at), part.slice(at + 1)];
    }),
  );
  if (fields.p === undefined) return null;
  let last = 0;
  const points = [];
  for (const part of fields.p.split("~").filter(Boolean).slice(0, MAX_POINTS)) {
    const [x, y, c] = part.split(",").map(Number);
    if (c !== undefined) last = c;
    const valid = Number.isFinite(x) && Number.isFinite(y) && Number.isInteger(last) && last >= 0 && last < MAX_CLASSES;
    if (!valid) return null;
    points.push({ x: x / STEP, y: y / STEP, c: last });
  }
  delete fields.p;
  return { fields, points };
}

/** Points as a table with a header. */
export function toCsv(points, regression) {
  const lines = points.map(({ x, y, c }) => (regression ? `${x},${y}` : `${x},${y},${className(c)}`));
  return `${regression ? "x,y" : "x1,x2,class"}\n${lines.join("\n")}\n`;
}

/**
 * Points from lines of two coordinates and, for classes, a letter, a number or any other label; a header is skipped.
 *
 * @throws {Error} naming the line that is not understood.
 */
export function fromCsv(text, regression) {
  const labels = new Map();
  const points = [];
  text.split(/\r?\n/).forEach((line, i) => {
    const cells = line.trim().split(/[,;\t ]+/).filter((cell) => cell !== "");
    if (!cells.length) return;
    const [x, y] = cells.map(Number);
    if (!Number.isFinite(x) || !Number.isFinite(y)) {
      if (i === 0) return;
      throw new Error(`Line ${i + 1}: found “${line.trim()}”, expected two numbers${regression ? "" : " and a class"}.`);
    }
    const label = cells[2] ?? "A";
    if (!regression && !labels.has(label)) labels.set(label, /^[A-E]$/.test(label) ? label.charCodeAt(0) - 65 : labels.size);
    const c = regression ? 0 : labels.get(label);
    if (c >= MAX_CLASSES) throw new Error(`Line ${i + 1}: found more than ${MAX_CLASSES} classes.`);
    points.push(point(x, y, c));
  });
  if (points.length > MAX_POINTS) throw new Error(`Found ${points.length} points, expected at most ${MAX_POINTS}.`);
  return points;
}

/** Earlier and later states of a value, for undo and redo. */
export class History {
  constructor(limit = 200) {
    this.limit = limit;
    this.clear();
  }

  clear() {
    this.before = [];
    this.after = [];
  }

  /** Remembers a state that is about to change. */
  push(state) {
    this.before.push(state);
    if (this.before.length > this.limit) this.before.shift();
    this.after = [];
  }

  undo(current) {
    if (!this.before.length) return null;
    this.after.push(current);
    return this.before.pop();
  }

  redo(current) {
    if (!this.after.length) return null;
    this.before.push(current);
    return this.after.pop();
  }
}
