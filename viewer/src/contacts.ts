// Contact points, coloured by mode, with arrows for the forces on them.
import { ConeGeometry, CylinderGeometry, Group, IcosahedronGeometry, InstancedMesh, Matrix4, MeshBasicMaterial, Quaternion, Vector3 } from "three";
import { type Motion, type Sample, locate } from "./animation";
import { MODES } from "./colours";

const ZERO = new Matrix4().makeScale(0, 0, 0);
const Y = new Vector3(0, 1, 0);

/** All contacts. */
export class ContactMarks {
  readonly group = new Group();
  private readonly dots: InstancedMesh;
  private readonly shafts: InstancedMesh;
  private readonly heads: InstancedMesh;
  /** Length of an arrow for a force of 1 N, m. */
  private scale: number;

  constructor(private readonly motion: Motion, private readonly size: number) {
    const count = motion.animation.contacts.length;
    const mesh = (geometry: IcosahedronGeometry | CylinderGeometry | ConeGeometry, name: string) => {
      const made = new InstancedMesh(geometry, new MeshBasicMaterial(), count);
      made.name = `contacts.${name}`;
      made.frustumCulled = false;
      this.group.add(made);
      return made;
    };
    this.dots = mesh(new IcosahedronGeometry(1, 1), "dots");
    this.shafts = mesh(new CylinderGeometry(1, 1, 1, 8), "shafts");
    this.heads = mesh(new ConeGeometry(1, 1, 12), "heads");
    this.scale = this.arrowScale();
  }

  private arrowScale(): number {
    const largest = this.motion.largestForce();
    return largest > 0 ? (0.25 * this.size) / largest : 0;
  }

  /** Measures the forces again after new frames have come. */
  refresh(): void {
    this.scale = this.arrowScale();
  }

  update(sample: Sample): void {
    const { contacts, thickness } = this.motion.animation;
    const place = [0, 0, 0];
    const at = new Vector3();
    const force = new Vector3();
    const turn = new Quaternion();
    const matrix = new Matrix4();
    const radius = Math.min(1.2 * thickness, 0.012 * this.size);
    const thin = 0.004 * this.size;
    contacts.forEach((contact, i) => {
      const mode = sample.modes[i];
      for (const mesh of [this.dots, this.shafts, this.heads]) mesh.setMatrixAt(i, ZERO);
      if (mode === 0) return;
      locate(sample, contact.at, place);
      at.fromArray(place);
      force.fromArray(sample.forces, 3 * i);
      const length = force.length() * this.scale;
      if (length > 0) {
        const direction = force.normalize();
        // A ball touches at its surface, on the side from which the force comes.
        at.addScaledVector(direction, -contact.radius);
        turn.setFromUnitVectors(Y, direction);
        const head = Math.min(0.35 * length, 6 * thin);
        const middle = new Vector3().copy(at).addScaledVector(direction, (length - head) / 2);
        this.shafts.setMatrixAt(i, matrix.compose(middle, turn, new Vector3(thin, length - head, thin)));
        middle.copy(at).addScaledVector(direction, length - head / 2);
        this.heads.setMatrixAt(i, matrix.compose(middle, turn, new Vector3(2.6 * thin, head, 2.6 * thin)));
      }
      this.dots.setMatrixAt(i, matrix.compose(at, new Quaternion(), new Vector3(radius, radius, radius)));
      for (const mesh of [this.dots, this.shafts, this.heads]) mesh.setColorAt(i, MODES[mode] ?? MODES[0]);
    });
    for (const mesh of [this.dots, this.shafts, this.heads]) {
      mesh.instanceMatrix.needsUpdate = true;
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
  }

  dispose(): void {
    for (const mesh of [this.dots, this.shafts, this.heads]) {
      mesh.geometry.dispose();
      (mesh.material as MeshBasicMaterial).dispose();
      mesh.dispose();
    }
  }
}
