// Host, keeper, cradle and command over time: the picture of docs/engine.md.

import { arrow, box, label, picture, stroke } from './svg.mjs';

const WIDTH = 860;
const HEIGHT = 520;
const LANES = { host: 90, keeper: 270, cradle: 540, command: 730 };
const TOP = 78;

/**
 * @param {number} x
 * @param {string} name
 * @param {string} what
 */
const lane = (x, name, what) => [
  stroke(`M${x} ${TOP}V${HEIGHT - 20}`, 'faint'),
  label(x, 34, name, 'strong middle'),
  label(x, 54, what, 'small muted middle'),
];

/**
 * Draws the time in which a process works.
 * @param {keyof typeof LANES} name
 * @param {number} from
 * @param {number} to
 * @param {string} look
 */
const works = (name, from, to, look) => box(LANES[name] - 7, from, 14, to - from, look);

/** The column of a process that the command has started. */
const DAEMON = LANES.command + 20;

/**
 * @param {keyof typeof LANES} from
 * @param {keyof typeof LANES} to
 * @param {number} y
 * @param {string} text above the arrow
 */
function message(from, to, y, text) {
  const [start, end] = [LANES[from], LANES[to]];
  const way = Math.sign(end - start);
  // A place without another lane.
  const middle = to === 'keeper' ? 180 : from === 'cradle' && to === 'command' ? 635 : 405;
  return [
    arrow(`M${start + way * 8} ${y}H${end - way * 9}`),
    label(middle, y - 6, text, 'small middle'),
  ];
}

/**
 * @param {keyof typeof LANES} name
 * @param {number} y
 * @param {string} text beside the lane
 */
const note = (name, y, text) => label(LANES[name] + 14, y, text, 'small muted');

export const processes = picture(
  {
    title:
      'The host sends a request to a cradle, which launches the command, is its parent, and says when ' +
      'no process of it is left. The keeper makes cradles.',
    width: WIDTH,
    height: HEIGHT,
  },
  [
    ...lane(LANES.host, 'host', 'your process'),
    ...lane(LANES.keeper, 'keeper', 'makes cradles'),
    ...lane(LANES.cradle, 'cradle', 'parent of one command'),
    ...lane(LANES.command + 10, 'command', 'bash, and what it starts'),
    works('host', TOP, HEIGHT - 30, 'blue'),
    works('keeper', TOP, HEIGHT - 30, 'box'),
    works('cradle', TOP, HEIGHT - 30, 'box'),
    works('command', 166, 254, 'green'),
    box(DAEMON - 7, 222, 14, 202, 'amber'),
    ...message('host', 'cradle', 112, 'request: the command, its pipes'),
    ...message('host', 'keeper', 142, 'make another one'),
    ...message('cradle', 'command', 166, 'launches'),
    label(DAEMON - 4, 186, 'runs', 'small muted'),
    ...message('command', 'host', 202, 'output, by its pipes'),
    label(DAEMON + 14, 240, 'a daemon,', 'small muted'),
    label(DAEMON + 14, 256, 'which goes on', 'small muted'),
    ...message('cradle', 'host', 270, 'its command has ended: exit code'),
    ...message('host', 'cradle', 300, 'which are left?'),
    ...message('cradle', 'host', 330, 'the daemon: pid, command line'),
    note('host', 358, 'run() resolves'),
    ...message('host', 'cradle', 396, 'dispose(): end it, with a grace'),
    arrow(`M${LANES.cradle + 8} 420H${DAEMON - 9}`),
    label(635, 414, 'SIGTERM, SIGKILL', 'small middle'),
    ...message('cradle', 'host', 452, 'over: the kernel knows of no child'),
    note('cradle', 472, 'waits for the next'),
  ],
);
