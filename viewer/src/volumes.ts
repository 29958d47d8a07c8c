// Volumes of fluid: their outer faces, translucent, coloured by the pressure inside.
import { BufferAttribute, BufferGeometry, Color, DoubleSide, DynamicDrawUsage, Mesh, MeshLambertMaterial } from "three";
import { type Motion, type Sample, locate } from "./animation";
import { type Theme, mapped } from "./colours";

/** All faces as one mesh of triangles. */
export class Volumes {
  readonly mesh: Mesh;
  /** Whether pressures give the colours. */
  byPressure = false;
  private readonly positions: BufferAttribute;
  private readonly colours: BufferAttribute;
  private readonly colour = new Color();
  private base = new Color();
  private range: [number, number] = [0, 1];

  constructor(private readonly motion: Motion) {
    const corners = motion.animation.faces.reduce((sum, face) => sum + 3 * (face.corners.length - 2), 0);
    this.positions = new BufferAttribute(new Float32Array(3 * corners), 3).setUsage(DynamicDrawUsage);
    this.colours = new BufferAttribute(new Float32Array(3 * corners), 3).setUsage(DynamicDrawUsage);
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", this.positions);
    geometry.setAttribute("color", this.colours);
    const material = new MeshLambertMaterial({
      vertexColors: true,
      transparent: true,
      opacity: 0.35,
      side: DoubleSide,
      forceSinglePass: true,
      depthWrite: false,
      flatShading: true,
    });
    this.mesh = new Mesh(geometry, material);
    this.mesh.name = "volumes";
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = 1;
  }

  paint(theme: Theme): void {
    this.base = theme.curves[0];
    const shades = this.motion.animation.faces.map((face) => face.shade).filter((i) => i !== undefined);
    this.range = this.motion.shadeRange([...new Set(shades)]);
  }

  update(sample: Sample): void {
    const p = this.positions.array as Float32Array;
    const c = this.colours.array as Float32Array;
    let at = 0;
    const [low, high] = this.range;
    for (const face of this.motion.animation.faces) {
      let colour = this.base;
      if (this.byPressure && face.shade !== undefined) {
        colour = mapped("rising", (sample.shades[face.shade] - low) / (high - low || 1), this.colour);
      }
      for (let k = 1; k + 1 < face.corners.length; k++) {
        for (const corner of [face.corners[0], face.corners[k], face.corners[k + 1]]) {
          locate(sample, corner, p, at);
          c[at] = colour.r;
          c[at + 1] = colour.g;
          c[at + 2] = colour.b;
          at += 3;
        }
      }
    }
    this.positions.needsUpdate = true;
    this.colours.needsUpdate = true;
  }

  dispose(): void {
    this.mesh.geometry.dispose();
    (this.mesh.material as MeshLambertMaterial).dispose();
  }
}
