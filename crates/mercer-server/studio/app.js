// The shell of the page: navigation, theme, the token, and the screens.

import { html, render, signal, useEffect, useRef } from "./lib/html.js";
import { locked, setToken, takeToken } from "./lib/engine.js";
import { refresh, session } from "./lib/store.js";
import * as data from "./screens/data.js";
import * as train from "./screens/train.js";
import * as leaderboard from "./screens/leaderboard.js";
import * as errors from "./screens/errors.js";
import * as why from "./screens/why.js";
import * as decisions from "./screens/decisions.js";
import * as margin from "./screens/margin.js";
import * as bayes from "./screens/bayes.js";
import * as network from "./screens/network.js";

/** The screens in order: each module exports a component as `default`, and `title`. */
const SCREENS = [
  { id: "data", ...data },
  { id: "train", ...train },
  { id: "leaderboard", ...leaderboard },
  { id: "errors", ...errors },
  { id: "why", ...why },
  { id: "decisions", ...decisions },
  { id: "margin", ...margin },
  { id: "bayes", ...bayes },
  { id: "network", ...network },
].map((screen) => ({ ...screen, component: screen.default }));

const THEME = "mercer-theme";
const THEMES = ["auto", "light", "dark"];

takeToken();

const theme = signal(localStorage.getItem(THEME) || "auto");
const route = signal(readRoute());

/** The screen and the rest of the address: `#/why/17` is the screen `why` with `["17"]`. */
function readRoute() {
  const [id, ...rest] = location.hash.replace(/^#\/?/, "").split("/");
  const screen = SCREENS.find((screen) => screen.id === id) || SCREENS[0];
  return { screen, rest: rest.map(decodeURIComponent) };
}

window.addEventListener("hashchange", () => {
  route.value = readRoute();
});

// Alt with a digit opens a screen.
window.addEventListener("keydown", (event) => {
  const at = event.altKey && !event.ctrlKey && !event.metaKey ? "123456789".indexOf(event.key) : -1;
  if (at >= 0 && at < SCREENS.length) {
    event.preventDefault();
    location.hash = `#/${SCREENS[at].id}`;
  }
});

function applyTheme() {
  const chosen = theme.value;
  if (chosen === "auto") document.documentElement.removeAttribute("data-theme");
  else document.documentElement.setAttribute("data-theme", chosen);
  localStorage.setItem(THEME, chosen);
}

function nextTheme() {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length];
  applyTheme();
}

function Token() {
  const field = useRef(null);
  const onSubmit = (event) => {
    event.preventDefault();
    setToken(field.current.value.trim());
    location.reload();
  };
  return html`<main id="main"><h1 id="heading" tabindex="-1">Token</h1>
    <form onSubmit=${onSubmit} class="card narrow">
      <p>Open the address that <code>mercer studio</code> printed, which carries the token, or enter the token here.</p>
      <label>Token <input type="password" autocomplete="off" ref=${field} required /></label>
      <button type="submit" class="primary">Continue</button>
    </form></main>`;
}

function App() {
  const { screen, rest } = route.value;
  const isFirst = useRef(true);
  useEffect(() => {
    document.title = `${screen.title} · Mercer Studio`;
    // Readers of the screen learn that another one is shown.
    if (!isFirst.current) document.getElementById("heading")?.focus();
    isFirst.current = false;
  }, [screen]);
  const Screen = screen.component;
  return html`<a class="skip" href="#main" onClick=${(event) => {
      event.preventDefault();
      document.getElementById("heading")?.focus();
    }}>Skip to the content</a>
    <header class="top">
      <span class="brand" aria-hidden="true"><img src="/assets/icon.svg" alt="" width="22" height="22" />Mercer Studio</span>
      <nav aria-label="Screens"><ul>
        ${SCREENS.map(
          ({ id, title }, k) => html`<li><a href=${`#/${id}`} aria-current=${id === screen.id ? "page" : undefined}
            title=${`Alt+${k + 1}`}>${title}</a></li>`,
        )}
      </ul></nav>
      ${session.value?.data && html`<span class="open muted" title=${session.value.data.name}>${session.value.data.name.split("/").pop()}${session.value.model ? ` · ${session.value.model.name}` : ""}</span>`}
      <button type="button" class="theme" onClick=${nextTheme} title="Light, dark, or as the system">
        Theme: ${theme.value}</button>
    </header>
    ${locked.value ? html`<${Token} />` : html`<main id="main"><${Screen} key=${screen.id} rest=${rest} /></main>`}`;
}

applyTheme();
refresh().catch(() => {});
const root = document.getElementById("app");
root.replaceChildren();
render(html`<${App} />`, root);
