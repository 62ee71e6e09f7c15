import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const generated = new Set(['build', 'dist', 'node_modules', 'prebuilt', 'results', 'target']);

/** The files under a folder of the repository, by their paths from its root. */
function filesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) return [path];
    return generated.has(entry.name) ? [] : filesIn(path);
  });
}

const read = (file: string) => readFileSync(join(root, file), 'utf8');

interface Import {
  from: string;
  to: string;
  /** Erased by the compiler: it ties types together, and loads nothing. */
  typeOnly: boolean;
}

const importPattern =
  /^(?:import|export)(?<type> type)?\b[^;'"]*?\bfrom '(?<path>[^']+)'|^import '(?<bare>[^']+)'|\bimport\('(?<lazy>[^']+)'\)/gm;

function importsOf(file: string): Import[] {
  return [...read(file).matchAll(importPattern)].flatMap(({ groups = {} }) => {
    const path = groups.path ?? groups.bare ?? groups.lazy ?? '';
    if (!path.startsWith('.')) return [];
    const to = join(dirname(file), path).replace(/\.js$/, '.ts');
    return [{ from: file, to, typeOnly: groups.type !== undefined }];
  });
}

/** The part of the house a file is in: its folder in src, or, at the top of src, its own name. */
function partOf(file: string): string {
  const [first = ''] = relative('src', file).split('/');
  return basename(first, '.ts');
}

const sources = filesIn('src').filter((file) => file.endsWith('.ts'));
const imports = sources.flatMap(importsOf);
const show = ({ from, to }: Import) => `${from} -> ${to}`;
const between = (from: readonly string[], to: readonly string[]) =>
  imports.filter((each) => from.includes(partOf(each.from)) && to.includes(partOf(each.to)));

const services = [
  'artifacts',
  'interaction-log',
  'jobs',
  'minimizer',
  'snapshot',
  'terminal',
  'urls',
];
const tops = ['mcp', 'adapters', 'cli'];
const parts = [...new Set(sources.map(partOf))];
const except = (...names: readonly string[]) => parts.filter((part) => !names.includes(part));

describe('imports go one way', () => {
  test('the engine knows nothing above it', () => {
    expect(between(['engine'], except('engine', 'support')).map(show)).toEqual([]);
  });

  test('the pipeline does not know the contracts or what is on top', () => {
    expect(between(['pipeline'], ['contracts', 'index', ...tops]).map(show)).toEqual([]);
  });

  test('artifacts, jobs, terminals and their like are interfaces to the pipeline, never code', () => {
    const loaded = between(['pipeline'], services).filter((each) => !each.typeOnly);
    expect(loaded.map(show)).toEqual([]);
    expect(between(services, ['contracts', 'index', ...tops]).map(show)).toEqual([]);
  });

  test('nothing is built on the MCP server, the adapters or the command line', () => {
    expect(between(except(...tops), tops).map(show)).toEqual([]);
  });

  test('the MCP server, the adapters and the command line stand on the public face alone', () => {
    const hidden = ['engine', 'pipeline', ...services];
    const loaded = between(tops, hidden).filter((each) => !each.typeOnly);
    expect(loaded.map(show)).toEqual([]);
  });

  test('only the engine touches the addon', () => {
    const addon = ['src/engine/binding.ts', 'src/engine/native.ts'];
    const outside = imports.filter(
      ({ from, to }) => addon.includes(to) && partOf(from) !== 'engine',
    );
    expect(outside.map(show)).toEqual([]);
    const loaders = sources.filter((file) => /\.node['"`]|@forkline\//.test(read(file)));
    expect(loaders).toEqual(['src/engine/binding.ts']);
  });

  test('no file imports itself by way of others', () => {
    const loaded = imports.filter((each) => !each.typeOnly);
    const reaches = (file: string, goal: string, seen: Set<string>): boolean =>
      loaded.some(({ from, to }) => {
        if (from !== file || seen.has(to)) return false;
        return to === goal || reaches(to, goal, seen.add(to));
      });
    expect(sources.filter((file) => reaches(file, file, new Set()))).toEqual([]);
  });
});

describe('files', () => {
  const folders = ['src', 'native', 'test', 'bench', 'examples', 'scripts'];
  const code = folders.flatMap(filesIn).filter((file) => /\.(ts|mjs|rs|cc|h)$/.test(file));

  test.each(folders)('%s is looked at', (folder) => {
    expect(code.filter((file) => file.startsWith(`${folder}/`))).not.toEqual([]);
  });

  test('none is longer than 300 lines', () => {
    const lines = (file: string) => read(file).trimEnd().split('\n').length;
    expect(code.filter((file) => lines(file) > 300)).toEqual([]);
  });

  test('none in src has a default export', () => {
    expect(sources.filter((file) => /^export default\b/m.test(read(file)))).toEqual([]);
  });

  test('every import leads to a file', () => {
    expect(imports.filter(({ to }) => !sources.includes(to)).map(show)).toEqual([]);
  });
});
