/**
 * The shapes that the server gives, as its OpenAPI description has them.
 *
 * @typedef {{name: string, share: number}} Share
 * @typedef {{name: string, kind: "number"|"category", value: string, usual: string, place: string, surprise: number,
 *   histogram: number[], lowest: string, highest: string, position: number|null, usual_position: number|null,
 *   axis: string, axis_words: string, shares: Share[], n_categories: number, own_share: number|null}} FeatureDrawing
 * @typedef {{kind: "none"|"picture"|"sound"|"outline", picture?: string, sound?: string, spectrogram?: string,
 *   seconds?: number, start?: number, lowest_hz?: number, highest_hz?: number, outline?: any}} Media
 * @typedef {{row: number, id: string, label: string|null, question: number|null, opinions: Object<string, string>,
 *   features: FeatureDrawing[], media: Media}} Card
 * @typedef {{row: number, id: string, number: number, reason: string, evidence: any, members: number[],
 *   n_members: number, known_members: Object<string, number>, card: Card}} Question
 * @typedef {{name: string, rows: number, asked: number, first_row: number, colour: number}} Category
 */

export {};
