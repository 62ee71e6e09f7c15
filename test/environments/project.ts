import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { Ended, Machine } from './machine.js';

/** The check set. */
const SMOKE = fileURLToPath(new URL('smoke.mjs', import.meta.url));

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
  copyFileSync(SMOKE, join(project, 'smoke.mjs'));
  const npm = join(process.execPath, '../../lib/node_modules/npm/bin/npm-cli.js');
  const { exitCode, stderr } = await machine.run(project, ['node', npm, 'install', ...flags]);
  expect(exitCode, stderr).toBe(0);
  return project;
}

/** The lines of a check set that are not as they should be; and one if there are too few. */
export function troublesIn({ stdout, stderr, exitCode }: Ended): unknown[] {
  const lines: { ok?: boolean; name?: string }[] = stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
  const checks = lines.filter(({ name }) => name !== undefined);
  const failed = checks.filter(({ ok }) => !ok);
  return checks.length >= 21 && exitCode === 0 ? failed : [...failed, { exitCode, stderr, stdout }];
}
