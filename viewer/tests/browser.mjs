// The browser of the tests: Debian's Chromium, headless, with WebGL in software.
import { chromium } from "playwright-core";

const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--use-gl=angle",
  "--use-angle=swiftshader",
  "--enable-unsafe-swiftshader",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Starts it; DALEMBERT_BROWSER names another program. */
export async function launch() {
  const executablePath = process.env.DALEMBERT_BROWSER ?? "/usr/bin/chromium";
  return chromium.launch({ executablePath, args: ARGUMENTS, headless: true });
}

/** How long anything is waited for, in ms. */
export const PATIENCE = 300_000;

/** A new page that remembers every error and warning it prints. */
export async function open(browser, address, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  // Without a graphics card, on a busy machine, everything takes its time; what has not come by then will not come.
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type()) && !expected(message.text())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.goto(address);
  return { page, context, complaints };
}

/** What the software renderer says of itself is no fault of the page. */
function expected(text) {
  return /GPU stall due to ReadPixels|swiftshader|GL Driver Message/i.test(text);
}
