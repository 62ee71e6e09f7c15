import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { Ended, Machine } from './machine.js';

/** The check set, and what it leaves to hosts that have time. */
const PROGRAMS = ['smoke.mjs', 'shells.mjs'];

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

/** The number of checks in the check set. */
const SMOKE_CHECKS = 21;

/** The lines of a check set that are not as they should be; and one if there are too few. */
export function troublesIn(
  { stdout, stderr, exitCode }: Ended,
  atLeast: number = SMOKE_CHECKS,
): unknown[] {
  const lines: { ok?: boolean; name?: string }[] = stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
  const checks = lines.filter(({ name }) => name !== undefined);
  const failed = checks.filter(({ ok }) => !ok);
  return checks.length >= atLeast && exitCode === 0
    ? failed
    : [...failed, { exitCode, stderr, stdout }];
}
