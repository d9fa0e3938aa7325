// Screen 1: the table, its columns, and what is suspicious about it.

import { html, useEffect, useState } from "../lib/html.js";
import { call } from "../lib/engine.js";

export const title = "Data";

export default function Data() {
  const [session, setSession] = useState(null);
  useEffect(() => {
    call("session").then(setSession, () => {});
  }, []);
  return html`<h1 id="heading" tabindex="-1">Data</h1>
    ${session && html`<p>Mercer ${session.version}</p>`}`;
}
