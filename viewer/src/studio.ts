// The studio: the viewer on a run that is going on, with orders for the server.
import type { Animation, Happening } from "./animation";
import { button, digits, make, symbol, tick } from "./bar";
import { Clock } from "./clock";
import { joinEvents } from "./page";
import { hand } from "./save";
import { Viewer } from "./viewer";

interface Parameter {
  name: string;
  value: number;
  min: number;
  max: number;
  unit: string | null;
  about: string | null;
}

interface State {
  epoch: number;
  status: "running" | "paused" | "done" | "failed" | "";
  message: string;
  problem: string | null;
  time: number;
  until: number;
  steps: number;
  parameters: Parameter[] | null;
  events: Happening[];
}

interface FramesMessage {
  epoch: number;
  first: number;
  times: number[];
  rows: string;
  time: number;
  steps: number;
}

/** Numbers of a base64 text of little-endian floats. */
function floats(text: string): Float32Array {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return new Float32Array(bytes.buffer);
}

/** The page of the studio. */
export class Studio {
  readonly clock = new Clock();
  viewer: Viewer | undefined;
  /** A run kept beside the current one. */
  private other: Viewer | undefined;
  private state: State | undefined;
  private epoch = -1;
  /** The animation of the run that is shown whole, by its epoch. */
  private whole: Animation | undefined;
  /** How many messages have come, for those who measure. */
  messages = 0;
  private readonly stages = make("div", { class: "ds-stages" });
  private readonly title = make("h1", {}, "dalembert");
  private readonly status = make("output", { class: "ds-status", role: "status" });
  private readonly progress = make("progress", { max: "1", value: "0", "aria-label": "progress" });
  private readonly problem = make("pre", { class: "ds-problem", role: "alert", hidden: "" });
  private readonly sliders = make("div", { class: "ds-sliders" });
  private readonly events = make("div", { class: "ds-events" });
  private readonly hold: HTMLButtonElement;
  private fromNow = false;
  private inStep = false;
  private following = true;
  private timer = 0;
  private leaveEvents: () => void = () => {};

  constructor(place: HTMLElement) {
    this.hold = button("pause", "hold the run", () => this.order({ do: this.state?.status === "paused" ? "resume" : "pause" }));
    const orders = make(
      "div",
      { class: "ds-orders" },
      this.hold,
      button("step", "go on to the next frame", () => this.order({ do: "step" })),
      button("again", "run from the start, with the parameters of the file", () => this.order({ do: "reset" })),
      this.progress,
    );
    const ways = make(
      "div",
      { class: "ds-ways" },
      tick("from now", false, (on) => (this.fromNow = on)),
      tick("at the pace of the display", false, (on) => {
        this.inStep = on;
        this.run({});
      }),
    );
    const files = make(
      "div",
      { class: "ds-files" },
      button("keep beside", "keep this run beside the next one to compare them", () => this.keep()),
      button("scene", "save the scene with these parameters", () => void this.fetchFile("scene.toml", "toml")),
      button("glTF", "save the motion as glTF", () => void this.fetchFile("motion.glb", "glb")),
    );
    const side = make(
      "aside",
      {},
      this.title,
      orders,
      this.status,
      this.problem,
      make("h2", {}, "Parameters"),
      ways,
      this.sliders,
      make("h2", {}, "Save and compare"),
      files,
      make("h2", {}, "Events"),
      this.events,
    );
    place.replaceChildren(make("div", { class: "ds" }, side, this.stages));
    this.listen();
  }

  private listen(): void {
    const stream = new EventSource("stream");
    const read = <T>(kind: string, act: (data: T) => void) =>
      stream.addEventListener(kind, (event) => {
        this.messages++;
        act(JSON.parse((event as MessageEvent<string>).data) as T);
      });
    read<{ epoch: number; animation: Animation }>("begin", (data) => this.begin(data.epoch, data.animation));
    read<FramesMessage>("frames", (data) => this.frames(data));
    read<State>("state", (state) => this.tell(state));
    stream.onerror = () => (this.status.value = "The studio has ended or is being restarted.");
  }

  /** Sends an order to the server. */
  order(order: object): Promise<Response> {
    return fetch("command", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(order) });
  }

  /** Runs with other parameters. */
  run(parameters: Record<string, number>): Promise<Response> {
    this.following = true;
    return this.order({ do: "run", parameters, from_now: this.fromNow, in_step: this.inStep });
  }

  private begin(epoch: number, animation: Animation): void {
    this.epoch = epoch;
    this.title.textContent = animation.title;
    const before = this.whole;
    // A run of the same scene needs about the same room as the one before.
    if (before && before.nodes.length === animation.nodes.length) {
      for (const k of [0, 1, 2]) {
        animation.low[k] = Math.min(animation.low[k], before.low[k]);
        animation.high[k] = Math.max(animation.high[k], before.high[k]);
      }
      animation.thickness = before.thickness;
    }
    this.show(animation);
    this.viewer?.motion.restart();
  }

  /** Shows an animation in place of the one before, from the same direction if nothing else has changed. */
  private show(animation: Animation): void {
    const old = this.viewer;
    const playing = this.clock.playing;
    const time = this.clock.time;
    if (old && sameShapes(old.motion.animation, animation)) {
      old.adopt(animation);
    } else {
      const viewer = new Viewer(animation, this.clock, old);
      if (old) {
        old.element.replaceWith(viewer.element);
        old.dispose();
      } else {
        this.stages.prepend(viewer.element);
      }
      this.viewer = viewer;
    }
    this.clock.range(this.viewer!.motion.start, this.viewer!.motion.end);
    this.clock.seek(this.following ? this.clock.end : time);
    if (playing) this.clock.play();
  }

  private frames(data: FramesMessage): void {
    const { viewer } = this;
    if (!viewer || data.epoch !== this.epoch) return;
    const rows = floats(data.rows);
    const { width } = viewer.motion;
    if (data.first !== viewer.motion.times.length) return;
    data.times.forEach((time, i) => viewer.motion.append(time, rows.subarray(i * width, (i + 1) * width)));
    const wasAtEnd = this.following && !this.clock.playing;
    this.clock.range(viewer.motion.start, viewer.motion.end);
    if (wasAtEnd) this.clock.seek(this.clock.end);
    if (this.state) this.tellProgress(data.time, data.steps);
  }

  private tellProgress(time: number, steps: number): void {
    const state = this.state!;
    const span = state.until - (this.viewer?.motion.start ?? 0);
    this.progress.value = span > 0 ? Math.min((time - (this.viewer?.motion.start ?? 0)) / span, 1) : 0;
    const words: Record<string, string> = { running: "running", paused: "held", done: "done", failed: "failed" };
    this.status.value = `${words[state.status] ?? ""} at ${digits(time)} s of ${digits(state.until)} s, ${steps} steps. ${state.message}`;
  }

  private tell(state: State): void {
    const before = this.state;
    this.state = state;
    this.problem.hidden = !state.problem;
    this.problem.textContent = state.problem ?? "";
    symbol(this.hold, state.status === "paused" ? "play" : "pause");
    this.hold.setAttribute("aria-label", state.status === "paused" ? "go on" : "hold the run");
    this.tellProgress(state.time, state.steps);
    this.showSliders(state.parameters ?? []);
    if (state.events.length !== before?.events.length || state.epoch !== before?.epoch) this.showEvents(state.events);
    const ended = state.status === "done" || state.status === "failed";
    if (ended && !state.problem && state.epoch === this.epoch && (before?.status !== state.status || before.epoch !== state.epoch)) {
      void this.finish(state.epoch);
    }
  }

  /** Takes the whole animation when a run has ended. */
  private async finish(epoch: number): Promise<void> {
    const answer = await fetch("animation.json");
    if (!answer.ok || epoch !== this.epoch) return;
    const animation = (await answer.json()) as Animation;
    if (epoch !== this.epoch) return;
    this.whole = animation;
    const first = !this.clock.playing && this.following;
    this.following = false;
    this.show(animation);
    if (first && !matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.clock.seek(this.clock.start);
      this.clock.play();
    }
  }

  private showSliders(parameters: Parameter[]): void {
    const names = parameters.map((p) => p.name).join();
    if (this.sliders.dataset.names === names) {
      for (const p of parameters) this.setSlider(p);
      return;
    }
    this.sliders.dataset.names = names;
    this.sliders.replaceChildren(...parameters.map((p) => this.slider(p)));
    if (parameters.length === 0) {
      this.sliders.append(make("p", { class: "note" }, "Parameters written as tables, such as mass = { value = 1, min = 0, max = 2 }, can be adjusted here."));
    }
  }

  private slider(p: Parameter): HTMLElement {
    const range = make("input", { type: "range", min: String(p.min), max: String(p.max), step: "any", "aria-label": p.name });
    const number = make("input", { type: "number", step: "any", "aria-label": `${p.name} as a number` });
    const send = (value: number) => {
      if (!Number.isFinite(value)) return;
      number.value = String(Number(value.toPrecision(6)));
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => void this.run({ [p.name]: Number(value.toPrecision(6)) }), 120);
    };
    range.addEventListener("input", () => send(range.valueAsNumber));
    number.addEventListener("change", () => send(number.valueAsNumber));
    const unit = p.unit ? ` [${p.unit}]` : "";
    const row = make("label", { class: "ds-slider", title: p.about ?? p.name, "data-name": p.name }, make("span", {}, p.name + unit), number, range);
    queueMicrotask(() => this.setSlider(p));
    return row;
  }

  private setSlider(p: Parameter): void {
    const row = [...this.sliders.querySelectorAll<HTMLElement>(".ds-slider")].find((row) => row.dataset.name === p.name);
    for (const input of row?.querySelectorAll("input") ?? []) {
      if (input === document.activeElement) continue;
      input.value = String(p.value);
    }
  }

  private showEvents(events: Happening[]): void {
    const body = make("tbody");
    for (const event of events.slice(0, 500)) {
      const cells = [event.time.toPrecision(6), event.kind, event.marker || event.element];
      body.append(make("tr", {}, ...cells.map((text) => make("td", {}, text))));
    }
    this.events.replaceChildren(events.length > 0 ? make("table", {}, body) : make("p", { class: "note" }, "none so far"));
    this.leaveEvents();
    this.leaveEvents = joinEvents(this.clock, events.map((event) => event.time), [...body.rows]);
  }

  /** Keeps the run that is shown beside the next ones, or lets it go. */
  keep(): void {
    if (this.other) {
      this.other.element.remove();
      this.other.dispose();
      this.other = undefined;
      this.stages.classList.remove("ds-two");
      return;
    }
    if (!this.whole) return;
    this.other = new Viewer(structuredClone(this.whole), this.clock);
    this.other.element.classList.add("ds-kept");
    this.stages.append(this.other.element);
    this.stages.classList.add("ds-two");
    this.clock.seek(this.clock.time);
  }

  private async fetchFile(name: string, ending: string): Promise<void> {
    const answer = await fetch(name);
    if (answer.ok) hand(await answer.blob(), this.title.textContent ?? "scene", ending);
  }
}

/** Whether two animations have the same things to see. */
function sameShapes(a: Animation, b: Animation): boolean {
  const parts = (x: Animation) => JSON.stringify([x.nodes, x.shades.length, x.solids, x.lines, x.faces, x.surfaces.map((s) => s.surface), x.contacts, x.low, x.high, x.thickness]);
  return parts(a) === parts(b);
}
