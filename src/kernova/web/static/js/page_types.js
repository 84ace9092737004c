/**
 * Types that only the page knows. Those of the server's requests and replies are generated: see types.js.
 */

/**
 * A view, as the table in views.js describes it.
 * @typedef {object} View
 * @property {string} name its address is `#/name`, its section `view-name`, its tab `tab-name`, its heading `name-heading`
 * @property {string} title shown on the tab and in the window's title
 * @property {string} key the single key that opens it
 * @property {string} icon path data of its icon, on a grid of 24 by 24
 * @property {() => void} start called once, when the section is in the page
 */

/**
 * Landmarks of a specimen over the mean shape, with y growing downwards.
 * @typedef {object} Outline
 * @property {number[][]} points [x, y] of each landmark
 * @property {number[][]} consensus the same for the mean shape
 * @property {number[]} border indices of the landmarks around the shape, in order
 * @property {number[][]} links pairs of landmarks to connect inside the border
 * @property {number[][][]} curves curves drawn on this specimen
 * @property {number[]} missing indices of landmarks that were estimated
 * @property {number[]} box [left, top, right, bottom] around nearly all specimens
 */

/**
 * How each point of the map is drawn.
 * @typedef {object} PointStyles
 * @property {Uint8Array<ArrayBuffer>} colours four bytes for each row
 * @property {Uint8Array<ArrayBuffer>} shapes a shape number for each row
 * @property {Uint32Array<ArrayBuffer>} order rows in drawing order: unlabelled ones first, so that none hides a labelled one
 * @property {number} nUnlabelled how many rows have no label
 */

/**
 * What draws the points of the map.
 * @typedef {object} Layer
 * @property {"canvas"|"webgl"} kind
 * @property {(from: Float32Array<ArrayBuffer>, to: Float32Array<ArrayBuffer>) => void} setPoints where the points are, and where they go
 * @property {(styles: PointStyles) => void} setStyles
 * @property {(camera: import("./map/camera.js").Camera, ratio: number, moved: number) => void} draw with the part of the way that the points have gone
 */

export {};
