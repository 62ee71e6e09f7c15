// The elements that the pictures are drawn with. Each picture has its own background, so that it can be
// read on any page, and colours for light and dark.

const STYLE = `
  text { font: 14px system-ui, -apple-system, 'Segoe UI', sans-serif; fill: #1f2328; }
  .mono { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: pre; }
  .small { font-size: 12px; }
  .muted { fill: #59636e; }
  .strong { font-weight: 600; }
  .middle { text-anchor: middle; }
  .end { text-anchor: end; }
  .ground { fill: #ffffff; stroke: #d1d9e0; }
  .box { fill: #f6f8fa; stroke: #818b98; }
  .line { stroke: #818b98; fill: none; stroke-width: 1.4; }
  .faint { stroke: #d1d9e0; fill: none; }
  .tip { fill: #818b98; }
  .blue { fill: #ddf4ff; stroke: #0969da; }
  .green { fill: #dafbe1; stroke: #1a7f37; }
  .amber { fill: #fff8c5; stroke: #9a6700; }
  .red { fill: #ffebe9; stroke: #d1242f; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .muted { fill: #9198a1; }
    .ground { fill: #0d1117; stroke: #3d444d; }
    .box { fill: #151b23; stroke: #656c76; }
    .line { stroke: #9198a1; }
    .faint { stroke: #3d444d; }
    .tip { fill: #9198a1; }
    .blue { fill: #10243e; stroke: #4493f8; }
    .green { fill: #12261e; stroke: #3fb950; }
    .amber { fill: #272115; stroke: #d29922; }
    .red { fill: #2b1518; stroke: #f85149; }
  }`;

/** @param {string} text */
export const escaped = (text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/**
 * @param {number} x
 * @param {number} y of its base line
 * @param {string} text
 * @param {string} [look] classes
 */
export const label = (x, y, text, look = '') =>
  `<text${look && ` class="${look}"`} x="${x}" y="${y}">${escaped(text)}</text>`;

/**
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} height
 * @param {string} look classes
 */
export const box = (x, y, width, height, look) =>
  `<rect class="${look}" x="${x}" y="${y}" width="${width}" height="${height}" rx="6"/>`;

/**
 * A path that ends with the tip of an arrow.
 * @param {string} path
 * @param {string} [look] classes
 */
export const arrow = (path, look = '') =>
  `<path class="line${look && ` ${look}`}" d="${path}" marker-end="url(#tip)"/>`;

/**
 * @param {string} path
 * @param {string} [look] classes
 */
export const stroke = (path, look = 'line') => `<path class="${look}" d="${path}"/>`;

/**
 * @param {{ title: string, width: number, height: number, style?: string }} face `title`: a description
 * for screen readers.
 * @param {readonly string[]} parts
 */
export const picture = ({ title, width, height, style = '' }, parts) =>
  [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<style>${STYLE}${style}\n</style>`,
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse"><path class="tip" d="M0 0 8 4 0 8Z"/></marker></defs>',
    `<rect class="ground" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n');
