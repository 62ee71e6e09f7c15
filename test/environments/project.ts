import { copyFileSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { Ended, Machine } from './machine.js';

/** The check set, and what it leaves to hosts that have time. */
const PROGRAMS = ['smoke.mjs', 'shells.mjs'];

/** The check set as a text, for what gives its files other names. */
export const smoke = (): string =>
  readFileSync(fileURLToPath(new URL('smoke.mjs', import.meta.url)), 'utf8');

/** The check set as a CommonJS module, for what knows no ES modules. */
export const smokeAsCommonJs = (): string =>
  smoke()
    .replace(/^import \* as (\w+) from ('[^']+');$/gm, 'const $1 = require($2);')
    .replace(/^import (\{[^}]+\}) from ('[^']+');$/gm, 'const $1 = require($2);')
    .replace(/^export const finished =/m, 'exports.finished =');

/** A user's project with forkline installed in it by npm, and the check set beside. */
export async function projectOf(
  machine: Machine,
  name: string,
  files: Readonly<Record<string, string>> = {},
  flags: readonly string[] = [],
): Promise<string> {
  const project = machine.directory(name, {
    'package.json': '{"private":true,"type":"module","dependencies":{"forkline":"*"}}',
    ...files,
  });
  for (const program of PROGRAMS) {
    copyFileSync(fileURLToPath(new URL(program, import.meta.url)), join(project, program));
  }
  const npm = join(process.execPath, '../../lib/node_modules/npm/bin/npm-cli.js');
  const { exitCode, stderr } = await machine.run(project, ['node', npm, 'install', ...flags]);
  expect(exitCode, stderr).toBe(0);
  return project;
}

/** Where a test runner has the check set write: it keeps what is printed. */
export const OUTPUT = 'FORKLINE_SMOKE_OUTPUT';

/** Makes packages that were installed elsewhere known to a project, by these names. */
export function link(project: string, packages: Readonly<Record<string, string>>): void {
  for (const [name, path] of Object.entries(packages)) {
    const place = join(project, 'node_modules', name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(path, place);
  }
}

/** The number of checks in the check set. */
const SMOKE_CHECKS = 30;

/** The lines of a check set that are not as they should be; and one if there are too few. */
export function troublesIn(
  { stdout, stderr, exitCode }: Ended,
  atLeast: number = SMOKE_CHECKS,
): unknown[] {
  const lines: { ok?: boolean; name?: string; skipped?: string }[] = stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
  const checks = lines.filter(({ name }) => name !== undefined);
  // A check that a machine makes impossible is skipped; machines of these tests have all that is needed.
  const failed = checks.filter(({ ok, skipped }) => !ok || skipped !== undefined);
  return checks.length >= atLeast && exitCode === 0
    ? failed
    : [...failed, { exitCode, stderr, stdout }];
}
