import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { execute, packEverything, type Tarballs } from './machine.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'forkline-tarballs-'));
let tarballs: Tarballs;

beforeAll(() => {
  tarballs = packEverything(directory);
});

afterAll(() => rmSync(directory, { recursive: true }));

const tool = (name: string, ...args: readonly string[]) =>
  execute(join(root, 'node_modules/.bin', name), args, { cwd: directory, env: process.env });

const manifestOf = (tarball: string) =>
  JSON.parse(execFileSync('tar', ['xOf', tarball, 'package/package.json'], { encoding: 'utf8' }));

test('publint finds nothing to say about either package', async () => {
  for (const tarball of [tarballs.main, tarballs.platform]) {
    const { exitCode, stdout } = await tool('publint', '--strict', tarball);
    expect(stdout).toContain('All good!');
    expect(exitCode).toBe(0);
  }
});

test('the types resolve wherever ES modules do', async () => {
  const { exitCode, stdout } = await tool('attw', '--profile', 'esm-only', tarballs.main);
  expect(exitCode, stdout).toBe(0);
});

test('the main package asks for the platform package of its own version', () => {
  const main = manifestOf(tarballs.main);
  const platform = manifestOf(tarballs.platform);
  expect(main.optionalDependencies).toEqual({ [platform.name]: main.version });
  expect(platform).toMatchObject({ version: main.version, os: ['linux'], libc: ['glibc'] });
});

test('what is published has nothing that runs at an install', () => {
  const main = manifestOf(tarballs.main);
  expect(main).not.toHaveProperty('scripts');
  expect(main.gypfile).toBe(false);
});

test('packing writes nothing into the checkout', () => {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(manifest).not.toHaveProperty('optionalDependencies');
});
