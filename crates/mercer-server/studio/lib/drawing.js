// Shapes, fields of color and curves on a plane.

/** 1, 2 or 5 times a power of ten, at least as large as a number. */
export function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * [1, 2, 5, 10].find((m) => m * power >= least * 0.999);
}

export const tick = (v) => String(Math.round(v * 1e6) / 1e6);

/** The shapes of points by class, so that color is not the only difference. */
export const SHAPES = [circle, square, triangle, diamond, cross];

function circle(context, x, y, r) {
  context.arc(x, y, r, 0, 2 * Math.PI);
}

function square(context, x, y, r) {
  context.rect(x - 0.88 * r, y - 0.88 * r, 1.76 * r, 1.76 * r);
}

function triangle(context, x, y, r) {
  context.moveTo(x, y - 1.2 * r);
  context.lineTo(x + 1.1 * r, y + 0.8 * r);
  context.lineTo(x - 1.1 * r, y + 0.8 * r);
  context.closePath();
}

function diamond(context, x, y, r) {
  context.moveTo(x, y - 1.25 * r);
  context.lineTo(x + 1.25 * r, y);
  context.lineTo(x, y + 1.25 * r);
  context.lineTo(x - 1.25 * r, y);
  context.closePath();
}

function cross(context, x, y, r) {
  const w = 0.42 * r;
  context.rect(x - w, y - 1.1 * r, 2 * w, 2.2 * r);
  context.rect(x - 1.1 * r, y - w, 2.2 * r, 2 * w);
}

/** The red, green and blue of a color `#rrggbb`. */
export function rgb(color) {
  const value = parseInt(color.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

/**
 * Colors values on a grid: `paint(k)` gives red, green, blue and opacity (0 to 255) of the k-th value.
 * The picture spans the grid given in units, with a half cell more on each side.
 */
export function drawField(context, plane, grid, paint) {
  const { columns, rows, x: [x0, x1], y: [y0, y1] } = grid;
  const buffer = (plane.buffer ||= document.createElement("canvas"));
  [buffer.width, buffer.height] = [columns, rows];
  const image = new ImageData(columns, rows);
  for (let j = 0; j < rows; j++) {
    for (let i = 0; i < columns; i++) {
      const rgba = paint(j * columns + i);
      image.data.set(rgba, 4 * ((rows - 1 - j) * columns + i));
    }
  }
  buffer.getContext("2d").putImageData(image, 0, 0);
  const [dx, dy] = [(x1 - x0) / (columns - 1) / 2, (y1 - y0) / (rows - 1) / 2];
  const [left, top] = plane.toPixels(x0 - dx, y1 + dy);
  const [right, bottom] = plane.toPixels(x1 + dx, y0 - dy);
  context.imageSmoothingEnabled = true;
  context.drawImage(buffer, left, top, right - left, bottom - top);
}

/** Draws curves given in units. */
export function drawCurves(context, plane, curves) {
  context.beginPath();
  for (const curve of curves) {
    curve.forEach(([x, y], k) => {
      const [px, py] = plane.toPixels(x, y);
      if (k) context.lineTo(px, py);
      else context.moveTo(px, py);
    });
  }
  context.stroke();
}

/** Curves on a grid in units. */
export function inUnits(curves, { columns, rows, x: [x0, x1], y: [y0, y1] }) {
  const [sx, sy] = [(x1 - x0) / (columns - 1), (y1 - y0) / (rows - 1)];
  return curves.map((curve) => curve.map(([i, j]) => [x0 + i * sx, y0 + j * sy]));
}
