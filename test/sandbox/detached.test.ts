import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { daemon, longSleep, sleeping } from '../support/commands.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import {
  childrenOf,
  commandLineOf,
  eventually,
  isGone,
  openDescriptors,
} from '../support/processes.js';
import {
  describeForAll,
  detachingHost,
  makeScene,
  runDetachedAs,
  type Scene,
  startOutsider,
  useScenes,
} from '../support/sandbox.js';

// A command that outlives its host stays where it was, and leaves as little as any other.
leavesNothingBehind();
const scenes = useScenes();

const over = ['ended', 'lost'];
const optionsOf = ({ work }: Scene, sandbox: unknown = 'workspace-write') => {
  return { cwd: work, sandbox };
};

/** The keepers of a host's sandboxes, and their cradles. */
function keepersOf(host: number): number[] {
  return childrenOf(host).flatMap((child) => {
    const isOne = commandLineOf(child).startsWith('forkline-keeper sandbox');
    return [...(isOne ? [child] : []), ...keepersOf(child)];
  });
}

/** The process that keeps the detached command of a scene. */
function keeperIn({ home }: Scene): number {
  const isOne = (pid: string) =>
    commandLineOf(Number(pid)).startsWith('forkline-keeper detach') &&
    descriptorsOf(Number(pid)).some((fd) => linkOf(`/proc/${pid}/fd/${fd}`).includes(home));
  return Number(readdirSync('/proc').find((name) => /^\d+$/.test(name) && isOne(name)) ?? 0);
}

/** Those of another user's are not shown. */
function descriptorsOf(pid: number): string[] {
  try {
    return openDescriptors(pid);
  } catch {
    return [];
  }
}

/** Another one may close it meanwhile. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

describeForAll('%s', (person) => {
  test('a detached command is in the sandbox of the others, and as confined as they are', async () => {
    const scene = makeScene(scenes.path, person);
    const { told } = await startOutsider(scene, person);
    const { ask, end } = detachingHost(person, scene);
    const options = optionsOf(scene);
    await ask({ run: 'echo shared > /tmp/shared', options });
    const command = `cat /tmp/shared; echo in > new; echo out > ${scene.outside}/new; cat ~/.ssh/id_rsa
      echo x > /dev/stderr; kill -9 ${told.pid}; echo > /dev/tcp/127.0.0.1/${told.tcp}
      grep -c . /proc/sys/user/max_user_namespaces; grep NoNewPrivs /proc/self/status; exit 3`;
    const { id } = await ask({ start: command, options });
    const { text, receipt, listed } = await ask({ id, until: over });
    expect(receipt?.outcome).toEqual({ kind: 'exited', exitCode: 3 });
    expect(listed).toBe(true);
    expect(text).toMatch(/^shared\n.*Read-only file system\n.*(Permission denied|No such file)/);
    expect(text).toMatch(/\nx\n.*No such process\n.*Connection refused/);
    expect(text).toMatch(/NoNewPrivs:\t1\n$/);
    expect(text).not.toContain('secret');
    expect(readFileSync(`${scene.work}/new`, 'utf8')).toBe('in\n');
    expect(existsSync(`${scene.outside}/new`)).toBe(false);
    expect(isGone(told.pid)).toBe(false);
    await end();
  });

  test("its host's commands reach its server on their loopback", async () => {
    const scene = makeScene(scenes.path, person);
    const { ask, end } = detachingHost(person, scene);
    const options = optionsOf(scene);
    const start = 'exec /usr/bin/python3 -m http.server --bind 127.0.0.1 8123 2>/dev/null';
    const { id } = await ask({ start, options });
    const get = 'until curl -sf http://127.0.0.1:8123/.vscode/settings.json; do sleep 0.05; done';
    expect(await ask({ run: get, options })).toMatchObject({ text: '{}\n' });
    expect(await ask({ id, signal: 'SIGTERM', until: over })).toMatchObject({
      signalled: true,
      receipt: { outcome: { kind: 'signaled', signal: 'SIGTERM' } },
    });
    await end();
  });

  test('a host that is killed leaves it running and confined, and it leaves no files', async () => {
    const scene = makeScene(scenes.path, person);
    const { host, ask } = detachingHost(person, scene);
    const options = optionsOf(scene);
    await ask({ run: `setsid -f ${longSleep(7500)} >/dev/null 2>&1`, options });
    const start = `until [ -e go ]; do sleep 0.05; done; echo in > late; echo out > ${scene.outside}/late
      setsid ${longSleep(7501)} & exec ${longSleep(7502)}`;
    const { id, pid } = await ask({ start, options });
    const keepers = keepersOf(host.child.pid ?? 0);
    expect(keepers.length).toBeGreaterThan(2);
    host.child.kill('SIGKILL');
    await host.ended;
    // What the host had started ends with it; the sandbox is there for who is left.
    await eventually(() => expect(sleeping(7500)).toEqual([]));
    expect(isGone(pid)).toBe(false);
    const other = detachingHost(person, scene);
    expect(await other.ask({ id })).toMatchObject({ state: 'running', listed: true });
    await other.ask({ run: `touch ${scene.work}/go` });
    await eventually(() => expect([sleeping(7501), sleeping(7502)]).toMatchObject([[{}], [{}]]));
    const { members, text } = await other.ask({ id });
    expect(members?.map((member) => member.pid).sort()).toEqual(
      [...sleeping(7501), ...sleeping(7502)].sort(),
    );
    expect(text).toMatch(/Read-only file system\n$/);
    expect(existsSync(`${scene.outside}/late`)).toBe(false);
    const stopped = await other.ask({ id, grace: 2000 });
    expect(stopped).toMatchObject({ state: 'ended', receipt: { outcome: { kind: 'cancelled' } } });
    expect([sleeping(7501), sleeping(7502)]).toEqual([[], []]);
    await other.end();
    await eventually(() => expect(keepers.filter((keeper) => !isGone(keeper))).toEqual([]));
  });

  test('daemons and processes that ignore SIGTERM end with it', async () => {
    const scene = makeScene(scenes.path, person);
    const { ask, end } = detachingHost(person, scene);
    const start = `trap '' TERM; ${daemon('/tmp/pid')}; setsid ${longSleep(7503)} & ${longSleep(7504)}`;
    const { id } = await ask({ start, options: optionsOf(scene) });
    await eventually(() => expect(sleeping(7504)).toHaveLength(1));
    const stopped = await ask({ id, grace: 100 });
    expect(stopped.receipt?.outcome).toMatchObject({ kind: 'cancelled', forced: true });
    expect([sleeping(7503), sleeping(7504)]).toEqual([[], []]);
    await end();
  });

  test('its time limit ends it, also when its host is gone', async () => {
    const scene = makeScene(scenes.path, person);
    const { ask, end } = detachingHost(person, scene);
    const options = { ...optionsOf(scene), timeoutMs: 1000 };
    const { id } = await ask({ start: `echo begun; ${longSleep(7505)}`, options });
    await end();
    const other = detachingHost(person, scene);
    const { receipt, text } = await other.ask({ id, until: over });
    expect(receipt?.outcome).toMatchObject({ kind: 'timedOut', timeoutMs: 1000 });
    expect(text).toBe('begun\n');
    await other.end();
  });

  test('processes that outlive it are reported, and ended', async () => {
    const scene = makeScene(scenes.path, person);
    const { ask, end } = detachingHost(person, scene);
    const start = `echo first; (sleep 0.3; echo later; exec ${longSleep(7506)}) &`;
    const { id } = await ask({ start, options: optionsOf(scene) });
    const left = await ask({ id, until: ['left'] });
    expect(left.receipt).toMatchObject({ outcome: { kind: 'exited', exitCode: 0 } });
    expect(left.receipt?.background).not.toEqual([]);
    await eventually(() => expect(sleeping(7506)).toHaveLength(1));
    expect(await ask({ id })).toMatchObject({ text: 'first\nlater\n' });
    expect(await ask({ id, grace: 1000 })).toMatchObject({ state: 'ended' });
    expect(sleeping(7506)).toEqual([]);
    await end();
  });

  test('attach() can write to its input, and its output is kept within bounds', async () => {
    const scene = makeScene(scenes.path, person);
    const { ask, end } = detachingHost(person, scene);
    const options = { ...optionsOf(scene), stdin: 'pipe', maxOutputBytes: 100_000 };
    const start = 'read word; echo "got $word"; seq 500000; echo end';
    const { id } = await ask({ start, options });
    const other = detachingHost(person, scene);
    const { text, receipt } = await other.ask({ id, write: 'something\n', until: over });
    expect(text).toMatch(/^got something\n1\n2\n/);
    const printed = 'got something\nend\n'.length + 3_388_895;
    const { bytes = 0, missing = 0 } = receipt?.kept ?? {};
    // The first half, and of the last one at least four fifths.
    expect(bytes).toBeGreaterThanOrEqual(90_000);
    expect(bytes).toBeLessThanOrEqual(100_000);
    expect(bytes + missing).toBe(printed);
    await other.end();
    await end();
  });

  test('output that the disk has no room for is reported as missing', async () => {
    const scene = makeScene(scenes.path, person);
    const mount = 'mount -t tmpfs -o size=256k none "$HOME"; exec "$@"';
    const small = ['unshare', '-Urm', 'sh', '-c', mount, 'sh'];
    const { ask, end } = detachingHost(person, scene, small);
    const { id } = await ask({ start: 'seq 200000; exit 4', options: optionsOf(scene) });
    const { receipt } = await ask({ id, until: over });
    expect(receipt?.outcome).toEqual({ kind: 'exited', exitCode: 4 });
    const { bytes = 0, missing = 0 } = receipt?.kept ?? {};
    expect(bytes).toBeGreaterThan(0);
    expect(bytes + missing).toBe(1_288_895);
    await end();
  });

  test('a keeper that is killed takes the command along', async () => {
    const scene = makeScene(scenes.path, person);
    const { host, ask, end } = detachingHost(person, scene);
    const { id } = await ask({ start: longSleep(7507), options: optionsOf(scene) });
    const keepers = keepersOf(host.child.pid ?? 0);
    const keeper = keeperIn(scene);
    expect(keeper).toBeGreaterThan(1);
    process.kill(keeper, 'SIGKILL');
    await eventually(() => expect(sleeping(7507)).toEqual([]));
    expect(await ask({ id, until: over })).toMatchObject({ state: 'lost' });
    await end();
    await eventually(() => expect(keepers.filter((one) => !isGone(one))).toEqual([]));
  });

  test('an option that is not supported is an error, and nothing has run', async () => {
    const scene = makeScene(scenes.path, person);
    const withoutProc = [
      'unshare',
      '-Urm',
      'sh',
      '-c',
      'mount -t tmpfs none /proc; exec "$@"',
      'sh',
    ];
    const { ask, end } = detachingHost(person, scene, withoutProc);
    const start = 'echo x > new';
    const options = optionsOf(scene);
    const refused = await ask({ start, options });
    expect(refused).toMatchObject({ step: 'sandbox' });
    expect(refused.error).toMatch(/^LaunchError: .*\b(?:write|unixSockets): .*\/proc/);
    const nowhere = { cwd: `${scene.work}/none`, sandbox: { require: 'landlock' } };
    expect(await ask({ start, options: nowhere })).toMatchObject({ step: 'directory' });
    const unknown = await ask({ start, options: { ...options, sandbox: { mode: 'none' } } });
    expect(unknown.error).toMatch(/^InputError: sandbox\.mode: /);
    expect(existsSync(`${scene.work}/new`)).toBe(false);
    await end();
  });

  test('hosts that a policy allows are out of reach once the host is gone', async () => {
    const scene = makeScene(scenes.path, person);
    const { ask, end } = detachingHost(person, scene);
    const options = optionsOf(scene, { network: { allowedDomains: ['allowed.example'] } });
    const get = 'curl -sS -m5 http://denied.example/; echo';
    const { id } = await ask({
      start: `${get}; until [ -e go ]; do sleep 0.05; done; ${get}`,
      options,
    });
    await eventually(async () => expect((await ask({ id })).text).toMatch(/does not let/));
    await end();
    const other = detachingHost(person, scene);
    await sleep(100);
    await other.ask({ run: `touch ${scene.work}/go` });
    const { text } = await other.ask({ id, until: over });
    expect(text).toMatch(/does not let.*\n[\s\S]*Failed to connect/);
    await other.end();
  });

  test('it works without namespaces', async () => {
    const scene = makeScene(scenes.path, person);
    const options = optionsOf(scene, { require: 'landlock' });
    const command = `echo out > ${scene.outside}/new; echo in > new; echo x > /dev/stderr`;
    const { text, receipt } = await runDetachedAs(person, scene, command, options);
    expect(text).toMatch(/Permission denied\nx\n$/);
    expect(receipt?.outcome).toEqual({ kind: 'exited', exitCode: 0 });
    expect(existsSync(`${scene.outside}/new`)).toBe(false);
  });
});
