// The stage: scene, light, camera and the picture on the screen.
import { AmbientLight, Box3, DirectionalLight, Matrix4, PerspectiveCamera, Quaternion, Scene, Vector3, WebGLRenderer } from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { type Motion, type Sample, meshSize } from "./animation";
import { type Theme, theme } from "./colours";
import { ContactMarks } from "./contacts";
import { type Colouring, Lines, Solids } from "./solids";
import { Surroundings } from "./surroundings";
import { light } from "./swarm";
import { Ghosts, MarkerFrames, Trails } from "./traces";
import { Volumes } from "./volumes";

/** Directions from which to look. */
export type Preset = "best" | "oblique" | "front" | "side" | "top";

/** What can be switched on and off. */
export interface Shown {
  trails: boolean;
  ghosts: boolean;
  contacts: boolean;
  markers: boolean;
  volumes: boolean;
}

const FIELD_OF_VIEW = 32;

/** Shows one motion on one canvas. */
export class Stage {
  readonly renderer: WebGLRenderer;
  readonly scene = new Scene();
  readonly camera = new PerspectiveCamera(FIELD_OF_VIEW, 1, 0.01, 100);
  readonly controls: OrbitControls;
  readonly shown: Shown = { trails: false, ghosts: false, contacts: true, markers: false, volumes: true };
  readonly sample: Sample;
  /** The node the camera follows; −1 for none. */
  follow = -1;
  colouring: Colouring = "body";
  /** Whether somebody has chosen the direction by hand. */
  touched = false;
  /** Called after a picture was drawn. */
  onDraw: () => void = () => {};
  private readonly size: number;
  private readonly middle: Vector3;
  private readonly box: Box3;
  private readonly solids: Solids;
  private readonly lines: Lines;
  private readonly volumes: Volumes | undefined;
  private readonly contacts: ContactMarks | undefined;
  private readonly surroundings: Surroundings;
  private trails: Trails | undefined;
  private ghosts: Ghosts | undefined;
  private markers: MarkerFrames | undefined;
  private theme: Theme = theme();
  private readonly light = new DirectionalLight(0xffffff, 2.2);
  private waiting = 0;
  private followed: Vector3 | undefined;

  constructor(readonly canvas: HTMLCanvasElement, readonly motion: Motion) {
    const { animation } = motion;
    // Software rendering pays for smoothing with most of its time.
    this.renderer = new WebGLRenderer({ canvas, antialias: !rendersInSoftware(), powerPreference: "high-performance" });
    this.sample = motion.sample();
    this.box = new Box3(new Vector3(...animation.low), new Vector3(...animation.high));
    this.box.expandByScalar(largestSolid(motion) + 0.01 * this.box.getSize(new Vector3()).length());
    this.size = this.box.getSize(new Vector3()).length() || 1;
    this.middle = this.box.getCenter(new Vector3());
    this.solids = new Solids(animation);
    this.lines = new Lines(motion);
    this.surroundings = new Surroundings(animation, this.size);
    this.scene.add(this.surroundings.group, this.solids.group, this.lines.group);
    if (animation.faces.length > 0) {
      this.volumes = new Volumes(motion);
      this.scene.add(this.volumes.mesh);
    }
    if (animation.contacts.length > 0) {
      this.contacts = new ContactMarks(motion, this.size);
      this.scene.add(this.contacts.group);
    }
    this.scene.add(new AmbientLight(0xffffff, 1.4), this.light, this.camera);
    this.camera.up.copy(this.upwards());
    this.camera.near = 0.002 * this.size;
    this.camera.far = 60 * this.size;
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.addEventListener("change", () => this.request());
    this.controls.addEventListener("start", () => (this.touched = true));
    this.look("best");
    this.paint();
  }

  /** Upwards on the screen: against gravity, or within the plane of a motion that lies across it. */
  private upwards(): Vector3 {
    const up = new Vector3(...this.motion.animation.up);
    const flat = this.flat();
    if (!flat || Math.abs(flat.dot(up)) < 0.9) return up;
    return Math.abs(flat.y) < 0.9 ? new Vector3(0, 1, 0) : new Vector3(0, 0, 1);
  }

  /** The normal of the plane in which the motion lies, if it lies in one. */
  private flat(): Vector3 | undefined {
    const { low, high } = this.motion.animation;
    const extent = [0, 1, 2].map((k) => high[k] - low[k]);
    const largest = Math.max(...extent);
    const least = extent.indexOf(Math.min(...extent));
    if (extent[least] > 0.04 * largest) return undefined;
    return new Vector3(least === 0 ? 1 : 0, least === 1 ? -1 : 0, least === 2 ? 1 : 0);
  }

  /** Looks from one of the usual directions so that the whole motion fits. */
  look(preset: Preset): void {
    const up = this.camera.up;
    // A horizontal pair of axes: to the right and towards the viewer.
    const right = Math.abs(up.x) < 0.9 ? new Vector3(1, 0, 0) : new Vector3(0, 1, 0);
    right.addScaledVector(up, -right.dot(up)).normalize();
    const towards = new Vector3().crossVectors(right, up);
    const height = this.isUnderCeiling() ? -1 : 1;
    const oblique = towards.clone().multiplyScalar(1.6).addScaledVector(right, 0.9).addScaledVector(up, 0.75 * height);
    const directions: Record<Preset, Vector3> = {
      // A little from above, so that the ground is more than a line.
      best: this.flat()?.addScaledVector(up, 0.14 * height) ?? oblique,
      oblique,
      front: towards,
      side: right,
      top: up.clone().addScaledVector(towards, 1e-3),
    };
    this.touched = preset !== "best";
    const back = directions[preset].clone().normalize();
    this.camera.position.copy(this.middle).add(back);
    this.camera.lookAt(this.middle);
    this.camera.updateMatrixWorld();
    this.controls.target.copy(this.middle);
    const distance = this.distance();
    this.camera.position.copy(this.middle).addScaledVector(back, distance);
    this.controls.update();
    this.request();
  }

  /** Whether planes are above the motion and none below, so that it is seen from below. */
  private isUnderCeiling(): boolean {
    const { surfaces, up } = this.motion.animation;
    const slopes = surfaces.flatMap(({ surface, turn: [w, x, y, z] }) => {
      if (!("plane" in surface)) return [];
      return [new Vector3(...surface.plane).applyQuaternion(new Quaternion(x, y, z, w)).dot(new Vector3(...up))];
    });
    return slopes.some((slope) => slope < -0.5) && !slopes.some((slope) => slope > 0.5);
  }

  /** How far away the corners of the box are inside the picture. */
  private distance(): number {
    const inverse = new Matrix4().copy(this.camera.matrixWorld).invert();
    const vertical = Math.tan((FIELD_OF_VIEW * Math.PI) / 360);
    const horizontal = vertical * this.camera.aspect;
    const here = this.camera.position.distanceTo(this.middle);
    let far = 0.05 * this.size;
    for (let corner = 0; corner < 8; corner++) {
      const { min, max } = this.box;
      const at = new Vector3(corner & 1 ? max.x : min.x, corner & 2 ? max.y : min.y, corner & 4 ? max.z : min.z);
      at.applyMatrix4(inverse);
      const nearer = at.z + here;
      far = Math.max(far, nearer + Math.abs(at.x) / horizontal, nearer + Math.abs(at.y) / vertical);
    }
    return 1.08 * far;
  }

  /** Takes the colours of the page again. */
  paint(): void {
    this.theme = theme();
    this.scene.background = this.theme.surface;
    for (const layer of [this.solids, this.lines, this.surroundings, this.volumes, this.trails, this.ghosts]) {
      layer?.paint(this.theme);
    }
    this.request();
  }

  /** Shows the same things from the same place as another stage. */
  inherit(other: Stage): void {
    Object.assign(this.shown, other.shown);
    this.follow = other.follow < this.motion.animation.nodes.length ? other.follow : -1;
    this.touched = other.touched;
    if (other.touched) {
      this.camera.position.copy(other.camera.position);
      this.controls.target.copy(other.controls.target);
      this.controls.update();
    }
    this.colour(other.colouring);
    this.refresh();
  }

  colour(colouring: Colouring): void {
    this.colouring = colouring;
    this.lines.colouring = colouring;
    if (this.volumes) this.volumes.byPressure = colouring === "pressure";
    this.paint();
    this.show(this.sample.time);
  }

  /** Applies a change of what is shown. */
  refresh(): void {
    const { trails, ghosts, contacts, markers, volumes } = this.shown;
    if (trails && !this.trails) {
      this.trails = new Trails(this.motion);
      this.scene.add(this.trails.group);
      this.trails.paint(this.theme);
    }
    if (ghosts && !this.ghosts) {
      this.ghosts = new Ghosts(this.motion);
      this.scene.add(this.ghosts.group);
      this.ghosts.paint(this.theme);
    }
    if (markers && !this.markers) {
      this.markers = new MarkerFrames(this.motion, 0.05 * this.size);
      this.scene.add(this.markers.lines);
    }
    if (this.trails) this.trails.group.visible = trails;
    if (this.ghosts) this.ghosts.group.visible = ghosts;
    if (this.markers) this.markers.lines.visible = markers;
    if (this.contacts) this.contacts.group.visible = contacts;
    if (this.volumes) this.volumes.mesh.visible = volumes;
    this.show(this.sample.time);
  }

  /** Forgets what was computed from frames that were there before. */
  renew(): void {
    this.lines.measure(this.motion);
    this.contacts?.refresh();
    this.trails?.rebuild();
    this.trails?.paint(this.theme);
    if (this.ghosts) {
      this.scene.remove(this.ghosts.group);
      this.ghosts.dispose();
      this.ghosts = undefined;
    }
    this.refresh();
  }

  /** Shows an instant. */
  show(time: number): void {
    this.motion.at(time, this.sample);
    this.solids.update(this.sample);
    this.lines.update(this.sample);
    this.surroundings.update(this.sample);
    if (this.shown.volumes) this.volumes?.update(this.sample);
    if (this.shown.contacts) this.contacts?.update(this.sample);
    if (this.shown.trails) this.trails?.update(this.sample);
    if (this.shown.markers) this.markers?.update(this.sample);
    this.trackFollowed();
    this.request();
  }

  /** Moves the camera with the node it follows. */
  private trackFollowed(): void {
    if (this.follow < 0) {
      this.followed = undefined;
      return;
    }
    const now = new Vector3().fromArray(this.sample.at, 3 * this.follow);
    const step = now.clone().sub(this.followed ?? this.controls.target);
    this.camera.position.add(step);
    this.controls.target.add(step);
    this.followed = now;
  }

  resize(width: number, height: number, ratio = Math.min(devicePixelRatio, 2)): void {
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / Math.max(height, 1);
    this.camera.updateProjectionMatrix();
    this.request();
  }

  /** Asks for a picture soon. */
  request(): void {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => this.draw());
  }

  /** Draws now. */
  draw(): void {
    if (this.waiting) cancelAnimationFrame(this.waiting);
    this.waiting = 0;
    // The light comes from beside the viewer.
    this.light.position.set(0.5, 0.9, 0.8).transformDirection(this.camera.matrixWorld);
    light.value.copy(this.light.position);
    this.renderer.render(this.scene, this.camera);
    this.onDraw();
  }

  /** Metres that a pixel of the page shows at the point the camera looks at. */
  metresPerPixel(): number {
    const height = this.canvas.clientHeight || 1;
    const distance = this.camera.position.distanceTo(this.controls.target);
    return (2 * distance * Math.tan((FIELD_OF_VIEW * Math.PI) / 360)) / height;
  }

  /** Where a solid is drawn, by node: the translation of its matrix in the scene graph. */
  drawnAt(node: number): [number, number, number] | undefined {
    return this.solids.drawnAt(node);
  }

  dispose(): void {
    if (this.waiting) cancelAnimationFrame(this.waiting);
    this.controls.dispose();
    const layers = [this.solids, this.lines, this.surroundings, this.volumes, this.contacts, this.trails, this.ghosts, this.markers];
    for (const layer of layers) layer?.dispose();
    this.renderer.dispose();
    this.renderer.forceContextLoss();
  }
}

/** The largest size of a solid, m. */
function largestSolid(motion: Motion): number {
  let largest = 0;
  for (const { form } of motion.animation.solids) {
    if ("ball" in form) largest = Math.max(largest, form.ball);
    else if ("ellipsoid" in form) largest = Math.max(largest, ...form.ellipsoid);
    else if ("block" in form) largest = Math.max(largest, Math.hypot(...form.block) / 2);
    else if ("cylinder" in form) largest = Math.max(largest, form.cylinder[0]);
    else largest = Math.max(largest, meshSize(motion.animation.meshes![form.mesh]));
  }
  return largest;
}

/** Whether there is no graphics card behind WebGL; found once. */
let software: boolean | undefined;
export function rendersInSoftware(): boolean {
  if (software !== undefined) return software;
  const context = document.createElement("canvas").getContext("webgl2");
  const info = context?.getExtension("WEBGL_debug_renderer_info");
  const name = String(info ? context?.getParameter(info.UNMASKED_RENDERER_WEBGL) : context?.getParameter(context.RENDERER));
  software = /swiftshader|llvmpipe|software|basic render/i.test(name);
  context?.getExtension("WEBGL_lose_context")?.loseContext();
  return software;
}
