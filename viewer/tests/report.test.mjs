// Reports in a browser: they open without complaint, and view, plots and events share one time.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { PATIENCE, launch, open } from "./browser.mjs";
import { folder, report, tool } from "./tool.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

/** Where the solid of a node is drawn. */
const drawn = (page, node) => page.evaluate((node) => window.dalembert.stage.drawnAt(node), node);
const time = (page) => page.evaluate(() => window.dalembert.clock.time);

/** Waits until something holds. */
const eventually = async (holds) => {
  for (let tries = 0; tries < PATIENCE / 50; tries++) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail(`still not so: ${holds}`);
};

test("a leech: scrubbing moves bodies, events and plots jump", async () => {
  const { page, context, complaints } = await open(browser, report("leech"));
  await page.waitForFunction(() => window.dalembert);
  const start = await drawn(page, 0);
  await page.locator(".dv input[type=range]").evaluate((input) => {
    input.value = "500";
    input.dispatchEvent(new Event("input"));
  });
  assert.ok(Math.abs((await time(page)) - 0.3) < 1e-9);
  const later = await drawn(page, 0);
  assert.ok(Math.hypot(...later.map((c, k) => c - start[k])) > 1, `${start} → ${later}`);

  // The view shows what was recorded, to its rounding and the interpolation between frames.
  const recorded = await page.evaluate(() => {
    const { motion } = window.dalembert;
    const sample = motion.sample();
    motion.at(0.3, sample);
    return [...sample.at.slice(0, 3)];
  });
  recorded.forEach((c, k) => assert.ok(Math.abs(c - later[k]) < 1e-5));

  const row = page.locator("#events tbody tr").nth(2);
  const told = Number(await row.locator("td").nth(1).textContent());
  await row.click();
  assert.ok(Math.abs((await time(page)) - told) < 1e-6, `${await time(page)} is not ${told}`);
  await eventually(async () => (await page.locator("#events tr.dv-now").count()) === 1);

  const plot = page.locator("figure svg:has(g.time-axis)").first();
  await plot.scrollIntoViewIfNeeded();
  const cursor = () => plot.locator("line.dv-cursor").getAttribute("x1").then(Number);
  const x = await cursor();
  await page.evaluate(() => window.dalembert.clock.seek(0.6));
  // The cursor moves with the next frame, which takes its time without a graphics card.
  await eventually(async () => (await cursor()) > x);
  const box = await plot.boundingBox();
  await page.mouse.click(box.x + box.width * 0.5, box.y + box.height * 0.5);
  assert.ok((await time(page)) > 0.1 && (await time(page)) < 0.5);

  // Contacts press at this time and are drawn.
  const pressing = await page.evaluate(() => {
    const { motion, stage } = window.dalembert;
    stage.show(0.33);
    return { modes: [...stage.sample.modes], contacts: motion.animation.contacts.length };
  });
  assert.equal(pressing.contacts, 24);
  assert.ok(pressing.modes.some((mode) => mode > 0));
  for (const what of ["trails", "ghosts", "markers"]) await page.getByLabel(what).check();
  for (const colour of ["activation", "strain", "pressure", "body"]) await page.getByLabel("colour").selectOption(colour);
  for (const view of ["front", "side", "top", "oblique"]) await page.getByLabel("view", { exact: true }).selectOption(view);
  await page.getByLabel("follow").selectOption("3");
  await page.waitForTimeout(100);
  assert.deepEqual(complaints, []);
  await context.close();
});

test("keys play, stop, step and jump", async () => {
  const { page, context, complaints } = await open(browser, report("double-pendulum", "--until", "60"));
  await page.waitForFunction(() => window.dalembert);
  await page.locator(".dv").focus();
  await page.keyboard.press("End");
  assert.equal(await time(page), 60);
  await page.keyboard.press("Home");
  assert.equal(await time(page), 0);
  await page.keyboard.press("ArrowRight");
  const one = await time(page);
  assert.ok(one > 0 && one < 0.05);
  await page.keyboard.press(" ");
  await page.waitForFunction((one) => window.dalembert.clock.time > one + 0.1, one);
  await page.keyboard.press(" ");
  const held = await time(page);
  await page.waitForTimeout(200);
  assert.equal(await time(page), held);
  await page.keyboard.press("+");
  assert.equal(await page.evaluate(() => window.dalembert.clock.speed), 2);

  // Turns are unit quaternions, and the picture is not empty.
  const colours = await page.evaluate(() => {
    const { stage } = window.dalembert;
    stage.draw();
    const paper = document.createElement("canvas");
    [paper.width, paper.height] = [stage.canvas.width, stage.canvas.height];
    const context = paper.getContext("2d");
    context.drawImage(stage.canvas, 0, 0);
    return new Set(new Uint32Array(context.getImageData(0, 0, paper.width, paper.height).data.buffer)).size;
  });
  assert.ok(colours > 20, `${colours} colours`);
  assert.deepEqual(complaints, []);
  await context.close();
});

test("light, dark and paper", async () => {
  const { page, context, complaints } = await open(browser, report("bouncing-ball"), { colorScheme: "dark" });
  await page.waitForFunction(() => window.dalembert);
  const background = () => page.evaluate(() => window.dalembert.stage.scene.background.getHexString());
  assert.equal(await background(), "171b21");
  await page.getByLabel("light or dark").click();
  assert.equal(await background(), "ffffff");
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  await page.emulateMedia({ media: "print" });
  assert.ok(await page.locator(".dv-paper").isVisible());
  assert.ok(!(await page.locator(".dv canvas").isVisible()));
  assert.deepEqual(complaints, []);
  await context.close();
});

test("without WebGL the rest of the page stays", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  const faults = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  await page.addInitScript(() => {
    HTMLCanvasElement.prototype.getContext = () => null;
  });
  await page.goto(report("bouncing-ball"));
  await page.getByText("The view in space cannot be shown here").waitFor();
  assert.ok(await page.locator("figure.motion svg").isVisible());
  assert.ok((await page.locator("figure svg").count()) > 3);
  assert.deepEqual(faults, []);
  await context.close();
});

test("scenes of every kind open without complaint", async () => {
  for (const scene of ["rolling-disc", "block-on-belt", "cradle", "andrews", "heavy-top", "car-axis"]) {
    const { page, context, complaints } = await open(browser, report(scene));
    await page.waitForFunction(() => window.dalembert);
    const solids = await page.evaluate(() => window.dalembert.motion.animation.solids.length);
    assert.ok(solids > 0, scene);
    await page.evaluate(() => window.dalembert.clock.seek(window.dalembert.clock.end));
    await page.waitForTimeout(100);
    assert.deepEqual(complaints, [], scene);
    await context.close();
  }
});

const SHAPES = `
[body.top]
kind = "rigid"
mass = 1
inertia = [0.01, 0.012, 0.014]
velocity = [1, 0, 0]
shape = [
  { mesh = { file = "wedge.obj" }, colour = "#ff0000" },
  { capsule = { radius = 0.05, length = 0.3 }, at = [0, 0, 0.5] },
]
[run]
until = 2
`;

test("shapes and meshes of a scene are drawn in their colours", async () => {
  writeFileSync(join(folder, "wedge.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n");
  writeFileSync(join(folder, "shapes.toml"), SHAPES);
  const { page, context, complaints } = await open(browser, report(join(folder, "shapes.toml")));
  await page.waitForFunction(() => window.dalembert);
  const [start, names, red] = await page.evaluate(() => {
    const { stage, clock } = window.dalembert;
    stage.draw();
    const paper = document.createElement("canvas");
    [paper.width, paper.height] = [stage.canvas.width, stage.canvas.height];
    const context = paper.getContext("2d");
    context.drawImage(stage.canvas, 0, 0);
    const { data } = context.getImageData(0, 0, paper.width, paper.height);
    let red = 0;
    for (let i = 0; i < data.length; i += 4) if (data[i] > 120 && data[i + 1] < 40 && data[i + 2] < 40) red++;
    const names = [];
    stage.scene.traverse((thing) => thing.name.startsWith("solids.") && names.push(thing.name));
    const at = stage.drawnAt(0);
    clock.seek(2);
    return [at, names, red];
  });
  assert.deepEqual(names.sort(), ["solids.ball", "solids.cylinder", "solids.mesh0"]);
  assert.ok(red > 200, `${red} red points`);
  assert.ok(Math.abs((await drawn(page, 0))[0] - start[0] - 2) < 1e-3, "shapes move with their body");
  assert.deepEqual(complaints, []);
  await context.close();
});

test("a contact that has just lifted off is shown for a moment", async () => {
  const { page, context, complaints } = await open(browser, report("leech"));
  await page.waitForFunction(() => window.dalembert);
  const left = await page.evaluate(() => {
    const { stage, motion } = window.dalembert;
    const { time, marker } = motion.animation.events.find((event) => event.kind === "lift-off");
    const contact = motion.animation.contacts.findIndex((contact) => contact.name.endsWith(marker));
    const moment = 0.4 * motion.animation.pace;
    return [0.2, 0.5, 2].map((part) => {
      stage.show(time + part * moment);
      return [stage.sample.modes[contact], stage.contacts.lifted(contact, stage.sample.time)];
    });
  });
  assert.ok(left[0][0] === 0 && left[0][1] > 0.7, `${left}`);
  assert.ok(left[1][1] > 0.4 && left[1][1] < left[0][1], `${left}`);
  assert.equal(left[2][1], 0);
  await page.getByText("just lifted off").waitFor();
  assert.deepEqual(complaints, []);
  await context.close();
});

test("pictures and films are saved as files", async () => {
  const { page, context, complaints } = await open(browser, report("bouncing-ball", "--until", "1"), { acceptDownloads: true });
  await page.waitForFunction(() => window.dalembert);
  // Eight times as fast: half a second of film.
  await page.evaluate(() => (window.dalembert.clock.speed = 8));
  const begins = { PNG: "89504e47", GIF: "47494638", WebM: "1a45dfa3" };
  for (const [kind, bytes] of Object.entries(begins)) {
    const coming = page.waitForEvent("download");
    await page.getByRole("button", { name: `as ${kind}` }).click();
    const file = await coming;
    assert.ok(file.suggestedFilename().endsWith(`.${kind.toLowerCase()}`), file.suggestedFilename());
    assert.equal(readFileSync(await file.path()).subarray(0, 4).toString("hex"), bytes, kind);
  }
  assert.deepEqual(complaints, []);
  await context.close();
});

test("modes: one after another is chosen and moves with its own period", async () => {
  const out = join(folder, "modes");
  execFileSync(tool, ["study", "modes", "double-pendulum", "--out", out], { stdio: "ignore" });
  const { page, context, complaints } = await open(browser, pathToFileURL(join(out, "report.html")).href);
  await page.waitForFunction(() => window.dalembert);
  const options = await page.locator(".dv-choice option").allTextContents();
  assert.equal(options.length, 2);
  assert.ok(options.every((text) => text.includes("Hz")), `${options}`);
  const ends = [];
  for (const mode of ["0", "1"]) {
    await page.locator(".dv-choice select").selectOption(mode);
    const end = await page.evaluate(() => window.dalembert.clock.end);
    const places = await page.evaluate((end) => {
      const { clock, stage } = window.dalembert;
      clock.pause();
      return [0, 0.5, 1].map((part) => {
        clock.seek(part * end);
        stage.draw();
        return stage.drawnAt(1);
      });
    }, end);
    const apart = (a, b) => Math.hypot(...a.map((c, k) => c - b[k]));
    // In the second mode the lower rod turns about a point near its middle, which moves little.
    assert.ok(apart(places[0], places[1]) > (mode === "0" ? 0.1 : 0.005), `mode ${mode}: ${places}`);
    assert.ok(apart(places[0], places[2]) < 1e-4, `mode ${mode}: ${places}`);
    ends.push(end);
  }
  assert.ok(ends[1] < 0.6 * ends[0], `${ends}`);
  assert.deepEqual(complaints, []);
  await context.close();
});
