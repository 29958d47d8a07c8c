// Builds the viewer into one script, dist/viewer.js, which the command line takes in.
import { build } from "esbuild";
import { statSync } from "node:fs";

const outfile = new URL("dist/viewer.js", import.meta.url).pathname;
await build({
  entryPoints: [new URL("src/main.ts", import.meta.url).pathname],
  outfile,
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "utf8",
  legalComments: "inline",
  loader: { ".css": "text" },
  logLevel: "warning",
});
console.log(`dist/viewer.js: ${(statSync(outfile).size / 1000).toFixed(0)} kB`);
