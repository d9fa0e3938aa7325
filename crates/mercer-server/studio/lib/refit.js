// Refitting while something moves: one call at a time, always with the newest state, on a grid as fine as time allows.

import { call } from "./engine.js";

/** Milliseconds that an answer may take while something moves. */
const MOVING_MS = 22;
/** Milliseconds without a change after which the picture is drawn finely. */
const STILL_MS = 120;
/** Columns of the grid. */
const COLUMNS = { least: 40, most: 128, still: 200 };

export class Refit {
  /**
   * @param {{
   *   request: (columns: number, still: boolean) => [string, object] | null,
   *   onAnswer: (answer: object, still: boolean) => void,
   *   onError: (error: Error) => void,
   *   whenStill?: (message: [string, object], isCurrent: () => boolean) => Promise<void>,
   * }} handlers `request` makes the name and the message of a call; `whenStill` may go on after the fine picture.
   */
  constructor(handlers) {
    Object.assign(this, handlers);
    this.columns = 72;
    this.version = 0;
    this.answered = -1;
    this.running = false;
    this.again = false;
    this.stopped = false;
    this.timer = 0;
    /** Counts for a display: answers while moving, and the milliseconds of the last one. */
    this.stats = { answers: 0, milliseconds: 0, columns: this.columns };
  }

  /** Something has changed. */
  change() {
    this.version++;
    this.again = false;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.run(true), STILL_MS);
    if (!this.running) this.run(false);
  }

  stop() {
    clearTimeout(this.timer);
    this.version++;
    this.stopped = true;
  }

  async run(still) {
    if (this.stopped) return;
    if (this.running) {
      this.again = this.again || still;
      return;
    }
    const version = this.version;
    const columns = still ? COLUMNS.still : this.columns;
    const message = this.request(columns, still);
    if (!message) return;
    this.running = true;
    const start = performance.now();
    try {
      const answer = await call(...message);
      const milliseconds = performance.now() - start;
      if (!still) this.adapt(milliseconds);
      this.stats = { answers: this.stats.answers + 1, milliseconds, columns };
      // An answer to an older state is shown too: without it a moving picture would stand still.
      if (!this.stopped) this.onAnswer(answer, still && version === this.version);
    } catch (error) {
      if (!this.stopped && version === this.version) this.onError(error);
    }
    this.running = false;
    if (this.stopped) return;
    if (version !== this.version) this.run(false);
    else if (this.again) {
      this.again = false;
      this.run(true);
    } else if (still && this.whenStill) {
      await this.whenStill(message, () => !this.stopped && version === this.version);
    }
  }

  /** A finer grid if there is time left, a coarser one if there is not. */
  adapt(milliseconds) {
    const factor = Math.sqrt(MOVING_MS / Math.max(milliseconds, 1));
    const wanted = this.columns * Math.min(1.15, Math.max(0.7, factor));
    this.columns = Math.round(Math.min(COLUMNS.most, Math.max(COLUMNS.least, wanted)));
  }
}
