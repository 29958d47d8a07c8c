// Colours: those of the page for things, and maps from numbers to colours.
import { Color } from "three";

/** The colours of the page, light or dark, from its style sheet. */
export interface Theme {
  surface: Color;
  ink: Color;
  muted: Color;
  grid: Color;
  frame: Color;
  curves: Color[];
  dark: boolean;
}

const FALLBACK: Record<string, string> = {
  surface: "#ffffff",
  ink: "#1a1f26",
  muted: "#59636f",
  grid: "#e6e9ed",
  frame: "#c4cad2",
  c0: "#0072b2",
  c1: "#d55e00",
  c2: "#00875f",
  c3: "#a8478f",
  c4: "#8f6a00",
  c5: "#4b4f58",
};

/** Reads the colours now in force. */
export function theme(): Theme {
  const style = getComputedStyle(document.documentElement);
  const read = (name: string) => new Color(style.getPropertyValue(`--${name}`).trim() || FALLBACK[name]);
  const surface = read("surface");
  const { r, g, b } = surface;
  return {
    surface,
    ink: read("ink"),
    muted: read("muted"),
    grid: read("grid"),
    frame: read("frame"),
    curves: ["c0", "c1", "c2", "c3", "c4", "c5"].map(read),
    dark: 0.21 * r + 0.72 * g + 0.07 * b < 0.3,
  };
}

/** Colours of the modes of contacts: open, sliding, sticking. */
export const MODES = [new Color("#8b95a1"), new Color("#e8a33d"), new Color("#2f9e6e")];
export const MODE_NAMES = ["open", "sliding", "sticking"];
/** The colour of a contact that has just lifted off. */
export const LIFTED = new Color("#b352d1");

/** Maps as lists of colours at equal distances. */
const MAPS = {
  // Dark violet to yellow, rising in lightness: points of viridis.
  rising: ["#440154", "#414487", "#2a788e", "#22a884", "#7ad151", "#fde725"],
  // Blue over grey to red for signed numbers.
  signed: ["#2166ac", "#67a9cf", "#d1d5da", "#ef8a62", "#b2182b"],
  // Pale to deep red: resting to fully active muscle.
  muscle: ["#e9c9bd", "#e08e79", "#c9473f", "#8f1028"],
};

export type MapName = keyof typeof MAPS;

const TABLES = Object.fromEntries(
  Object.entries(MAPS).map(([name, list]) => [name, list.map((text) => new Color(text))]),
) as Record<MapName, Color[]>;

/** The colour of a place between 0 and 1 on a map. */
export function mapped(name: MapName, place: number, out: Color): Color {
  const table = TABLES[name];
  const x = Math.min(Math.max(place, 0), 1) * (table.length - 1);
  const i = Math.min(Math.floor(x), table.length - 2);
  return out.lerpColors(table[i], table[i + 1], x - i);
}

/** The same map as a gradient for a key. */
export function gradient(name: MapName): string {
  return `linear-gradient(to right, ${MAPS[name].join(", ")})`;
}
