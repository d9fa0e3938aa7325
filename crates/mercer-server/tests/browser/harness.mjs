// Starts the studio and a browser, and runs the command line for comparison.

import { spawn, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import assert from "node:assert/strict";
import { chromium } from "playwright-core";

const here = dirname(fileURLToPath(import.meta.url));
export const root = resolve(here, "../../../..");
const binary = process.env.MERCER || join(root, "target/debug/mercer");
const browserPath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", process.env.CHROMIUM].find((path) => path && existsSync(path));
const axe = readFileSync(join(here, "node_modules/axe-core/axe.min.js"), "utf8");
/** Where screenshots go, if anywhere. */
const pictures = process.env.MERCER_PICTURES;

export const example = (name) => join("examples/data", name);

/** The JSON that a command prints. */
export function mercer(...args) {
  const options = { cwd: root, encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] };
  return JSON.parse(execFileSync(binary, [...args, "--json"], options));
}

/** A studio that runs until `close`. */
export async function startStudio(...args) {
  const process = spawn(binary, ["studio", ...args, "--no-open", "--json", "--quiet"], { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise((found, fail) => {
    let text = "";
    process.stdout.on("data", (data) => {
      text += data;
      try {
        found(JSON.parse(text).url);
      } catch {
        // The rest of the JSON is still to come.
      }
    });
    process.on("exit", () => fail(new Error(`the studio ended: ${text}`)));
  });
  running.add(process);
  const folder = mkdtempSync(join(tmpdir(), "mercer-studio-"));
  return {
    url,
    folder,
    close() {
      process.removeAllListeners("exit");
      process.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The studios that run, so that none is left if a test fails. */
const running = new Set();

let browser;

/** A page on a studio. Requests to other hosts, errors and messages on the console fail the test. */
export async function openPage(studio, options = {}) {
  assert.ok(browserPath, "no Chromium was found");
  const args = ["--no-sandbox", "--headless", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"];
  browser ||= await chromium.launch({ executablePath: browserPath, headless: true, args });
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: "reduce", acceptDownloads: true, ...options });
  const page = await context.newPage();
  const host = new URL(studio.url).host;
  const problems = [];
  page.on("request", (request) => {
    const target = new URL(request.url());
    if (!["blob:", "data:"].includes(target.protocol) && target.host !== host) problems.push(`request to ${request.url()}`);
  });
  page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
  page.on("console", (message) => {
    // 409 is the advice to open a table or to fit a model first.
    const isExpected = options.expectErrors || message.text().includes("status of 409");
    if (message.type() === "error" && !isExpected) problems.push(`console: ${message.text()}`);
  });
  page.setDefaultTimeout(30_000);
  await page.goto(studio.url);
  return {
    page,
    async close() {
      await context.close();
      assert.deepEqual(problems, []);
    },
  };
}

/** Ends the browser and what failed tests have left running. */
export async function closeAll() {
  await browser?.close();
  running.forEach((process) => process.kill());
}

/** Opens a screen by its link. */
export async function goTo(page, name) {
  await page.click(`nav >> text="${name}"`);
  await page.waitForSelector(`nav a[aria-current="page"] >> text="${name}"`);
}

/** Fails on serious findings of axe-core. */
export async function checkAccessibility(page, name) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  const serious = found.violations
    .filter((violation) => ["serious", "critical"].includes(violation.impact))
    .map((violation) => `${violation.id}: ${violation.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`);
  assert.deepEqual(serious, [], `${name} has findings of axe-core`);
}

/** A picture of the page, if pictures are wanted. */
export async function picture(page, name) {
  if (!pictures) return;
  mkdirSync(pictures, { recursive: true });
  await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
}

/** Chooses what to fit, starts, and waits for the certificate. */
export async function fit(page, model, settings = {}) {
  await goTo(page, "Train");
  await page.waitForSelector("text=Plan");
  if (model) {
    await page.click("text=Pick estimators");
    await page.selectOption(".pick select", model);
    if (Object.keys(settings).length) await page.click(".pick summary");
    for (const [name, value] of Object.entries(settings)) {
      await page.fill(`.param:has(strong:text-is("${name}")) input`, value);
    }
  }
  await page.waitForSelector(model ? "text=is cross-validated on" : "text=are compared on");
  await page.click("text=Start");
  await page.waitForSelector(`h2:has-text("Certificate of ${model ?? ""}")`, { timeout: 60_000 });
}
