import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { Machine } from './machine.js';
import { projectOf, smokeAsCommonJs, troublesIn } from './project.js';
import { type Registry, serveRegistry } from './registry.js';
import { NODES, programs } from './tarballs.js';

const { arch } = process;

const PROGRAMS = {
  node20: NODES.node20,
  node: NODES.node,
  bun: `@oven/bun-linux-${arch === 'x64' ? 'x64' : 'aarch64'}@latest`,
  esbuild: 'esbuild@latest',
  webpack: 'webpack@latest',
  rollup: 'rollup@latest',
  'rollup-resolve': '@rollup/plugin-node-resolve@latest',
  'rollup-commonjs': '@rollup/plugin-commonjs@latest',
  rolldown: 'rolldown@latest',
  vite: 'vite@latest',
  ncc: '@vercel/ncc@latest',
  postject: 'postject@latest',
} as const;

type Program = keyof typeof PROGRAMS;

/** A program that bundles the check set, and the file that comes out. `#` is where programs lie. */
interface Build {
  readonly file: string;
  readonly script: string;
}

/** What becomes part of a Node, as Node's documentation describes. */
const FOR_SINGLE = `import { build } from '#esbuild/lib/main.js';
const main = outfile + '.cjs';
await build({ entryPoints: ['smoke.mjs'], bundle: true, platform: 'node', format: 'cjs', outfile: main });
const config = { main, disableExperimentalSEAWarning: true };`;

const BUILDS: Readonly<Record<string, Build>> = {
  'esbuild, as an ES module': {
    file: 'smoke.mjs',
    script: `import { build } from '#esbuild/lib/main.js';
await build({ entryPoints: ['smoke.mjs'], bundle: true, platform: 'node', format: 'esm', outfile });`,
  },
  'esbuild, as CommonJS': {
    file: 'smoke.cjs',
    script: `import { build } from '#esbuild/lib/main.js';
await build({ entryPoints: ['smoke.mjs'], bundle: true, platform: 'node', format: 'cjs', outfile });`,
  },
  'esbuild, made small': {
    file: 'smoke.mjs',
    script: `import { build } from '#esbuild/lib/main.js';
await build({ entryPoints: ['smoke.mjs'], bundle: true, platform: 'node', format: 'esm', minify: true,
  outfile });`,
  },
  'webpack, as an ES module': {
    file: 'smoke.mjs',
    script: `import webpack from '#webpack/lib/index.js';
await new Promise((resolve, reject) => webpack({ entry: './smoke.mjs', target: 'node20',
  mode: 'none', experiments: { outputModule: true },
  output: { path: dirname(outfile), filename: basename(outfile), module: true },
}, (error, stats) => stats?.hasErrors() ? reject(stats.toString()) : error ? reject(error) : resolve()));`,
  },
  'webpack, as CommonJS': {
    file: 'smoke.cjs',
    script: `import webpack from '#webpack/lib/index.js';
await new Promise((resolve, reject) => webpack({ entry: './smoke.mjs', target: 'node20',
  mode: 'production', output: { path: dirname(outfile), filename: basename(outfile) },
}, (error, stats) => stats?.hasErrors() ? reject(stats.toString()) : error ? reject(error) : resolve()));`,
  },
  'rollup, as an ES module': {
    file: 'smoke.mjs',
    script: `import { rollup } from '#rollup/dist/es/rollup.js';
import resolve from '#rollup-resolve/dist/es/index.js';
import commonjs from '#rollup-commonjs/dist/es/index.js';
const bundle = await rollup({ input: 'smoke.mjs', plugins: [resolve(), commonjs()] });
await bundle.write({ file: outfile, inlineDynamicImports: true });`,
  },
  'rollup, as CommonJS': {
    file: 'smoke.cjs',
    script: `import { rollup } from '#rollup/dist/es/rollup.js';
import resolve from '#rollup-resolve/dist/es/index.js';
import commonjs from '#rollup-commonjs/dist/es/index.js';
const bundle = await rollup({ input: 'smoke.mjs', plugins: [resolve(), commonjs()] });
await bundle.write({ file: outfile, format: 'cjs', inlineDynamicImports: true });`,
  },
  rolldown: {
    file: 'smoke.mjs',
    script: `import { build } from '#rolldown/dist/index.mjs';
await build({ input: 'smoke.mjs', platform: 'node', output: { file: outfile, codeSplitting: false } });`,
  },
  'vite SSR': {
    file: 'smoke.mjs',
    script: `import { build } from '#vite/dist/node/index.js';
await build({ logLevel: 'silent', ssr: { noExternal: true }, build: { ssr: 'smoke.mjs',
  outDir: dirname(outfile), rolldownOptions: { output: { entryFileNames: basename(outfile) } } } });`,
  },
  'ncc, as an ES module': {
    file: 'index.mjs',
    script: `run('#ncc/dist/ncc/cli.js', 'build', 'smoke.mjs', '--out', dirname(outfile));`,
  },
  'ncc, as CommonJS': {
    file: 'index.cjs',
    script: `run('#ncc/dist/ncc/cli.js', 'build', 'smoke.cjs', '--out', dirname(outfile));`,
  },
  'bun build': {
    file: 'smoke.mjs',
    script: `start('#bun/bin/bun', 'build', 'smoke.mjs', '--target=node', '--outfile', outfile);`,
  },
  'bun build --compile': {
    file: 'smoke',
    script: `start('#bun/bin/bun', 'build', 'smoke.mjs', '--compile', '--outfile', outfile);`,
  },
  'a single executable, by postject': {
    file: 'smoke',
    script: `${FOR_SINGLE}
writeFileSync(outfile + '.json', JSON.stringify({ ...config, output: outfile + '.blob' }));
start('#node20/bin/node', '--experimental-sea-config', outfile + '.json');
copyFileSync('#node20/bin/node', outfile);
run('#postject/dist/cli.js', outfile, 'NODE_SEA_BLOB', outfile + '.blob',
  '--sentinel-fuse', 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2');`,
  },
  'a single executable, by --build-sea': {
    file: 'smoke',
    script: `${FOR_SINGLE}
writeFileSync(outfile + '.json', JSON.stringify({ ...config, output: outfile }));
start('#node/bin/node', '--build-sea', outfile + '.json');`,
  },
};

const HEAD = `import { execFileSync } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
const start = (program, ...args) => execFileSync(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
const run = (...args) => start(process.execPath, ...args);
`;

let registry: Registry;
let machine: Machine;
let project: string;
let programOf: (name: Program) => string;

beforeAll(async () => {
  programOf = programs('single-files', PROGRAMS);
  registry = await serveRegistry(inject('tarballs'));
  machine = new Machine(registry.url);
  project = await projectOf(machine, 'project', { 'smoke.cjs': smokeAsCommonJs() });
});

afterAll(() => {
  registry?.close();
  machine?.remove();
});

/** Bundles the check set, and returns the path to what came out, alone in a directory but for the binaries. */
async function built(name: string, { file, script }: Build): Promise<string> {
  const stem = name.replaceAll(/\W+/g, '-');
  const outfile = join(project, 'out', stem, file);
  mkdirSync(dirname(outfile), { recursive: true });
  const home = dirname(programOf('esbuild'));
  const text = `${HEAD}const outfile = '${outfile}';\n${script.replaceAll("'#", `'${home}/`)}`;
  writeFileSync(join(project, `${stem}.mjs`), text);
  const node = join(programOf('node'), 'bin/node');
  const ended = await machine.run(project, [node, `${stem}.mjs`]);
  expect(ended.exitCode, ended.stderr).toBe(0);
  const alone = machine.directory(stem);
  renameSync(outfile, join(alone, basename(outfile)));
  return join(alone, basename(outfile));
}

/** Puts the binaries beside a file, as its user would. */
function withBinaries(path: string): string {
  const packages = join(project, 'node_modules/@forkline');
  for (const name of readdirSync(packages)) {
    for (const binary of ['forkline-keeper', `${name.replace('engine-', 'forkline.')}.node`]) {
      copyFileSync(join(packages, name, binary), join(dirname(path), binary));
    }
  }
  return path;
}

/** Runs something while what was bundled is elsewhere: some bundlers write the paths to it into a bundle. */
async function withoutProject<T>(use: () => Promise<T>): Promise<T> {
  renameSync(project, `${project}.away`);
  try {
    return await use();
  } finally {
    renameSync(`${project}.away`, project);
  }
}

test.each(Object.entries(BUILDS))(
  'I10: bundled by %s and moved, with the binaries beside, the check set passes',
  async (name, build) => {
    const path = withBinaries(await built(name, build));
    const started = /js$/.test(path) ? [join(programOf('node20'), 'bin/node'), path] : [path];
    expect(troublesIn(await withoutProject(() => machine.run('/', started)))).toEqual([]);
  },
);

test('I10: without the binaries the error names them, and where they are to be', async () => {
  const path = await built('esbuild, alone', BUILDS['esbuild, as CommonJS'] as Build);
  const { stdout } = await withoutProject(() =>
    machine.run('/', [join(programOf('node20'), 'bin/node'), path]),
  );
  const names =
    /put forkline\.linux-\w+-gnu\.node and forkline-keeper of that package into (\S+), /;
  expect(names.exec(stdout)?.[1]).toBe(dirname(path));
});

test('a keeper whose mode was lost in a zip is started all the same', async () => {
  const bundle = await built('esbuild, unzipped', BUILDS['esbuild, as CommonJS'] as Build);
  const path = withBinaries(bundle);
  chmodSync(join(dirname(path), 'forkline-keeper'), 0o644);
  const node = join(programOf('node20'), 'bin/node');
  expect(troublesIn(await withoutProject(() => machine.run('/', [node, path])))).toEqual([]);
});
