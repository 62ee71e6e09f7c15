// Trees of files, as a process of its own makes them and looks at them.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/**
 * What is told of a file.
 *
 * @typedef {object} Entry
 * @property {string} kind
 * @property {string} mode
 * @property {string} owner
 * @property {Record<string, string>} attributes
 * @property {number} [time]
 * @property {string} [first] The first path of the same file.
 * @property {number} [links]
 * @property {string} [target]
 * @property {number} [size]
 * @property {string} [digest]
 * @property {number} [blocks]
 */

/** @typedef {Record<string, Entry>} Tree By paths in it; bytes as Latin-1. */

export const DIRECTORY = '0o40000';
export const PIPE = '0o10000';

export function startTrees() {
  const script = fileURLToPath(new URL('tree.py', import.meta.url));
  const child = spawn('/usr/bin/python3', [script], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  /** @param {object} request */
  const ask = async (request) => {
    child.stdin.write(`${JSON.stringify(request)}\n`);
    const { value, done } = await lines.next();
    if (done) throw new Error('the process that looks at trees has ended');
    const { answer, error } = JSON.parse(value);
    if (error !== undefined) throw new Error(error);
    return answer;
  };
  return {
    /** @param {string} path @param {number} seed @param {number} [user] */
    make: (path, seed, user) => ask({ make: path, seed, user }),
    /** @param {string} path @returns {Promise<Tree>} */
    look: (path) => ask({ look: path }),
    /** @param {string} path */
    drop: (path) => ask({ drop: path }),
    end: () => child.stdin.end(),
  };
}

/** Blocks that a file may have more or less: where data begins is a matter of the file system. */
const NEAR = 128;

/**
 * How a tree differs from what it was.
 *
 * @param {Tree} before
 * @param {Tree} now
 */
export function differences(before, now) {
  const found = [];
  for (const path of new Set([...Object.keys(before), ...Object.keys(now)])) {
    const [was, is] = [before[path], now[path]];
    if (was === undefined || is === undefined) {
      found.push(`${JSON.stringify(path)}: ${was ? 'is gone' : 'was not there'}`);
      continue;
    }
    const isNear = Math.abs((was.blocks ?? 0) - (is.blocks ?? 0)) <= NEAR;
    const [one, other] = [was, isNear ? { ...is, blocks: was.blocks } : is];
    for (const field of /** @type {(keyof Entry)[]} */ (Object.keys({ ...one, ...other }))) {
      const [first, second] = [JSON.stringify(one[field]), JSON.stringify(other[field])];
      if (first !== second) found.push(`${JSON.stringify(path)}: ${field} ${first} -> ${second}`);
    }
  }
  return found;
}

/** @param {string} path */
const shown = (path) => Buffer.from(path, 'latin1').toString('utf8');

/**
 * What a list of changes does not tell, or tells wrongly, of what has become of a tree.
 *
 * @param {string} root
 * @param {Tree} before
 * @param {Tree} after
 * @param {readonly { kind: string, path: string, from?: string }[]} list
 */
export function untold(root, before, after, list) {
  const told = new Set(
    list.flatMap(({ path, from }) => (from === undefined ? [path] : [path, from])),
  );
  /** @param {string} path */
  const isTold = (path) => {
    const names = [path, ...otherNames(before, path), ...otherNames(after, path)];
    return names.some((name) => above(root, name).some((one) => told.has(one)));
  };
  const found = new Set();
  for (const line of differences(before, after)) {
    const path = JSON.parse(/** @type {string} */ (/^"(?:[^"\\]|\\.)*"/.exec(line)?.[0]));
    // Another name of a file that has become one more or less is no change of this one.
    if (/: (links|first|blocks) /.test(line.slice(JSON.stringify(path).length))) continue;
    if (!isTold(path)) found.add(`not told: ${line}`);
  }
  return [...found];
}

/** The names of the same file: a change of it is told of one. @param {Tree} tree @param {string} path */
function otherNames(tree, path) {
  const first = tree[path]?.first;
  return first === undefined ? [] : Object.keys(tree).filter((name) => tree[name]?.first === first);
}

/** A path as it is told, and all that are above it. @param {string} root @param {string} path */
function above(root, path) {
  const found = [];
  const whole = `${root}/${shown(path)}`;
  for (let at = whole; at.length >= root.length; at = at.replace(/\/[^/]*$/s, '')) found.push(at);
  return found;
}
