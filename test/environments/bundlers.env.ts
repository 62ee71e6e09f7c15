import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { Machine } from './machine.js';
import { projectOf } from './project.js';
import { type Registry, serveRegistry } from './registry.js';
import { programs } from './tarballs.js';

const PROGRAMS = {
  esbuild: 'esbuild@latest',
  webpack: 'webpack@latest',
  rollup: 'rollup@latest',
  'rollup-resolve': '@rollup/plugin-node-resolve@latest',
  'rollup-commonjs': '@rollup/plugin-commonjs@latest',
  vite: 'vite@7',
};

const MAIN = `import { createBashTool, run } from 'forkline';
run('echo hi').then((result) => console.log(result.output.text.trim()));
const tool = createBashTool({ contract: 'plain', cwd: '/' });
tool.execute({ command: 'echo tool' }).then((result) =>
  console.log(/tool/.exec(result.content[0].text)[0]));`;

/** What builds `main.mjs`: a program that is given whether forkline is external, and the output. */
const BUILDS: Readonly<Record<string, string>> = {
  'esbuild, as an ES module': `import { build } from '#esbuild/lib/main.js';
    await build({ entryPoints: ['main.mjs'], bundle: true, platform: 'node', format: 'esm',
      external: external ? ['forkline'] : [], outfile: output });`,
  'esbuild, as CommonJS': `import { build } from '#esbuild/lib/main.js';
    await build({ entryPoints: ['main.mjs'], bundle: true, platform: 'node', format: 'cjs',
      external: external ? ['forkline'] : [], logLevel: 'silent', outfile: output });`,
  webpack: `import webpack from '#webpack/lib/index.js';
    import { dirname, basename } from 'node:path';
    await new Promise((resolve, reject) => webpack({ entry: './main.mjs', target: 'node20',
      mode: 'production', optimization: { minimize: false }, experiments: { outputModule: true },
      externals: external ? { forkline: 'module forkline' } : {},
      output: { path: dirname(output), filename: basename(output), module: true },
    }, (error, stats) => stats?.hasErrors() ? reject(stats.toString()) : error ? reject(error) : resolve()));`,
  rollup: `import { rollup } from '#rollup/dist/es/rollup.js';
    import resolve from '#rollup-resolve/dist/es/index.js';
    import commonjs from '#rollup-commonjs/dist/es/index.js';
    const bundle = await rollup({ input: 'main.mjs', plugins: [resolve(), commonjs()], logLevel: 'silent',
      external: external ? ['forkline'] : [] });
    await bundle.write({ dir: dirname(output), entryFileNames: basename(output) });
    import { dirname, basename } from 'node:path';`,
  'vite SSR': `import { build } from '#vite/dist/node/index.js';
    import { dirname, basename } from 'node:path';
    await build({ logLevel: 'silent', ssr: external ? { external: ['forkline'] } : { noExternal: true },
      build: { ssr: 'main.mjs', outDir: dirname(output), emptyOutDir: false,
        rolldownOptions: { output: { entryFileNames: basename(output) } },
        rollupOptions: { output: { entryFileNames: basename(output) } } } });`,
};

let registry: Registry;
let machine: Machine;
let project: string;
let programOf: (name: keyof typeof PROGRAMS) => string;

beforeAll(async () => {
  programOf = programs('bundlers', PROGRAMS);
  registry = await serveRegistry(inject('tarballs'));
  machine = new Machine(registry.url);
  project = await projectOf(machine, 'project', { 'main.mjs': MAIN });
});

afterAll(() => {
  registry.close();
  machine.remove();
});

/** Builds the program, runs what came out, and returns what it printed. */
async function printed(name: string, external: boolean): Promise<string[]> {
  const stem = `${name.replaceAll(/\W+/g, '-')}-${external ? 'external' : 'bundled'}`;
  const output = join(project, `${stem}/main.${name.includes('CommonJS') ? 'cjs' : 'mjs'}`);
  const home = join(programOf('esbuild'), '..');
  const given = `const external = ${external};\nconst output = '${output}';\n`;
  const script = join(project, `${stem}.mjs`);
  writeFileSync(script, given + (BUILDS[name] ?? '').replaceAll("'#", `'${home}/`));
  const built = await machine.run(project, ['node', script]);
  expect(built.exitCode, built.stderr).toBe(0);
  const { stdout, stderr } = await machine.run(project, ['node', output]);
  return [...stdout.trim().split('\n').sort(), ...(stderr ? [stderr] : [])];
}

const names = Object.keys(BUILDS);

test.each(names)('left external by %s, it works', async (name) => {
  expect(await printed(name, true)).toEqual(['hi', 'tool']);
});

test.each(names)('I10: bundled by %s, beside node_modules, it works', async (name) => {
  expect(await printed(name, false)).toEqual(['hi', 'tool']);
});
