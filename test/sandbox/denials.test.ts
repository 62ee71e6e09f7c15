import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { expect, test } from 'vitest';
import { runHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import {
  as,
  describeForAll,
  makeScene,
  type Person,
  runAs,
  type Scene,
  startOutsider,
  useScenes,
} from '../support/sandbox.js';

leavesNothingBehind();
const addresses = Object.values(networkInterfaces()).flat();
const hasNetwork = addresses.some((address) => address?.internal === false);
const scenes = useScenes();

type Case = readonly [
  command: string,
  ...expected: (readonly [kind: string, target: string, rule: string])[],
];

const cases = ({ home, work, outside }: Scene): Readonly<Record<string, Case>> => ({
  'a file that is made': [`touch ${outside}/new`, ['write', `${outside}/new`, 'allowWrite']],
  'by a shell': [`echo x > ${outside}/file`, ['write', `${outside}/file`, 'allowWrite']],
  'by a relative name': ['echo x > ../outside/new', ['write', `${outside}/new`, 'allowWrite']],
  'of two names the one that was denied': [
    `touch a; cp a ${outside}/copy`,
    ['write', `${outside}/copy`, 'allowWrite'],
  ],
  'what python says': [
    `/usr/bin/python3 -c 'open("${outside}/new", "w")'`,
    ['write', `${outside}/new`, 'allowWrite'],
  ],
  'what node says': [
    `'${process.execPath}' -e 'fs.writeFileSync("${outside}/new", "")'`,
    ['write', `${outside}/new`, 'allowWrite'],
  ],
  'what is kept in the workspace': [
    'echo x > .git/config',
    ['write', `${work}/.git/config`, 'denyWrite'],
  ],
  'what can not be moved away': ['mv .git .g2', ['write', `${work}/.git`, 'denyWrite']],
  'what is hidden, as a file': ['cat ~/.netrc', ['read', `${home}/.netrc`, 'denyRead']],
  'what is hidden, in a directory': [
    'cat ~/.ssh/id_rsa',
    ['read', `${home}/.ssh/id_rsa`, 'denyRead'],
  ],
  'U9: a path without the words after it': [
    `echo "tool: ${outside}/itoa, error: Read-only file system (os error 30)"`,
    ['write', `${outside}/itoa`, 'allowWrite'],
  ],
  'U9: a file of such a name': [
    `echo "tool: ${outside}/is, there: Read-only file system (os error 30)"`,
    ['write', `${outside}/is, there`, 'allowWrite'],
  ],
  'nothing that is missing anyhow': ['cat missing; cat /missing; cat ~/.ssh/missing; true'],
  'nothing that the host may not do either': ['touch /proc/1/x /sys/x; mkdir /proc/y; true'],
  'nothing for words': ['echo "Permission denied"; echo "x: Read-only file system"; true'],
  'nothing for what works': ['echo x > a; cat a; ls; true'],
});

/** What a tool of somebody answers to one command after the other. */
async function ask(person: Person, { home }: Scene, options: object, ...commands: string[]) {
  const args = [options, ...commands.map((command) => ({ command }))].map((one) =>
    JSON.stringify(one),
  );
  const under = { args, under: as(person), env: { HOME: home } };
  const answers = await runHost<{ text: string }[]>('tools', under);
  return answers.map(({ text }) => text);
}

describeForAll('%s', (person) => {
  const names = Object.keys(cases({ home: '', work: '', outside: '' }));
  test.each(names)('is reported for %s', async (name) => {
    const scene = makeScene(scenes.path, person);
    await runAs(person, scene, 'echo secret > ~/.netrc', { cwd: scene.work });
    await runAs(person, scene, 'touch "../outside/is, there"', { cwd: scene.work });
    const [command = '', ...expected] = cases(scene)[name] ?? [];
    const options = { cwd: scene.work, sandbox: 'workspace-write' };
    const { text, result } = await runAs(person, scene, command, options);
    const found = result.sandbox?.denials.map(({ kind, target, rule }) => [kind, target, rule]);
    expect({ text, found }).toEqual({ text: expect.anything(), found: expected });
    expect(existsSync(`${scene.outside}/new`)).toBe(false);
  });

  test('the kernel reports each denied family of sockets, once', async () => {
    const scene = makeScene(scenes.path, person);
    const ask = (family: number) => `/usr/bin/python3 -c '
import socket
for _ in range(3):
    try: socket.socket(${family}, socket.SOCK_STREAM)
    except OSError as error: print(error.errno)'`;
    const command = `${ask(40)}; ( ${ask(38)} & wait ); ${ask(2)}; setsid ${ask(17)}`;
    const options = { cwd: scene.work, sandbox: 'workspace-write' };
    const { text, result } = await runAs(person, scene, command, options);
    expect(text).toBe('97\n'.repeat(9));
    const rule = 'socketFamilies';
    expect(result.sandbox?.denials).toEqual(
      ['AF_VSOCK', 'AF_ALG', 'AF_PACKET'].map((target) => {
        return { kind: 'socket', target, rule, source: 'kernel' };
      }),
    );
  });

  test('the kernel reports a denied socket of another process, by its path', async () => {
    const scene = makeScene(scenes.path, person);
    const { child } = await startOutsider(scene, person);
    const options = { cwd: scene.work, sandbox: 'workspace-write' };
    const command = `ln -s ../outside 'a b'; /usr/bin/python3 -c '
import socket
for _ in range(2): print(socket.socket(socket.AF_UNIX).connect_ex("a b/renamed.sock"))
print(socket.socket(socket.AF_UNIX).connect_ex("a b/missing.sock"))'`;
    const { text, result } = await runAs(person, scene, command, options);
    const ended = once(child, 'exit');
    child.stdin?.end();
    await ended;
    expect(text).toBe('13\n13\n2\n');
    const target = `${scene.outside}/renamed.sock`;
    expect(result.sandbox?.denials).toEqual([
      { kind: 'connect', target, rule: 'allowUnixSockets', source: 'kernel' },
    ]);
    expect(existsSync(`${scene.outside}/heard`)).toBe(false);
  });

  test('the kernel reports an unreachable address, if the host can reach it', async () => {
    const scene = makeScene(scenes.path, person);
    const options = { cwd: scene.work, sandbox: 'workspace-write' };
    const command = `/usr/bin/python3 -c '
import socket
for address in ("192.0.2.1", 80), ("192.0.2.1", 80), ("127.0.0.1", 9):
    print(socket.socket().connect_ex(address))
# Which address would be its own.
print(socket.socket(type=socket.SOCK_DGRAM).connect_ex(("192.0.2.2", 80)))'`;
    const { text, result } = await runAs(person, scene, command, options);
    expect(text).toBe('101\n101\n111\n101\n');
    const target = '192.0.2.1:80';
    const told = { kind: 'connect', target, rule: 'network', source: 'kernel' };
    expect(result.sandbox?.denials).toEqual(hasNetwork ? [told] : []);
  });

  test('a host that was looked up is reported by its name only', async () => {
    const scene = makeScene(scenes.path, person);
    const options = { cwd: scene.work, sandbox: 'workspace-write' };
    const command = `'${process.execPath}' -e 'fetch("https://host.example").catch(console.error)'`;
    const { result } = await runAs(person, scene, command, options);
    const told = { kind: 'connect', target: 'host.example', rule: 'network', source: 'output' };
    expect(result.sandbox?.denials).toEqual(hasNetwork ? [told] : []);
  });

  test.each([false, true])(
    'the answer of a tool ends in a line for each denial (persistent: %s)',
    async (persistent) => {
      const scene = makeScene(scenes.path, person);
      const { work: cwd, outside } = scene;
      const options = { contract: 'session', cwd, persistent, sandbox: 'workspace-write' };
      const vsock = `/usr/bin/python3 -c 'import socket; socket.socket(40)' 2>/dev/null`;
      const answers = await ask(
        person,
        scene,
        options,
        `touch ${outside}/new; sleep 50 & echo $!`,
        'mkdir -p sub; cd sub',
        'echo x > ../../outside/other',
        vsock,
        'echo x > ../../outside/again',
      );
      const lines = answers.map((text) => text.match(/^The sandbox denied: .*$/gm) ?? []);
      const advice = `(allowWrite). Write to ${cwd} or ${cwd}/.git or /tmp (the sandbox's own) instead.`;
      expect(lines).toEqual([
        [`The sandbox denied: write ${outside}/new ${advice}`],
        [],
        [`The sandbox denied: write ${outside}/other ${advice}`],
        [expect.stringMatching(/^The sandbox denied: socket AF_VSOCK \(socketFamilies\)/)],
        [`The sandbox denied: write ${outside}/again ${advice}`],
      ]);
      // What still runs is told by the number that the next command knows.
      const [, pid] = /^(\d+)$/m.exec(answers[0] ?? '') ?? [];
      expect(answers[0]).toContain(`Still running in the background: ${pid} (sleep 50)`);
    },
  );

  test("a shell that ends with its call has reported the call's denials", async () => {
    const scene = makeScene(scenes.path, person);
    const options = {
      contract: 'session',
      cwd: scene.work,
      persistent: true,
      sandbox: 'read-only',
    };
    const command = `touch ${scene.outside}/new; exit 3`;
    const answers = await ask(person, scene, options, `touch ${scene.work}/new`, command, 'true');
    expect(answers.map((text) => text.match(/denied: write \S+/g))).toEqual([
      [`denied: write ${scene.work}/new`],
      [`denied: write ${scene.outside}/new`],
      null,
    ]);
  });

  test('a shell of many calls reports the denied hosts of each', async () => {
    const scene = makeScene(scenes.path, person);
    const network = { allowedDomains: ['allowed.example'] };
    const options = {
      contract: 'session',
      cwd: scene.work,
      persistent: true,
      sandbox: { network },
    };
    const fetch = (host: string) => `curl -sS -m5 http://${host}/ >/dev/null 2>&1; true`;
    const commands = [fetch('one.example'), 'true', fetch('two.example')];
    const answers = await ask(person, scene, options, ...commands);
    expect(answers.map((text) => text.match(/denied: connect \S+/g))).toEqual([
      ['denied: connect one.example'],
      null,
      ['denied: connect two.example'],
    ]);
  });
});
