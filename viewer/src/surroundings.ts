// What does not move with bodies: surfaces that points cannot pass, and a grid to stand on.
import {
  BufferAttribute,
  BufferGeometry,
  CylinderGeometry,
  DoubleSide,
  Group,
  LineBasicMaterial,
  LineSegments,
  Mesh,
  MeshLambertMaterial,
  Quaternion,
  SphereGeometry,
  Vector3,
} from "three";
import { type Animation, type Sample, type Scenery, locate } from "./animation";
import type { Theme } from "./colours";

/** A round length near a third of x: 1, 2 or 5 times a power of ten. */
export function roundLength(x: number): number {
  const power = 10 ** Math.floor(Math.log10(x || 1));
  const part = x / power;
  return power * (part >= 5 ? 5 : part >= 2 ? 2 : 1);
}

interface Piece {
  scenery: Scenery;
  group: Group;
  /** Which moving plane it is. */
  height?: number;
}

/** All surfaces, and a grid below the motion if no plane lies there. */
export class Surroundings {
  readonly group = new Group();
  private readonly pieces: Piece[] = [];
  private readonly skin = new MeshLambertMaterial({
    side: DoubleSide,
    forceSinglePass: true,
    transparent: true,
    opacity: 0.55,
    depthWrite: false,
  });
  private readonly lines = new LineBasicMaterial({ transparent: true, opacity: 0.9 });
  private readonly faint = new LineBasicMaterial({ transparent: true, opacity: 0.6 });
  private readonly grid: LineSegments | undefined;
  private readonly up: Vector3;

  constructor(private readonly animation: Animation, size: number) {
    this.up = new Vector3(...animation.up);
    let heights = 0;
    let ground = false;
    for (const scenery of animation.surfaces) {
      const group = new Group();
      group.name = scenery.name;
      const piece: Piece = { scenery, group };
      if (scenery.moves) piece.height = heights++;
      const { surface } = scenery;
      if ("plane" in surface) {
        const normal = new Vector3(...surface.plane);
        // A floor, or a ceiling, which is seen from below.
        ground ||= Math.abs(normal.dot(this.up)) > 0.88;
        group.add(...this.patch(normal, size));
      } else if ("sphere" in surface) {
        group.add(new Mesh(new SphereGeometry(surface.sphere, 48, 24), this.skin));
      } else if ("cylinder" in surface) {
        const [axis, radius] = surface.cylinder;
        const mesh = new Mesh(new CylinderGeometry(radius, radius, 1.5 * size, 48, 1, true), this.skin);
        mesh.quaternion.setFromUnitVectors(new Vector3(0, 1, 0), new Vector3(...axis));
        group.add(mesh);
      } else {
        ground = true;
        group.add(this.relief(surface.heights));
      }
      this.pieces.push(piece);
      this.group.add(group);
    }
    if (!ground) {
      this.grid = this.raster(this.up, size, this.faint);
      const { low, high } = animation;
      const middle = new Vector3(...low).add(new Vector3(...high)).multiplyScalar(0.5);
      const corners = [0, 1, 2, 3, 4, 5, 6, 7].map((c) =>
        new Vector3(...([0, 1, 2].map((k) => ((c >> k) & 1 ? high[k] : low[k])) as [number, number, number])).dot(this.up),
      );
      const below = Math.min(...corners) - 0.04 * size - middle.dot(this.up);
      this.grid.position.copy(middle).addScaledVector(this.up, below);
      this.grid.name = "grid";
      this.group.add(this.grid);
    }
  }

  /** A square part of a plane with lines at round distances. */
  private patch(normal: Vector3, size: number): (Mesh | LineSegments)[] {
    const half = this.half(size);
    const geometry = new BufferGeometry();
    const square = [-half, -half, 0, half, -half, 0, half, half, 0, -half, half, 0];
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(square), 3));
    geometry.setIndex([0, 1, 2, 0, 2, 3]);
    geometry.computeVertexNormals();
    const mesh = new Mesh(geometry, this.skin);
    mesh.quaternion.setFromUnitVectors(new Vector3(0, 0, 1), normal);
    mesh.renderOrder = -1;
    return [mesh, this.raster(normal, size, this.lines)];
  }

  private half(size: number): number {
    const step = roundLength(size / 4);
    return step * Math.ceil((0.75 * size) / step);
  }

  private raster(normal: Vector3, size: number, material: LineBasicMaterial): LineSegments {
    const step = roundLength(size / 4);
    const half = this.half(size);
    const points: number[] = [];
    for (let x = -half; x <= half + step / 2; x += step) {
      points.push(x, -half, 0, x, half, 0, -half, x, 0, half, x, 0);
    }
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(points), 3));
    const raster = new LineSegments(geometry, material);
    raster.quaternion.setFromUnitVectors(new Vector3(0, 0, 1), normal);
    return raster;
  }

  private relief({ low, step, columns, z }: { low: number[]; step: number[]; columns: number; z: number[] }): Mesh {
    const geometry = new BufferGeometry();
    const points = z.flatMap((height, i) => [
      low[0] + (i % columns) * step[0],
      low[1] + Math.floor(i / columns) * step[1],
      height,
    ]);
    const index: number[] = [];
    for (let row = 0; row + 1 < z.length / columns; row++) {
      for (let column = 0; column + 1 < columns; column++) {
        const at = row * columns + column;
        index.push(at, at + 1, at + columns + 1, at, at + columns + 1, at + columns);
      }
    }
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(points), 3));
    geometry.setIndex(index);
    geometry.computeVertexNormals();
    return new Mesh(geometry, this.skin);
  }

  paint(theme: Theme): void {
    this.skin.color.copy(theme.frame).lerp(theme.surface, 0.45);
    this.lines.color.copy(theme.frame);
    this.faint.color.copy(theme.grid).lerp(theme.frame, 0.5);
  }

  /** Puts planes under the middle of the motion, and those that move where they are. */
  update(sample: Sample): void {
    const { low, high } = this.animation;
    const middle = new Vector3(...low).add(new Vector3(...high)).multiplyScalar(0.5);
    for (const { scenery, group, height } of this.pieces) {
      const place = [0, 0, 0];
      locate(sample, scenery.at, place);
      group.position.fromArray(place);
      const [w, x, y, z] = scenery.turn;
      group.quaternion.set(x, y, z, w);
      const node = scenery.at[0];
      if (node >= 0) group.quaternion.premultiply(new Quaternion().fromArray(sample.turn, 4 * node));
      const { surface } = scenery;
      if ("plane" in surface) {
        const normal = new Vector3(...surface.plane).applyQuaternion(group.quaternion);
        if (height !== undefined) group.position.addScaledVector(normal, sample.heights[height]);
        // A plane has no middle of its own: show the part below the motion.
        const off = middle.clone().sub(group.position);
        group.position.add(off.addScaledVector(normal, -off.dot(normal)));
      }
    }
  }

  dispose(): void {
    this.group.traverse((thing) => {
      if (thing instanceof Mesh || thing instanceof LineSegments) thing.geometry.dispose();
    });
    for (const material of [this.skin, this.lines, this.faint]) material.dispose();
  }
}
