// The animation of a run: what the library writes as animation.json, and its motion decoded.

/** A point on a node: its number (−1 for the ground) and the place in its frame, m. */
export type Anchor = [number, number, number, number];

/** A vector or quaternion (scalar first) as plain numbers. */
type Three = [number, number, number];
type Four = [number, number, number, number];
/** Low end and step of a column. */
type Grid = [number, number];

export type Form = { ball: number } | { ellipsoid: Three } | { block: Three } | { cylinder: [number, number] } | { mesh: number };

export interface Solid {
  node: number;
  form: Form;
  at: Three;
  turn: Four;
  /** Its own colour, as in `#d55e00`. */
  colour?: string;
}

/** Triangles of a solid, with places rounded to 1/65535 of their range. */
export interface Mesh {
  grids: [Grid, Grid, Grid];
  /** Three numbers of 16 bits for each point. */
  points: string;
  /** Three numbers of points of 32 bits for each triangle. */
  triangles: string;
}

export interface Line {
  name: string;
  kind: string;
  ends: [Anchor, Anchor];
  shade?: number;
}

export interface Face {
  name: string;
  corners: Anchor[];
  shade?: number;
}

export type Surface =
  | { plane: Three }
  | { sphere: number }
  | { cylinder: [Three, number] }
  | { heights: { low: [number, number]; step: [number, number]; columns: number; z: number[] } };

export interface Scenery {
  name: string;
  at: Anchor;
  turn: Four;
  surface: Surface;
  moves?: Grid;
}

export interface ContactPoint {
  name: string;
  element: string;
  at: Anchor;
  radius: number;
}

export interface Happening {
  time: number;
  kind: string;
  element: string;
  marker: string;
}

export interface Shade {
  name: string;
  kind: string;
  unit: string;
  grid: Grid;
}

/** The document; see the crate's `picture::Animation` for every key. */
export interface Animation {
  format: string;
  format_version: number;
  title: string;
  up: Three;
  low: Three;
  high: Three;
  pace: number;
  thickness: number;
  rows: number;
  times: number[];
  nodes: { name: string; turns: boolean; deforms?: boolean }[];
  solids: Solid[];
  meshes?: Mesh[];
  lines: Line[];
  faces: Face[];
  surfaces: Scenery[];
  contacts: ContactPoint[];
  markers: { name: string; at: Anchor; turn: Four }[];
  shades: Shade[];
  events: Happening[];
  position_grids: [Grid, Grid, Grid];
  gradient_grid: Grid;
  force_grid: Grid;
  data: string;
}

/** Everything at one instant. */
export interface Sample {
  time: number;
  /** Positions of nodes, three numbers each. */
  at: Float32Array;
  /** Turns of nodes, four numbers each: x, y, z, w. */
  turn: Float32Array;
  /** Deformation gradients by rows of nodes that deform, nine numbers each; empty if none does. */
  gradients: Float32Array;
  /** Modes of contacts: 0 open, 1 sliding, 2 sticking. */
  modes: Uint8Array;
  /** Forces on contact points, three numbers each. */
  forces: Float32Array;
  shades: Float32Array;
  /** Heights of moving planes. */
  heights: Float32Array;
}

/** Bytes of a base64 text. */
function bytesOf(text: string): Uint8Array {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** The points of a mesh, and the corners of its triangles. */
export function trianglesOf(mesh: Mesh): { points: Float32Array; corners: Uint32Array } {
  const rounded = new Uint16Array(bytesOf(mesh.points).buffer);
  const points = Float32Array.from(rounded, (n, i) => mesh.grids[i % 3][0] + n * mesh.grids[i % 3][1]);
  return { points, corners: new Uint32Array(bytesOf(mesh.triangles).buffer) };
}

/** Half the diagonal of the box around a mesh, m. */
export function meshSize({ grids }: Mesh): number {
  return 0.5 * Math.hypot(...grids.map(([, step]) => 65535 * step));
}

/** Reads columns of second differences, folded and in LEB128, with runs of zeros; see `picture::codec`. */
class Decoder {
  private place = 0;
  constructor(private readonly bytes: Uint8Array) {}

  private natural(): number {
    let n = 0;
    let scale = 1;
    for (;;) {
      if (this.place >= this.bytes.length) throw new Error("the data of the animation end early");
      const byte = this.bytes[this.place++];
      n += (byte & 0x7f) * scale;
      if (byte < 0x80) return n;
      scale *= 128;
    }
  }

  column(length: number, grid: Grid, write: (frame: number, value: number) => void): void {
    const [low, step] = grid;
    let one = 0;
    let two = 0;
    for (let k = 0; k < length; ) {
      const folded = this.natural();
      let times = 1;
      let d = 0;
      if (folded === 0) times = this.natural() + 1;
      else d = folded % 2 === 0 ? folded / 2 : -(folded + 1) / 2;
      for (; times > 0 && k < length; times--, k++) {
        const n = d + 2 * one - two;
        two = one;
        one = n;
        write(k, low + n * step);
      }
    }
  }
}

/** Frames of numbers over time. A row has the columns of nodes, contacts, shades and moving planes. */
export class Motion {
  /** Times of the frames, rising. */
  times: number[] = [];
  /** The first column of each node. */
  readonly columns: number[] = [];
  readonly width: number;
  private readonly firstContact: number;
  private readonly firstShade: number;
  private readonly firstHeight: number;
  private rows: Float32Array;

  constructor(public animation: Animation) {
    let width = 0;
    for (const node of animation.nodes) {
      this.columns.push(width);
      width += 3 + (node.turns ? 4 : 0) + (node.deforms ? 9 : 0);
    }
    this.firstContact = width;
    width += 4 * animation.contacts.length;
    this.firstShade = width;
    width += animation.shades.length;
    this.firstHeight = width;
    width += animation.surfaces.filter((s) => s.moves).length;
    this.width = width;
    this.rows = new Float32Array(width * Math.max(animation.times.length, 16));
    if (animation.data) this.decode();
  }

  private decode(): void {
    const { nodes, contacts, shades, surfaces, times, position_grids, force_grid, data } = this.animation;
    const decoder = new Decoder(bytesOf(data));
    const turns: Grid = [-1, 2 / 65535];
    let column = 0;
    const next = (grid: Grid) => {
      const own = column++;
      decoder.column(times.length, grid, (frame, value) => (this.rows[frame * this.width + own] = value));
    };
    for (const node of nodes) {
      position_grids.forEach(next);
      if (node.turns) for (let k = 0; k < 4; k++) next(turns);
      if (node.deforms) for (let k = 0; k < 9; k++) next(this.animation.gradient_grid);
    }
    for (let i = 0; i < contacts.length; i++) {
      next([0, 1]);
      for (let k = 0; k < 3; k++) next(force_grid);
    }
    for (const shade of shades) next(shade.grid);
    for (const surface of surfaces) if (surface.moves) next(surface.moves);
    this.times = times.slice();
  }

  /** Takes the frames of another animation of the same things. */
  replace(animation: Animation): void {
    this.animation = animation;
    this.times = [];
    const needed = this.width * Math.max(animation.times.length, 16);
    if (this.rows.length < needed || this.rows.length > 4 * needed) this.rows = new Float32Array(needed);
    if (animation.data) this.decode();
  }

  /** Forgets all frames; those of a run that goes on follow. */
  restart(): void {
    this.times = [];
  }

  /** Adds a frame; its columns have the order of a row. */
  append(time: number, row: ArrayLike<number>): void {
    const at = this.times.length * this.width;
    if (at + this.width > this.rows.length) {
      const larger = new Float32Array(2 * this.rows.length + this.width);
      larger.set(this.rows);
      this.rows = larger;
    }
    this.rows.set(row, at);
    this.times.push(time);
  }

  get start(): number {
    return this.times[0] ?? 0;
  }

  get end(): number {
    return this.times[this.times.length - 1] ?? 0;
  }

  /** An empty sample of the right size. */
  sample(): Sample {
    const { nodes, contacts, shades, surfaces } = this.animation;
    const turn = new Float32Array(4 * nodes.length);
    for (let i = 0; i < nodes.length; i++) turn[4 * i + 3] = 1;
    return {
      time: 0,
      at: new Float32Array(3 * nodes.length),
      turn,
      gradients: new Float32Array(nodes.some((node) => node.deforms) ? 9 * nodes.length : 0),
      modes: new Uint8Array(contacts.length),
      forces: new Float32Array(3 * contacts.length),
      shades: new Float32Array(shades.length),
      heights: new Float32Array(surfaces.filter((s) => s.moves).length),
    };
  }

  /** The number of the last frame that is not after a time. */
  frameAt(time: number): number {
    let [low, high] = [0, this.times.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.times[middle] <= time) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Fills a sample: between frames positions and forces are interpolated, turns along the shorter arc. */
  at(time: number, out: Sample): void {
    out.time = time;
    if (this.times.length === 0) return;
    const frame = this.frameAt(time);
    const next = Math.min(frame + 1, this.times.length - 1);
    const span = this.times[next] - this.times[frame];
    const part = span > 0 ? Math.min(Math.max((time - this.times[frame]) / span, 0), 1) : 0;
    const { rows, width } = this;
    const [a, b] = [frame * width, next * width];
    const mix = (column: number) => rows[a + column] + part * (rows[b + column] - rows[a + column]);
    const { nodes, contacts, shades } = this.animation;
    for (let i = 0; i < nodes.length; i++) {
      const column = this.columns[i];
      for (let k = 0; k < 3; k++) out.at[3 * i + k] = mix(column + k);
      if (nodes[i].deforms) for (let k = 0; k < 9; k++) out.gradients[9 * i + k] = mix(column + 3 + k);
      if (!nodes[i].turns) continue;
      // Neighbouring quaternions are close and have the same sign: the chord, normalised, is the arc.
      const [w, x, y, z] = [mix(column + 3), mix(column + 4), mix(column + 5), mix(column + 6)];
      const scale = 1 / (Math.hypot(w, x, y, z) || 1);
      out.turn.set([x * scale, y * scale, z * scale, w * scale], 4 * i);
    }
    for (let i = 0; i < contacts.length; i++) {
      const column = this.firstContact + 4 * i;
      out.modes[i] = rows[a + column];
      for (let k = 0; k < 3; k++) out.forces[3 * i + k] = mix(column + 1 + k);
    }
    for (let i = 0; i < shades.length; i++) out.shades[i] = mix(this.firstShade + i);
    for (let i = 0; i < out.heights.length; i++) out.heights[i] = mix(this.firstHeight + i);
  }

  /** The range of a shade over all frames. */
  shadeRange(indices: number[]): [number, number] {
    let [low, high] = [Infinity, -Infinity];
    for (let frame = 0; frame < this.times.length; frame++) {
      for (const i of indices) {
        const value = this.rows[frame * this.width + this.firstShade + i];
        low = Math.min(low, value);
        high = Math.max(high, value);
      }
    }
    return low <= high ? [low, high] : [0, 1];
  }

  /** The largest contact force of all frames, N; writes the direction of the largest of each contact. */
  largestForces(directions: Float32Array): number {
    let largest = 0;
    this.animation.contacts.forEach((_, i) => {
      let own = 0;
      for (let frame = 0; frame < this.times.length; frame++) {
        const at = frame * this.width + this.firstContact + 4 * i + 1;
        const [x, y, z] = [this.rows[at], this.rows[at + 1], this.rows[at + 2]];
        const size = Math.hypot(x, y, z);
        if (size <= own) continue;
        own = size;
        directions.set([x / size, y / size, z / size], 3 * i);
      }
      largest = Math.max(largest, own);
    });
    return largest;
  }

  /** The last time, not after `time` and not before `since`, at which a frame shows a contact closed; −∞ if there is none. */
  lastClosed(contact: number, time: number, since: number): number {
    const column = this.firstContact + 4 * contact;
    for (let frame = this.frameAt(time); frame >= 0 && this.times[frame] >= since; frame--) {
      if (this.rows[frame * this.width + column] !== 0) return this.times[frame];
    }
    return -Infinity;
  }
}

/** Reads an animation, refusing what this program does not know. */
export function parse(text: string): Animation {
  const animation = JSON.parse(text) as Animation;
  if (animation.format !== "dalembert-animation" || animation.format_version !== 1) {
    throw new Error(`this is not an animation of a version that the viewer knows (${animation.format})`);
  }
  return animation;
}

/** Whether a node has a gradient: that of a body which does not deform is left at zero. */
export function isDeformed(gradients: Float32Array, node: number): boolean {
  for (let k = 9 * node; k < 9 * node + 9; k++) if (gradients[k] !== 0) return true;
  return false;
}

/** Where an anchor is in a sample, written to out at a place. */
export function locate(sample: Sample, anchor: Anchor, out: Float32Array | number[], place = 0): void {
  const [node, x, y, z] = anchor;
  if (node < 0) {
    out[place] = x;
    out[place + 1] = y;
    out[place + 2] = z;
    return;
  }
  const g = sample.gradients;
  if (g.length > 0 && isDeformed(g, node)) {
    for (let k = 0; k < 3; k++) {
      const row = 9 * node + 3 * k;
      out[place + k] = sample.at[3 * node + k] + g[row] * x + g[row + 1] * y + g[row + 2] * z;
    }
    return;
  }
  const t = sample.turn;
  const q = 4 * node;
  const [qx, qy, qz, qw] = [t[q], t[q + 1], t[q + 2], t[q + 3]];
  // v + 2 q × (q × v + w v)
  const cx = qy * z - qz * y + qw * x;
  const cy = qz * x - qx * z + qw * y;
  const cz = qx * y - qy * x + qw * z;
  out[place] = sample.at[3 * node] + x + 2 * (qy * cz - qz * cy);
  out[place + 1] = sample.at[3 * node + 1] + y + 2 * (qz * cx - qx * cz);
  out[place + 2] = sample.at[3 * node + 2] + z + 2 * (qx * cy - qy * cx);
}
