/** Points drawn by the graphics card: 100,000 in a frame. */

import { kept } from "../kept.js";

const VERTEX = `#version 300 es
in vec2 before; in vec2 position; in vec4 colour; in float shape;
uniform float moved; uniform vec2 middle; uniform vec2 scale; uniform float size; uniform float labelledSize;
out vec4 tint; flat out int form; flat out float pixels;
void main() {
  gl_Position = vec4((mix(before, position, moved) - middle) * scale, 0.0, 1.0);
  pixels = shape > 0.5 ? labelledSize : size;
  gl_PointSize = pixels;
  tint = colour;
  form = int(shape + 0.5);
}`;

// Distances are in pixels, so that edges are one pixel soft at any size.
const FRAGMENT = `#version 300 es
precision mediump float;
in vec4 tint; flat in int form; flat in float pixels;
out vec4 paint;
void main() {
  vec2 at = (gl_PointCoord - 0.5) * pixels;
  float reach = pixels * 0.5 - 0.5;
  float gap = length(at) - reach;
  if (form == 2) gap = max(abs(at.x), abs(at.y)) - reach * 0.85;
  if (form == 3) gap = max(abs(at.x) * 0.89 - (at.y + reach) * 0.45, at.y - reach * 0.8);
  if (form == 4) gap = (abs(at.x) + abs(at.y)) * 0.75 - reach * 0.75;
  if (form == 5) gap = max(min(abs(at.x - at.y), abs(at.x + at.y)) * 0.7 - max(0.7, reach * 0.22), length(at) - reach);
  float cover = clamp(0.5 - gap, 0.0, 1.0);
  if (form == 0 && pixels > 4.0) cover *= clamp(gap + 2.2, 0.15, 1.0);
  if (form > 0 && form < 5) {
    // A thin rim of the other lightness keeps neighbours of one colour apart.
    float rim = clamp(gap + 1.6, 0.0, 1.0) * 0.45;
    paint = vec4(mix(tint.rgb, tint.rgb * 0.35, rim), 1.0) * cover * tint.a;
  } else paint = vec4(tint.rgb, 1.0) * cover * tint.a;
}`;

/**
 * Make a layer on a canvas, or null where there is no graphics card: without one, a plain canvas is faster.
 * @param {HTMLCanvasElement} canvas
 * @returns {import("../page_types.js").Layer|null}
 */
export function webglLayer(canvas) {
  const gl = canvas.getContext("webgl2", { antialias: false, premultipliedAlpha: true });
  const isWanted = kept("layer") === "webgl"; // to test it where there is no card
  if (!gl || (isImitated(gl) && !isWanted)) return null;
  const program = linked(gl);
  if (!program) return null;
  const buffers = { before: gl.createBuffer(), position: gl.createBuffer(), colour: gl.createBuffer(), shape: gl.createBuffer(), order: gl.createBuffer() };
  /** @param {string} name */
  const uniform = (name) => gl.getUniformLocation(program, name);
  const uniforms = { moved: uniform("moved"), middle: uniform("middle"), scale: uniform("scale"), size: uniform("size"), labelledSize: uniform("labelledSize") };
  gl.useProgram(program);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  let number = 0;

  /** @type {(name: keyof typeof buffers, data: AllowSharedBufferSource, parts: number, type: number, isNormalized: boolean) => void} */
  const give = (name, data, parts, type, isNormalized) => {
    gl.bindBuffer(gl.ARRAY_BUFFER, buffers[name]);
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
    const attribute = gl.getAttribLocation(program, name);
    gl.enableVertexAttribArray(attribute);
    gl.vertexAttribPointer(attribute, parts, type, isNormalized, 0, 0);
  };
  return {
    kind: "webgl",
    setPoints(from, to) {
      give("before", from, 2, gl.FLOAT, false);
      give("position", to, 2, gl.FLOAT, false);
    },
    setStyles({ colours, shapes, order }) {
      give("colour", colours, 4, gl.UNSIGNED_BYTE, true);
      give("shape", shapes, 1, gl.UNSIGNED_BYTE, false);
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, buffers.order);
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, order, gl.STATIC_DRAW);
      number = order.length;
    },
    draw(camera, ratio, moved) {
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT);
      gl.uniform1f(uniforms.moved, moved);
      gl.uniform2f(uniforms.middle, camera.x, camera.y);
      gl.uniform2f(uniforms.scale, (2 * camera.scale) / camera.wide, (2 * camera.scale) / camera.high);
      gl.uniform1f(uniforms.size, camera.pointSize(number) * ratio);
      gl.uniform1f(uniforms.labelledSize, camera.labelledSize(number) * ratio);
      if (number > 0) gl.drawElements(gl.POINTS, number, gl.UNSIGNED_INT, 0);
    },
  };
}

/**
 * Whether the graphics card is emulated by the processor.
 * @param {WebGL2RenderingContext} gl
 */
function isImitated(gl) {
  const names = gl.getExtension("WEBGL_debug_renderer_info");
  return /swiftshader|llvmpipe|softpipe|software/i.test(names ? gl.getParameter(names.UNMASKED_RENDERER_WEBGL) : "");
}

/** @param {WebGL2RenderingContext} gl */
function linked(gl) {
  const program = gl.createProgram();
  for (const { kind, source } of [{ kind: gl.VERTEX_SHADER, source: VERTEX }, { kind: gl.FRAGMENT_SHADER, source: FRAGMENT }]) {
    const shader = gl.createShader(kind);
    if (!shader) return null;
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  return gl.getProgramParameter(program, gl.LINK_STATUS) ? program : null;
}
