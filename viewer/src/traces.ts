// What helps to see a motion in a still picture: trails, ghosts, and the frames of markers.
import { BufferAttribute, BufferGeometry, Color, DynamicDrawUsage, Group, Line, LineBasicMaterial, LineSegments, Quaternion, Vector3 } from "three";
import { type Motion, type Sample, locate } from "./animation";
import type { Theme } from "./colours";
import { Lines, Solids, nodeColour } from "./solids";

/** Most nodes that leave a trail. */
const MOST_TRAILS = 48;

/** The ways of nodes up to the time shown. */
export class Trails {
  readonly group = new Group();
  private readonly lines: { line: Line; node: number }[] = [];

  constructor(private readonly motion: Motion) {
    this.group.name = "trails";
    this.rebuild();
  }

  /** Draws the ways again after new frames have come. */
  rebuild(): void {
    this.dispose();
    this.group.clear();
    this.lines.length = 0;
    const { nodes } = this.motion.animation;
    const stride = Math.ceil(nodes.length / MOST_TRAILS);
    const sample = this.motion.sample();
    const frames = this.motion.times.length;
    const chosen = nodes.map((_, i) => i).filter((i) => i % stride === 0);
    const ways = chosen.map(() => new Float32Array(3 * frames));
    for (let frame = 0; frame < frames; frame++) {
      this.motion.at(this.motion.times[frame], sample);
      chosen.forEach((node, i) => ways[i].set(sample.at.subarray(3 * node, 3 * node + 3), 3 * frame));
    }
    chosen.forEach((node, i) => {
      const geometry = new BufferGeometry();
      geometry.setAttribute("position", new BufferAttribute(ways[i], 3));
      const line = new Line(geometry, new LineBasicMaterial({ transparent: true, opacity: 0.8 }));
      line.frustumCulled = false;
      this.lines.push({ line, node });
      this.group.add(line);
    });
  }

  paint(theme: Theme): void {
    for (const { line, node } of this.lines) {
      (line.material as LineBasicMaterial).color.copy(nodeColour(this.motion.animation, node, theme));
    }
  }

  update(sample: Sample): void {
    const shown = this.motion.frameAt(sample.time) + 1;
    for (const { line } of this.lines) line.geometry.setDrawRange(0, shown);
  }

  dispose(): void {
    for (const { line } of this.lines) {
      line.geometry.dispose();
      (line.material as LineBasicMaterial).dispose();
    }
  }
}

/** The shapes at several instants over each other, as in a photograph under a stroboscope. */
export class Ghosts {
  readonly group = new Group();
  private readonly solids: Solids;
  private readonly lines: Lines;

  constructor(motion: Motion) {
    const many = motion.animation.solids.length + motion.animation.lines.length;
    const copies = many > 400 ? 5 : 9;
    this.group.name = "ghosts";
    this.solids = new Solids(motion.animation, copies, 0.22);
    this.lines = new Lines(motion, copies, 0.22);
    this.group.add(this.solids.group, this.lines.group);
    const sample = motion.sample();
    for (let k = 0; k < copies; k++) {
      motion.at(motion.start + ((motion.end - motion.start) * k) / (copies - 1), sample);
      this.solids.update(sample, k);
      this.lines.update(sample, k);
    }
  }

  paint(theme: Theme): void {
    this.solids.paint(theme);
    this.lines.paint(theme);
  }

  dispose(): void {
    this.solids.dispose();
    this.lines.dispose();
  }
}

/** The axes of markers: x red, y green, z blue. */
export class MarkerFrames {
  readonly lines: LineSegments;
  private readonly positions: BufferAttribute;

  constructor(private readonly motion: Motion, private readonly length: number) {
    const count = motion.animation.markers.length;
    this.positions = new BufferAttribute(new Float32Array(18 * count), 3).setUsage(DynamicDrawUsage);
    const colours = new Float32Array(18 * count);
    const axes = [new Color("#d1423b"), new Color("#3b9e4b"), new Color("#3b74d1")];
    for (let i = 0; i < 6 * count; i++) axes[(i >> 1) % 3].toArray(colours, 3 * i);
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", this.positions);
    geometry.setAttribute("color", new BufferAttribute(colours, 3));
    this.lines = new LineSegments(geometry, new LineBasicMaterial({ vertexColors: true, depthTest: false }));
    this.lines.name = "markers";
    this.lines.frustumCulled = false;
    this.lines.renderOrder = 2;
  }

  update(sample: Sample): void {
    const p = this.positions.array as Float32Array;
    const turn = new Quaternion();
    const axis = new Vector3();
    this.motion.animation.markers.forEach(({ at, turn: own }, i) => {
      turn.set(own[1], own[2], own[3], own[0]);
      if (at[0] >= 0) turn.premultiply(new Quaternion().fromArray(sample.turn, 4 * at[0]));
      for (let k = 0; k < 3; k++) {
        const place = 18 * i + 6 * k;
        locate(sample, at, p, place);
        axis.set(k === 0 ? 1 : 0, k === 1 ? 1 : 0, k === 2 ? 1 : 0).applyQuaternion(turn);
        p[place + 3] = p[place] + this.length * axis.x;
        p[place + 4] = p[place + 1] + this.length * axis.y;
        p[place + 5] = p[place + 2] + this.length * axis.z;
      }
    });
    this.positions.needsUpdate = true;
  }

  dispose(): void {
    this.lines.geometry.dispose();
    (this.lines.material as LineBasicMaterial).dispose();
  }
}
