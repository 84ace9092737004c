/**
 * The shapes that the server gives, as its OpenAPI description has them.
 *
 * @typedef {{name: string, share: number}} Share
 * @typedef {{name: string, kind: "number"|"category", value: string, usual: string, place: string, surprise: number,
 *   histogram: number[], lowest_words: string, highest_words: string, position: number|null, usual_position: number|null,
 *   axis: string, axis_words: string, shares: Share[], n_categories: number, own_share: number|null}} FeatureDrawing
 * @typedef {{kind: "none"|"picture"|"sound"|"outline", picture?: string, sound?: string, spectrogram?: string,
 *   outline?: any}} Media
 * @typedef {{row: number, id: string, label: string|null, question: number|null, opinions: {expert: string|null, label: string}[],
 *   features: FeatureDrawing[], media: Media}} Card
 * @typedef {{row: number, id: string, number: number, reason: string, members: number[], member_ids: string[],
 *   n_members: number, known_members: Object<string, number>, card: Card}} Question
 * @typedef {{name: string, rows: number, asked: number, first_row: number, colour: number}} Category
 */

export {};
