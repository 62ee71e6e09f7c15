// Draws the states of a command, and the events between them.

import { arrow, box, label, picture } from './svg.mjs';

const WIDTH = 820;
const HEIGHT = 300;

/**
 * @param {number} x
 * @param {number} y
 * @param {string} look
 * @param {string} name
 * @param {readonly string[]} lines
 */
const state = (x, y, look, name, lines) => [
  box(x, y, 196, 74, look),
  label(x + 98, y + 25, name, 'mono strong middle'),
  ...lines.map((line, index) => label(x + 98, y + 45 + index * 17, line, 'small middle')),
];

/**
 * Describes the event between two states.
 * @param {number} x
 * @param {number} y of the last line
 * @param {readonly string[]} lines
 */
const cause = (x, y, lines) =>
  lines.map((line, index) =>
    label(x, y - (lines.length - 1 - index) * 15, line, 'small muted middle'),
  );

export const states = picture(
  {
    title:
      'A command is running; it has left processes; it has ended, with all of them; or it is lost, ' +
      'since the process that kept count was killed.',
    width: WIDTH,
    height: HEIGHT,
  },
  [
    ...state(20, 92, 'blue', 'running', ['its command runs']),
    ...state(312, 92, 'amber', 'left', ['it has ended;', 'its processes still run']),
    ...state(604, 92, 'green', 'ended', ['no process is left:', 'the kernel says so']),
    ...state(312, 206, 'red', 'lost', ['not known any more']),
    arrow('M216 129H306'),
    ...cause(262, 121, ['its command', 'ends']),
    arrow('M508 129H598'),
    ...cause(554, 121, ['the last', 'process ends']),
    arrow('M118 92V52Q118 44 126 44H694Q702 44 702 52V86'),
    ...cause(410, 36, ['its command ends, and no process is left']),
    arrow('M118 166V235Q118 243 126 243H306'),
    ...cause(214, 235, ['the counting', 'process was killed']),
    arrow('M410 166V200'),
  ],
);
