// Pictures of the reports of runs: `node pictures.mjs RUNS PICTURES` makes one for every folder in RUNS.
import gifenc from "gifenc";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { deflateSync } from "node:zlib";
import { launch, open } from "./browser.mjs";

/** Colours of a picture: so that it stays small. */
const COLOURS = 96;
/** The largest picture, in bytes. */
const MOST_BYTES = 40_000;

/** The check sum of a chunk, ISO 3309. */
function crc32(bytes) {
  let sum = ~0;
  for (const byte of bytes) {
    sum ^= byte;
    for (let k = 0; k < 8; k++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
}

/** A PNG of few colours. */
function png(width, height, pixels) {
  const palette = gifenc.quantize(pixels, COLOURS, { format: "rgb565" });
  const numbers = gifenc.applyPalette(pixels, palette, "rgb565");
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y++) rows.set(numbers.subarray(y * width, (y + 1) * width), y * (width + 1) + 1);
  const chunk = (name, data) => {
    const body = Buffer.concat([Buffer.from(name), data]);
    const ends = Buffer.alloc(8);
    ends.writeUInt32BE(data.length, 0);
    ends.writeUInt32BE(crc32(body), 4);
    return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  // Eight bits, by palette.
  head.set([8, 3, 0, 0, 0], 8);
  const colours = Buffer.from(palette.flatMap(([r, g, b]) => [r, g, b]));
  const mark = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
  return Buffer.concat([mark, chunk("IHDR", head), chunk("PLTE", colours), chunk("IDAT", deflateSync(rows, { level: 9 })), chunk("IEND", Buffer.alloc(0))]);
}

/** The points of a picture, as the browser reads it. */
async function decoded(page, picture) {
  const [width, height, text] = await page.evaluate(async (text) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${text}`)).blob());
    const paper = new OffscreenCanvas(image.width, image.height).getContext("2d");
    paper.drawImage(image, 0, 0);
    const { data } = paper.getImageData(0, 0, image.width, image.height);
    let letters = "";
    for (let i = 0; i < data.length; i += 8192) letters += String.fromCharCode(...data.subarray(i, i + 8192));
    return [image.width, image.height, btoa(letters)];
  }, picture.toString("base64"));
  return [width, height, new Uint8Array(Buffer.from(text, "base64"))];
}

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
  const shot = await page.locator(".dv-picture").screenshot();
  const picture = png(...(await decoded(page, shot)));
  if (picture.length > MOST_BYTES) throw new Error(`${name}: ${picture.length} bytes, the limit is ${MOST_BYTES}`);
  writeFileSync(join(pictures, `${name}.png`), picture);
  if (complaints.length > 0) throw new Error(`${name}: ${complaints.join("; ")}`);
  await context.close();
}
await browser.close();
