// A plane of points on two canvases: what lies behind the points is drawn when it changes, the points at every frame in
// which one moves. Points are dragged, added, painted and deleted with mouse, touch and keyboard.

import { SHAPES, niceStep, tick } from "./drawing.js";
import { MAX_POINTS, className, snap } from "./points.js";

/** Units that are visible at zoom 1. */
const WIDTH = 8;
const HEIGHT = 6;
const ZOOM = { least: 0.05, most: 20 };
/** Pixels within which a point is hit, and between painted points. */
const HIT = 12;
const HIT_TOUCH = 24;
const PAINT = 22;
const MAX_COORDINATE = 1000;

export class Plane {
  /**
   * @param {HTMLElement} container A positioned element; the plane fills it.
   * @param {{
   *   label: string,
   *   onEdit: () => void, onChange: () => void, onView: () => void, onSelect: (text: string) => void,
   *   drawBack: (context: CanvasRenderingContext2D, plane: Plane) => void,
   *   drawFront?: (context: CanvasRenderingContext2D, plane: Plane) => void,
   *   look: (index: number) => {radius?: number, ring?: string, mark?: string},
   * }} handlers `onEdit` comes before a change, so that it can be undone; `onChange` after each step of it.
   */
  constructor(container, handlers) {
    Object.assign(this, handlers);
    this.points = [];
    this.tool = "move";
    this.paintClass = 0;
    this.selected = -1;
    this.cursor = null;
    this.view = { x: 0, y: 0, zoom: 1 };
    this.container = container;
    this.back = container.appendChild(document.createElement("canvas"));
    this.front = container.appendChild(document.createElement("canvas"));
    this.back.setAttribute("aria-hidden", "true");
    this.front.tabIndex = 0;
    this.front.setAttribute("role", "application");
    this.front.setAttribute("aria-label", this.label);
    this.pointers = new Map();
    this.stale = { back: true, front: true };
    this.readColors();
    this.listen();
    this.resize();
  }

  // Events

  listen() {
    const canvas = this.front;
    const on = (target, name, handler, options) => {
      target.addEventListener(name, handler, options);
      this.unlisten.push(() => target.removeEventListener(name, handler, options));
    };
    this.unlisten = [];
    on(canvas, "pointerdown", (event) => this.pointerDown(event));
    on(canvas, "pointermove", (event) => this.pointerMove(event));
    on(canvas, "pointerup", (event) => this.pointerUp(event));
    on(canvas, "pointercancel", (event) => this.pointerUp(event));
    on(canvas, "contextmenu", (event) => event.preventDefault());
    on(canvas, "wheel", (event) => this.wheel(event), { passive: false });
    on(canvas, "keydown", (event) => this.keyDown(event));
    on(canvas, "focus", () => this.invalidate("front"));
    on(canvas, "blur", () => this.invalidate("front"));
    const colors = () => {
      this.readColors();
      this.invalidate();
    };
    on(matchMedia("(prefers-color-scheme: dark)"), "change", colors);
    const themes = new MutationObserver(colors);
    themes.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    const sizes = new ResizeObserver(() => this.resize());
    sizes.observe(this.container);
    this.unlisten.push(() => themes.disconnect(), () => sizes.disconnect());
  }

  destroy() {
    this.unlisten.forEach((remove) => remove());
    cancelAnimationFrame(this.frame);
    this.container.replaceChildren();
  }

  position(event) {
    const box = this.front.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  pointerDown(event) {
    this.front.focus({ preventScroll: true });
    const at = this.position(event);
    this.front.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, at);
    if (this.pointers.size === 2) return this.startPinch();
    if (this.pointers.size > 2) return;
    this.cursor = null;
    const hit = this.hit(at, event.pointerType === "touch" ? HIT_TOUCH : HIT);
    const remove = event.button === 2 || this.tool === "delete";
    if (event.button === 1 || event.shiftKey) this.drag = { kind: "pan", at };
    else if (remove) this.startErasing(hit);
    else if (this.tool === "add" && hit >= 0 && this.points[hit].c !== this.paintClass) this.startRecoloring(hit);
    else if (this.tool === "add" && hit < 0) this.startPainting(at);
    else if (hit >= 0) this.startMoving(hit, at);
    else this.drag = { kind: "pan", at };
    this.invalidate("front");
  }

  startMoving(index, at) {
    const [px, py] = this.toPixels(this.points[index].x, this.points[index].y);
    this.drag = { kind: "move", index, offset: [px - at[0], py - at[1]], begun: false };
    this.select(index);
  }

  startPainting(at) {
    this.onEdit();
    this.drag = { kind: "paint", at };
    this.add(...this.toUnits(...at));
  }

  startRecoloring(index) {
    this.onEdit();
    this.drag = { kind: "recolor" };
    this.setClass(index, this.paintClass);
  }

  startErasing(hit) {
    this.drag = { kind: "erase", begun: false };
    if (hit >= 0) this.erase(hit);
  }

  erase(index) {
    if (!this.drag.begun) this.onEdit();
    this.drag.begun = true;
    this.remove(index);
  }

  startPinch() {
    const [a, b] = [...this.pointers.values()];
    this.drag = { kind: "pinch", distance: Math.hypot(a[0] - b[0], a[1] - b[1]), middle: [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2] };
  }

  pointerMove(event) {
    const at = this.position(event);
    if (!this.pointers.has(event.pointerId)) {
      this.front.style.cursor = this.tool === "move" && this.hit(at, HIT) >= 0 ? "grab" : "crosshair";
      return;
    }
    this.pointers.set(event.pointerId, at);
    const drag = this.drag;
    if (!drag) return;
    if (drag.kind === "move") this.moveTo(drag, at);
    else if (drag.kind === "paint") this.paint(drag, at);
    else if (drag.kind === "erase") {
      const hit = this.hit(at, HIT);
      if (hit >= 0) this.erase(hit);
    } else if (drag.kind === "recolor") {
      const hit = this.hit(at, HIT);
      if (hit >= 0 && this.points[hit].c !== this.paintClass) this.setClass(hit, this.paintClass);
    } else if (drag.kind === "pan") {
      this.pan(at[0] - drag.at[0], at[1] - drag.at[1]);
      drag.at = at;
    } else if (drag.kind === "pinch" && this.pointers.size === 2) this.pinch(drag);
  }

  moveTo(drag, at) {
    if (!drag.begun) this.onEdit();
    drag.begun = true;
    const [x, y] = this.toUnits(at[0] + drag.offset[0], at[1] + drag.offset[1]);
    this.move(drag.index, x, y);
  }

  paint(drag, at) {
    if (Math.hypot(at[0] - drag.at[0], at[1] - drag.at[1]) < PAINT) return;
    drag.at = at;
    this.add(...this.toUnits(...at));
  }

  pinch(drag) {
    const [a, b] = [...this.pointers.values()];
    const distance = Math.hypot(a[0] - b[0], a[1] - b[1]);
    const middle = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
    this.pan(middle[0] - drag.middle[0], middle[1] - drag.middle[1]);
    this.zoomAt(middle, distance / Math.max(drag.distance, 1));
    [drag.distance, drag.middle] = [distance, middle];
  }

  pointerUp(event) {
    this.pointers.delete(event.pointerId);
    this.drag = null;
    this.invalidate("front");
  }

  /** The wheel zooms if the plane has the focus, or with Ctrl, as a pinch on a touch pad sends it; else the page scrolls. */
  wheel(event) {
    if (!event.ctrlKey && document.activeElement !== this.front) return;
    event.preventDefault();
    this.zoomAt(this.position(event), Math.exp(-Math.max(-60, Math.min(60, event.deltaY)) / 240));
  }

  keyDown(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const step = (event.shiftKey ? 0.5 : 0.1) / this.view.zoom;
    const digit = "12345".indexOf(event.key);
    if (arrows[event.key]) this.moveByKey(arrows[event.key].map((d) => d * step));
    else if (event.key === "n" || event.key === "p") this.selectNext(event.key === "n" ? 1 : -1);
    else if (event.key === "Enter" || event.key === " ") this.addAtCursor();
    else if (event.key === "Delete" || event.key === "Backspace") this.removeSelected();
    else if (digit >= 0) this.chooseClass(digit);
    else if (event.key === "Escape") [this.selected, this.cursor] = [-1, null];
    else if (event.key === "+" || event.key === "=") this.zoomAt(this.middle(), 1.25);
    else if (event.key === "-") this.zoomAt(this.middle(), 0.8);
    else if (event.key === "0") this.resetView();
    else return;
    event.preventDefault();
    this.invalidate("front");
  }

  moveByKey([dx, dy]) {
    if (this.selected >= 0) {
      const { x, y } = this.points[this.selected];
      this.onEdit();
      this.move(this.selected, x + dx, y + dy);
      this.say(this.selected);
      return;
    }
    const [x, y] = this.cursor || [this.view.x, this.view.y];
    this.cursor = [x + dx, y + dy];
    this.onSelect(`cursor at ${this.cursor[0].toFixed(2)}, ${this.cursor[1].toFixed(2)}`);
  }

  selectNext(step) {
    const n = this.points.length;
    if (!n) return;
    this.cursor = null;
    this.select(this.selected < 0 ? (step > 0 ? 0 : n - 1) : (this.selected + step + n) % n);
    this.say(this.selected);
  }

  addAtCursor() {
    const at = this.cursor || [this.view.x, this.view.y];
    this.onEdit();
    this.add(...at);
    this.say(this.points.length - 1);
  }

  removeSelected() {
    if (this.selected < 0) return;
    this.onEdit();
    this.remove(this.selected);
    this.onSelect(`deleted; ${this.points.length} points are left`);
  }

  chooseClass(c) {
    this.paintClass = c;
    if (this.selected >= 0) {
      this.onEdit();
      this.setClass(this.selected, c);
      this.say(this.selected);
    } else this.onSelect(`new points are of class ${className(c)}`);
  }

  say(index) {
    const { x, y, c } = this.points[index];
    this.onSelect(`point ${index + 1} of ${this.points.length}, class ${className(c)}, at ${x.toFixed(2)}, ${y.toFixed(2)}`);
  }

  // Points

  setPoints(points) {
    this.points = points.map((point) => ({ ...point }));
    if (this.selected >= points.length) this.selected = -1;
    this.invalidate();
  }

  select(index) {
    this.selected = index;
    this.invalidate("front");
  }

  changed() {
    this.invalidate("front");
    this.onChange();
  }

  add(x, y) {
    if (this.points.length >= MAX_POINTS) return;
    this.points.push({ ...this.bounded(x, y), c: this.paintClass });
    this.changed();
  }

  move(index, x, y) {
    Object.assign(this.points[index], this.bounded(x, y));
    this.changed();
  }

  bounded(x, y) {
    const bound = (v) => snap(Math.min(MAX_COORDINATE, Math.max(-MAX_COORDINATE, v)));
    return { x: bound(x), y: bound(y) };
  }

  setClass(index, c) {
    this.points[index].c = c;
    this.changed();
  }

  remove(index) {
    this.points.splice(index, 1);
    if (this.selected === index) this.selected = -1;
    else if (this.selected > index) this.selected--;
    this.changed();
  }

  hit([px, py], reach) {
    let best = -1;
    let least = reach * reach;
    this.points.forEach(({ x, y }, i) => {
      const [qx, qy] = this.toPixels(x, y);
      const square = (qx - px) ** 2 + (qy - py) ** 2;
      if (square <= least) [least, best] = [square, i];
    });
    return best;
  }

  // The view

  get scale() {
    return Math.min(this.width / WIDTH, this.height / HEIGHT) * this.view.zoom;
  }

  toPixels(x, y) {
    return [this.width / 2 + (x - this.view.x) * this.scale, this.height / 2 - (y - this.view.y) * this.scale];
  }

  toUnits(px, py) {
    return [this.view.x + (px - this.width / 2) / this.scale, this.view.y - (py - this.height / 2) / this.scale];
  }

  /** The visible part of the plane. */
  range() {
    const [x0, y1] = this.toUnits(0, 0);
    const [x1, y0] = this.toUnits(this.width, this.height);
    return { x: [x0, x1], y: [y0, y1] };
  }

  middle() {
    return [this.width / 2, this.height / 2];
  }

  pan(dx, dy) {
    const limit = (v) => Math.min(MAX_COORDINATE, Math.max(-MAX_COORDINATE, v));
    this.view.x = limit(this.view.x - dx / this.scale);
    this.view.y = limit(this.view.y + dy / this.scale);
    this.viewChanged();
  }

  zoomAt(at, factor) {
    const [x, y] = this.toUnits(...at);
    this.view.zoom = Math.min(ZOOM.most, Math.max(ZOOM.least, this.view.zoom * factor));
    const [nx, ny] = this.toUnits(...at);
    this.view.x += x - nx;
    this.view.y += y - ny;
    this.viewChanged();
  }

  resetView() {
    this.view = { x: 0, y: 0, zoom: 1 };
    this.viewChanged();
  }

  /** Shows all points. */
  fitView() {
    if (!this.points.length) return this.resetView();
    const of = (key) => this.points.map((point) => point[key]);
    const [x0, x1, y0, y1] = [Math.min(...of("x")), Math.max(...of("x")), Math.min(...of("y")), Math.max(...of("y"))];
    const zoom = Math.min(WIDTH / Math.max(1.15 * (x1 - x0), 0.5), HEIGHT / Math.max(1.15 * (y1 - y0), 0.5));
    this.view = { x: (x0 + x1) / 2, y: (y0 + y1) / 2, zoom: Math.min(ZOOM.most, Math.max(ZOOM.least, zoom)) };
    this.viewChanged();
  }

  viewChanged() {
    this.invalidate();
    this.onView();
  }

  resize() {
    const box = this.container.getBoundingClientRect();
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    if (!box.width || !box.height) return;
    [this.width, this.height, this.ratio] = [box.width, box.height, ratio];
    for (const canvas of [this.back, this.front]) {
      canvas.width = Math.round(box.width * ratio);
      canvas.height = Math.round(box.height * ratio);
    }
    this.viewChanged();
  }

  // Drawing

  readColors() {
    const style = getComputedStyle(document.documentElement);
    const color = (name) => style.getPropertyValue(name).trim();
    this.colors = {
      classes: Array.from({ length: 8 }, (_, c) => color(`--class-${c}`)),
      text: color("--text"), muted: color("--muted"), line: color("--line"), card: color("--card"), bad: color("--bad"),
      accent: color("--accent"),
    };
  }

  invalidate(layer) {
    if (layer !== "front") this.stale.back = true;
    this.stale.front = true;
    this.frame ||= requestAnimationFrame(() => this.draw());
  }

  draw() {
    this.frame = 0;
    if (!this.width) return;
    const begin = (canvas) => {
      const context = canvas.getContext("2d");
      context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
      context.clearRect(0, 0, this.width, this.height);
      return context;
    };
    if (this.stale.back) {
      const context = begin(this.back);
      this.drawBack(context, this);
      this.drawAxes(context);
    }
    const context = begin(this.front);
    this.drawFront?.(context, this);
    this.points.forEach((_, i) => this.drawPoint(context, i));
    if (document.activeElement === this.front && this.cursor) this.drawCursor(context);
    this.stale = { back: false, front: false };
  }

  drawAxes(context) {
    const { x: [x0, x1], y: [y0, y1] } = this.range();
    const step = niceStep(70 / this.scale);
    context.save();
    context.strokeStyle = this.colors.line;
    context.fillStyle = this.colors.muted;
    context.font = "11px system-ui, sans-serif";
    context.lineWidth = 1;
    const line = (ax, ay, bx, by, bold) => {
      context.globalAlpha = bold ? 0.9 : 0.35;
      context.beginPath();
      context.moveTo(ax, ay);
      context.lineTo(bx, by);
      context.stroke();
      context.globalAlpha = 1;
    };
    for (let k = Math.ceil(x0 / step); k * step <= x1; k++) {
      const [px] = this.toPixels(k * step, 0);
      line(Math.round(px) + 0.5, 0, Math.round(px) + 0.5, this.height, k === 0);
      context.fillText(tick(k * step), px + 3, this.height - 5);
    }
    for (let k = Math.ceil(y0 / step); k * step <= y1; k++) {
      const [, py] = this.toPixels(0, k * step);
      line(0, Math.round(py) + 0.5, this.width, Math.round(py) + 0.5, k === 0);
      if (py < this.height - 20) context.fillText(tick(k * step), 4, py - 3);
    }
    context.restore();
  }

  drawPoint(context, index) {
    const point = this.points[index];
    const { radius = 5, ring, mark } = this.look(index);
    const [px, py] = this.toPixels(point.x, point.y);
    if (px < -20 || py < -20 || px > this.width + 20 || py > this.height + 20) return;
    context.beginPath();
    SHAPES[point.c % SHAPES.length](context, px, py, radius);
    context.fillStyle = this.colors.classes[point.c];
    context.fill();
    context.lineWidth = ring ? 2 : 1;
    context.strokeStyle = ring ? this.colors.text : this.colors.card;
    context.stroke();
    if (ring === "bounded") {
      context.beginPath();
      context.arc(px, py, 2.2, 0, 2 * Math.PI);
      context.fillStyle = this.colors.text;
      context.fill();
    }
    if (mark) this.drawMark(context, mark, px, py, radius + 4);
    if (index === this.selected) this.drawSelection(context, px, py, radius + 6);
  }

  /** A cross for a misclassified point, a dashed circle for one that is misclassified if it is left out. */
  drawMark(context, mark, px, py, size) {
    context.strokeStyle = this.colors.bad;
    context.lineWidth = 2;
    context.beginPath();
    if (mark.includes("wrong")) {
      context.moveTo(px - size, py - size);
      context.lineTo(px + size, py + size);
      context.moveTo(px + size, py - size);
      context.lineTo(px - size, py + size);
    }
    context.stroke();
    if (mark.includes("left-out")) {
      context.setLineDash([3, 3]);
      context.beginPath();
      context.arc(px, py, size + 2, 0, 2 * Math.PI);
      context.stroke();
      context.setLineDash([]);
    }
  }

  drawSelection(context, px, py, size) {
    context.strokeStyle = this.colors.accent;
    context.lineWidth = 2;
    context.strokeRect(px - size, py - size, 2 * size, 2 * size);
  }

  drawCursor(context) {
    const [px, py] = this.toPixels(...this.cursor);
    context.strokeStyle = this.colors.accent;
    context.lineWidth = 2;
    context.beginPath();
    context.moveTo(px - 12, py);
    context.lineTo(px + 12, py);
    context.moveTo(px, py - 12);
    context.lineTo(px, py + 12);
    context.stroke();
  }
}
