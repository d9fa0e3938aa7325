// Contours of a function on a grid, by marching squares with linear interpolation.

/**
 * The curves on which values on a grid reach a level, as lists of grid positions `[column, row]` (fractions allowed).
 * A closed curve ends where it starts.
 *
 * @param {ArrayLike<number>} values Row by row.
 */
export function contours(values, columns, rows, level) {
  // Every curve passes through edges of the grid. Horizontal edges come first, then vertical ones.
  const nHorizontal = columns * rows;
  const next = new Map();
  const link = (a, b) => {
    (next.get(a) || next.set(a, []).get(a)).push(b);
    (next.get(b) || next.set(b, []).get(b)).push(a);
  };
  for (let j = 0; j + 1 < rows; j++) {
    for (let i = 0; i + 1 < columns; i++) {
      const at = j * columns + i;
      const corners = [values[at], values[at + 1], values[at + columns + 1], values[at + columns]];
      let above = 0;
      for (let k = 0; k < 4; k++) if (corners[k] >= level) above |= 1 << k;
      if (above === 0 || above === 15) continue;
      const [bottom, right, top, left] = [at, nHorizontal + at + 1, at + columns, nHorizontal + at];
      // A saddle is decided by the mean of its corners.
      const center = (corners[0] + corners[1] + corners[2] + corners[3]) / 4 >= level;
      switch (above) {
        case 1: case 14: link(left, bottom); break;
        case 2: case 13: link(bottom, right); break;
        case 4: case 11: link(right, top); break;
        case 8: case 7: link(top, left); break;
        case 3: case 12: link(left, right); break;
        case 6: case 9: link(bottom, top); break;
        case 5:
          if (center) { link(left, top); link(bottom, right); } else { link(left, bottom); link(right, top); }
          break;
        default:
          if (center) { link(left, bottom); link(right, top); } else { link(left, top); link(bottom, right); }
      }
    }
  }
  const crossing = (edge) => {
    const vertical = edge >= nHorizontal;
    const at = vertical ? edge - nHorizontal : edge;
    const [a, b] = [values[at], values[vertical ? at + columns : at + 1]];
    const t = a === b ? 0.5 : Math.min(1, Math.max(0, (level - a) / (b - a)));
    const [i, j] = [at % columns, Math.floor(at / columns)];
    return vertical ? [i, j + t] : [i + t, j];
  };
  return trace(next).map((edges) => edges.map(crossing));
}

/** Joins linked edges into curves: those with an open end first, then closed ones. */
function trace(next) {
  const curves = [];
  const walk = (start) => {
    const edges = [start];
    for (let at = start; ; ) {
      const to = next.get(at)?.pop();
      if (to === undefined) break;
      const back = next.get(to);
      back.splice(back.indexOf(at), 1);
      edges.push(to);
      at = to;
    }
    curves.push(edges);
  };
  for (const [edge, links] of next) if (links.length === 1) walk(edge);
  for (const [edge, links] of next) if (links.length) walk(edge);
  return curves.filter((edges) => edges.length > 1);
}

/** The point of some curves nearest to a point, or `null` if there are none. */
export function nearest(curves, [x, y]) {
  let best = null;
  let least = Infinity;
  for (const curve of curves) {
    for (let k = 0; k + 1 < curve.length; k++) {
      const [ax, ay] = curve[k];
      const [dx, dy] = [curve[k + 1][0] - ax, curve[k + 1][1] - ay];
      const square = dx * dx + dy * dy;
      const t = square === 0 ? 0 : Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / square));
      const [px, py] = [ax + t * dx, ay + t * dy];
      const distance = (px - x) ** 2 + (py - y) ** 2;
      if (distance < least) [least, best] = [distance, [px, py]];
    }
  }
  return best;
}
