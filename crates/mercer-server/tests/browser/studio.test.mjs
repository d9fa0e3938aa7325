// The studio in a real browser: every screen by clicking, its numbers against the command line, and axe-core.

import { after, test } from "node:test";
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkAccessibility, closeAll, example, fit, goTo, mercer, openPage, picture, startStudio } from "./harness.mjs";

after(closeAll);

const penguins = example("penguins.csv");

/** The text of every match. */
const texts = (page, selector) => page.$$eval(selector, (nodes) => nodes.map((node) => node.textContent.trim()));
const number = (text) => Number(text.replace("−", "-").replace("+", "").replace(" %", ""));

test("the data screen shows the profile and the findings of the command line", async () => {
  const studio = await startStudio(penguins);
  const { page, close } = await openPage(studio);
  await page.waitForSelector("table.columns");
  await page.selectOption("label:has-text('Target') select", "species");
  await page.waitForSelector("text=classification");

  const expected = mercer("profile", penguins, "--target", "species");
  const rows = await page.$$eval("table.columns tbody tr", (all) =>
    all.map((row) => ({
      name: row.querySelector("th").firstChild.textContent.trim(),
      type: row.querySelector("select").value,
      missing: row.children[2].textContent,
    })),
  );
  assert.equal(rows.length, expected.columns.length);
  for (const [k, column] of expected.columns.entries()) {
    assert.equal(rows[k].name, column.name);
    assert.equal(rows[k].type, column.type);
    const shown = column.missing === 0 ? "none" : `${column.missing} rows`;
    assert.ok(rows[k].missing.includes(shown), `${column.name}: ${rows[k].missing}`);
  }
  const codes = mercer("check", penguins, "--target", "species").map((finding) => finding.code);
  assert.deepEqual(await texts(page, ".findings .code"), codes);
  await checkAccessibility(page, "Data");
  await picture(page, "data");

  await page.selectOption("select[aria-label='Type of year']", "categorical");
  await page.waitForSelector("text=chosen by you");
  await page.click("summary:has-text('Rows')");
  await page.waitForSelector("table.rows");
  await page.click("summary:has-text('The same in code')");
  const command = await page.textContent(".code-panel pre");
  assert.match(command, /mercer profile examples\/data\/penguins.csv --target species --column year=categorical/);
  await page.keyboard.press("Tab");
  await page.click("button[role=tab]:has-text('Python')");
  await page.keyboard.press("ArrowRight");
  assert.match(await page.textContent(".code-panel pre"), /Source::open/);
  await checkAccessibility(page, "Data with code");
  await close();
  studio.close();
});

test("the best of the portfolio, the leaderboard and the model are those of the command line", async () => {
  const studio = await startStudio(penguins, "--target", "species");
  const { page, close } = await openPage(studio);
  await page.waitForSelector("table.columns");
  await fit(page, null);
  assert.match(await page.textContent(".certificate-text"), /^converged: duality gap/);
  await checkAccessibility(page, "Train");
  await picture(page, "train");

  const out = join(studio.folder, "penguins.mercer");
  const trained = mercer("train", penguins, "--target", "species", "--out", out, "--no-report");
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("text=Download the model")]);
  assert.deepEqual(readFileSync(await download.path()), readFileSync(out));

  await goTo(page, "Leaderboard");
  await page.waitForSelector("figure");
  await page.click("text=Show all");
  const shown = await page.$$eval("table.board tbody tr", (rows) =>
    rows.map((row) => [row.children[1].firstElementChild.textContent, row.children[2].textContent]));
  const expected = trained.leaderboard.rows.map((row) => [row.name, row.score.toFixed(4)]);
  assert.deepEqual(shown, expected);
  assert.equal(await page.locator("figure svg").count(), 3);
  await checkAccessibility(page, "Leaderboard");
  await picture(page, "leaderboard");
  await page.click(`table.board button:text-is("${expected[5][0]}")`);
  await page.waitForSelector(`h2:text-is("${expected[5][0]}")`);
  await page.click("text=Fit to all rows");
  await page.waitForSelector("text=is fitted:");
  await close();
  studio.close();
});

test("the errors screen opens the rows of a cell", async () => {
  const studio = await startStudio(penguins, "--target", "species");
  const { page, close } = await openPage(studio);
  await page.waitForSelector("table.columns");
  await fit(page, "tan");
  await goTo(page, "Errors");
  await page.waitForSelector("table.matrix");
  const counts = (await texts(page, ".matrix .cell")).map(number);
  assert.equal(counts.reduce((a, b) => a + b, 0), 344);
  const [pair] = await texts(page, ".pairs li .number");
  await page.click(".pairs button");
  await page.waitForSelector("table.rows");
  assert.equal(await page.locator("table.rows tbody tr").count(), Number(pair));
  assert.ok((await page.locator(".differences figure").count()) > 3);
  await checkAccessibility(page, "Errors");
  await picture(page, "errors");
  await page.click("table.rows tbody a");
  await page.waitForSelector("table.sum");
  await close();
  studio.close();
});

test("contributions are those of the command line, and a slider moves the prediction", async () => {
  const studio = await startStudio(penguins, "--target", "species");
  const { page, close } = await openPage(studio);
  await page.waitForSelector("table.columns");
  await fit(page, "logistic", { C: "10" });
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("text=Download the model")]);
  const expected = mercer("explain", await download.path(), penguins, "--row", "1");
  await goTo(page, "Why");
  await page.waitForSelector("table.sum");
  await page.waitForSelector(".flip");

  const classes = expected.classes.map((label) => String(typeof label === "object" ? Object.values(label)[0] : label));
  for (const [c, name] of classes.entries()) {
    const p = expected.posterior[c];
    const text = await page.textContent(`[data-class="${name}"]`);
    const value = text.startsWith("1 − ") ? 1 - Number(text.slice(4)) : text.includes("%") ? number(text) / 100 : Number(text);
    assert.ok(Math.abs(value - p) < 1e-3 * Math.max(p, 1e-12) + 6e-5, `${name}: ${text} is not ${p}`);
  }
  const total = expected.scores[expected.winner] - expected.scores[expected.runner_up];
  assert.ok(Math.abs(number(await page.textContent("[data-total]")) - total) < 2e-3 * Math.abs(total));
  const rows = await page.$$eval("table.sum tbody tr", (all) => all.map((row) => [row.children[0].textContent, row.children[3].textContent]));
  const body = expected.terms.filter((term) => term.column.startsWith("body_mass_g"));
  const mass = body.reduce((sum, term) => sum + term.contribution, 0);
  const shown = number(rows.find(([name]) => name === "body_mass_g")[1]);
  assert.ok(Math.abs(shown - mass) < 1e-3, `${shown} is not ${mass}`);
  await checkAccessibility(page, "Why");
  await picture(page, "why");

  const before = await page.textContent("[data-total]");
  await page.focus("input[type=range][aria-label=bill_length_mm]");
  for (let k = 0; k < 30; k += 1) await page.keyboard.press("ArrowRight");
  await page.waitForFunction((text) => document.querySelector("[data-total]").textContent !== text, before);
  await page.click("text=Undo all changes");
  await page.waitForFunction((text) => document.querySelector("[data-total]").textContent === text, before);
  const promised = await page.$$eval(".flip strong", (all) => all[2].textContent);
  await page.click(".flip button");
  await page.waitForFunction((name) => document.querySelector(".headline strong").textContent === name, promised);
  await close();
  studio.close();
});

test("tokens of a text can be struck", async () => {
  const studio = await startStudio(example("mail.tsv"), "--target", "label");
  const { page, close } = await openPage(studio);
  await page.waitForSelector("table.columns");
  await fit(page, "multinomial-nb");
  await goTo(page, "Why");
  await page.waitForSelector(".token");
  const before = number(await page.textContent("[data-total]"));
  assert.match(await page.textContent(".strikes"), /strongest tokens? of body/);
  await page.click(".token.for");
  await page.waitForSelector(".token.struck");
  await page.waitForFunction((old) => Number(document.querySelector("[data-total]").textContent) < old, before);
  await checkAccessibility(page, "Why this text");
  await picture(page, "text");
  await page.click("text=Restore all tokens");
  await page.waitForFunction((old) => Number(document.querySelector("[data-total]").textContent) === old, before);
  await page.click("text=Edit the text");
  await page.fill("textarea", "Win money today, dear winner");
  await page.click("button:text-is('Predict')");
  await page.waitForFunction(() => document.querySelector(".headline strong").textContent === "spam");
  await close();
  studio.close();
});

test("a regression table that is dropped on the page goes through every screen, in the dark", async () => {
  const studio = await startStudio();
  const { page, close } = await openPage(studio, { colorScheme: "dark" });
  await page.waitForSelector("text=Drop a table here");
  await checkAccessibility(page, "Data without a table");
  const lines = ["id,area,rooms,district,price"];
  for (let i = 0; i < 150; i += 1) {
    const area = 30 + ((i * 37) % 90);
    lines.push(`f${i},${i % 19 ? area : ""},${1 + (i % 5)},${["north", "south"][i % 2]},${3 * area + 25 * (i % 2) + ((i * 7919) % 23)}.5`);
  }
  await page.evaluate((text) => {
    const data = new DataTransfer();
    data.items.add(new File([text], "flats.csv"));
    window.dispatchEvent(new DragEvent("drop", { dataTransfer: data, cancelable: true }));
  }, lines.join("\n"));
  await page.waitForSelector("table.columns");
  await page.selectOption("label:has-text('Target') select", "price");
  await page.waitForSelector("text=regression");
  const path = join(studio.folder, "flats.csv");
  writeFileSync(path, lines.join("\n"));
  const codes = mercer("check", path, "--target", "price").map((finding) => finding.code);
  assert.ok(codes.includes("MRC008"));
  assert.deepEqual(await texts(page, ".findings .code"), codes);
  await checkAccessibility(page, "Data in the dark");
  await fit(page, "ridge");
  await checkAccessibility(page, "Train in the dark");
  await goTo(page, "Leaderboard");
  await page.waitForSelector("figure");
  await checkAccessibility(page, "Leaderboard in the dark");
  await goTo(page, "Errors");
  await page.waitForSelector(".bins");
  await page.click(".bins button:not([disabled])");
  await page.waitForSelector("table.rows");
  await checkAccessibility(page, "Errors in the dark");
  await picture(page, "residuals-dark");
  await goTo(page, "Why");
  await page.waitForSelector("table.sum");
  await checkAccessibility(page, "Why in the dark");
  await picture(page, "why-dark");
  await close();
  studio.close();
});

test("screens open by keyboard, and the theme can be chosen", async () => {
  const studio = await startStudio(penguins, "--target", "species");
  const { page, close } = await openPage(studio);
  await page.waitForSelector("table.columns");
  await page.keyboard.press("Alt+2");
  await page.waitForSelector("h1:text-is('Train')");
  await page.waitForFunction(() => document.activeElement?.id === "heading");
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background();
  await page.click("button.theme");
  await page.click("button.theme");
  assert.equal(await page.getAttribute("html", "data-theme"), "dark");
  assert.notEqual(await background(), light);
  await page.keyboard.press("Alt+3");
  await page.waitForSelector("h1:text-is('Leaderboard')");
  await close();
  studio.close();
});

test("the page asks for the token if the address has none", async () => {
  const studio = await startStudio(penguins);
  const { page, close } = await openPage({ url: studio.url.split("#")[0] }, { expectErrors: true });
  await page.waitForSelector("h1:text-is('Token')");
  await checkAccessibility(page, "Token");
  await page.fill("input[type=password]", studio.url.split("#token=")[1]);
  await page.click("text=Continue");
  await page.waitForSelector("table.columns");
  await close();
  studio.close();
});

test("a table of a million rows leaves the page usable", async () => {
  const studio = await startStudio();
  const { page, close } = await openPage(studio);
  await page.waitForSelector("text=Drop a table here");
  const parts = ["x,y,kind\n"];
  for (let i = 0; i < 1_000_000; i += 1) parts.push(`${(i * 7919) % 10007},${i % 97},${i % 3 ? "a" : "b"}\n`);
  const path = join(studio.folder, "million.csv");
  writeFileSync(path, parts.join(""));
  await page.setInputFiles("input[type=file]", path);
  await page.waitForSelector("text=Reading million.csv");
  await page.click("button.theme");
  assert.equal(await page.getAttribute("html", "data-theme"), "light");
  await page.waitForSelector("table.columns", { timeout: 120_000 });
  assert.match(await page.textContent("main"), /1,000,000 rows/);
  assert.match(await page.textContent("main"), /random\s+sample of [\d,]+ rows/);
  await close();
  studio.close();
});
