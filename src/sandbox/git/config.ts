import { readFileSync } from 'node:fs';

/** A configuration of git's, by key: sections and keys in lower case. */
type GitConfig = ReadonlyMap<string, readonly string[]>;

/** The most bytes that are read; no real configuration is longer. */
const LONGEST = 1024 * 1024;

/**
 * Reads a configuration of git's, without the files it includes.
 *
 * @returns An empty configuration, if the file cannot be read.
 */
export function readGitConfig(path: string): GitConfig {
  try {
    return parseGitConfig(readFileSync(path, 'utf8').slice(0, LONGEST));
  } catch {
    return new Map();
  }
}

const HEADER = /\[([a-z\d.-]*)(?:\s+"((?:[^"\\\n]|\\[^\n])*)")?\]/iy;
const NAME = /([a-z][a-z\d-]*)[ \t]*/iy;
const BLANKS = /(?:\s|[#;][^\n]*)*/y;

/**
 * Parses a configuration as git does: `section.key`, or `section.name.key` with the case of the name
 * kept. Git refuses a file with an error; here the settings before the error count.
 */
function parseGitConfig(given: string): GitConfig {
  const text = given.replaceAll('\r\n', '\n');
  const all = new Map<string, string[]>();
  let section = '';
  for (let at = after(BLANKS, text, 0); at < text.length; at = after(BLANKS, text, at)) {
    const header = matchAt(HEADER, text, at);
    if (header !== undefined) {
      const [whole, base = '', name] = header;
      section = base.toLowerCase();
      if (name !== undefined) section += `.${name.replaceAll(/\\(.)/g, '$1')}`;
      at += whole.length;
      continue;
    }
    const [whole = '', key = ''] = matchAt(NAME, text, at) ?? [];
    at += whole.length;
    const value = text[at] === '=' ? readValue(text, at + 1) : { text: '', end: at };
    if (key === '' || value === undefined || !/^(?:\n|$)/.test(text.slice(value.end))) break;
    const name = `${section}.${key.toLowerCase()}`;
    all.set(name, [...(all.get(name) ?? []), value.text]);
    at = value.end;
  }
  return all;
}

/** @returns Undefined when there is no match. */
function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}

function after(pattern: RegExp, text: string, at: number): number {
  return at + (matchAt(pattern, text, at)?.[0].length ?? 0);
}

const ESCAPES = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['b', '\b'],
  ['\\', '\\'],
  ['"', '"'],
]);

/**
 * Reads a value to the end of its line, without blanks around it, comment, quotes and escapes.
 *
 * @returns Undefined when git would not accept it.
 */
function readValue(text: string, from: number): { text: string; end: number } | undefined {
  let value = '';
  let blanks = '';
  let isQuoted = false;
  for (let at = from; ; at += 1) {
    const character = text[at];
    if (character === undefined || character === '\n') {
      return isQuoted ? undefined : { text: value, end: at };
    }
    if (!isQuoted && /\s/.test(character)) {
      if (value !== '') blanks += character;
      continue;
    }
    if (!isQuoted && (character === '#' || character === ';')) {
      return { text: value, end: after(/[^\n]*/y, text, at) };
    }
    value += blanks;
    blanks = '';
    if (character === '"') {
      isQuoted = !isQuoted;
      continue;
    }
    if (character === '\\') {
      at += 1;
      if (text[at] === '\n') continue;
      const meant = ESCAPES.get(text[at] ?? '');
      if (meant === undefined) return undefined;
      value += meant;
      continue;
    }
    value += character;
  }
}
