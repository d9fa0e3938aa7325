// The playgrounds in a real browser: points are dragged, painted and typed, and the numbers on the page are compared with
// those of the command line.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { checkAccessibility, closeAll, openPage, picture, root, startStudio } from "./harness.mjs";

const BINARY = resolve(process.env.MERCER || join(root, "target/debug/mercer"));

let studio;

before(async () => {
  studio = await startStudio();
});

after(async () => {
  await closeAll();
  studio.close();
});

/** A page of a playground; `close` fails on errors of the page and requests to other hosts. */
async function open(screen, options = {}) {
  const { page, close } = await openPage(studio, options);
  page.end = close;
  await page.evaluate((hash) => (location.hash = hash), `#/${screen}`);
  if (screen === "network") await page.locator(".network-node").first().waitFor();
  if (!["margin", "bayes"].includes(screen)) return page;
  await page.locator(".plane canvas[tabindex]").waitFor();
  await settled(page);
  return page;
}

const number = (page, name) => page.locator(`[data-number="${name}"]`).innerText();

/** Waits until the picture of the current points is drawn. */
async function settled(page) {
  await page.waitForTimeout(60);
  await page.locator('.plane[aria-busy="false"]').waitFor();
  await page.waitForTimeout(60);
}

/** Points and fields of the link. */
async function state(page) {
  return page.evaluate(async () => {
    const { decode } = await import("/assets/lib/points.js");
    return decode(decodeURIComponent(location.hash.split("/").slice(2).join("/")));
  });
}

/** Where a point of the plane is on the screen. */
async function pixel(page, { x, y }) {
  await page.evaluate(() => scrollTo(0, 0));
  const box = await page.locator(".plane canvas[tabindex]").boundingBox();
  const scale = Math.min(box.width / 8, box.height / 6);
  return [box.x + box.width / 2 + x * scale, box.y + box.height / 2 - y * scale];
}

async function usePoints(page, csv) {
  await page.locator(".point-table summary").click();
  await page.locator(".point-table textarea").fill(csv);
  await page.getByRole("button", { name: "Use these points" }).click();
  await page.locator(".point-table summary").click();
  await settled(page);
}

async function code(page, name) {
  const panel = page.locator(".code-panel").first();
  if (!(await panel.evaluate((node) => node.open))) await panel.locator("summary").click();
  await panel.getByRole("tab", { name }).click();
  return panel.locator("pre").innerText();
}

/** Runs a copied command and returns the certificate. */
function runCommand(text) {
  const env = { ...process.env, PATH: `${dirname(BINARY)}:${process.env.PATH}`, NO_COLOR: "1" };
  const out = execFileSync("sh", ["-c", `{ ${text}\n} 2>&1`], { cwd: studio.folder, env, encoding: "utf8" });
  return out.replace(/\s+/g, " ");
}

test("the copied command fits the model that the page shows", async () => {
  for (const [set, kernel] of [["Overlapping", null], ["Moons", null], ["XOR", "sigmoid"], ["Three classes", null]]) {
    const page = await open("margin");
    await page.getByRole("button", { name: set, exact: true }).click();
    if (kernel) await page.getByLabel("Kernel", { exact: true }).selectOption(kernel);
    await settled(page);

    const certificate = runCommand(await code(page, "Command line"));

    const [vectors] = (await number(page, "Support vectors")).split(" ");
    assert.match(certificate, new RegExp(`; ${vectors} support vectors`), set);
    const shown = (await page.locator(".pg-certificate").innerText()).replace(/\s+/g, " ");
    const objective = /(primal|dual) objective ([\d.]+)/.exec(certificate);
    assert.ok(shown.includes(objective[0]), `${objective[0]} in ${shown}`);
    await page.end();
  }
});

test("the model follows a point while it is dragged", async () => {
  const page = await open("margin");
  const { points } = await state(page);
  const before = await page.locator(".pg-certificate").innerText();
  const [px, py] = await pixel(page, points[0]);

  await page.mouse.move(px, py);
  await page.mouse.down();
  for (let k = 1; k <= 20; k++) {
    await page.mouse.move(px + 6 * k, py - 3 * k);
    await page.waitForTimeout(16);
  }
  await page.waitForTimeout(60);
  const during = await page.locator(".pg-certificate").innerText();
  await page.mouse.up();
  await settled(page);

  assert.notEqual(during, before);
  const moved = (await state(page)).points[0];
  const scale = (await pixel(page, { x: 1, y: 0 }))[0] - (await pixel(page, { x: 0, y: 0 }))[0];
  assert.ok(Math.abs(moved.x - points[0].x - 120 / scale) < 0.02, "120 pixels to the right");
  await page.getByRole("button", { name: "Undo" }).click();
  await settled(page);
  assert.deepEqual((await state(page)).points, points);
  await page.end();
});

test("dragging one of 200 points keeps the frame rate", async (context) => {
  const page = await open("margin");
  const lines = Array.from({ length: 200 }, (_, i) => {
    const [angle, radius] = [2.4 * i, 0.13 * Math.sqrt(i)];
    return `${(radius * Math.cos(angle) + (i % 2 ? 0.7 : -0.7)).toFixed(3)},${(radius * Math.sin(angle)).toFixed(3)},${"AB"[i % 2]}`;
  });
  await usePoints(page, lines.join("\n"));
  await page.getByLabel("Kernel", { exact: true }).selectOption("rbf");
  await settled(page);
  const { points } = await state(page);
  assert.equal(points.length, 200);
  const [px, py] = await pixel(page, points[150]);
  await page.evaluate(() => {
    window.intervals = [];
    window.calls = 0;
    let last = performance.now();
    const frame = (now) => {
      window.intervals.push(now - last);
      last = now;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
    const { fetch } = window;
    window.fetch = (...all) => (window.calls++, fetch(...all));
  });

  await page.mouse.move(px, py);
  await page.mouse.down();
  const start = Date.now();
  for (let k = 0; Date.now() - start < 2500; k++) {
    await page.mouse.move(px + 60 * Math.sin(k / 10), py + 50 * Math.sin(k / 14));
    await page.waitForTimeout(8);
  }
  const { intervals, calls } = await page.evaluate(() => ({ intervals: window.intervals.slice(3), calls: window.calls }));
  await page.mouse.up();

  intervals.sort((a, b) => a - b);
  const median = intervals[intervals.length >> 1];
  const slow = intervals[Math.floor(0.95 * intervals.length)];
  context.diagnostic(`200 points: median frame ${median.toFixed(1)} ms, 95th percentile ${slow.toFixed(1)} ms, ${(calls / 2.5).toFixed(0)} fits per second`);
  // 16.7 ms are 60 frames per second; a busy machine may miss every other frame.
  assert.ok(median < 34, `median frame interval ${median} ms`);
  assert.ok(calls >= 10, `${calls} fits`);
  await page.locator('[data-number="Leave-one-out errors"]', { hasText: /of 200 \(/ }).waitFor();
  await page.end();
});

test("a hard margin that does not exist has a witness", async () => {
  const page = await open("margin");
  await page.getByRole("button", { name: "XOR" }).click();
  await page.getByLabel("Kernel", { exact: true }).selectOption("linear");
  await page.getByLabel("Margin", { exact: true }).selectOption("hard");
  await page.locator(".finding h2", { hasText: "Not separable" }).waitFor();

  const text = (await page.locator(".finding").innerText()).replace(/\s+/g, " ");
  assert.match(text, /meet in the red dot/);
  // The coefficients of each class sum to one.
  for (const line of await page.locator(".combination").allInnerTexts()) {
    const sum = [...line.matchAll(/([\d.]+) ×/g)].reduce((total, [, c]) => total + Number(c), 0);
    assert.ok(Math.abs(sum - 1) < 2e-3, line);
  }
  await picture(page, "witness");
  await page.getByRole("button", { name: "Separable", exact: true }).click();
  await page.locator('[data-number="Training errors"]', { hasText: "0 of 40" }).waitFor();
  await settled(page);
  assert.equal(await page.locator(".finding").count(), 0);
  await page.end();
});

test("a link holds points and parameters", async () => {
  const page = await open("margin");
  await page.getByRole("button", { name: "Spiral" }).click();
  await page.getByLabel("γ, exact value").fill("3.5");
  await page.getByLabel("γ, exact value").press("Enter");
  await settled(page);
  const [link, vectors] = [new URL(page.url()).hash, await number(page, "Support vectors")];

  const other = await open("margin", { expectErrors: true });
  await other.evaluate((hash) => (location.hash = hash), link);
  await settled(other);

  assert.equal(new URL(other.url()).hash, link);
  assert.equal(await other.getByLabel("γ, exact value").inputValue(), "3.5");
  assert.equal(await number(other, "Support vectors"), vectors);
  for (const broken of ["#/margin/p=1,x", "#/margin/C=-1&kernel=nonsense&p=0,0", "#/margin/zzz"]) {
    await other.evaluate((hash) => (location.hash = hash), broken);
    await other.waitForTimeout(300);
    assert.ok(await other.locator("h1", { hasText: "Margin playground" }).isVisible(), broken);
  }
  await page.end();
  await other.end();
});

test("points are added, painted, recolored and deleted with the mouse", async () => {
  const page = await open("margin");
  await page.getByRole("button", { name: "Separable", exact: true }).click();
  await settled(page);
  const n = (await state(page)).points.length;
  const count = async () => (await settled(page), (await state(page)).points.length);

  await page.getByRole("button", { name: "C", exact: true }).click();
  await page.mouse.click(...(await pixel(page, { x: 0, y: 2.5 })));
  assert.equal(await count(), n + 1);
  assert.equal((await state(page)).points.at(-1).c, 2);
  const [px, py] = await pixel(page, { x: 2.5, y: 2.5 });
  await page.mouse.move(px, py);
  await page.mouse.down();
  await page.mouse.move(px + 100, py, { steps: 10 });
  await page.mouse.up();
  const painted = await count();
  assert.ok(painted >= n + 4, `${painted} points`);
  await page.mouse.click(...(await pixel(page, { x: 0, y: 2.5 })), { button: "right" });
  assert.equal(await count(), painted - 1);
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("button", { name: "Undo" }).click();
  assert.equal(await count(), n + 1);
  await page.getByRole("button", { name: "Redo" }).click();
  assert.equal(await count(), painted);
  await page.getByRole("button", { name: "Reset" }).click();
  assert.equal(await count(), 60);
  await page.end();
});

test("everything works by keyboard", async () => {
  const page = await open("margin");
  const { points } = await state(page);
  await page.locator(".plane canvas[tabindex]").focus();

  await page.keyboard.press("n");
  assert.match(await page.locator(".plane-status").innerText(), /^point 1 of 60, class A/);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Shift+ArrowUp");
  await page.keyboard.press("2");
  await settled(page);
  let [first] = (await state(page)).points;
  assert.deepEqual([first.c, first.x.toFixed(3), first.y.toFixed(3)], [1, (points[0].x + 0.1).toFixed(3), (points[0].y + 0.5).toFixed(3)]);
  for (let k = 0; k < 3; k++) await page.keyboard.press("Control+z");
  await settled(page);
  assert.deepEqual((await state(page)).points, points);
  await page.keyboard.press("Escape");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Enter");
  await settled(page);
  assert.equal((await state(page)).points.length, 61);
  await page.keyboard.press("p");
  await page.keyboard.press("Delete");
  await settled(page);
  assert.equal((await state(page)).points.length, 60);
  await page.end();
});

test("points are dragged and added by touch", async () => {
  const page = await open("margin", { hasTouch: true });
  const { points } = await state(page);
  const session = await page.context().newCDPSession(page);
  const touch = (type, at) =>
    session.send("Input.dispatchTouchEvent", { type, touchPoints: at ? [{ x: at[0], y: at[1] }] : [] });
  const [px, py] = await pixel(page, points[3]);

  await touch("touchStart", [px, py]);
  for (let k = 1; k <= 10; k++) await touch("touchMove", [px + 5 * k, py]);
  await touch("touchEnd");
  await settled(page);

  const moved = (await state(page)).points;
  assert.ok(moved.some(({ x }, i) => x - points[i].x > 0.3));
  await page.getByRole("button", { name: "Add", exact: true }).tap();
  await page.touchscreen.tap(...(await pixel(page, { x: -3.5, y: 2.6 })));
  await settled(page);
  assert.equal((await state(page)).points.length, points.length + 1);
  await page.end();
});

test("regression shows its tube", async () => {
  const page = await open("margin");
  await page.getByLabel("Task", { exact: true }).selectOption("regression");
  await page.locator('[data-number="Outside of the tube"]').waitFor();
  await settled(page);
  const vectors = (await number(page, "Support vectors")).split(" ")[0];

  const certificate = runCommand(await code(page, "Command line"));

  assert.match(certificate, new RegExp(`; ${vectors} support vectors`));
  await page.getByLabel("epsilon, exact value").fill("2");
  await page.getByLabel("epsilon, exact value").press("Enter");
  await page.locator('[data-number="Outside of the tube"]', { hasText: /^0 of 45$/ }).waitFor();
  await page.end();
});

test("an indefinite kernel has no duality gap", async () => {
  const page = await open("margin");
  await page.getByRole("button", { name: "Circles" }).click();
  await page.getByLabel("Kernel", { exact: true }).selectOption("sigmoid");
  await page.locator('[data-number="Relative duality gap"]', { hasText: "withdrawn" }).waitFor();

  assert.match(await page.locator(".pg-certificate").innerText(), /The duality gap is withdrawn: kernel is not positive semi-definite/);
  await page.end();
});

test("what cannot be fitted is explained", async () => {
  const page = await open("margin", { expectErrors: true });
  await usePoints(page, "0,0,A\n1,1,A");
  assert.match(await page.locator(".finding").innerText(), /only one class/);
  await page.getByLabel("Kernel", { exact: true }).selectOption("formula");
  await page.getByLabel("Formula").fill("rbf(");
  await page.getByLabel("Formula").press("Enter");
  await page.waitForTimeout(300);
  assert.ok((await page.locator(".finding").innerText()).length > 20);
  await page.locator(".point-table summary").click();
  await page.locator(".point-table textarea").fill("x1,x2,class\n1,oops,A");
  await page.getByRole("button", { name: "Use these points" }).click();
  assert.match(await page.locator(".point-table [role=alert]").innerText(), /Line 2: found “1,oops,A”/);
  await page.end();
});

test("Gaussian classes, priors and the sigmoid", async () => {
  const page = await open("bayes");
  assert.equal(await number(page, "prior A"), "0.5");
  await page.getByRole("button", { name: "One covariance" }).click();
  await settled(page);
  const certificate = runCommand(await code(page, "Command line"));
  assert.match(certificate, /lda fitted/);
  const before = await page.locator(".sigmoid path.lda").getAttribute("d");
  await page.getByLabel("Priors").selectOption("weights");
  await page.getByLabel("prior of A, exact value").fill("3");
  await page.getByLabel("prior of A, exact value").press("Enter");
  await page.locator('[data-number="prior A"]', { hasText: "0.75" }).waitFor();
  assert.notEqual(await page.locator(".sigmoid path.lda").getAttribute("d"), before);
  for (const model of ["gaussian-nb", "qda", "rda"]) {
    await page.getByLabel("Model", { exact: true }).selectOption(model);
    await settled(page);
    assert.match(await number(page, "Training errors"), /of 80/);
  }
  await page.end();
});

test("candies and tables have the numbers of the lecture", async () => {
  const page = await open("bayes");
  await page.getByRole("button", { name: "Draw a lime" }).click();
  await page.locator('[data-number="next lime"]', { hasText: /^0\.65$/ }).waitFor();
  assert.equal(await number(page, "evidence"), "0.5");
  const posterior = await page.locator(".candy tbody tr td:last-child").allInnerTexts();
  assert.deepEqual(posterior, ["0", "0.1", "0.4", "0.3", "0.2"]);
  const fractions = await page.locator(".joint .fraction").allInnerTexts();
  assert.ok(fractions.includes("195/365 = 0.5342") && fractions.includes("5/365 = 0.0137"));
  await page.getByLabel("Show").selectOption("first_given_second");
  assert.ok((await page.locator(".joint .fraction").allInnerTexts()).includes("5/65 = 0.07692"));
  await page.end();
});

test("evidence moves the beliefs of a network", async () => {
  const page = await open("network", { expectErrors: true });
  await page.getByRole("button", { name: /^JohnCalls = true/ }).click();
  await page.getByRole("button", { name: /^MaryCalls = true/ }).click();
  // Russell & Norvig: 0.284.
  await page.locator('[data-number="Burglary=true"]', { hasText: /^0\.284$/ }).waitFor();

  const printed = runCommand(await code(page, "Command line"));

  assert.match(printed, /0\.284/);
  await page.getByLabel("First variable").selectOption("Burglary");
  await page.getByLabel("Second variable").selectOption("Earthquake");
  await page.getByText("Not separated").waitFor();
  assert.equal(await page.locator(".edge.active").count(), 2);
  await page.getByRole("button", { name: "Clear the evidence" }).click();
  await page.getByText("a collider, and neither it nor a descendant is observed").waitFor();
  await page.getByRole("button", { name: "Chest clinic" }).click();
  await page.getByRole("button", { name: /^xray = yes/ }).waitFor();
  await picture(page, "network-asia");
  await page.locator("summary", { hasText: "as BIF text" }).click();
  await page.locator("textarea").fill("network broken {");
  await page.getByRole("button", { name: "Use this network" }).click();
  await page.locator("[role=alert]").waitFor();
  await page.end();
});

/** Opens a table of two Gaussian classes in the studio and compares two classifiers on it. */
async function train(page) {
  let seed = 7;
  const uniform = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
  const rows = Array.from({ length: 300 }, (_, i) => {
    const sick = i % 4 === 0;
    return `${((sick ? 1.3 : 0) + normal()).toFixed(3)},${((sick ? 0.8 : 0) + normal()).toFixed(3)},${sick ? "sick" : "healthy"}`;
  });
  await page.evaluate(async (csv) => {
    const { call, openFile } = await import("/assets/lib/engine.js");
    const { refresh } = await import("/assets/lib/store.js");
    await openFile(new File([csv], "screening.csv"));
    await call("data.target", { target: "state" });
    await call("train.start", { candidates: [{ model: "logistic" }, { model: "gaussian-nb" }] });
    while ((await call("train.state")).is_running) await new Promise((resolve) => setTimeout(resolve, 100));
    await refresh();
  }, `a,b,state\n${rows.join("\n")}\n`);
}

test("costs, rejection and priors change decisions, and are stored in the model", async () => {
  const page = await open("decisions", { expectErrors: true });
  await train(page);
  await page.locator('[data-number="cost"]').waitFor();
  assert.equal(await number(page, "cost"), await number(page, "plain cost"));

  await page.getByLabel("Cost of predicting healthy for sick").fill("10");
  await page.getByLabel("Cost of predicting healthy for sick").press("Enter");
  await page.waitForFunction(() => document.querySelector('[data-number="cost"]').innerText !== document.querySelector('[data-number="plain cost"]').innerText);

  assert.ok(Number(await number(page, "cost")) < Number(await number(page, "plain cost")));
  assert.equal(await page.getByLabel("threshold, exact value").inputValue(), "0.09091"); // 1 / 11
  await page.getByLabel("allow no answer").check();
  await page.locator('[data-number="rejected"]').waitFor();
  await page.getByLabel("differ from the table").check();
  await page.getByLabel("sick, exact value").fill("0.05");
  await page.getByLabel("sick, exact value").press("Enter");
  await page.waitForTimeout(400);
  await page.getByRole("button", { name: "Store in the model" }).click();
  await page.getByText("The rule is part of the model now").waitFor();
  const bytes = await page.evaluate(async () => {
    const { modelFile } = await import("/assets/lib/engine.js");
    return [...new Uint8Array(await (await modelFile()).arrayBuffer())];
  });
  writeFileSync(join(studio.folder, "model.mercer"), Uint8Array.from(bytes));
  const printed = runCommand(`mercer decide model.mercer --reject 0.3 --out other.mercer`);
  assert.match(printed, /true class `sick`: predicting healthy costs 10/);
  assert.match(printed, /new priors change the odds/);
  // The copied command has the same costs.
  assert.match(runCommand(await code(page, "Command line")), /predicting healthy costs 10/);
  await picture(page, "decisions");
  await checkAccessibility(page, "decisions");
  await page.end();
});

test("pages have no serious accessibility findings, light, dark and narrow", async () => {
  for (const screen of ["margin", "bayes", "network"]) {
    for (const [name, options] of [
      ["light", {}],
      ["dark", { colorScheme: "dark" }],
      ["narrow", { viewport: { width: 400, height: 800 } }],
    ]) {
      const page = await open(screen, options);
      await picture(page, `${screen}-${name}`);
      await page.locator("details").evaluateAll((all) => all.forEach((node) => (node.open = true)));
      await page.waitForTimeout(200);
      await checkAccessibility(page, `${screen}, ${name}`);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(overflow <= 0, `${screen}, ${name}: ${overflow} pixels wider than the window`);
      await page.end();
    }
  }
});
