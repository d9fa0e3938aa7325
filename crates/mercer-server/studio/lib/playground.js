// What playgrounds have in common: points in a plane, parameters, undo, links, and a model that follows.

import { html, signal, useEffect, useRef, useState } from "./html.js";
import { Plane } from "./plane.js";
import { History, MAX_CLASSES, className, decode, encode, fromCsv, preset, toCsv } from "./points.js";
import { Refit } from "./refit.js";

export class Playground {
  /**
   * @param {{
   *   screen: string, label: string,
   *   sets: (parameters: object) => object, initial: {preset: string, parameters: object},
   *   request: (playground: Playground, columns: number, still: boolean) => [string, object],
   *   drawBack: Function, drawFront?: Function, look: Function,
   *   onAnswer?: Function, whenStill?: Function, isRegression?: (parameters: object) => boolean,
   * }} options `sets` are the ready-made points for the current parameters.
   */
  constructor(options) {
    this.options = options;
    this.parameters = { ...options.initial.parameters };
    this.answer = null;
    this.error = "";
    this.notice = "";
    /** Counts changes, so that components are drawn again. */
    this.tick = signal(0);
    this.history = new History();
    this.preset = options.initial.preset;
    this.points = [];
    this.loadPreset(this.preset, false);
    this.history.clear();
  }

  get regression() {
    return Boolean(this.options.isRegression?.(this.parameters));
  }

  get sets() {
    return this.options.sets(this.parameters);
  }

  touch() {
    this.tick.value++;
  }

  // The page

  mount(container) {
    this.plane = new Plane(container, {
      label: this.options.label,
      onEdit: () => this.remember(),
      onChange: () => {
        this.points = this.plane.points;
        this.preset = "";
        this.changed();
      },
      onView: () => this.changed(),
      onSelect: (text) => {
        this.notice = text;
        this.touch();
      },
      drawBack: (context, plane) => this.answer && this.options.drawBack(context, plane, this),
      drawFront: (context, plane) => this.options.drawFront?.(context, plane, this),
      look: (index) => this.options.look(index, this),
    });
    this.refit = new Refit({
      request: (columns, still) => this.options.request(this, columns, still),
      onAnswer: (answer, still) => this.take(answer, still),
      onError: (error) => this.fail(error),
      whenStill: (message, isCurrent) => this.options.whenStill?.(this, message, isCurrent) ?? Promise.resolve(),
    });
    this.plane.setPoints(this.points);
    this.points = this.plane.points;
    this.changed();
  }

  unmount() {
    this.refit.stop();
    this.plane.destroy();
    this.plane = null;
  }

  /** Marks the plane, for tests and for assistive technology. */
  mark(busy) {
    this.plane.container.setAttribute("aria-busy", String(busy));
  }

  take(answer, still) {
    if (still) this.mark(false);
    this.answer = answer;
    this.error = "";
    this.options.onAnswer?.(this, answer, still);
    this.plane.invalidate();
    if (still) this.writeLink();
    this.touch();
  }

  fail(error) {
    this.mark(false);
    this.answer = null;
    this.error = error.message;
    this.plane.invalidate();
    this.writeLink();
    this.touch();
  }

  /** The grid of the visible part of the plane. */
  grid(columns) {
    const { width, height } = this.plane;
    return { ...this.plane.range(), columns, rows: Math.max(2, Math.round((columns * height) / width)) };
  }

  changed() {
    if (!this.plane?.width) return;
    this.mark(true);
    this.refit?.change();
    this.touch();
  }

  // Changes

  state() {
    return { points: this.points.map((point) => ({ ...point })), parameters: { ...this.parameters }, preset: this.preset };
  }

  restore({ points, parameters, preset }) {
    Object.assign(this, { points, parameters, preset });
    if (this.plane) {
      this.plane.setPoints(points);
      this.points = this.plane.points;
    }
    this.changed();
  }

  remember() {
    this.history.push(this.state());
  }

  undo() {
    const before = this.history.undo(this.state());
    if (before) this.restore(before);
  }

  redo() {
    const after = this.history.redo(this.state());
    if (after) this.restore(after);
  }

  /** The steps of one movement of a slider are undone together. */
  setParameters(parameters) {
    const [names, now] = [Object.keys(parameters).join(), performance.now()];
    if (names !== this.lastNames || now - this.lastTime > 700) this.remember();
    [this.lastNames, this.lastTime] = [names, now];
    this.parameters = { ...this.parameters, ...parameters };
    this.changed();
  }

  setPoints(points) {
    this.remember();
    this.restore({ points, parameters: this.parameters, preset: "" });
  }

  loadPreset(name, undoable = true) {
    if (undoable) this.remember();
    const { points, parameters } = preset(this.sets, name);
    this.restore({ points, parameters: { ...this.parameters, ...parameters }, preset: name });
  }

  reset() {
    this.remember();
    this.parameters = { ...this.options.initial.parameters };
    this.loadPreset(this.options.initial.preset, false);
    this.plane?.resetView();
  }

  // Links

  link() {
    return encode(this.parameters, this.points);
  }

  writeLink() {
    history.replaceState(null, "", `#/${this.options.screen}/${this.link()}`);
  }

  /** Takes the state of a link; returns whether it is one. Values keep the types of the initial parameters. */
  readLink(text) {
    const found = text && decode(text);
    if (!found || text === this.link()) return false;
    const known = this.options.initial.parameters;
    const parameters = { ...known };
    for (const [name, value] of Object.entries(found.fields)) {
      if (!(name in known)) continue;
      const number = Number(value);
      if (typeof known[name] === "number" && Number.isFinite(number)) parameters[name] = number;
      else if (typeof known[name] === "string") parameters[name] = value;
    }
    this.remember();
    this.restore({ points: found.points, parameters, preset: "" });
    return true;
  }
}

/** The plane of a playground with its tools. */
export function PlaneView({ playground, rest }) {
  const holder = useRef(null);
  playground.tick.value;
  useEffect(() => {
    playground.readLink(rest[0]);
    playground.mount(holder.current);
    const onKey = (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.target.matches("input, textarea, select")) return;
      const key = event.key.toLowerCase();
      if (key === "z") event.shiftKey ? playground.redo() : playground.undo();
      else if (key === "y") playground.redo();
      else return;
      event.preventDefault();
    };
    window.addEventListener("keydown", onKey);
    return () => {
      window.removeEventListener("keydown", onKey);
      playground.unmount();
    };
  }, []);
  useEffect(() => {
    if (playground.plane) playground.readLink(rest[0]);
  }, [rest[0]]);
  return html`<div class="plane-column">
    <${Toolbar} playground=${playground} />
    <div class="plane" ref=${holder}></div>
    <p role="status" class="plane-status">${playground.notice || "\u00a0"}</p>
  </div>`;
}

const TOOLS = [
  ["move", "Move", "Drag points; drag the background to move the view"],
  ["add", "Add", "Click to add a point, drag to paint many; points under the brush take its class"],
  ["delete", "Delete", "Click or drag over points to delete them; the right mouse button does so in every mode"],
];

function Toolbar({ playground }) {
  playground.tick.value;
  const { plane, history } = playground;
  const [shared, setShared] = useState("");
  const tool = plane?.tool || "move";
  const setTool = (name) => {
    plane.tool = name;
    playground.touch();
  };
  const setClass = (c) => {
    plane.paintClass = c;
    plane.tool = "add";
    playground.touch();
  };
  const share = async () => {
    playground.writeLink();
    try {
      await navigator.clipboard.writeText(location.href);
      setShared("link copied");
    } catch {
      setShared("the address bar holds the link");
    }
    setTimeout(() => setShared(""), 2500);
  };
  return html`<div class="plane-tools" role="toolbar" aria-label="Points">
    <span class="group">${TOOLS.map(
      ([name, text, title]) => html`<button type="button" title=${title} aria-pressed=${tool === name}
        onClick=${() => setTool(name)}>${text}</button>`,
    )}</span>
    ${!playground.regression &&
    html`<span class="group" role="group" aria-label="Class of new points">${Array.from(
      { length: MAX_CLASSES },
      (_, c) => html`<button type="button" class=${`class-button class-${c}`} title=${`Add points of class ${className(c)} (${c + 1})`}
        aria-pressed=${tool === "add" && plane?.paintClass === c} onClick=${() => setClass(c)}>${className(c)}</button>`,
    )}</span>`}
    <span class="group">
      <button type="button" onClick=${() => playground.undo()} disabled=${!history.before.length} title="Ctrl+Z">Undo</button>
      <button type="button" onClick=${() => playground.redo()} disabled=${!history.after.length} title="Ctrl+Y">Redo</button>
      <button type="button" onClick=${() => playground.reset()}>Reset</button>
    </span>
    <span class="group">
      <button type="button" aria-label="Zoom in" onClick=${() => plane.zoomAt(plane.middle(), 1.25)}>+</button>
      <button type="button" aria-label="Zoom out" onClick=${() => plane.zoomAt(plane.middle(), 0.8)}>−</button>
      <button type="button" onClick=${() => plane.fitView()}>Fit</button>
    </span>
    <span class="group"><button type="button" onClick=${share}>Share</button>
      <span role="status" class="shared">${shared}</span></span>
  </div>`;
}

/** The choice of ready-made points. */
export function Presets({ playground }) {
  playground.tick.value;
  return html`<div class="presets" role="group" aria-label="Ready-made points">${Object.entries(playground.sets).map(
    ([name, { title }]) => html`<button type="button" aria-pressed=${playground.preset === name}
      onClick=${() => playground.loadPreset(name)}>${title}</button>`,
  )}</div>`;
}

/** A field for a number. What is being typed stays, even if the page is drawn again meanwhile. */
export function NumberField({ label, value, onChange, ...others }) {
  const [draft, setDraft] = useState(null);
  const take = (event) => {
    setDraft(null);
    if (Number.isFinite(event.target.valueAsNumber)) onChange(event.target.valueAsNumber);
  };
  return html`<input type="number" aria-label=${label} step="any" ...${others} value=${draft ?? value}
    onInput=${(event) => setDraft(event.target.value)} onChange=${take} onBlur=${() => setDraft(null)} />`;
}

/** A number on a logarithmic or linear scale: a slider, and a field for exact values. */
export function Slider({ label, value, onChange, min, max, step = "any", log = false, title, disabled, signed = false }) {
  const to = (v) => (log ? Math.log10(v) : v);
  const from = (v) => (log ? Number((10 ** v).toPrecision(3)) : Number(v.toPrecision(6)));
  const set = (v) => Number.isFinite(v) && (signed || v >= 0) && onChange(v);
  const clamped = Math.min(to(max), Math.max(to(min), to(value)));
  return html`<div class="pg-slider" title=${title}>
    <span class="slider-name" aria-hidden="true">${label}</span>
    <input type="range" aria-label=${label} min=${to(min)} max=${to(max)} step=${log ? 0.02 : step} value=${clamped}
      disabled=${disabled} aria-valuetext=${String(value)} onInput=${(event) => set(from(event.target.valueAsNumber))} />
    <${NumberField} label=${`${label}, exact value`} value=${value} disabled=${disabled} onChange=${set} />
  </div>`;
}

export function Choice({ label, value, options, onChange, title }) {
  const id = `choice-${label.replace(/\W/g, "-")}`;
  return html`<div class="pg-choice" title=${title}><label for=${id}>${label}</label>
    <select id=${id} value=${value} onChange=${(event) => onChange(event.target.value)}>
      ${options.map(([name, text]) => html`<option value=${name} selected=${name === value}>${text}</option>`)}
    </select></div>`;
}

/** The points as text, to read and to replace. */
export function PointTable({ playground }) {
  playground.tick.value;
  const [text, setText] = useState(null);
  const [error, setError] = useState("");
  const current = () => toCsv(playground.points, playground.regression);
  const apply = () => {
    try {
      playground.setPoints(fromCsv(text, playground.regression));
      setText(null);
      setError("");
    } catch (problem) {
      setError(problem.message);
    }
  };
  const onToggle = (event) => setText(event.target.open ? current() : null);
  return html`<details class="card point-table" onToggle=${onToggle}>
    <summary>The ${playground.points.length} points as a table</summary>
    ${text !== null &&
    html`<label>One point per line; paste your own
        <textarea rows="8" spellcheck="false" value=${text} onInput=${(event) => setText(event.target.value)}></textarea></label>
      <button type="button" onClick=${apply}>Use these points</button>
      <button type="button" onClick=${() => (setError(""), setText(current()))}>Read again</button>
      ${error && html`<p role="alert" class="bad">${error}</p>`}`}
  </details>`;
}

export function Keys() {
  return html`<details class="card keys"><summary>Keyboard, mouse and touch</summary>
    <p>With the plane in focus:</p>
    <ul>
      <li><kbd>N</kbd>, <kbd>P</kbd> select the next or previous point; arrows move it (with <kbd>Shift</kbd> further);
        <kbd>1</kbd> to <kbd>5</kbd> set its class; <kbd>Delete</kbd> deletes it; <kbd>Esc</kbd> deselects.</li>
      <li>Without a selected point, arrows move a cursor and <kbd>Enter</kbd> adds a point there.</li>
      <li><kbd>Ctrl</kbd>+<kbd>Z</kbd> and <kbd>Ctrl</kbd>+<kbd>Y</kbd> undo and redo; <kbd>+</kbd>, <kbd>−</kbd> zoom,
        <kbd>0</kbd> resets the view.</li>
      <li>Mouse: drag points or the background; the wheel zooms after a click, or with <kbd>Ctrl</kbd>; the right button deletes. Touch: drag, and pinch to zoom.</li>
    </ul></details>`;
}
