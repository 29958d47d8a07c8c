// The bar below the picture: time, speed, direction, what to show.
import type { Motion } from "./animation";
import type { Clock } from "./clock";
import type { Color } from "three";
import { LIFTED, MODES, MODE_NAMES, gradient } from "./colours";
import { type Colouring, legend } from "./solids";
import type { Preset, Shown, Stage } from "./stage";

/** Makes an element. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Symbols that not every font has, as paths in a square of 16. */
const SYMBOLS: Record<string, string> = {
  play: "M4 2v12l10-6z",
  pause: "M3 2h4v12H3zM9 2h4v12H9z",
  start: "M2 2h2v12H2zM14 2v12L5 8z",
  end: "M12 2h2v12h-2zM2 2v12l9-6z",
  step: "M3 2h3v12H3zM8 2v12l7-6z",
  again: "M8 2a6 6 0 1 0 6 6h-2a4 4 0 1 1-4-4v3l5-4-5-4z",
  theme: "M8 1a7 7 0 1 0 0 14zM8 1a7 7 0 0 1 0 14v-1.6A5.4 5.4 0 0 0 8 2.6z",
};

/** Draws a symbol into a button. */
export function symbol(target: HTMLElement, name: string): void {
  target.innerHTML = `<svg viewBox="0 0 16 16" width="13" height="13" aria-hidden="true"><path d="${SYMBOLS[name]}" fill="currentColor"/></svg>`;
  target.dataset.symbol = name;
}

/** A button with a symbol, or a word, and a name. */
export function button(sign: string, name: string, act: () => void): HTMLButtonElement {
  const made = make("button", { type: "button", title: name, "aria-label": name });
  if (sign in SYMBOLS) symbol(made, sign);
  else made.append(sign);
  made.addEventListener("click", act);
  return made;
}

/** A choice among words. */
export function choice(name: string, options: [string, string][], chosen: string, act: (value: string) => void): HTMLLabelElement {
  const select = make("select", { "aria-label": name });
  for (const [value, text] of options) select.append(make("option", { value }, text));
  select.value = chosen;
  select.addEventListener("change", () => act(select.value));
  return make("label", {}, make("span", {}, name), select);
}

/** A box to tick. */
export function tick(name: string, on: boolean, act: (on: boolean) => void): HTMLLabelElement {
  const box = make("input", { type: "checkbox" });
  box.checked = on;
  box.addEventListener("change", () => act(box.checked));
  return make("label", { class: "tick" }, box, name);
}

/** A number with four significant digits. */
export function digits(x: number): string {
  if (x === 0) return "0";
  const size = Math.abs(x);
  return (size < 1e-3 || size >= 1e5 ? x.toExponential(2) : x.toPrecision(4)).replace("-", "−");
}

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4, 10];

/** The bar of one stage. */
export class Bar {
  readonly element = make("div", { class: "dv-bar" });
  readonly key = make("div", { class: "dv-key" });
  private readonly scrub = make("input", { type: "range", min: "0", max: "1000", step: "1", value: "0", "aria-label": "time" });
  private readonly clockText = make("output", { class: "dv-time" });
  private readonly playButton: HTMLButtonElement;
  private readonly marks = make("div", { class: "dv-marks", "aria-hidden": "true" });
  private readonly speed: HTMLSelectElement;
  /** What to call when the bar is no longer wanted. */
  readonly leave: (() => void)[];

  constructor(stage: Stage, private readonly clock: Clock, private readonly motion: Motion, more: HTMLElement[]) {
    const { animation } = motion;
    this.playButton = button("play", "play (space)", () => clock.toggle());
    this.scrub.addEventListener("input", () => {
      const part = Number(this.scrub.value) / 1000;
      clock.pause();
      clock.seek(clock.start + part * (clock.end - clock.start));
    });
    const speed = choice("speed", SPEEDS.map((s) => [String(s), `${s}×`]), String(clock.speed), (value) => (clock.speed = Number(value)));
    this.speed = speed.querySelector("select")!;
    const track = make("div", { class: "dv-track" }, this.scrub, this.marks);
    const first = make(
      "div",
      { class: "dv-row" },
      button("start", "to the start (Home)", () => clock.seek(clock.start)),
      this.playButton,
      button("end", "to the end (End)", () => clock.seek(clock.end)),
      track,
      this.clockText,
      speed,
      tick("loop", clock.loop, (on) => (clock.loop = on)),
    );
    const presets: [string, string][] = [
      ["best", "best"],
      ["oblique", "oblique"],
      ["front", "front"],
      ["side", "side"],
      ["top", "top"],
    ];
    const nodes: [string, string][] = animation.nodes.map((node, i) => [String(i), node.name.replace(/^body\./, "")]);
    const second = make(
      "div",
      { class: "dv-row" },
      choice("view", presets, "best", (value) => stage.look(value as Preset)),
      choice("follow", [["-1", "nothing"], ...nodes.slice(0, 500)], String(stage.follow), (value) => {
        stage.follow = Number(value);
        stage.show(clock.time);
      }),
    );
    const has = (kind: string) => animation.shades.some((shade) => shade.kind === kind);
    const colourings: [string, string][] = [["body", "kind"]];
    if (has("activation")) colourings.push(["activation", "activation"]);
    if (animation.lines.length > 0) colourings.push(["strain", "strain"]);
    if (has("pressure") && animation.faces.length > 0) colourings.push(["pressure", "pressure"]);
    if (colourings.length > 1) {
      second.append(
        choice("colour", colourings, stage.colouring, (value) => {
          stage.colour(value as Colouring);
          this.showKey(value as Colouring);
        }),
      );
    }
    const shown: [keyof Shown, string, boolean][] = [
      ["trails", "trails", true],
      ["ghosts", "ghosts", true],
      ["contacts", "contacts", animation.contacts.length > 0],
      ["volumes", "volumes", animation.faces.length > 0],
      ["markers", "markers", animation.markers.length > 0],
    ];
    for (const [name, text, sensible] of shown) {
      if (!sensible) continue;
      second.append(
        tick(text, stage.shown[name], (on) => {
          stage.shown[name] = on;
          stage.refresh();
        }),
      );
    }
    second.append(...more);
    this.element.append(first, second);
    this.showKey(stage.colouring);
    this.leave = [clock.onTime(() => this.tell()), clock.onSwitch(() => this.tell())];
    this.drawMarks();
    this.tell();
  }

  /** Marks the events on the way of the slider. */
  drawMarks(): void {
    this.marks.replaceChildren();
    const span = this.clock.end - this.clock.start;
    if (!(span > 0)) return;
    for (const event of this.motion.animation.events.slice(0, 300)) {
      const part = (event.time - this.clock.start) / span;
      if (part >= 0 && part <= 1) {
        this.marks.append(make("i", { style: `left:${(100 * part).toFixed(2)}%`, title: `${event.kind} ${event.marker}` }));
      }
    }
  }

  /** One step slower or faster. */
  changeSpeed(by: number): void {
    const now = SPEEDS.indexOf(this.clock.speed);
    const next = SPEEDS[Math.min(Math.max(now + by, 0), SPEEDS.length - 1)];
    this.clock.speed = next;
    this.speed.value = String(next);
    this.tell();
  }

  private showKey(colouring: Colouring): void {
    this.key.replaceChildren();
    const map = legend(colouring, this.motion);
    if (map) {
      const ramp = make("i", { class: "dv-ramp", style: `background:${gradient(map.map)}` });
      this.key.append(make("div", {}, map.text), make("div", {}, digits(map.low), ramp, digits(map.high)));
    }
    if (this.motion.animation.contacts.length > 0) {
      const row = make("div", { class: "dv-modes" });
      const entry = (colour: Color, name: string) => {
        row.append(make("i", { class: "dv-dot", style: `background:#${colour.getHexString()}` }), name, " ");
      };
      [1, 2].forEach((mode) => entry(MODES[mode], MODE_NAMES[mode]));
      entry(LIFTED, "just lifted off");
      this.key.append(row);
    }
  }

  private tell(): void {
    const { clock } = this;
    const span = clock.end - clock.start;
    this.scrub.value = String(span > 0 ? (1000 * (clock.time - clock.start)) / span : 0);
    const pace = clock.pace * clock.speed;
    this.clockText.value = `${clock.time.toFixed(decimals(span))} s`;
    this.clockText.title = pace === 1 ? "in real time" : `1 s on the screen is ${digits(pace)} s of the run`;
    this.scrub.setAttribute("aria-valuetext", this.clockText.value);
    const sign = clock.playing ? "pause" : "play";
    if (this.playButton.dataset.symbol !== sign) {
      symbol(this.playButton, sign);
      this.playButton.setAttribute("aria-label", clock.playing ? "pause (space)" : "play (space)");
    }
  }
}

/** Decimals that show a thousandth of a span. */
function decimals(span: number): number {
  return Math.min(Math.max(3 - Math.floor(Math.log10(span || 1)), 0), 9);
}
