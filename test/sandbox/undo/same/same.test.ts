import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { leavesNothingBehind } from '../../../support/leftovers.js';
import {
  describeForAll,
  makeScene,
  type Person,
  runAs,
  useScenes,
} from '../../../support/sandbox.js';

// Calls have the results that they have without undo: errors, modes, flags, and what is there afterwards.
leavesNothingBehind();
const scenes = useScenes();
const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
const ATTRIBUTES = read('attributes.py');
const NAMES = read('../../tracked/calls.py');

/** Returns the lines that a command prints without undo, and with it, where they differ. */
async function differing(person: Person, command: string) {
  const told: string[][] = [];
  for (const undo of [false, true]) {
    const scene = makeScene(scenes.path, person);
    const sandbox = { mode: 'workspace-write', undo };
    // So that an ordinary user can remove it.
    const open = 'chmod -R u+rwX .';
    const script = `mkdir in; cd in; (${command}\n) >../told 2>&1 </dev/null; ${open}`;
    await runAs(person, scene, script, { cwd: scene.work, sandbox });
    const text = readFileSync(join(scene.work, 'told'), 'utf8');
    told.push(text.replaceAll(scene.work, 'WORK').split('\n'));
  }
  const [without = [], withUndo = []] = told;
  const lines = without.map((line, index) => ({ without: line, withUndo: withUndo[index] }));
  // Whether a pipe has a reader is a matter of time: who opens files for others closes them a little later.
  const isTold = (line: string) => !/open.*fifo/.test(line);
  const differing = lines.filter((one) => one.without !== one.withUndo && isTold(one.without));
  return { count: without.length, lines: differing };
}

const script = (text: string, seed: number) =>
  `cat >calls.py <<'END'\n${text}END\n/usr/bin/python3 calls.py ${seed} 20 150`;

describeForAll('calls of %s have the same results with undo', (person) => {
  const seed = Math.floor(Math.random() * 1e6);

  test('those that change attributes', async () => {
    const { count, lines } = await differing(person, script(ATTRIBUTES, seed));
    expect(count).toBeGreaterThan(3000);
    expect(lines.slice(0, 5)).toEqual([]);
  });

  test('those that make names', async () => {
    const { count, lines } = await differing(person, script(NAMES, seed));
    expect(count).toBeGreaterThan(3000);
    expect(lines.slice(0, 5)).toEqual([]);
  });

  test('a terminal, devices, pipes, and what processes have open', async () => {
    const command = `mkfifo p; (echo through >p &); cat p; echo x | tee /dev/null /dev/stdout; echo e >/dev/full
(umask 077; touch u; mkdir v; ls -ld u v | cut -c1-10)
/usr/bin/python3 - <<'END'
import os, pty, threading
master, slave = pty.openpty()
os.write(slave, b"typed"); print(os.read(master, 9), os.ttyname(slave)[:8])
for path in ("/dev/tty", "/dev/null", "/dev/ptmx", "/dev/zero"):
  try: print(path, os.close(os.open(path, os.O_RDWR | os.O_TRUNC)))
  except OSError as error: print(path, error.errno)
os.mkdir("gone"); at = os.open("gone", os.O_RDONLY); os.chdir("gone"); os.rmdir("../gone")
for call in (lambda: open("x", "w"), lambda: os.mkdir("y"), lambda: os.rename("x", "y"), lambda: os.chmod(".", 0o700)):
  try: print(call())
  except OSError as error: print(error.errno)
END`;
    const { lines } = await differing(person, command);
    expect(lines).toEqual([]);
  });
});
