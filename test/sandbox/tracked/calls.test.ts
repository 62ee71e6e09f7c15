import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { git, write } from '../../support/checkouts.js';
import { leavesNothingBehind } from '../../support/leftovers.js';
import {
  describeForAll,
  give,
  type Person,
  runAs,
  type Scene,
  useScenes,
} from '../../support/sandbox.js';
import { makeOwned } from './owned.js';

leavesNothingBehind();
const scenes = useScenes();
const SCRIPT = readFileSync(new URL('calls.py', import.meta.url), 'utf8');
/** A setting is removed and comes back: from then on all names are made by the process outside. */
const STRICT = 'git rm -q --cached .npmrc; rm .npmrc; git checkout -q -f main;';

function makeTracking(person: Person): Scene {
  const scene = makeOwned(scenes.path);
  const { work } = scene;
  git(work, 'checkout', '-q', '-b', 'main');
  git(work, 'commit', '-q', '--allow-empty', '-m', 'empty');
  write(work, '.npmrc', 'own\n');
  git(work, 'add', '.');
  git(work, 'commit', '-qm', 'own');
  give(person, join(work, '..'));
  return scene;
}

/** Returns what a command writes to `told`, where settings are judged, and where they are mounts. */
async function inBoth(person: Person, command: string): Promise<readonly [string, string]> {
  const scene = makeTracking(person);
  const tell = async (begin: string, sandbox: object | string) => {
    const script = `${begin}\n(${command}\n) > told 2>&1`;
    await runAs(person, scene, script, { cwd: scene.work, sandbox });
    return readFileSync(join(scene.work, 'told'), 'utf8');
  };
  return [await tell(STRICT, 'workspace-write'), await tell('', { settings: 'read-only' })];
}

describeForAll('calls that make names, of %s', (person) => {
  test('have the same results, whether or not settings are judged', async () => {
    const first = Math.floor(Math.random() * 1e6);
    const command = `cat > calls.py <<'END'\n${SCRIPT}END\npython3 calls.py ${first} 20 150`;
    const [judged, mounted] = await inBoth(person, command);
    const expected = mounted.split('\n');
    const differing = judged.split('\n').flatMap((line, index) => {
      return line === expected[index] ? [] : [{ judged: line, mounted: expected[index] }];
    });
    expect(expected.length).toBeGreaterThan(3000);
    expect(differing.slice(0, 5)).toEqual([]);
  });

  test('wait as they do where settings are mounts', async () => {
    const command = `mkfifo pipe; python3 - <<'END'
import os, threading, time
for flags, other in [(0, 1), (1, 0), (2, 2), (0, 2)]:
    begin = time.monotonic()
    def open_other():
        time.sleep(0.3)
        file = os.open("pipe", other)
        if other: os.write(file, b"x")
        time.sleep(0.3)
    thread = threading.Thread(target=open_other)
    thread.start()
    file = os.open("pipe", flags | os.O_CREAT)
    print(flags, time.monotonic() - begin > 0.2, os.read(file, 1) if flags == 0 else "")
    thread.join()
    os.close(file)
END
rm pipe`;
    const [judged, mounted] = await inBoth(person, command);
    expect(mounted).toContain('0 True');
    expect(judged).toBe(mounted);
  });

  test('open files of processes, and what is open', async () => {
    const command = `echo 500 > /proc/$$/oom_score_adj; cat /proc/$$/oom_score_adj
sh -c 'echo ab > /proc/self/comm; cat /proc/$$/comm'; echo 1 > /dev/stdout; echo 2 > /dev/fd/1; echo 3 | tee /dev/stderr > /dev/null`;
    const [judged, mounted] = await inBoth(person, command);
    expect(judged).toBe(mounted);
  });
});
