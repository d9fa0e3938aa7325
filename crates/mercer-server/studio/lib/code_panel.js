// "The same as a command, Python, Rust, curl": the code that does what a screen shows, to copy.

import { html, useState, useRef } from "./html.js";

/**
 * @param {{snippets: {name: string, code: string}[], title?: string}} props The code by interface, from the engine.
 */
export function CodePanel({ snippets, title = "The same in code" }) {
  const [chosen, setChosen] = useState(0);
  const [copied, setCopied] = useState(false);
  const tabs = useRef([]);
  const shown = (snippets || []).filter((snippet) => snippet && snippet.code);
  if (!shown.length) return null;
  const at = Math.min(chosen, shown.length - 1);
  const choose = (k) => {
    setChosen(k);
    setCopied(false);
    tabs.current[k]?.focus();
  };
  const onKeyDown = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step) {
      event.preventDefault();
      choose((at + step + shown.length) % shown.length);
    }
  };
  const onCopy = async () => setCopied(await copy(shown[at].code));
  return html`<details class="code-panel">
    <summary>${title}: ${shown.map((snippet) => snippet.name).join(", ")}</summary>
    <div class="code-head"><div class="code-tabs" role="tablist" aria-label="Interface" onKeyDown=${onKeyDown}>
      ${shown.map(
        (snippet, k) => html`<button type="button" role="tab" id=${`code-tab-${k}`} aria-selected=${k === at}
          aria-controls="code-shown" tabindex=${k === at ? 0 : -1} ref=${(node) => (tabs.current[k] = node)}
          onClick=${() => choose(k)}>${snippet.name}</button>`,
      )}</div>
      <button type="button" class="copy" onClick=${onCopy}>Copy</button>
      <span role="status" class="copied">${copied ? "copied" : ""}</span>
    </div>
    <pre id="code-shown" role="tabpanel" aria-labelledby=${`code-tab-${at}`} tabindex="0">${shown[at].code}</pre>
  </details>`;
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
