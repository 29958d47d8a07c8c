// The rest of the page follows the clock: a cursor in every plot, and the table of events.
import type { Clock } from "./clock";

const SVG = "http://www.w3.org/2000/svg";

/** A plot with its cursor. */
interface Cursor {
  line: SVGLineElement;
  left: number;
  width: number;
  from: number;
  to: number;
  visible: boolean;
}

/** Joins the plots of a page to a clock. */
export function joinPlots(clock: Clock): void {
  const cursors = new Map<Element, Cursor>();
  for (const axis of document.querySelectorAll<SVGGElement>("svg g.time-axis")) {
    const svg = axis.ownerSVGElement;
    if (!svg) continue;
    const read = (name: string) => Number(axis.dataset[name]);
    const line = document.createElementNS(SVG, "line");
    line.setAttribute("class", "dv-cursor");
    line.setAttribute("y1", String(read("top")));
    line.setAttribute("y2", String(read("top") + read("height")));
    svg.append(line);
    const cursor = { line, left: read("left"), width: read("width"), from: read("from"), to: read("to"), visible: true };
    cursors.set(svg, cursor);
    svg.addEventListener("pointerdown", (event) => {
      const box = svg.getBoundingClientRect();
      const x = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
      const part = (x - cursor.left) / cursor.width;
      if (part < 0 || part > 1) return;
      clock.pause();
      clock.seek(cursor.from + part * (cursor.to - cursor.from));
    });
  }
  const move = (cursor: Cursor) => {
    const part = (clock.time - cursor.from) / (cursor.to - cursor.from);
    const x = String((cursor.left + Math.min(Math.max(part, 0), 1) * cursor.width).toFixed(1));
    cursor.line.setAttribute("x1", x);
    cursor.line.setAttribute("x2", x);
  };
  // Only plots on the screen are kept up to date.
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const cursor = cursors.get(entry.target);
      if (!cursor) continue;
      cursor.visible = entry.isIntersecting;
      if (cursor.visible) move(cursor);
    }
  });
  for (const svg of cursors.keys()) watcher.observe(svg);
  clock.onTime(() => {
    for (const cursor of cursors.values()) if (cursor.visible) move(cursor);
  });
}

/** Joins the table of events: a row leads to its time, and the last event before the time shown is marked. */
export function joinEvents(clock: Clock, times: number[], rows: HTMLTableRowElement[]): () => void {
  rows.forEach((row, i) => {
    if (i >= times.length) return;
    row.tabIndex = 0;
    row.classList.add("dv-event");
    row.title = "show this instant";
    const go = () => {
      clock.pause();
      clock.seek(times[i]);
    };
    row.addEventListener("click", go);
    row.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      go();
      event.preventDefault();
    });
  });
  let marked = -1;
  return clock.onTime((time) => {
    // Times are rising; a hair of rounding belongs to the event.
    const slack = 1e-9 * (1 + Math.abs(time));
    let now = -1;
    for (let i = 0; i < times.length && times[i] <= time + slack; i++) now = i;
    if (now === marked) return;
    rows[marked]?.classList.remove("dv-now");
    rows[marked]?.removeAttribute("aria-current");
    rows[now]?.classList.add("dv-now");
    rows[now]?.setAttribute("aria-current", "true");
    marked = now;
  });
}
