import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What all that is downloaded and made for these tests is kept in, from one run to the next. */
export const KEPT = fileURLToPath(new URL('../../build/environments', import.meta.url));

export interface Manifest {
  readonly name: string;
  readonly version: string;
}

/** Node from the npm registry, by its version: the oldest that is supported, others, and the latest. */
export const NODES = {
  node20: `node-linux-${process.arch}@20`,
  node22: `node-linux-${process.arch}@22`,
  node24: `node-linux-${process.arch}@24`,
  node: `node-linux-${process.arch}@latest`,
} as const;

/** The manifest within a tarball. */
export function manifestOf(tarball: string): Manifest {
  const args = ['xOf', tarball, 'package/package.json'];
  return JSON.parse(execFileSync('tar', args, { encoding: 'utf8' }));
}

/**
 * Programs from the npm registry, installed once.
 *
 * @param packages By the name they get: `{ pnpm8: 'pnpm@8' }`.
 * @returns Where each lies.
 */
export function programs<Name extends string>(
  folder: string,
  packages: Readonly<Record<Name, string>>,
): (name: Name) => string {
  const directory = join(KEPT, folder);
  mkdirSync(directory, { recursive: true });
  // Without one, npm installs into the checkout.
  writeFileSync(join(directory, 'package.json'), '{"private":true}');
  const wanted = Object.entries(packages).map(([name, spec]) => `${name}@npm:${spec}`);
  // Of a program for another runtime npm only warns.
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--silent', '--force'];
  const args = ['install', ...flags, ...wanted];
  execFileSync('npm', args, { cwd: directory, stdio: ['ignore', 'ignore', 'inherit'] });
  return (name) => join(directory, 'node_modules', name);
}
