import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { runHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { as, makeScene, people, runAs, type Scene, useScenes } from '../support/sandbox.js';

leavesNothingBehind();
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
    'echo x > .git/hooks/pre-commit',
    ['write', `${work}/.git/hooks/pre-commit`, 'denyWrite'],
  ],
  'what can not be moved away': ['mv .git .g2', ['write', `${work}/.git`, 'denyWrite']],
  'what is hidden, as a file': ['cat ~/.netrc', ['read', `${home}/.netrc`, 'denyRead']],
  'what is hidden, in a directory': [
    'cat ~/.ssh/id_rsa',
    ['read', `${home}/.ssh/id_rsa`, 'denyRead'],
  ],
  'nothing that is missing anyhow': ['cat missing; cat /missing; cat ~/.ssh/missing; true'],
  'nothing that the host may not do either': ['touch /proc/1/x /sys/x; mkdir /proc/y; true'],
  'nothing for words': ['echo "Permission denied"; echo "x: Read-only file system"; true'],
  'nothing for what works': ['echo x > a; cat a; ls; true'],
});

describe.each(people)('%s', (person) => {
  const names = Object.keys(cases({ home: '', work: '', outside: '' }));
  test.each(names)('is told of %s', async (name) => {
    const scene = makeScene(scenes.path, person);
    await runAs(person, scene, 'echo secret > ~/.netrc', { cwd: scene.work });
    const [command = '', ...expected] = cases(scene)[name] ?? [];
    const options = { cwd: scene.work, sandbox: 'workspace-write' };
    const { text, result } = await runAs(person, scene, command, options);
    const found = result.sandbox?.denials.map(({ kind, target, rule }) => [kind, target, rule]);
    expect({ text, found }).toEqual({ text: expect.anything(), found: expected });
    expect(existsSync(`${scene.outside}/new`)).toBe(false);
  });

  test('the kernel tells of each family of sockets that was denied, once', async () => {
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

  test('the answer of a tool ends in a line for each', async () => {
    const scene = makeScene(scenes.path, person);
    const options = { contract: 'session', cwd: scene.work, sandbox: 'workspace-write' };
    const command = `touch ${scene.outside}/new; sleep 50 & echo $!`;
    const args = [options, { command }].map((each) => JSON.stringify(each));
    const [answer] = await runHost<{ text: string }[]>('tools', {
      args,
      under: as(person),
      env: { HOME: scene.home },
    });
    const line = `The sandbox denied: write ${scene.outside}/new (allowWrite). Write to ${scene.work}`;
    expect(answer?.text).toContain(line);
    // What still runs is told by the number that the next command knows.
    const [, pid] = /^(\d+)$/m.exec(answer?.text ?? '') ?? [];
    expect(answer?.text).toContain(`Still running in the background: ${pid} (sleep 50)`);
  });
});
