import { statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type SandboxReport, sandboxNotices } from '../../src/index.js';
import { runHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { makeScene, people, runAs, useScenes } from '../support/sandbox.js';

leavesNothingBehind();
const scenes = useScenes();
const [me] = people;
const OWN = "Its loopback is the sandbox's own: a server in it is reached only from inside.";

/** A report of a command that was denied one write and the network. */
function report(by: 'namespace' | 'landlock' | 'none', writable: string[]): SandboxReport {
  const tmp = by === 'landlock' ? 'none' : by;
  const enforced = { write: by, read: by, tmp, network: by, unixSockets: by, processes: by };
  return {
    enforced: {
      ...enforced,
      socketFamilies: 'seccomp',
      privileges: by,
      settings: 'none',
      caches: 'none',
      undo: 'none',
    },
    writable,
    denials: [
      { kind: 'write', target: '/x', rule: 'allowWrite', source: 'output' },
      { kind: 'connect', target: 'host.example', rule: 'network', source: 'output' },
    ],
  };
}

test("S11: the advice says that /tmp and the loopback are the sandbox's own, where they are", () => {
  const [write, connect] = sandboxNotices(report('namespace', ['/w']));
  expect(write).toContain("Write to /w or /tmp (the sandbox's own) instead.");
  expect(connect).toContain("There is no network but the sandbox's own loopback: do without it");
  const [openly, nowhere] = sandboxNotices(report('landlock', ['/w']));
  expect(openly).toContain('Write to /w or /tmp instead.');
  expect(nowhere).toContain('There is no network: do without it');
  const [shared] = sandboxNotices(report('none', ['/w', '/tmp']));
  expect(shared).toContain('Write to /w or /tmp instead.');
});

test.each([
  ['workspace-write', true],
  [{ network: 'full' }, false],
])('S11: for a server left running it says who reaches it: %j', async (sandbox, isOwn) => {
  const { home, work } = makeScene(scenes.path, me);
  const options = { contract: 'session', cwd: work, sandbox };
  const server = `/usr/bin/python3 -uc '
import socket, time
server = socket.create_server(("127.0.0.1", 0))
print("listens", flush=True)
time.sleep(50)' >log &`;
  const commands = [{ command: `${server} until grep -q listens log; do sleep 0.05; done` }];
  const args = [options, ...commands].map((one) => JSON.stringify(one));
  const [answer] = await runHost<{ text: string }[]>('tools', { args, env: { HOME: home } });
  expect(answer?.text).toMatch(/Still running in the background: .* on port \d+/);
  expect(answer?.text.includes(OWN)).toBe(isOwn);
});

test.each(people)('S11: its own directories share one limit (%s)', async (person) => {
  const scene = makeScene(scenes.path, person);
  const own = '/tmp /var/tmp /run /dev/shm';
  const command = `
    free -b | awk '/^Mem:/ { print $2 }'
    df -B1 --output=size ${own} | sed 1d; df --output=itotal ${own} | sed 1d
    fallocate -l 3M /tmp/three; df -B1 --output=used ${own} | sed 1d
    fallocate -l $(df -B1 --output=size /tmp | sed 1d) /dev/shm/all 2>&1 | grep -c 'No space left'`;
  const options = { cwd: scene.work, sandbox: 'workspace-write' };
  const { text } = await runAs(person, scene, command, options);
  const [memory = 0, ...figures] = text.trim().split('\n').map(Number);
  const [size = 0] = figures;
  const inodes = figures[4] ?? 0;
  expect(figures.slice(0, 4)).toEqual(Array(4).fill(size));
  expect(figures.slice(4, 8)).toEqual(Array(4).fill(inodes));
  expect(size).toBeGreaterThan(0);
  expect(size).toBeLessThanOrEqual(memory / 2 + 4096);
  expect(Math.abs(inodes - size / 8192)).toBeLessThanOrEqual(1);
  expect(figures.slice(8, 12)).toEqual(Array(4).fill(3 * 1024 * 1024));
  expect(figures[12]).toBe(1);
});

test.each(people)("$name: devices are used, and stay the host's as they are", async (person) => {
  const { home, work } = makeScene(scenes.path, person);
  const times = () => ['null', 'full'].map((name) => statSync(`/dev/${name}`).mtimeMs);
  const before = times();
  const command = 'touch /dev/null /dev/full; echo x >/dev/null && head -c 2 /dev/zero | wc -c';
  const options = { cwd: work, sandbox: 'workspace-write' };
  const { text } = await runAs(person, { home }, command, options);
  expect(text).toMatch(/\/dev\/null.*Read-only.*\/dev\/full.*Read-only.*\n2\n/s);
  expect(times()).toEqual(before);
});
