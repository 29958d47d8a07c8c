// Pictures of the reports of runs: `node pictures.mjs RUNS PICTURES` makes one for every folder in RUNS.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { launch, open } from "./browser.mjs";

const [runs, pictures] = process.argv.slice(2);
const browser = await launch();
for (const name of readdirSync(runs).sort()) {
  const { page, context, complaints } = await open(browser, pathToFileURL(join(runs, name, "report.html")).href, {
    viewport: { width: 720, height: 700 },
  });
  await page.waitForFunction(() => window.dalembert);
  await page.evaluate(() => {
    const { stage, clock } = window.dalembert;
    stage.shown.ghosts = true;
    stage.shown.trails = stage.motion.animation.nodes.length < 12;
    stage.refresh();
    stage.canvas.parentElement.style.height = "360px";
    // An instant at which much has happened already and nothing is over.
    clock.seek(clock.start + 0.62 * (clock.end - clock.start));
  });
  await page.waitForTimeout(300);
  await page.evaluate(() => window.dalembert.stage.look("best"));
  await page.waitForTimeout(300);
  await page.locator(".dv-picture").screenshot({ path: join(pictures, `${name}.png`) });
  if (complaints.length > 0) throw new Error(`${name}: ${complaints.join("; ")}`);
  await context.close();
}
await browser.close();
