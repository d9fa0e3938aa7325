// Preact with tagged templates instead of JSX: html`<p>${text}</p>`.

import { h, render, Fragment, createContext } from "../vendor/preact.js";
import { useEffect, useLayoutEffect, useMemo, useRef, useState, useCallback } from "../vendor/hooks.js";
import { signal, computed, effect, batch, useSignal, useComputed } from "../vendor/signals.js";
import htm from "../vendor/htm.js";

export const html = htm.bind(h);
export {
  h, render, Fragment, createContext,
  useEffect, useLayoutEffect, useMemo, useRef, useState, useCallback,
  signal, computed, effect, batch, useSignal, useComputed,
};
