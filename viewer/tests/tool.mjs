// The command line under test.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** The program; `cargo xtask browser` names it. */
export const tool = process.env.DALEMBERT ?? "dalembert";

/** A folder that goes away after the tests. */
export const folder = mkdtempSync(join(tmpdir(), "dalembert-viewer-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

/** Runs a scene and gives the address of its report. */
export function report(scene, ...settings) {
  const out = join(folder, scene.replace(/\W+/g, "-"));
  execFileSync(tool, ["run", scene, "--quiet", "--out", out, ...settings], { stdio: "inherit" });
  return pathToFileURL(join(out, "report.html")).href;
}

/** Starts the studio; gives its address and the process. */
export async function studio(scene, ...options) {
  const server = spawn(tool, ["view", scene, "--no-open", ...options], { stdio: ["ignore", "pipe", "inherit"] });
  process.on("exit", () => server.kill());
  const address = await new Promise((resolve, reject) => {
    let text = "";
    server.stdout.on("data", (part) => {
      text += part;
      const line = text.match(/http:\S+/);
      if (line && text.includes("\n")) resolve(line[0]);
    });
    server.on("exit", (code) => reject(new Error(`the studio ended with ${code}`)));
  });
  // The server ends with the tests, and does not keep them from ending.
  server.removeAllListeners("exit");
  server.unref();
  server.stdout.unref();
  return { address, process: server };
}
