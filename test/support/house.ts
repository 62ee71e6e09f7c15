import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository. */
export const root = fileURLToPath(new URL('../..', import.meta.url));
const generated = new Set(['build', 'dist', 'node_modules', 'prebuilt', 'results', 'target']);

const entriesOf = (folder: string) =>
  readdirSync(join(root, folder), { withFileTypes: true }).filter(
    ({ name }) => !generated.has(name) && !name.startsWith('.'),
  );

/** The folders in a folder of the repository, by their names. */
export function foldersIn(folder: string): string[] {
  return entriesOf(folder).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
}

/**
 * The files under a folder of the repository, by their paths from its root; without what is
 * generated, unless the folder itself is.
 */
export function filesIn(folder: string): string[] {
  if (!existsSync(join(root, folder))) return [];
  return entriesOf(folder).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesIn(path) : [path];
  });
}

/** The text of a file of the repository. */
export const read = (file: string): string => readFileSync(join(root, file), 'utf8');

/** One file knows another. */
export interface Import {
  readonly from: string;
  readonly to: string;
  /** What it takes from there, by its name there. */
  readonly names: readonly string[];
}

/** The code of one language: its files, who knows whom, and the rooms in the order of knowing. */
export interface House {
  readonly language: string;
  readonly files: readonly string[];
  readonly imports: readonly Import[];
  /** A room knows those before it, and no other. */
  readonly order: readonly string[];
  readonly roomOf: (file: string) => string;
  /** What a file offers to others, by name. */
  readonly exportsOf: (file: string) => readonly string[];
  /** Returns whether a file is what programs, users of the package or other rooms may import. */
  readonly isFace: (file: string) => boolean;
}

/** The files that know themselves by way of others. */
export function inCircles(files: readonly string[], imports: readonly Import[]): string[] {
  const reaches = (file: string, goal: string, seen: Set<string>): boolean =>
    imports.some(({ from, to }) => {
      if (from !== file || seen.has(to)) return false;
      return to === goal || reaches(to, goal, seen.add(to));
    });
  return files.filter((file) => reaches(file, file, new Set()));
}

/** The values that a list has more than once. */
export const repeated = (values: readonly string[]): string[] => [
  ...new Set(values.filter((value, index) => values.indexOf(value) !== index)),
];

/** The names of the types that a TypeScript source declares, private ones too. */
export const typesOf = (file: string): string[] =>
  [...read(file).matchAll(TYPE)].map(([, name = '']) => name);

/** Whether a folder is another, or in it. */
export const isWithin = (folder: string, other: string): boolean =>
  folder === other || folder.startsWith(`${other}/`);

const STATEMENT =
  /^(?:import|export)(?: type)? ?(?<names>[^;'"]*?)\bfrom '(?<path>[^']+)'|^import '(?<bare>[^']+)'|\bimport\('(?<lazy>[^']+)'\)/gm;
const DECLARATION =
  /^export (?:async |abstract )?(?:function\*?|class|const|interface|type) (\w+)/gm;

const TYPE =
  /^ *(?:export )?(?:declare )?(?:abstract )?(?:interface|type|class|enum) (\w+)(?=[ <{])(?! (?:from|as)\b)/gm;

function importsOf(file: string): Import[] {
  return [...read(file).matchAll(STATEMENT)].flatMap(({ groups = {} }) => {
    const path = groups.path ?? groups.bare ?? groups.lazy ?? '';
    if (!path.startsWith('.')) return [];
    const to = join(dirname(file), path).replace(/\.js$/, '.ts');
    const names = (groups.names ?? '').match(/\w+(?= as )|\w+/g) ?? [];
    return [{ from: file, to, names }];
  });
}

/** The TypeScript of the package, in `src/`. */
export const typescript: House = {
  language: 'TypeScript',
  files: filesIn('src'),
  imports: filesIn('src').flatMap(importsOf),
  order: [
    ...['support', 'engine', 'shell', 'receipt', 'sandbox', 'options', 'command'],
    ...['urls', 'interaction-log', 'artifacts', 'minimizer', 'terminal', 'snapshot'],
    ...['persistent-shell', 'tasks', 'contracts', 'faces', 'index', 'remote', 'fleet'],
    ...['adapters', 'mcp', 'cli'],
  ],
  roomOf: (file) => basename(relative('src', file).split('/')[0] ?? '', '.ts'),
  // A function with overloads is declared several times.
  exportsOf: (file) => [
    ...new Set([...read(file).matchAll(DECLARATION)].map(([, name = '']) => name)),
  ],
  isFace: (file) => basename(file) === 'index.ts' || file === 'src/cli.ts' || isInnerFace(file),
};

/** Returns whether a file only passes on what other rooms of the package may take of its room. */
function isInnerFace(file: string): boolean {
  return file.startsWith('src/faces/') || file === 'src/remote/for-fleet.ts';
}

/** Returns the room that a face stands for. */
export function faceOf(file: string): string {
  return file.startsWith('src/faces/') ? basename(file, '.ts') : typescript.roomOf(file);
}

const ABOVE = ['remote', 'fleet', 'adapters', 'mcp', 'cli'];

/** Imports of the rooms above the contracts from other rooms; `support` is open to all. */
export const fromAbove: readonly Import[] = typescript.imports.filter(({ from, to }) => {
  const [user, used] = [from, to].map(typescript.roomOf);
  return ABOVE.includes(String(user)) && used !== user && used !== 'support';
});

/** The faces that are not public: the rooms behind each, names that no file takes, other code in it. */
export const innerFaces = typescript.files.filter(isInnerFace).map((face) => {
  const offered = typescript.imports.filter(({ from }) => from === face);
  const names = offered.flatMap((each) => each.names).filter((name) => name !== 'type');
  const used = typescript.imports.filter(({ to }) => to === face).flatMap((each) => each.names);
  return {
    face,
    rooms: [...new Set(offered.map(({ to }) => typescript.roomOf(to)))],
    unused: names.filter((name) => !used.includes(name)),
    rest: read(face).replace(/^export (type )?\{[^}]*\} from '[^']+';\n/gm, ''),
  };
});

/** What tests take from a house. */
export const testImports = filesIn('test')
  .filter((file) => file.endsWith('.ts'))
  .flatMap(importsOf);
