import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { stopCommand } from '../../src/contracts/notices.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';

leavesNothingBehind();
const folder = useFolder();

/** In place of the C library's: nothing is signalled, whatever a program makes of its arguments. */
const STUB = `
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
int kill(pid_t pid, int number) {
  FILE *file = fopen(getenv("KILLED"), "a");
  if (file) { fprintf(file, "%d %d\\n", (int)pid, number); fclose(file); }
  return 0;
}
int killpg(int group, int number) { return kill(-group, number); }
`;

const library = () => folder.file('stub.so');

beforeAll(() => {
  writeFileSync(folder.file('stub.c'), STUB);
  const compiler = process.env.CC?.split(' ')[0] || 'cc';
  execFileSync(compiler, ['-shared', '-fPIC', '-o', library(), folder.file('stub.c')]);
});

/** Whom a program would have signalled, and by which signal. */
function signalled(program: string, args: readonly string[]): string[] {
  const killed = folder.file('killed');
  writeFileSync(killed, '');
  spawnSync(program, args, {
    env: { PATH: process.env.PATH, LD_PRELOAD: library(), KILLED: killed },
    stdio: 'ignore',
  });
  return readFileSync(killed, 'utf8').split('\n').filter(Boolean);
}

// A number that no group has: a stub that were not there would hit nobody.
const GROUP = 4_194_305;

test('A1: the stub replaces the call itself', () => {
  expect(signalled('kill', ['-0', String(GROUP)])).toEqual([`${GROUP} 0`]);
});

test('A1: the command suggested to a model stops the groups and no other process, with any kill', () => {
  const [program = '', ...args] = stopCommand([GROUP, GROUP + 1]).split(' ');
  const expected = [`-${GROUP} 9`, `-${GROUP + 1} 9`];
  expect(signalled(program, args)).toEqual(expected);
  expect(signalled('env', [program, ...args])).toEqual(expected);
  expect(signalled('sh', ['-c', `echo ${args.slice(2).join(' ')} | xargs kill -9 --`])).toEqual(
    expected,
  );
  const text = [program, ...args].join(' ');
  expect(signalled('bash', ['-c', text])).toEqual(expected);
  // That of dash takes a number and a `--` for an error, and hits nobody.
  expect([[], expected]).toContainEqual(signalled('sh', ['-c', text]));
});
