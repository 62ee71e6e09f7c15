// Shows the parts of a long output that are kept, by the answer of a real tool.

import { box, label, picture } from './svg.mjs';

const WIDTH = 760;
const LINES = 5000;
const LINE = 18;

/** Returns the answer of the `workspace` tool to a long output, without its time. */
async function answer() {
  const { createBashTool } = await import('../../dist/index.js');
  const bash = createBashTool({ contract: 'workspace', cwd: '/', headBytes: 64, tailBytes: 96 });
  try {
    const command = `for ((i = 1; i <= ${LINES}; i++)); do echo "step $i of ${LINES}"; done`;
    const { content } = await bash.execute({ command });
    const lines = (content[0]?.text ?? '').trimEnd().split('\n');
    return lines.filter((line) => !line.startsWith('Wall time'));
  } finally {
    await bash.dispose();
  }
}

/**
 * Splits a long line into several.
 * @param {string} line
 */
const wrapped = (line) =>
  line.match(/.{1,82}(?:\s|$)|.{1,82}/g)?.map((part) => part.trimEnd()) ?? [''];

/** @param {string} line */
function lookOf(line) {
  if (line.startsWith('[…')) return 'mono strong';
  return line.startsWith('[') ? 'mono muted' : 'mono';
}

export async function cut() {
  const shown = (await answer()).flatMap((line) =>
    wrapped(line).map((part) => ({ part, look: lookOf(line) })),
  );
  const top = 146;
  const height = top + 30 + shown.length * LINE;
  const elided = shown.findIndex(({ part }) => part.startsWith('[…'));
  const end = shown.findIndex(({ part }) => part === '');
  const text = shown.map(({ part, look }, index) => label(48, top + 24 + index * LINE, part, look));
  /** @param {number} from @param {number} to @param {string} look */
  const mark = (from, to, look) => box(32, top + 12 + from * LINE, 6, (to - from) * LINE - 4, look);
  return picture(
    {
      title: `Of ${LINES} lines the first and the last are shown, a line says how many are missing, and a file has all of them.`,
      width: WIDTH,
      height: height + 20,
    },
    [
      label(24, 30, 'what the command prints', 'small muted'),
      box(24, 40, 110, 34, 'blue'),
      label(79, 62, 'head', 'middle strong'),
      box(134, 40, 452, 34, 'box'),
      label(360, 62, 'dropped, and counted: bytes, characters, lines', 'middle small muted'),
      box(586, 40, 150, 34, 'green'),
      label(661, 62, 'tail', 'middle strong'),
      label(
        380,
        100,
        'in memory: head and tail, whatever is printed; all of it in a file, if that is asked for',
        'small muted middle',
      ),
      label(24, top - 10, 'what the model reads', 'small muted'),
      box(24, top, WIDTH - 48, height - top, 'box'),
      mark(0, elided, 'blue'),
      mark(elided + 1, end, 'green'),
      ...text,
    ],
  );
}
