// The start: a report has its animation in the page, the studio asks its server.
import { type Animation, parse } from "./animation";
import { choice, make } from "./bar";
import { joinEvents, joinPlots } from "./page";
import { Studio } from "./studio";
import style from "./style.css";
import { Viewer } from "./viewer";

function report(place: HTMLElement, text: string): void {
  const animation = parse(text);
  const viewer = new Viewer(animation);
  const further = [...document.querySelectorAll<HTMLScriptElement>("script.further-animation")];
  if (further.length > 0) place.append(choose(viewer, [animation, ...further.map((script) => parse(script.textContent ?? ""))]));
  place.append(viewer.element);
  if (further.length === 0) place.append(make("p", { class: "note" }, Viewer.note(animation)));
  joinPlots(viewer.clock);
  const rows = [...document.querySelectorAll<HTMLTableRowElement>("#events tbody tr")];
  joinEvents(viewer.clock, animation.events.map((event) => event.time), rows);
  viewer.clock.seek(viewer.clock.start);
  Object.assign(window, { dalembert: viewer });
}

/** A choice among several motions of the same things, such as modes. */
function choose(viewer: Viewer, animations: Animation[]): HTMLElement {
  const names = animations.map((animation, k): [string, string] => [String(k), animation.title]);
  const label = choice("shown", names, "0", (value) => {
    const animation = animations[Number(value)];
    viewer.adopt(animation);
    viewer.clock.range(viewer.motion.start, viewer.motion.end);
    viewer.clock.seek(viewer.clock.start);
    viewer.clock.play();
  });
  return make("div", { class: "dv-choice" }, label);
}

/** Says in the page why there is no view; all else on the page stays. */
function excuse(place: HTMLElement, error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error);
  place.append(make("p", { class: "note" }, `The view in space cannot be shown here (${reason}). The still pictures below show the same run.`));
}

const place = document.getElementById("view");
const data = document.getElementById("animation");
document.head.append(make("style", {}, style));
const studio = document.getElementById("studio");
if (studio) Object.assign(window, { studio: new Studio(studio) });
if (place && data) {
  try {
    report(place, data.textContent ?? "");
  } catch (error) {
    place.querySelector(".dv")?.remove();
    excuse(place, error);
  }
}
