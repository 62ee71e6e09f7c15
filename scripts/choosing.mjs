// Draws the picture of docs/choosing.md: `node scripts/choosing.mjs >docs/choosing.svg`. Readable on
// light and dark pages.

/**
 * The questions in their order; the first with the answer yes names the contract.
 * @type {readonly { question: readonly string[], contract: string, why: readonly string[] }[]}
 */
const STEPS = [
  {
    question: ['Does something last from one call', 'to the next: a directory, a shell?'],
    contract: 'session',
    why: ['the directory lasts; with persistent: true', 'variables, functions and jobs do, too'],
  },
  {
    question: ['Does what it starts go on', 'when your process has ended?'],
    contract: 'modes',
    why: ['one field: default, slow, background;', 'a background command outlives you'],
  },
  {
    question: ['Does the model choose a directory,', 'variables, a timeout for each call?'],
    contract: 'workspace',
    why: ['jobs, a terminal for the user, whole', 'outputs to read again, URLs, a minimizer'],
  },
  {
    question: ['Or is a command in, and JSON out,', 'all that you need?'],
    contract: 'plain',
    why: ['stdout, stderr and the exit code,', 'and no other field to explain'],
  },
];

const WIDTH = 780;
const STEP = 92;
const BOX = { width: 290, height: 56 };
const NAME = { x: 372, width: 408, height: 64 };

const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #24292f; }
  .name { font: 600 14px ui-monospace, monospace; fill: #0969da; }
  .why, .answer { fill: #57606a; }
  rect { fill: #f6f8fa; stroke: #d0d7de; }
  rect.contract { fill: #ddf4ff; stroke: #54aeff; }
  path { fill: none; stroke: #6e7781; stroke-width: 1.5; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .name { fill: #79c0ff; }
    .why, .answer { fill: #9198a1; }
    rect { fill: #161b22; stroke: #3d444d; }
    rect.contract { fill: #0c2d4d; stroke: #1f6feb; }
    path { stroke: #7d8590; }
  }
`;

/**
 * @param {readonly string[]} lines
 * @param {number} x
 * @param {number} y of the first
 * @param {string} kind
 */
const text = (lines, x, y, kind = '') =>
  lines
    .map((line, index) => {
      const style = kind && ` class="${kind}"`;
      return `<text${style} x="${x}" y="${y + index * 18}">${line}</text>`;
    })
    .join('\n');

/** An arrow ends in its head. @param {string} way @param {string} head */
const arrow = (way, head) => `<path d="${way}"/>\n<path d="${head}"/>`;

const steps = STEPS.map(({ question, contract, why }, index) => {
  const top = 8 + index * STEP;
  const middle = top + BOX.height / 2;
  const bottom = top + BOX.height;
  const isLast = index === STEPS.length - 1;
  const start = NAME.x - 6;
  const down = 1 + BOX.width / 2;
  return [
    `<rect x="1" y="${top}" width="${BOX.width}" height="${BOX.height}" rx="8"/>`,
    text(question, 16, top + 24),
    arrow(
      `M${BOX.width + 1} ${middle} H${start}`,
      `M${start - 6} ${middle - 5} L${start} ${middle} L${start - 6} ${middle + 5}`,
    ),
    text(['yes'], 316, middle - 6, 'answer'),
    `<rect class="contract" x="${NAME.x}" y="${top - 4}" width="${NAME.width - 1}" height="${NAME.height}" rx="8"/>`,
    text([contract], NAME.x + 14, top + 33, 'name'),
    text(why, NAME.x + 100, top + 24, 'why'),
    ...(isLast
      ? []
      : [
          arrow(
            `M${down} ${bottom} V${top + STEP - 4}`,
            `M${down - 5} ${top + STEP - 10} L${down} ${top + STEP - 4} L${down + 5} ${top + STEP - 10}`,
          ),
          text(['no'], down + 10, bottom + 22, 'answer'),
        ]),
  ].join('\n');
});

const height = 8 + (STEPS.length - 1) * STEP + BOX.height + 12;
console.log(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">
<title>Which contract: four questions, each of which leads to one</title>
<style>${STYLE}</style>
${steps.join('\n')}
</svg>`);
