// Bodies as solids and elements as lines: one swarm for each form, so that thousands cost a few draw calls.
import {
  BoxGeometry,
  BufferAttribute,
  BufferGeometry,
  CatmullRomCurve3,
  Color,
  CylinderGeometry,
  Group,
  Matrix4,
  Quaternion,
  TubeGeometry,
  Vector3,
} from "three";
import { type Animation, type Line, type Motion, type Sample, type Solid, isDeformed, locate, trianglesOf } from "./animation";
import { type MapName, type Theme, mapped } from "./colours";
import { Swarm, ball } from "./swarm";

/** What elements are coloured by. */
export type Colouring = "body" | "activation" | "strain" | "pressure";

/** The colour of a node: bodies take turns, many points of one kind share one. */
export function nodeColour(animation: Animation, node: number, theme: Theme): Color {
  const many = animation.nodes.length > 12;
  const turning = animation.nodes.filter((n) => n.turns).length;
  if (many && turning === 0) return theme.curves[5];
  return theme.curves[(node < 0 ? 5 : node) % 5];
}

/** Writes the matrix of a position, a turn (x, y, z, w) and a scale. */
const matrix = new Matrix4();
const position = new Vector3();
const turn = new Quaternion();
const scale = new Vector3();
const other = new Quaternion();
const gradient = new Matrix4();
const zero = new Vector3();

interface Instance {
  solid: Solid;
  scale: [number, number, number];
}

/** One form: its swarm and the solids that have it. */
interface Family {
  mesh: Swarm;
  instances: Instance[];
}

/** All solids of an animation at one or several instants. */
export class Solids {
  readonly group = new Group();
  private readonly families: Family[] = [];

  /** `copies` instants at once, for ghosts, with an opacity. */
  constructor(
    private readonly animation: Animation,
    private readonly copies = 1,
    opacity = 1,
  ) {
    const few = animation.solids.length * copies < 200;
    const forms: [string, () => BufferGeometry][] = [
      ["ball", () => ball(few ? 9 : 3)],
      ["block", () => new BoxGeometry(1, 1, 1)],
      ["cylinder", () => new CylinderGeometry(1, 1, 1, few ? 40 : 10).rotateX(Math.PI / 2)],
    ];
    (animation.meshes ?? []).forEach((_, i) => forms.push([`mesh${i}`, () => triangles(animation, i)]));
    for (const [name, geometry] of forms) {
      const instances: Instance[] = [];
      for (const solid of animation.solids) {
        const size = sizeOf(solid, name);
        if (size) instances.push({ solid, scale: size });
      }
      if (instances.length === 0) continue;
      const balls = instances.every(({ solid }) => "ball" in solid.form && !animation.nodes[solid.node]?.deforms);
      const mesh = new Swarm(geometry, instances.length * copies, { opacity, round: balls ? "ball" : undefined });
      mesh.name = `solids.${name}`;
      this.families.push({ mesh, instances });
      this.group.add(mesh);
    }
  }

  paint(theme: Theme): void {
    for (const { mesh, instances } of this.families) {
      for (let copy = 0; copy < this.copies; copy++) {
        instances.forEach(({ solid }, i) => {
          const colour = solid.colour ? new Color(solid.colour) : nodeColour(this.animation, solid.node, theme);
          mesh.setColorAt(copy * instances.length + i, colour);
        });
      }
    }
  }

  /** Puts one copy where a sample says. */
  update(sample: Sample, copy = 0): void {
    const place = [0, 0, 0];
    for (const { mesh, instances } of this.families) {
      instances.forEach(({ solid, scale: size }, i) => {
        const { node, at } = solid;
        locate(sample, [node, ...at], place);
        position.fromArray(place);
        const [w, x, y, z] = solid.turn;
        turn.set(x, y, z, w);
        const g = sample.gradients;
        if (node >= 0 && g.length > 0 && isDeformed(g, node)) {
          // First its own size and turn, then the deformation, then its place.
          const f = 9 * node;
          gradient.set(g[f], g[f + 1], g[f + 2], 0, g[f + 3], g[f + 4], g[f + 5], 0, g[f + 6], g[f + 7], g[f + 8], 0, 0, 0, 0, 1);
          matrix.compose(zero, turn, scale.set(...size)).premultiply(gradient).setPosition(position);
        } else {
          if (node >= 0) turn.premultiply(other.fromArray(sample.turn, 4 * node));
          matrix.compose(position, turn, scale.set(...size));
        }
        mesh.setMatrixAt(copy * instances.length + i, matrix);
      });
    }
  }

  /** Where the first solid of a node is drawn: the translation of its matrix. */
  drawnAt(node: number): [number, number, number] | undefined {
    for (const { mesh, instances } of this.families) {
      const i = instances.findIndex(({ solid }) => solid.node === node);
      if (i < 0) continue;
      mesh.getMatrixAt(i, matrix);
      return position.setFromMatrixPosition(matrix).toArray();
    }
    return undefined;
  }

  dispose(): void {
    for (const { mesh } of this.families) mesh.release();
  }
}

/** The scale of a unit form, if the solid has this form. */
function sizeOf({ form }: Solid, name: string): [number, number, number] | undefined {
  if ("ball" in form && name === "ball") return [form.ball, form.ball, form.ball];
  if ("ellipsoid" in form && name === "ball") return form.ellipsoid;
  if ("block" in form && name === "block") return form.block;
  if ("cylinder" in form && name === "cylinder") return [form.cylinder[0], form.cylinder[0], form.cylinder[1]];
  if ("mesh" in form && name === `mesh${form.mesh}`) return [1, 1, 1];
  return undefined;
}

/** The triangles of a mesh with a normal for each face. */
function triangles(animation: Animation, mesh: number): BufferGeometry {
  const { points, corners } = trianglesOf(animation.meshes![mesh]);
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(points, 3));
  geometry.setIndex(new BufferAttribute(corners, 1));
  const apart = geometry.toNonIndexed();
  geometry.dispose();
  apart.computeVertexNormals();
  return apart;
}

/** A spring: a coil of unit length and radius along z, with straight ends, that is round when stretched to `ratio` radii. */
function coil(ratio: number): BufferGeometry {
  const turns = Math.min(Math.max(Math.round(ratio / 3), 6), 14);
  const points = [new Vector3(0, 0, -0.5 * ratio), new Vector3(0, 0, -0.42 * ratio)];
  for (let k = 0; k <= 12 * turns; k++) {
    const angle = (2 * Math.PI * k) / 12;
    points.push(new Vector3(Math.cos(angle), Math.sin(angle), ratio * (-0.4 + (0.8 * k) / (12 * turns))));
  }
  points.push(new Vector3(0, 0, 0.42 * ratio), new Vector3(0, 0, 0.5 * ratio));
  return new TubeGeometry(new CatmullRomCurve3(points), 24 * turns, 0.16, 5).scale(1, 1, 1 / ratio);
}

const COILS = ["spring", "nonlinear_spring"];
const along = new Vector3();
const zAxis = new Vector3(0, 0, 1);

/** Elements between two points. */
export class Lines {
  readonly group = new Group();
  private readonly families: { mesh: Swarm; lines: Line[]; radius: number; rest: Float32Array }[] = [];
  private readonly colour = new Color();
  private readonly ends = new Float32Array(6);
  colouring: Colouring = "body";

  constructor(
    motion: Motion,
    private readonly copies = 1,
    opacity = 1,
  ) {
    const { lines, thickness } = motion.animation;
    const first = motion.sample();
    motion.at(motion.start, first);
    const springs = lines.filter((line) => COILS.includes(line.kind)).map((line) => this.length(first, line));
    const coiled = springs.length <= 60;
    const middle = springs.sort((a, b) => a - b)[springs.length >> 1] ?? 1;
    const ratio = Math.min(Math.max(middle / (0.9 * thickness), 4), 200);
    const kinds: [string, (line: Line) => boolean, () => BufferGeometry, number][] = [
      ["coil", (line) => coiled && COILS.includes(line.kind), () => coil(ratio), 0.9],
      ["muscle", (line) => line.kind === "muscle", () => rod(lines.length), 0.42],
      ["rod", (line) => line.kind !== "muscle" && !(coiled && COILS.includes(line.kind)), () => rod(lines.length), 0.3],
    ];
    for (const [name, wanted, geometry, share] of kinds) {
      const own = lines.filter(wanted);
      if (own.length === 0) continue;
      const mesh = new Swarm(geometry, own.length * copies, { opacity, round: name === "coil" ? undefined : "rod" });
      mesh.name = `lines.${name}`;
      const family = { mesh, lines: own, radius: share * thickness, rest: new Float32Array(own.length) };
      this.families.push(family);
      this.group.add(mesh);
    }
    this.measure(motion);
  }

  /** Takes the lengths at the start as those without strain. */
  measure(motion: Motion): void {
    const first = motion.sample();
    motion.at(motion.start, first);
    for (const { lines, rest } of this.families) lines.forEach((line, i) => (rest[i] = this.length(first, line)));
  }

  private length(sample: Sample, line: Line): number {
    locate(sample, line.ends[0], this.ends, 0);
    locate(sample, line.ends[1], this.ends, 3);
    const e = this.ends;
    return Math.hypot(e[3] - e[0], e[4] - e[1], e[5] - e[2]);
  }

  paint(theme: Theme): void {
    for (const { mesh, lines } of this.families) {
      for (let copy = 0; copy < this.copies; copy++) {
        lines.forEach((line, i) => mesh.setColorAt(copy * lines.length + i, plainColour(line, theme)));
      }
    }
  }

  update(sample: Sample, copy = 0): void {
    const e = this.ends;
    for (const { mesh, lines, radius, rest } of this.families) {
      for (let i = 0; i < lines.length; i++) {
        const line = lines[i];
        const length = this.length(sample, line);
        along.set(e[3] - e[0], e[4] - e[1], e[5] - e[2]);
        turn.setFromUnitVectors(zAxis, along.divideScalar(length || 1));
        position.set((e[0] + e[3]) / 2, (e[1] + e[4]) / 2, (e[2] + e[5]) / 2);
        matrix.compose(position, turn, scale.set(radius, radius, length || 1e-9));
        mesh.setMatrixAt(copy * lines.length + i, matrix);
        const colour = this.coloured(sample, line, length, rest[i]);
        if (colour) mesh.setColorAt(copy * lines.length + i, colour);
      }
    }
  }

  private coloured(sample: Sample, line: Line, length: number, rest: number): Color | undefined {
    if (this.colouring === "strain") {
      const strain = rest > 0 ? length / rest - 1 : 0;
      return mapped("signed", 0.5 + strain / 0.6, this.colour);
    }
    if (this.colouring === "activation" && line.shade !== undefined) {
      return mapped("muscle", sample.shades[line.shade], this.colour);
    }
    return undefined;
  }

  dispose(): void {
    for (const { mesh } of this.families) mesh.release();
  }
}

function rod(count: number): BufferGeometry {
  return new CylinderGeometry(1, 1, 1, count < 200 ? 12 : 5, 1, count >= 200).rotateX(Math.PI / 2);
}

function plainColour(line: Line, theme: Theme): Color {
  if (line.kind === "muscle") return theme.curves[1];
  return COILS.includes(line.kind) ? theme.curves[2] : theme.muted;
}

/** The map and its ends of a colouring, for the key. */
export function legend(colouring: Colouring, motion: Motion): { map: MapName; low: number; high: number; text: string } | undefined {
  const { shades } = motion.animation;
  const of = (kind: string) => shades.map((s, i) => (s.kind === kind ? i : -1)).filter((i) => i >= 0);
  switch (colouring) {
    case "strain":
      return { map: "signed", low: -0.3, high: 0.3, text: "strain since the start" };
    case "activation":
      return { map: "muscle", low: 0, high: 1, text: "activation" };
    case "pressure": {
      const [low, high] = motion.shadeRange(of("pressure"));
      return { map: "rising", low, high, text: "pressure [Pa]" };
    }
    default:
      return undefined;
  }
}
