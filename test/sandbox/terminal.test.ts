import { expect, test } from 'vitest';
import { leavesNothingBehind } from '../support/leftovers.js';
import { describeForAll, makeScene, runAs, useScenes } from '../support/sandbox.js';

leavesNothingBehind();
const scenes = useScenes();

describeForAll('%s', (person) => {
  test("S11: a command's terminal has a name in its sandbox, and is none of the host's", async () => {
    const scene = makeScene(scenes.path, person);
    const options = { cwd: scene.work, sandbox: 'workspace-write', pty: {} };
    const command = `tty; [ "$(tty)" -ef /dev/stdin ] && echo same; ls /dev/pts
      echo to its name >$(tty); stty size; script -qec 'tty' /dev/null`;
    const { text } = await runAs(person, scene, command, options);
    expect(text.replaceAll('\r', '').trim().split('\n')).toEqual([
      '/dev/pts/0',
      'same',
      expect.stringMatching(/^0\s+ptmx$/),
      'to its name',
      expect.stringMatching(/^\d+ \d+$/),
      '/dev/pts/1',
    ]);
  });

  test('S11: it works as any terminal, and so does that of a session', async () => {
    const scene = makeScene(scenes.path, person);
    const options = { cwd: scene.work, sandbox: 'workspace-write', pty: {} };
    const command = `/usr/bin/python3 -c '
import os, termios
print(os.ttyname(0), os.tcgetpgrp(0) == os.getpgrp(), os.isatty(1))
open("/dev/tty", "w").write("by the way of all\\n")'`;
    const { text } = await runAs(person, scene, command, options);
    expect(text.replaceAll('\r', '')).toBe('/dev/pts/0 True True\nby the way of all\n');
  });

  test('S11: with Landlock only, the terminal is one of the host', async () => {
    const scene = makeScene(scenes.path, person);
    const sandbox = { require: 'landlock' };
    const options = { cwd: scene.work, sandbox, pty: {} };
    const { text, result } = await runAs(person, scene, 'tty', options);
    expect(result.sandbox?.enforced.write).toBe('landlock');
    expect(text).toMatch(/^\/dev\/pts\/\d+\s*$/);
  });
});
