// Frames per second at 1280 × 720: a leech of 200 segments, and 1000 boxes.
import { writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { launch, open } from "./browser.mjs";
import { folder, report } from "./tool.mjs";

const LEECH = `
[scene]
title = "A leech of 200 segments"

[assembly.leech]
kind = "skeleton"
segments = 200
length = 20
half_widths = [0.39, 0.39]
corner_mass = 0.01
compartments = "each"
longitudinal = { stiffness = 16, rest_length = 0.05, damping = 0.1, activation = { expression = "0.5 + 0.4*z*sin(2*pi*(t - 3*s))" } }
circular = { stiffness = 16, rest_length = 0.05, damping = 0.1, activation = 0.75 }

[run]
until = 0.5
tolerance = 1e-4

[output]
every = 0.005
channels = ["energy.*"]
`;

const BOXES = `
[scene]
title = "1000 boxes"

[world]
gravity = [0, 0, -9.81]

[[repeat]]
index = "i"
from = 0
to = 999
[repeat.body."box{i}"]
kind = "rigid"
mass = 1
inertia = [0.010, 0.012, 0.014]
position = ["= mod(i, 10)", "= mod(floor(i/10), 10)", "= floor(i/100)"]
velocity = ["= 0.1*mod(i, 7)", 0, 9.81]
angular_velocity = ["= 1 + mod(i, 5)", "= mod(i, 3)", 2]

[run]
until = 2
tolerance = 1e-5

[output]
every = 0.02
channels = ["energy.*"]
`;

const browser = await launch();
const rows = [];
for (const [name, text] of [["leech-200", LEECH], ["boxes-1000", BOXES]]) {
  const file = join(folder, `${name}.toml`);
  writeFileSync(file, text);
  const { page, context } = await open(browser, report(file), { viewport: { width: 1320, height: 900 } });
  await page.waitForFunction(() => window.dalembert);
  const figures = await page.evaluate(async () => {
    const { stage, clock } = window.dalembert;
    const picture = stage.canvas.parentElement;
    picture.style.cssText = "position:fixed;left:0;top:0;width:1280px;height:720px;z-index:9";
    await new Promise((resolve) => setTimeout(resolve, 500));
    stage.look("best");
    const gl = stage.renderer.getContext();
    const pixel = new Uint8Array(4);
    const began = performance.now();
    let frames = 0;
    let scene = 0;
    while (performance.now() - began < 6000) {
      const before = performance.now();
      clock.seek(clock.start + ((frames * 0.013) % 1) * (clock.end - clock.start));
      scene += performance.now() - before;
      stage.draw();
      // Reading a pixel waits until the picture is complete.
      gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
      frames++;
      if (frames % 20 === 0) await new Promise((resolve) => setTimeout(resolve));
    }
    const seconds = (performance.now() - began) / 1000;
    const info = gl.getExtension("WEBGL_debug_renderer_info");
    return {
      size: `${stage.canvas.width} × ${stage.canvas.height}`,
      rate: frames / seconds,
      share: scene / (10 * seconds),
      triangles: stage.renderer.info.render.triangles,
      calls: stage.renderer.info.render.calls,
      renderer: info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : "?",
    };
  });
  rows.push({ name, ...figures });
  await context.close();
}
await browser.close();
console.log(`${cpus().length} processors with ${loadavg()[0].toFixed(1)} programs at work on average in the last minute`);
for (const r of rows) {
  const work = `${r.triangles} triangles in ${r.calls} calls, ${r.share.toFixed(0)} % of the time in JavaScript`;
  console.log(`${r.name}: ${r.rate.toFixed(1)} frames per second at ${r.size} (${work}; ${r.renderer})`);
}
