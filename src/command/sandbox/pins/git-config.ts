import { readFileSync } from 'node:fs';

/** What a configuration of git's says, key by key: sections and keys in lower case. */
type GitConfig = ReadonlyMap<string, readonly string[]>;

/** One that is longer is nobody's. */
const LONGEST = 1024 * 1024;

/**
 * Reads a configuration of git's, without what it includes.
 *
 * @returns Nothing is in it that can't be read.
 */
export function readGitConfig(path: string): GitConfig {
  try {
    return parseGitConfig(readFileSync(path, 'utf8').slice(0, LONGEST));
  } catch {
    return new Map();
  }
}

/**
 * Reads what git would, of values that are paths: `section.key`, or `section.name.key` without the
 * case of the name changed.
 */
function parseGitConfig(text: string): GitConfig {
  const all = new Map<string, string[]>();
  let section = '';
  for (const line of text.replaceAll('\\\n', '').split('\n')) {
    const header = /^\s*\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/.exec(line);
    const name = header?.[2]?.replaceAll(/\\(.)/g, '$1');
    if (header) section = (header[1] ?? '').toLowerCase() + (name === undefined ? '' : `.${name}`);
    const rest = header ? line.slice(header[0].length) : line;
    const entry = /^\s*([a-z][\w-]*)\s*(?:=(.*))?$/i.exec(rest);
    if (entry === null) continue;
    const key = `${section}.${(entry[1] ?? '').toLowerCase()}`;
    const values = all.get(key) ?? [];
    all.set(key, values);
    values.push(textOf(entry[2] ?? ''));
  }
  return all;
}

/** Without its comment, quotes and escapes. */
function textOf(written: string): string {
  let value = '';
  let isQuoted = false;
  let end = 0;
  for (let at = 0; at < written.length; at++) {
    const character = written[at] ?? '';
    if (character === '"') {
      isQuoted = !isQuoted;
    } else if (!isQuoted && (character === '#' || character === ';')) {
      break;
    } else if (character === '\\') {
      at++;
      const next = written[at] ?? '';
      value += ESCAPES.get(next) ?? next;
    } else if (isQuoted || !/\s/.test(character) || value !== '') {
      value += character;
    }
    if (isQuoted || !/\s/.test(character)) end = value.length;
  }
  return value.slice(0, end);
}

const ESCAPES = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['b', '\b'],
]);
