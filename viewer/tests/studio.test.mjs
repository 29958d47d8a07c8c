// The studio in a browser: it shows, obeys its own pages and nobody else.
import assert from "node:assert/strict";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import http from "node:http";
import net from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { launch, open } from "./browser.mjs";
import { folder, studio } from "./tool.mjs";

const SCENES = new URL("../../crates/dalembert/scenes/", import.meta.url).pathname;
let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

const done = (page) => page.waitForFunction(() => window.studio?.state?.status === "done");
const state = (page) => page.evaluate(() => ({ ...window.studio.state, end: window.studio.clock.end, epoch: window.studio.epoch }));

/** A request as no browser would send it. */
function request(address, { method = "GET", headers = {}, body, path } = {}) {
  const url = new URL(address);
  const all = body ? { "Content-Length": String(body.length), ...headers } : headers;
  return new Promise((resolve, reject) => {
    const sent = http.request({ host: url.hostname, port: url.port, method, path: path ?? url.pathname, headers: all }, (answer) => {
      answer.resume();
      answer.on("end", () => resolve(answer.statusCode));
    });
    sent.on("error", (error) => (error.code === "EPIPE" || error.code === "ECONNRESET" ? resolve(0) : reject(error)));
    if (body) sent.write(body);
    sent.end();
  });
}

/** Sends only the head of a request, and gives the code of the answer. */
function announce(address, line, header) {
  const { hostname, port, host } = new URL(address);
  return new Promise((resolve, reject) => {
    const socket = net.connect(Number(port), hostname, () => socket.write(`${line}\r\nHost: ${host}\r\n${header}\r\n\r\n`));
    socket.once("data", (data) => {
      resolve(Number(String(data).split(" ")[1]));
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

test("sliders run again, in all tabs", async () => {
  const { address } = await studio("bouncing-ball");
  const one = await open(browser, address);
  const two = await open(browser, address);
  await done(one.page);
  await done(two.page);
  const before = await state(one.page);
  assert.equal(before.end, 5);
  const impacts = before.events.length;
  await one.page.getByLabel("restitution", { exact: true }).evaluate((input) => {
    input.value = "0.4";
    input.dispatchEvent(new Event("input"));
  });
  for (const { page } of [one, two]) {
    await page.waitForFunction((epoch) => window.studio.epoch > epoch && window.studio.state.status === "done", before.epoch);
    const after = await state(page);
    assert.ok(after.events.length < impacts, "a ball that loses more bounces less often before it rests");
    assert.equal(after.parameters.find((p) => p.name === "restitution").value, 0.4);
  }
  // The run kept beside the next one shares its clock.
  await one.page.waitForFunction(() => window.studio.whole && window.studio.viewer.motion.times.length > 100);
  await one.page.getByLabel("keep this run beside").click();
  assert.equal(await one.page.locator(".dv").count(), 2);
  await one.page.getByLabel("keep this run beside").click();
  assert.equal(await one.page.locator(".dv").count(), 1);
  // The scene as it runs, and the motion as glTF.
  const scene = await one.page.evaluate(() => fetch("scene.toml").then((answer) => answer.text()));
  assert.match(scene, /restitution = \{ value = 0\.4, min = 0/);
  const model = await one.page.evaluate(() => fetch("motion.glb").then((a) => a.arrayBuffer()).then((b) => [...new Uint8Array(b.slice(0, 4))]));
  assert.equal(String.fromCharCode(...model), "glTF");
  assert.deepEqual([one.complaints, two.complaints], [[], []]);
  await one.context.close();
  await two.context.close();
});

test("runs are held, stepped, resumed and continued from now", async () => {
  const { address } = await studio("double-pendulum");
  const { page, context, complaints } = await open(browser, address);
  await done(page);
  await page.getByLabel("at the pace of the display").check();
  await page.waitForFunction(() => window.studio.state.status === "running" && window.studio.viewer.motion.times.length > 3);
  await page.evaluate(() => window.studio.order({ do: "pause" }));
  await page.waitForFunction(() => window.studio.state.status === "paused");
  const frames = () => page.evaluate(() => window.studio.viewer.motion.times.length);
  // Frames that were on their way come in; then there are no more, as long as one looks.
  let held = -1;
  for (let quiet = 0, tries = 0; quiet < 6; tries++) {
    assert.ok(tries < 6000, "frames come in though the run is held");
    const now = await frames();
    quiet = now === held ? quiet + 1 : 0;
    held = now;
    await page.waitForTimeout(50);
  }
  await page.getByLabel("go on to the next frame").click();
  await page.waitForFunction((held) => window.studio.viewer.motion.times.length > held, held);
  await page.waitForTimeout(200);
  assert.ok((await frames()) <= held + 8, "a step is one frame, or the few that one step of the integrator holds");
  const now = await page.evaluate(() => window.studio.clock.end);
  await page.getByLabel("from now").check();
  await page.evaluate(() => window.studio.run({}));
  await page.waitForFunction((now) => Math.abs(window.studio.clock.start - now) < 0.2 && window.studio.clock.start > 0, now);
  await page.getByLabel("from now").uncheck();
  await page.getByLabel("at the pace of the display").uncheck();
  await page.getByLabel("run from the start").click();
  await page.waitForFunction(() => window.studio.state.status === "done" && window.studio.clock.end === 10);
  assert.deepEqual(complaints, []);
  await context.close();
});

test("a file that changes runs again, and its faults appear with their line", async () => {
  const file = join(folder, "mine.toml");
  copyFileSync(join(SCENES, "bouncing-ball.toml"), file);
  const { address } = await studio(file);
  const { page, context, complaints } = await open(browser, address);
  await done(page);
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.replace('kind = "plane"', 'kind = "plain"'));
  const problem = page.locator(".ds-problem");
  await problem.waitFor({ state: "visible" });
  const line = text.split("\n").findIndex((line) => line.includes('kind = "plane"')) + 1;
  assert.match(await problem.textContent(), new RegExp(`mine\\.toml:${line}:`));
  assert.match(await problem.textContent(), /did you mean `plane`/);
  writeFileSync(file, text.replace("until = 5", "until = 3"));
  await problem.waitFor({ state: "hidden" });
  await page.waitForFunction(() => window.studio.state.status === "done" && window.studio.clock.end === 3);
  assert.deepEqual(complaints, []);
  await context.close();
});

test("strangers are refused", async () => {
  const { address } = await studio("bouncing-ball");
  const { origin, pathname } = new URL(address);
  const command = `${address}command`;
  const body = JSON.stringify({ do: "pause" });
  assert.equal(await request(address), 200);
  assert.equal(await request(command, { method: "POST", body, headers: { Origin: origin } }), 200);
  // Another page in the same browser, by its origin or by what the browser says of it.
  assert.equal(await request(command, { method: "POST", body, headers: { Origin: "http://evil.example" } }), 403);
  assert.equal(await request(command, { method: "POST", body, headers: { Origin: "null" } }), 403);
  assert.equal(await request(address, { headers: { "Sec-Fetch-Site": "cross-site" } }), 403);
  assert.equal(await request(`${address}stream`, { headers: { Origin: "http://127.0.0.1:1" } }), 403);
  // A name that was made to point here.
  assert.equal(await request(address, { headers: { Host: "evil.example" } }), 403);
  // No token, part of it, more of it, another one.
  const token = pathname.slice(1, -1);
  for (const path of ["/", "/viewer.js", `/${token.slice(0, -1)}/`, `/${token}0/`, `/${"0".repeat(32)}/`, `/${token}`]) {
    assert.equal(await request(address, { path }), 403, path);
  }
  // Nothing of the disk is to be had.
  for (const path of ["../../etc/passwd", "..%2f..%2fetc%2fpasswd", "%2e%2e/Cargo.toml", "/etc/passwd", "viewer.js/../../x"]) {
    assert.ok([403, 404].includes(await request(address, { path: `${pathname}${path}` })), path);
  }
  // Long bodies, told or not, and nonsense.
  const long = "x".repeat(200_000);
  for (const length of [String(long.length), "1000000000", "99999999999999999999"]) {
    assert.equal(await announce(address, `POST ${pathname}command HTTP/1.1`, `Content-Length: ${length}`), 413);
  }
  assert.equal(await announce(address, `POST ${pathname}command HTTP/1.1`, "Transfer-Encoding: chunked"), 411);
  assert.equal(await announce(address, `GET ${pathname} HTTP/1.1`, `X-Long: ${long}`), 431);
  assert.equal(await request(command, { method: "POST", body: long }), 413);
  assert.equal(await request(command, { method: "POST", body: "{" }), 400);
  assert.equal(await request(command, { method: "POST", body: JSON.stringify({ do: "delete" }) }), 400);
  assert.equal(await request(address, { method: "PUT" }), 405);
  assert.equal(await request(address), 200);
});

test("a page of another origin cannot reach it", async () => {
  const { address } = await studio("bouncing-ball");
  const { page } = await open(browser, address);
  await done(page);
  const epoch = await page.evaluate(() => window.studio.epoch);
  // Another server on this machine, which knows even the token.
  const other = http.createServer((_, answer) => answer.setHeader("Content-Type", "text/html").end("<p>other</p>"));
  await new Promise((resolve) => other.listen(0, "127.0.0.1", resolve));
  const stranger = await open(browser, `http://127.0.0.1:${other.address().port}/`);
  const reached = await stranger.page.evaluate(async (address) => {
    const order = { method: "POST", body: JSON.stringify({ do: "reset" }) };
    const tries = [fetch(address), fetch(`${address}command`, order), fetch(`${address}command`, { ...order, mode: "no-cors" })];
    const answers = await Promise.allSettled(tries);
    const frame = document.createElement("iframe");
    frame.src = address;
    document.body.append(frame);
    await new Promise((resolve) => setTimeout(resolve, 500));
    return answers.map(({ status }) => status);
  }, address);
  other.closeAllConnections();
  other.close();
  assert.deepEqual(reached, ["rejected", "rejected", "rejected"]);
  assert.equal(await page.evaluate(() => window.studio.epoch), epoch, "nothing was run again");
});

test("a hundred pages come and go", async () => {
  const { address } = await studio("bouncing-ball");
  for (let k = 0; k < 100; k++) {
    const stop = new AbortController();
    const answer = await fetch(`${address}stream`, { signal: stop.signal });
    assert.equal(answer.status, 200);
    const reader = answer.body.getReader();
    if (k % 3 === 0) await reader.read();
    stop.abort();
  }
  const { page, context, complaints } = await open(browser, address);
  await done(page);
  assert.deepEqual(complaints, []);
  await context.close();
});
