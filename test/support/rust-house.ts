import { relative } from 'node:path';
import { filesIn, type Import, read } from './house.js';

/** The crates of the house; a crate knows those before it, and no other. */
export const crates = [
  'launch',
  'journal',
  'pending',
  'protocol',
  'keeper',
  'engine',
  'far',
  'addon',
];

const TESTS = /\/tests(?:\.rs$|\/)/;

/** A crate's sources, by their paths from the root; tests excluded. */
const sourcesOf = (crate: string) =>
  filesIn(`native/${crate}/src`).filter((file) => file.endsWith('.rs') && !TESTS.test(file));

/** The sources of all crates; tests excluded. */
export const rustFiles = crates.flatMap(sourcesOf);

/** Comments, and the literals in which the signs of a comment or a block mean nothing. */
const NO_CODE =
  /\/\/.*|\/\*[\s\S]*?\*\/|\b[bc]?r(#*)"[\s\S]*?"\1|[bc]?"(?:\\[\s\S]|[^"\\])*"|'(?:\\[^']+|\\'|[^'\\])'/g;

/** The code of a Rust source, without comments, the contents of literals, and items for tests alone. */
function codeOf(file: string): string {
  const parts = read(file).replace(NO_CODE, "''").split('#[cfg(test)]');
  return parts.map((part, index) => (index === 0 ? part : part.slice(endOfItem(part)))).join('');
}

/** The offset at which the item ends that `code` begins with. */
function endOfItem(code: string): number {
  let depth = 0;
  for (const { 0: sign, index } of code.matchAll(/[{};]/g)) {
    depth += sign === '{' ? 1 : sign === '}' ? -1 : 0;
    if (depth === 0) return index + 1;
  }
  return code.length;
}

/** The declaration of a type; a `type` that is indented belongs to a trait or an `impl`. */
const TYPE =
  /^(?: *(?:pub(?:\([\w: ]+\))? )?(?:struct|enum|union|(?:unsafe )?trait)|(?:pub(?:\([\w: ]+\))? )?type) (\w+)/gm;

/** The names of the types that a Rust source declares, private ones too. */
export const rustTypesOf = (file: string): string[] =>
  [...codeOf(file).matchAll(TYPE)].map(([, name = '']) => name);

/** One `use` declaration: the paths that it names, and whether it offers them to others as its own. */
interface Use {
  readonly isReExport: boolean;
  readonly paths: readonly string[];
}

const USE = /\b(pub(?:\([\w: ]+\))? )?use ([^;]+);/g;

/** The paths of a `use` declaration's tree: `a::{b, c::{self, d}}` is `a::b`, `a::c::self`, `a::c::d`. */
function pathsOf(tree: string): string[] {
  const brace = tree.indexOf('{');
  if (brace < 0) return [tree.replace(/ as \w+$/, '').trim()];
  const inner = tree.slice(brace + 1, tree.lastIndexOf('}'));
  // Commas of inner braces do not part what is in these.
  const parts = inner.match(/(?:[^,{}]|\{(?:[^{}]|\{[^{}]*\})*\})+/g) ?? [];
  const prefix = tree.slice(0, brace).trim();
  return parts
    .filter((part) => part.trim() !== '')
    .flatMap((part) => pathsOf(`${prefix}${part.trim()}`));
}

/**
 * The imports between the modules of a crate. A module knows another when its code names something that is
 * declared there, by `use` or by a path in an expression. A parent is a module like any other, but three
 * things are no import: declaring a child (`mod child;`), offering a child's items as one's own
 * (`pub use child::Item`), and calling a method, which needs no name. An item that a module only offers is
 * looked for where it is declared.
 */
export function importsOfCrate(crate: string): Import[] {
  const files = sourcesOf(crate);
  const moduleOf = (file: string) => {
    const path = relative(`native/${crate}/src`, file).slice(0, -'.rs'.length).split('/');
    return path.filter((part, at) => at < path.length - 1 || !/^(?:mod|lib|main)$/.test(part));
  };
  const fileOf = new Map(files.map((file) => [moduleOf(file).join('::'), file]));
  const codes = new Map(files.map((file) => [file, codeOf(file)]));
  const uses = new Map(files.map((file) => [file, usesOf(codes.get(file) ?? '')]));

  /** The file in which the item of a path is declared; undefined where that is another crate. */
  const home = (from: string, path: string, hops = 0): string | undefined => {
    const parts = path.split('::');
    let at = moduleOf(from);
    if (parts[0] === 'crate') {
      at = [];
      parts.shift();
    } else if (parts[0] === 'super' || parts[0] === 'self') {
      while (parts[0] === 'super') {
        at = at.slice(0, -1);
        parts.shift();
      }
      if (parts[0] === 'self') parts.shift();
    } else if (!fileOf.has([...at, parts[0]].join('::'))) return undefined;
    while (parts.length > 0 && fileOf.has([...at, parts[0]].join('::'))) {
      at = [...at, parts.shift() ?? ''];
    }
    const file = fileOf.get(at.join('::'));
    const [item] = parts;
    if (file === undefined || item === undefined) return undefined;
    const offered = (uses.get(file) ?? [])
      .filter(({ isReExport }) => isReExport && hops < 8)
      .flatMap(({ paths }) => paths.filter((each) => each.endsWith(`::${item}`)))
      .flatMap((each) => home(file, each, hops + 1) ?? []);
    return offered[0] ?? file;
  };

  return files.flatMap((from) => {
    const taken = (uses.get(from) ?? []).flatMap(({ isReExport, paths }) =>
      isReExport ? [] : paths,
    );
    const local = new Map(
      taken
        .map((path) => path.replace(/::self$/, ''))
        .map((path) => [path.split('::').at(-1), path]),
    );
    const code = (codes.get(from) ?? '').replace(USE, '');
    const inline = [...code.matchAll(/\b[a-z]\w*(?:::\w+)+/g)].map(([path]) => {
      const [first = '', ...rest] = path.split('::');
      return [local.get(first) ?? first, ...rest].join('::');
    });
    const homes = new Set([...taken, ...inline].flatMap((path) => home(from, path) ?? []));
    return [...homes].filter((to) => to !== from).map((to) => ({ from, to, names: [] }));
  });
}

const usesOf = (code: string): Use[] =>
  [...code.matchAll(USE)].map(([, pub, tree = '']) => ({
    isReExport: pub !== undefined,
    paths: pathsOf(tree.replace(/\s+/g, ' ')),
  }));
