// The studio at 60 updates a second for some minutes: neither the server nor the page may grow.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { launch, open } from "./browser.mjs";
import { folder, studio } from "./tool.mjs";

const seconds = Number(process.argv[2] ?? 180);
const file = join(folder, "soak.toml");
// A pendulum for as long as the test lasts, with an output for every sixtieth of a second.
writeFileSync(
  file,
  `[parameters]
mass = { value = 1, min = 0.5, max = 2 }
[world]
gravity = [0, 0, -9.81]
[body.bob]
kind = "particle"
mass = "= mass"
position = [1, 0, 0]
[constraint.rod]
kind = "distance"
between = ["ground", "bob"]
length = 1
[run]
until = 20
tolerance = 1e-6
[output]
every = 0.01666
`,
);
const { address, process: server } = await studio(file);
const browser = await launch();
const { page, complaints } = await open(browser, address);
await page.waitForFunction(() => window.studio?.state?.status === "done");
const resident = () => Number(readFileSync(`/proc/${server.pid}/statm`, "utf8").split(" ")[1]) * 4096;
const heap = async () => {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  await session.detach();
  return usedSize;
};
const rows = [];
const began = Date.now();
let before = await page.evaluate(() => window.studio.messages);
while (Date.now() - began < 1000 * seconds) {
  // Every run of 20 s is followed by another with another mass.
  const mass = 0.5 + 1.5 * Math.random();
  await page.evaluate((mass) => {
    window.studio.inStep = true;
    return window.studio.run({ mass });
  }, mass);
  const next = Date.now() + 20_000;
  while (Date.now() < next) await page.waitForTimeout(500);
  const messages = await page.evaluate(() => window.studio.messages);
  const row = { time: (Date.now() - began) / 1000, server: resident() / 1e6, page: (await heap()) / 1e6, rate: (messages - before) / 20 };
  before = messages;
  rows.push(row);
  console.log(`${row.time.toFixed(0)} s: server ${row.server.toFixed(1)} MB, page ${row.page.toFixed(1)} MB, ${row.rate.toFixed(0)} messages per second`);
}
await browser.close();
server.kill();
const third = rows.slice(0, Math.max(1, Math.ceil(rows.length / 3)));
const most = (list, key) => Math.max(...list.map((row) => row[key]));
// Allocators and collectors breathe; growth beyond a tenth and a megabyte is not breath.
for (const key of ["server", "page"]) {
  const [first, all] = [most(third, key), most(rows, key)];
  if (all > 1.1 * first + 1) throw new Error(`the memory of the ${key} grew from ${first.toFixed(1)} to ${all.toFixed(1)} MB`);
}
if (complaints.length > 0) throw new Error(complaints.join("; "));
console.log("1 passed, 0 failed");
