// Many copies of one form in one draw call, each with its own matrix and colour.
//
// Renderers in software draw instances one after the other at some 30 µs each, whatever their size. So the form is repeated in one
// buffer, every corner knows the number of its copy, and matrices and colours are read from a texture, which is all that changes from frame to frame.
import {
  BufferAttribute,
  BufferGeometry,
  type Color,
  DataTexture,
  FloatType,
  GLSL3,
  Matrix4,
  Mesh,
  PlaneGeometry,
  RGBAFormat,
  SRGBColorSpace,
  ShaderMaterial,
  Vector3,
} from "three";

/** Texels of a copy: three rows of its matrix, and its colour. */
const TEXELS = 4;
/** Copies in a row of the texture. */
const ACROSS = 128;
/** More copies than this are lit by corners instead of by points of the picture. */
const FEW = 200;

const VERTEX = `
precision highp sampler2D;
uniform sampler2D copies;
uniform vec3 light;
in float copy;
out vec3 tint;
#if defined(SMOOTH)
out vec3 direction;
#elif defined(DISC)
out vec2 corner;
out vec3 towards;
#elif defined(RIBBON)
out float across;
out vec2 towards;
#endif
void main() {
  int number = int(copy);
  ivec2 at = ivec2(${TEXELS} * (number % ${ACROSS}), number / ${ACROSS});
  vec4 a = texelFetch(copies, at, 0);
  vec4 b = texelFetch(copies, at + ivec2(1, 0), 0);
  vec4 c = texelFetch(copies, at + ivec2(2, 0), 0);
  tint = texelFetch(copies, at + ivec2(3, 0), 0).rgb;
#if defined(DISC)
  vec3 centre = (viewMatrix * vec4(a.w, b.w, c.w, 1.0)).xyz;
  corner = position.xy;
  towards = mat3(viewMatrix) * light;
  gl_Position = projectionMatrix * vec4(centre + length(vec3(a.x, b.x, c.x)) * position, 1.0);
#elif defined(RIBBON)
  vec3 axis = mat3(viewMatrix) * vec3(a.z, b.z, c.z);
  vec3 place = (viewMatrix * vec4(a.w, b.w, c.w, 1.0)).xyz + axis * position.y;
  vec3 side = cross(place, axis);
  side /= max(length(side), 1e-20);
  vec3 facing = normalize(cross(side, axis));
  across = position.x;
  vec3 lamp = mat3(viewMatrix) * light;
  towards = vec2(dot(side, lamp), dot(facing, lamp));
  gl_Position = projectionMatrix * vec4(place + length(vec3(a.x, b.x, c.x)) * across * side, 1.0);
#else
  vec4 own = vec4(position, 1.0);
  gl_Position = projectionMatrix * viewMatrix * vec4(dot(a, own), dot(b, own), dot(c, own), 1.0);
#if !defined(PLAIN)
  // Normals turn with the cofactors of the matrix.
  vec3 outward = vec3(dot(cross(b.xyz, c.xyz), normal), dot(cross(c.xyz, a.xyz), normal), dot(cross(a.xyz, b.xyz), normal));
#if defined(SMOOTH)
  direction = outward;
#else
  tint *= sqrt(0.45 + 0.7 * max(dot(normalize(outward), light), 0.0));
#endif
#endif
#endif
}`;

// The light of Lambert with an ambient part, on colours as they are shown: the root stands for the transfer to the display.
const FRAGMENT = `
uniform vec3 light;
uniform float opacity;
in vec3 tint;
#if defined(SMOOTH)
in vec3 direction;
#elif defined(DISC)
in vec2 corner;
in vec3 towards;
#elif defined(RIBBON)
in float across;
in vec2 towards;
#endif
out vec4 shown;
void main() {
#if defined(SMOOTH)
  float faced = dot(normalize(direction), light);
#elif defined(DISC)
  float inside = 1.0 - dot(corner, corner);
  if (inside < 0.0) discard;
  float faced = dot(vec3(corner, sqrt(inside)), towards);
#elif defined(RIBBON)
  float faced = dot(vec2(across, sqrt(1.0 - across * across)), towards);
#endif
#if defined(SMOOTH) || defined(DISC) || defined(RIBBON)
  shown = vec4(tint * sqrt(0.45 + 0.7 * max(faced, 0.0)), opacity);
#else
  shown = vec4(tint, opacity);
#endif
}`;

const shown = { r: 0, g: 0, b: 0 };

/** From where everything is lit; the stage turns it with the camera. */
export const light = { value: new Vector3(0, 0, 1) };

/** A square from −1 to 1, or of unit length along y: what stands for a ball or a rod as it is seen. */
function square(length: number): BufferGeometry {
  return new PlaneGeometry(2, length);
}

/** How a swarm is drawn. */
interface Options {
  opacity?: number;
  plain?: boolean;
  round?: Round;
}

/** Forms of which a camera sees much the same from all sides, drawn as two triangles if there are many. */
export type Round = "ball" | "rod";

/** Copies of a form. */
export class Swarm extends Mesh<BufferGeometry, ShaderMaterial> {
  private readonly numbers: Float32Array;
  private readonly texture: DataTexture;

  /** `plain` leaves the light out; `round` says that copies are only moved, turned and scaled as such a form allows. */
  constructor(form: () => BufferGeometry, readonly count: number, { opacity = 1, plain = false, round }: Options = {}) {
    const rows = Math.max(1, Math.ceil(count / ACROSS));
    const numbers = new Float32Array(4 * TEXELS * ACROSS * rows);
    const texture = new DataTexture(numbers, TEXELS * ACROSS, rows, RGBAFormat, FloatType);
    const flat = count > FEW ? round : undefined;
    const kind = plain ? "PLAIN" : flat === "ball" ? "DISC" : flat === "rod" ? "RIBBON" : count > FEW ? "LIT" : "SMOOTH";
    const material = new ShaderMaterial({
      glslVersion: GLSL3,
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      defines: { [kind]: "" },
      uniforms: { copies: { value: texture }, light, opacity: { value: opacity } },
      transparent: opacity < 1,
      depthWrite: opacity === 1,
      // A ghost where the body itself is stays behind it.
      polygonOffset: opacity < 1,
      polygonOffsetFactor: 2,
      polygonOffsetUnits: 8,
    });
    super(repeated(flat ? square(flat === "ball" ? 2 : 1) : form(), count), material);
    this.numbers = numbers;
    this.texture = texture;
    this.frustumCulled = false;
  }

  /** Puts a copy somewhere; a matrix of zeros hides it. */
  setMatrixAt(copy: number, { elements: e }: Matrix4): void {
    const at = 4 * TEXELS * copy;
    for (let row = 0; row < 3; row++) {
      for (let k = 0; k < 4; k++) this.numbers[at + 4 * row + k] = e[4 * k + row];
    }
    this.texture.needsUpdate = true;
  }

  /** Where a copy is. */
  getMatrixAt(copy: number, out: Matrix4): void {
    const n = this.numbers.subarray(4 * TEXELS * copy);
    out.set(n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9], n[10], n[11], 0, 0, 0, 1);
  }

  /** Gives a copy its colour. */
  setColorAt(copy: number, colour: Color): void {
    // Shown as it is: the light is applied to display values.
    const { r, g, b } = colour.getRGB(shown, SRGBColorSpace);
    this.numbers.set([r, g, b, 1], 4 * TEXELS * copy + 12);
    this.texture.needsUpdate = true;
  }

  /** Gives its memory back. */
  release(): void {
    this.geometry.dispose();
    this.material.dispose();
    this.texture.dispose();
  }
}

/** A form many times over, each time with its number. */
function repeated(form: BufferGeometry, count: number): BufferGeometry {
  const { position, normal } = form.attributes;
  const corners = position.count;
  const order = form.index ? [...form.index.array] : [...Array(corners).keys()];
  const places = new Float32Array(3 * corners * count);
  const normals = new Float32Array(3 * corners * count);
  const numbers = new Float32Array(corners * count);
  const index = new Uint32Array(order.length * count);
  for (let copy = 0; copy < count; copy++) {
    places.set(position.array, 3 * corners * copy);
    normals.set(normal.array, 3 * corners * copy);
    numbers.fill(copy, corners * copy, corners * (copy + 1));
    for (let k = 0; k < order.length; k++) index[order.length * copy + k] = corners * copy + order[k];
  }
  const all = new BufferGeometry();
  all.setAttribute("position", new BufferAttribute(places, 3));
  all.setAttribute("normal", new BufferAttribute(normals, 3));
  all.setAttribute("copy", new BufferAttribute(numbers, 1));
  all.setIndex(new BufferAttribute(index, 1));
  form.dispose();
  return all;
}

/** A ball of radius one: an octahedron whose edges are divided, with corners that faces share. */
export function ball(detail: number): BufferGeometry {
  const points: number[] = [];
  const index: number[] = [];
  const known = new Map<string, number>();
  const corner = (x: number, y: number, z: number) => {
    const key = `${x},${y},${z}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const scale = 1 / Math.hypot(x, y, z);
    points.push(x * scale, y * scale, z * scale);
    known.set(key, known.size);
    return known.size - 1;
  };
  for (let octant = 0; octant < 8; octant++) {
    const [sx, sy, sz] = [octant & 1 ? -1 : 1, octant & 2 ? -1 : 1, octant & 4 ? -1 : 1];
    const flip = sx * sy * sz < 0;
    const at = (i: number, j: number) => corner(sx * (detail - i - j), sy * i, sz * j);
    const face = (a: number, b: number, c: number) => index.push(a, flip ? c : b, flip ? b : c);
    for (let i = 0; i < detail; i++) {
      for (let j = 0; i + j < detail; j++) {
        face(at(i, j), at(i + 1, j), at(i, j + 1));
        if (i + j < detail - 1) face(at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
      }
    }
  }
  const geometry = new BufferGeometry();
  const places = new Float32Array(points);
  geometry.setAttribute("position", new BufferAttribute(places, 3));
  geometry.setAttribute("normal", new BufferAttribute(places.slice(), 3));
  geometry.setIndex(index);
  return geometry;
}
