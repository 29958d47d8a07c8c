// Pictures and films as files.
import { GIFEncoder, applyPalette, quantize } from "gifenc";
import type { Stage } from "./stage";
import type { Viewer } from "./viewer";

/** Frames in a second of a film. */
const RATE = 30;
/** Widest GIF, px. */
const GIF_WIDTH = 480;
/** Most frames of a GIF. */
const GIF_FRAMES = 150;

/** Hands a file to the browser. */
export function hand(blob: Blob, title: string, ending: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = `${title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "motion"}.${ending}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** The picture as it is now. */
export function savePicture(stage: Stage, title: string): void {
  stage.draw();
  stage.canvas.toBlob((blob) => blob && hand(blob, title, "png"), "image/png");
}

/** One pass of the motion at the speed shown, recorded as it plays. */
export async function saveVideo(viewer: Viewer, title: string): Promise<Blob> {
  const { clock, stage } = viewer;
  const recorder = new MediaRecorder(stage.canvas.captureStream(RATE), { mimeType: "video/webm", videoBitsPerSecond: 6e6 });
  const parts: Blob[] = [];
  recorder.ondataavailable = (event) => parts.push(event.data);
  const done = new Promise<void>((resolve) => (recorder.onstop = () => resolve()));
  const loop = clock.loop;
  clock.loop = false;
  clock.seek(clock.start);
  recorder.start();
  clock.play();
  await new Promise<void>((resolve) => {
    const look = () => (clock.playing ? setTimeout(look, 50) : resolve());
    look();
  });
  recorder.stop();
  await done;
  clock.loop = loop;
  const film = new Blob(parts, { type: "video/webm" });
  hand(film, title, "webm");
  return film;
}

/** One pass of the motion, frame by frame. */
export async function saveGif(viewer: Viewer, title: string): Promise<Blob> {
  const { clock, stage } = viewer;
  clock.pause();
  const before = clock.time;
  const seconds = (clock.end - clock.start) / (clock.pace * clock.speed);
  const frames = Math.max(2, Math.min(GIF_FRAMES, Math.round(15 * seconds)));
  const width = Math.min(GIF_WIDTH, stage.canvas.width);
  const height = Math.round((width * stage.canvas.height) / stage.canvas.width);
  const paper = document.createElement("canvas");
  [paper.width, paper.height] = [width, height];
  const context = paper.getContext("2d", { willReadFrequently: true })!;
  const encoder = GIFEncoder();
  for (let k = 0; k < frames; k++) {
    clock.seek(clock.start + ((clock.end - clock.start) * k) / (frames - 1));
    stage.draw();
    context.drawImage(stage.canvas, 0, 0, width, height);
    const { data } = context.getImageData(0, 0, width, height);
    const palette = quantize(data, 128);
    encoder.writeFrame(applyPalette(data, palette), width, height, { palette, delay: (1000 * seconds) / frames });
    // Let the page breathe.
    await new Promise((resolve) => setTimeout(resolve));
  }
  encoder.finish();
  clock.seek(before);
  const film = new Blob([encoder.bytes() as BlobPart], { type: "image/gif" });
  hand(film, title, "gif");
  return film;
}
