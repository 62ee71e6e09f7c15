// Collects the licences of others' code in the bundle: a file beside it, made of the bundled modules.
//
// A library may itself contain others in its files. Their names are in its source map, their licences in
// node_modules; one that is not found there fails the build.

/** @import { Plugin } from 'rolldown' */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The file's name in the bundle's directory. */
export const LICENCES_FILE = 'THIRD-PARTY-LICENSES.txt';

const RULE = `\n${'-'.repeat(80)}\n\n`;
const INSIDE = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//;
const NAME = /node_modules\/(?:\.pnpm\/[^/]+\/node_modules\/)?((?:@[^/]+\/)?[^/]+)/;
/** The head of a file, for packages without a text of their licence. */
const HEADS = /^(?:\s*\/\*[\s\S]*?\*\/)+/;

/**
 * @param {string} root of the checkout
 * @returns {Plugin}
 */
export function licences(root) {
  return {
    name: 'licences',
    generateBundle(_, bundle) {
      const modules = Object.values(bundle).flatMap((file) =>
        file.type === 'chunk'
          ? Object.entries(file.modules).flatMap(([id, { code }]) => (code ? [id] : []))
          : [],
      );
      /** @type {Map<string, string>} */
      const texts = new Map();
      for (const id of modules) {
        const [, home] = INSIDE.exec(id) ?? [];
        if (home === undefined) continue;
        for (const each of [home, ...carriedBy(root, id)]) {
          if (!texts.has(each)) texts.set(each, entryOf(root, each, id));
        }
      }
      const head =
        'forkline is under the licence in LICENSE. Its files in dist/ contain parts of the\n' +
        'libraries below, each under its own.\n';
      const source = [head, ...[...texts.values()].sort()].join(RULE);
      this.emitFile({ type: 'asset', fileName: LICENCES_FILE, source });
    },
  };
}

/**
 * Returns the folders of libraries whose code is inside another library's file.
 * @param {string} root
 * @param {string} file
 */
function carriedBy(root, file) {
  if (!existsSync(`${file}.map`)) return [];
  /** @type {{ sources: string[] }} */
  const { sources } = JSON.parse(readFileSync(`${file}.map`, 'utf8'));
  const names = new Set(sources.flatMap((source) => NAME.exec(source)?.[1] ?? []));
  return [...names].map((name) => join(root, 'node_modules', name));
}

/**
 * @param {string} root
 * @param {string} home of the library
 * @param {string} file of it
 */
function entryOf(root, home, file) {
  const { name, version, license } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
  const own = readdirSync(home).find((each) => /^licen[cs]e/i.test(each));
  const terms = own ? readFileSync(join(home, own), 'utf8') : termsIn(root, file);
  // A contained library may be of another version than the one here; its terms are the same.
  const known = dirname(file).startsWith(home) ? ` ${version}` : '';
  return `${name}${known} (${license})\n\n${terms.trim()}\n`;
}

/**
 * Finds the terms of a package without a licence file at the head of its files; the bundled file may lack
 * them.
 * @param {string} root
 * @param {string} file
 */
function termsIn(root, file) {
  const files = readdirSync(dirname(file)).filter((name) => /\.[cm]?js$/.test(name));
  const heads = files.map((name) => HEADS.exec(readFileSync(join(dirname(file), name), 'utf8')));
  const [head] = heads.flatMap((found) => (found?.[0].match(/Copyright/) && found[0].trim()) || []);
  if (!head?.includes('MIT')) throw new Error(`nothing tells the licence of ${file}`);
  const mit = readFileSync(join(root, 'LICENSE'), 'utf8').split('\n\n').slice(2).join('\n\n');
  return `${head}\n\n${mit}`;
}
