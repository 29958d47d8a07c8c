// Contact points, coloured by mode, with arrows for the forces on them; those that have just lifted off stay for a moment.
import { type BufferGeometry, ConeGeometry, CylinderGeometry, Group, Matrix4, Quaternion, Vector3 } from "three";
import { type Motion, type Sample, locate } from "./animation";
import { LIFTED, MODES } from "./colours";
import { Swarm, ball } from "./swarm";

const ZERO = new Matrix4().makeScale(0, 0, 0);
const Y = new Vector3(0, 1, 0);
const STILL = new Quaternion();
/** How long a contact that has lifted off is shown, s of display. */
const MOMENT = 0.4;
/** Events at which a contact was closed or opened. */
const TOUCHES = ["impact", "touch", "lift-off"];

/** All contacts. */
export class ContactMarks {
  readonly group = new Group();
  private readonly dots: Swarm;
  private readonly shafts: Swarm;
  private readonly heads: Swarm;
  /** Length of an arrow for a force of 1 N, m. */
  private scale = 0;
  /** Directions of the largest forces, three numbers each: from the surface towards the point. */
  private readonly normals: Float32Array;
  /** Times of touches, rising, for each contact. */
  private touches: number[][] = [];

  constructor(private readonly motion: Motion, private readonly size: number) {
    const count = motion.animation.contacts.length;
    const swarm = (geometry: () => BufferGeometry, name: string) => {
      const made = new Swarm(geometry, count, { plain: true });
      made.name = `contacts.${name}`;
      this.group.add(made);
      return made;
    };
    this.dots = swarm(() => ball(3), "dots");
    this.shafts = swarm(() => new CylinderGeometry(1, 1, 1, 8), "shafts");
    this.heads = swarm(() => new ConeGeometry(1, 1, 12), "heads");
    this.normals = new Float32Array(3 * count);
    this.refresh();
  }

  /** Looks at forces and events again after new frames have come. */
  refresh(): void {
    const { contacts, events } = this.motion.animation;
    const largest = this.motion.largestForces(this.normals);
    this.scale = largest > 0 ? (0.25 * this.size) / largest : 0;
    const names = new Map(contacts.map((contact, i) => [contact.name, i]));
    this.touches = contacts.map(() => []);
    for (const { kind, element, marker, time } of events) {
      const contact = names.get(`${element}.${marker}`) ?? names.get(element);
      if (contact !== undefined && TOUCHES.includes(kind)) this.touches[contact].push(time);
    }
  }

  /** How much of its moment is left to a contact that is open: 1 when it has just lifted off, 0 when that was long ago. */
  lifted(contact: number, time: number): number {
    const moment = MOMENT * this.motion.animation.pace;
    let last = this.motion.lastClosed(contact, time, time - moment);
    for (const touch of this.touches[contact]) if (touch <= time && touch > last) last = touch;
    return Math.max(0, 1 - (time - last) / moment);
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
      for (const swarm of [this.dots, this.shafts, this.heads]) swarm.setMatrixAt(i, ZERO);
      const left = mode === 0 ? this.lifted(i, sample.time) : 1;
      if (left === 0) return;
      locate(sample, contact.at, place);
      at.fromArray(place);
      force.fromArray(sample.forces, 3 * i);
      const length = mode === 0 ? 0 : force.length() * this.scale;
      // A ball touches at its surface, on the side from which the force comes.
      const direction = length > 0 ? force.normalize() : force.fromArray(this.normals, 3 * i);
      at.addScaledVector(direction, -contact.radius);
      if (length > 0) {
        turn.setFromUnitVectors(Y, direction);
        const head = Math.min(0.35 * length, 6 * thin);
        const middle = new Vector3().copy(at).addScaledVector(direction, (length - head) / 2);
        this.shafts.setMatrixAt(i, matrix.compose(middle, turn, new Vector3(thin, length - head, thin)));
        middle.copy(at).addScaledVector(direction, length - head / 2);
        this.heads.setMatrixAt(i, matrix.compose(middle, turn, new Vector3(2.6 * thin, head, 2.6 * thin)));
      }
      const dot = mode === 0 ? radius * (0.4 + 0.8 * left) : radius;
      this.dots.setMatrixAt(i, matrix.compose(at, STILL, new Vector3(dot, dot, dot)));
      for (const swarm of [this.dots, this.shafts, this.heads]) swarm.setColorAt(i, mode === 0 ? LIFTED : MODES[mode]);
    });
  }

  dispose(): void {
    for (const swarm of [this.dots, this.shafts, this.heads]) swarm.release();
  }
}
