// The viewer: a picture with its bar, its keys and its exports.
import { Vector3 } from "three";
import { type Animation, Motion } from "./animation";
import { Bar, button, digits, make } from "./bar";
import { Clock } from "./clock";
import { saveGif, savePicture, saveVideo } from "./save";
import { Stage } from "./stage";
import { roundLength } from "./surroundings";

/** One animation in one element. */
export class Viewer {
  readonly motion: Motion;
  readonly stage: Stage;
  readonly bar: Bar;
  readonly element = make("div", { class: "dv", tabindex: "0", role: "group", "aria-label": "the motion in space" });
  private readonly canvas = make("canvas", { "aria-label": "the bodies at the time shown", role: "img" });
  private readonly scaleBar = make("div", { class: "dv-scale", "aria-hidden": "true" });
  private readonly triad = make("div", { class: "dv-axes", "aria-hidden": "true" });
  private readonly paper = make("img", { class: "dv-paper", alt: "the motion at the time shown" });
  private readonly observer: ResizeObserver;
  private readonly end = new AbortController();
  private readonly leave: () => void;

  constructor(
    animation: Animation,
    readonly clock = new Clock(),
    before?: Viewer,
  ) {
    this.motion = new Motion(animation);
    this.stage = new Stage(this.canvas, this.motion);
    if (before) this.stage.inherit(before.stage);
    clock.pace = animation.pace;
    clock.range(this.motion.start, this.motion.end);
    if (!before) clock.seek(this.motion.start);
    const saving = make("span", { class: "dv-save" });
    saving.append(
      button("PNG", "save this picture as PNG", () => savePicture(this.stage, animation.title)),
      button("WebM", "save the motion as WebM", () => void saveVideo(this, animation.title)),
      button("GIF", "save the motion as GIF", () => void saveGif(this, animation.title)),
      button("theme", "light or dark", toggleTheme),
    );
    this.bar = new Bar(this.stage, clock, this.motion, [saving]);
    const picture = make("div", { class: "dv-picture" }, this.canvas, this.scaleBar, this.triad, this.bar.key);
    this.element.append(picture, this.paper, this.bar.element);
    this.leave = clock.onTime((time) => this.stage.show(time));
    this.stage.onDraw = () => this.drawScale();
    this.observer = new ResizeObserver(() => this.fit(picture));
    this.observer.observe(picture);
    const { signal } = this.end;
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.stage.paint(), { signal });
    addEventListener("dalembert-theme", () => this.stage.paint(), { signal });
    addEventListener("beforeprint", () => this.print(), { signal });
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.stage.show(clock.time);
  }

  private fit(picture: HTMLElement): void {
    const { clientWidth, clientHeight } = picture;
    if (clientWidth === 0) return;
    this.stage.resize(clientWidth, clientHeight);
    if (!this.stage.touched && this.stage.follow < 0) this.stage.look("best");
  }

  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    const inside = ["INPUT", "SELECT", "BUTTON", "TEXTAREA"].includes(target.tagName);
    if (event.ctrlKey || event.metaKey || event.altKey || (inside && event.key !== "Escape")) return;
    const { clock, motion } = this;
    const step = (by: number) => {
      clock.pause();
      const frame = Math.min(Math.max(motion.frameAt(clock.time) + by, 0), motion.times.length - 1);
      clock.seek(motion.times[frame]);
    };
    const keys: Record<string, () => void> = {
      " ": () => clock.toggle(),
      ArrowRight: () => step(event.shiftKey ? 10 : 1),
      ArrowLeft: () => step(event.shiftKey ? -10 : -1),
      Home: () => clock.seek(clock.start),
      End: () => clock.seek(clock.end),
      "+": () => this.bar.changeSpeed(1),
      "-": () => this.bar.changeSpeed(-1),
      "1": () => this.stage.look("best"),
      "2": () => this.stage.look("oblique"),
      "3": () => this.stage.look("front"),
      "4": () => this.stage.look("side"),
      "5": () => this.stage.look("top"),
    };
    const act = keys[event.key];
    if (!act) return;
    act();
    event.preventDefault();
  }

  /** A bar of round length, and the axes of the world as the camera sees them. */
  private drawScale(): void {
    const perPixel = this.stage.metresPerPixel();
    const length = roundLength(110 * perPixel);
    this.scaleBar.style.width = `${length / perPixel}px`;
    this.scaleBar.textContent = `${digits(length).replace(/\.?0+$/, "")} m`;
    const axes = [new Vector3(1, 0, 0), new Vector3(0, 1, 0), new Vector3(0, 0, 1)];
    const inverse = this.stage.camera.matrixWorldInverse;
    const lines = axes.map((axis, k) => {
      const { x, y } = axis.transformDirection(inverse);
      const [u, v] = [24 + 17 * x, 24 - 17 * y];
      const name = ["x", "y", "z"][k];
      return `<line x1="24" y1="24" x2="${u.toFixed(1)}" y2="${v.toFixed(1)}" class="dv-${name}"/>
<text x="${(24 + 22 * x).toFixed(1)}" y="${(27 - 22 * y).toFixed(1)}" text-anchor="middle">${name}</text>`;
    });
    this.triad.innerHTML = `<svg viewBox="0 0 48 48" width="56" height="56">${lines.join("")}</svg>`;
  }

  /** Takes other frames of the same things. */
  adopt(animation: Animation): void {
    this.motion.replace(animation);
    this.clock.pace = animation.pace;
    this.bar.drawMarks();
    this.stage.renew();
  }

  /** Stops for good and gives memory back. */
  dispose(): void {
    this.end.abort();
    this.observer.disconnect();
    for (const leave of [this.leave, ...this.bar.leave]) leave();
    this.stage.dispose();
  }

  /** Puts the picture on paper: canvases do not print everywhere. */
  private print(): void {
    this.stage.draw();
    this.paper.src = this.canvas.toDataURL("image/png");
  }

  /** What was done to the data, in a sentence. */
  static note(animation: Animation): string {
    const steps = animation.position_grids.map(([, step]) => step);
    const shown = animation.times.length;
    const frames = shown < animation.rows ? `${shown} of ${animation.rows} rows of the output` : `all ${shown} rows of the output`;
    return `The view shows ${frames}, with positions rounded to ${digits(Math.max(...steps))} m; numbers are in the plots and the record.`;
  }
}

/** Changes between light and dark, whatever the system prefers. */
export function toggleTheme(): void {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  dispatchEvent(new Event("dalembert-theme"));
}
