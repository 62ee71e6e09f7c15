import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { eventually } from '../support/processes.js';
import {
  as,
  describeForAll,
  detachingHost,
  makeScene,
  runDetachedAs,
  type Scene,
  startOutsider,
  useScenes,
} from '../support/sandbox.js';

// What a command was denied is told to whoever asks how it ended, also when nobody is left who was there.
leavesNothingBehind();
const scenes = useScenes();
const addresses = Object.values(networkInterfaces()).flat();
const hasNetwork = addresses.some((address) => address?.internal === false);

const over = ['ended', 'lost'];
const family = (number: number) =>
  `/usr/bin/python3 -c 'import socket; socket.socket(${number})' 2>/dev/null`;
const untilGo = 'until [ -e go ]; do sleep 0.05; done';

/** The private directory of the only command that was detached in a scene. */
function placeIn({ home }: Scene): string {
  const names = readdirSync(home, { recursive: true, encoding: 'utf8' });
  const output = names.find((name) => /background-[^/]*\/output$/.test(name)) ?? '';
  return join(home, output, '..');
}

describeForAll('%s', (person) => {
  test('attach() reports the denials of the kernel and of the output', async () => {
    const scene = makeScene(scenes.path, person);
    await startOutsider(scene, person);
    const command = `${family(40)}; ${family(40)}; touch ${scene.outside}/new; /usr/bin/python3 -c '
import socket
socket.socket(socket.AF_UNIX).connect_ex("../outside/renamed.sock")'`;
    const options = { cwd: scene.work, sandbox: 'workspace-write' };
    const { receipt } = await runDetachedAs(person, scene, command, options);
    const target = `${scene.outside}/renamed.sock`;
    expect(receipt?.sandbox).toEqual({
      enforced: expect.objectContaining({ write: 'namespace', unixSockets: 'seccomp' }),
      writable: [scene.work, `${scene.work}/.git`],
      denials: [
        { kind: 'socket', target: 'AF_VSOCK', rule: 'socketFamilies', source: 'kernel' },
        { kind: 'connect', target, rule: 'allowUnixSockets', source: 'kernel' },
        { kind: 'write', target: `${scene.outside}/new`, rule: 'allowWrite', source: 'output' },
      ],
    });
  });

  test('another host reports denials from after the first host was killed', async () => {
    const scene = makeScene(scenes.path, person);
    const { host, ask } = detachingHost(person, scene);
    const options = { cwd: scene.work, sandbox: 'workspace-write' };
    const start = `${family(40)}; ${untilGo}; ${family(38)}; touch ${scene.outside}/new`;
    const { id } = await ask({ start, options });
    host.child.kill('SIGKILL');
    await host.ended;
    const other = detachingHost(person, scene);
    await other.ask({ run: `touch ${scene.work}/go` });
    const { receipt } = await other.ask({ id, until: over });
    expect(receipt?.sandbox?.denials.map(({ kind, target }) => [kind, target])).toEqual([
      ['socket', 'AF_VSOCK'],
      ['socket', 'AF_ALG'],
      ['write', `${scene.outside}/new`],
    ]);
    expect(receipt?.sandbox?.unseen).toBeUndefined();
    await other.end();
  });

  test('two simultaneous detached commands have their own denials, and so has one that the host waits for', async () => {
    const scene = makeScene(scenes.path, person);
    const { ask, end } = detachingHost(person, scene);
    const options = { cwd: scene.work, sandbox: 'workspace-write' };
    const ids = [];
    for (const number of [40, 38]) {
      const { id } = await ask({ start: `${untilGo}; ${family(number)}`, options });
      ids.push(id);
    }
    await ask({ run: `touch go; ${family(17)}`, options });
    const targets = [];
    for (const id of ids) {
      const { receipt } = await ask({ id, until: over });
      targets.push(receipt?.sandbox?.denials.map(({ target }) => target));
    }
    expect(targets).toEqual([['AF_VSOCK'], ['AF_ALG']]);
    await end();
  });

  test('denials of a process that has outlived its command count too', async () => {
    const scene = makeScene(scenes.path, person);
    const { ask, end } = detachingHost(person, scene);
    const options = { cwd: scene.work, sandbox: 'workspace-write' };
    const { id } = await ask({ start: `(${untilGo}; ${family(40)}) & true`, options });
    const left = await ask({ id, until: ['left'] });
    expect(left.receipt?.sandbox?.denials).toEqual([]);
    await ask({ run: `touch ${scene.work}/go` });
    const { receipt } = await ask({ id, until: over });
    expect(receipt?.sandbox?.denials).toMatchObject([{ target: 'AF_VSOCK' }]);
    await end();
  });

  test('hosts that the proxy denied are reported, and that it stopped with its host', async () => {
    const scene = makeScene(scenes.path, person);
    const { ask, end } = detachingHost(person, scene);
    const network = { allowedDomains: ['allowed.example'] };
    const options = { cwd: scene.work, sandbox: { network } };
    const get = (host: string) => `curl -sS -m5 http://${host}/ >/dev/null 2>&1`;
    const whole = await ask({ start: `${get('one.example')}; ${get('one.example')}`, options });
    const first = await ask({ id: whole.id, until: over });
    const denied = (target: string) => {
      return { kind: 'connect', target, rule: 'allowedDomains', source: 'proxy' };
    };
    expect(first.receipt?.sandbox).toMatchObject({
      enforced: { network: 'proxy' },
      denials: [denied('one.example')],
    });
    expect(first.receipt?.sandbox?.unseen).toBeUndefined();
    const start = `${get('two.example')}; echo asked; ${untilGo}; ${get('three.example')}; true`;
    const { id } = await ask({ start, options });
    await eventually(async () => expect((await ask({ id })).text).toBe('asked\n'));
    await end();
    const other = detachingHost(person, scene);
    await other.ask({ run: `touch ${scene.work}/go` });
    const { receipt } = await other.ask({ id, until: over });
    expect(receipt?.sandbox?.denials).toEqual([denied('two.example')]);
    expect(receipt?.sandbox?.unseen).toEqual([
      expect.stringMatching(/^the process that started it has ended/),
    ]);
    expect((await other.ask({ id: whole.id })).receipt?.sandbox).toEqual(first.receipt?.sandbox);
    await other.end();
  });

  test('denials beyond the limit are counted, and unseen ones are mentioned', async () => {
    const scene = makeScene(scenes.path, person);
    const { ask, end } = detachingHost(person, scene);
    const command = `/usr/bin/python3 -c '
import socket
for port in range(1, 201): socket.socket().connect_ex(("192.0.2.1", port))'; touch ${scene.outside}/new`;
    const options = { cwd: scene.work, sandbox: 'workspace-write' };
    const { id } = await ask({ start: command, options });
    const { receipt } = await ask({ id, until: over });
    const [, count] = /for (\d+) more denials/.exec(receipt?.sandbox?.unseen?.join() ?? '') ?? [];
    const told = receipt?.sandbox?.denials.filter(({ source }) => source === 'kernel') ?? [];
    if (hasNetwork) expect(told.length + Number(count)).toBe(200);
    else expect(told).toEqual([]);
    const place = placeIn(scene);
    expect(readFileSync(join(place, 'sandbox.json'), 'utf8')).toContain(scene.work);
    rmSync(join(place, 'output'));
    const { receipt: silent } = await ask({ id });
    expect(silent?.sandbox?.unseen).toContain('its output is no longer there');
    rmSync(join(place, 'sandbox.json'));
    const { receipt: poorer } = await ask({ id });
    expect(poorer?.sandbox?.unseen?.join()).toMatch(/its policy is no longer known/);
    await end();
  });

  test('without namespaces the kernel reports denials as well', async () => {
    const scene = makeScene(scenes.path, person);
    const options = { cwd: scene.work, sandbox: { require: 'landlock' } };
    const { receipt } = await runDetachedAs(person, scene, family(40), options);
    expect(receipt?.sandbox).toMatchObject({
      enforced: { write: 'landlock' },
      denials: [{ kind: 'socket', target: 'AF_VSOCK', source: 'kernel' }],
    });
  });

  test('the end of a task reports them to the model', async () => {
    const scene = makeScene(scenes.path, person);
    const options = {
      ...{ contract: 'session', cwd: scene.work, sandbox: 'workspace-write' },
      taskLifetime: 'detached',
    };
    const env = { HOME: scene.home, TMPDIR: scene.home };
    const args = [JSON.stringify(options)];
    const host = startHost('conversation', { under: as(person), env, args });
    const ask = async (input: object) => {
      host.child.stdin?.write(`${JSON.stringify(input)}\n`);
      return (await host.next<{ text: string }>()).text;
    };
    const command = `touch ${scene.outside}/new; ${family(40)}`;
    const told = await ask({ command, run_in_background: true });
    const [, id] = /task_id: "?(\w+)/.exec(told) ?? [];
    expect(id).toBeDefined();
    const end = await ask({ to: 'task_output', task_id: id, seconds: 20 });
    expect(end.match(/denied: \w+ \S+/g)).toEqual([
      'denied: socket AF_VSOCK',
      `denied: write ${scene.outside}/new`,
    ]);
    host.child.stdin?.end();
    await host.ended;
  });
});
