import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { type HostAnswer, startHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { as, makeScene, type Person, people, type Scene, useScenes } from '../support/sandbox.js';

// What becomes of a sandbox where not all of it can be had.
leavesNothingBehind();
const scenes = useScenes();
const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

beforeAll(() => {
  const source = fileURLToPath(new URL('../support/docker-filter.c', import.meta.url));
  execFileSync('cc', ['-o', join(scenes.path, 'docker-filter'), source]);
  execFileSync('chmod', ['755', scenes.path]);
});

/** Where user namespaces are forbidden, by a container's filter or by the machine. */
const places: Readonly<Record<string, () => readonly string[]>> = {
  "Docker's default profile": () => [join(scenes.path, 'docker-filter')],
  'no user namespaces': () => [
    ...['unshare', '-Ur', 'sh', '-c'],
    'echo 0 >/proc/sys/user/max_user_namespaces; exec setpriv --bounding-set -all --inh-caps -all "$@"',
    'sh',
  ],
};

async function runIn(
  place: string,
  person: Person,
  { home, work: cwd }: Scene,
  command: string,
  sandbox: object,
): Promise<HostAnswer> {
  const under = [...as(person), ...(places[place]?.() ?? [])];
  const host = startHost('commands', { under, env: { HOME: home } });
  const answer = await host.run(command, { cwd, sandbox });
  host.child.stdin?.end();
  await host.ended;
  return answer;
}

const textOf = ({ result, error }: HostAnswer): string => {
  if (result === undefined) throw new Error(error?.message);
  return result.output.kind === 'complete' ? result.output.text : '';
};

const commands = ({ outside, home }: Scene) => `echo in > new && cat new
  echo out > ${outside}/new; echo out >> ${outside}/file; rm ${outside}/file; cat ${home}/.ssh/id_rsa
  (exec 3<>/dev/tcp/127.0.0.1/9) 2>&1; kill -0 $PPID; echo x > /dev/null && echo done`;

describe.each(Object.keys(places))('%s', (place) => {
  // The first way is root's own; whoever is root in a container has no capability for namespaces.
  const [somebody = 'a user'] = people.slice(-1);

  test('`all` is refused, with the rule, the reason and the remedy', async () => {
    const scene = makeScene(scenes.path, somebody);
    const { result, error } = await runIn(place, somebody, scene, 'echo out > new', {});
    expect(result).toBeUndefined();
    expect(error).toMatchObject({ name: 'LaunchError', step: 'sandbox' });
    expect(error?.message).toMatch(/write: .*user namespace.*require: 'landlock'/);
    expect(existsSync(`${scene.work}/new`)).toBe(false);
  });

  test('doctor says what is not enforced', () => {
    const under = [...as(somebody), ...(places[place]?.() ?? [])];
    const [program = '', ...args] = [...under, process.execPath, cli, 'doctor'];
    const said = execFileSync(program, args, { encoding: 'utf8' });
    expect(said).toMatch(/^limited sandbox: .*user namespace.*\n {8}.*require: 'landlock'/m);
  });

  test.each(['landlock', 'best-effort'])('%s enforces what it can and says so', async (require) => {
    const scene = makeScene(scenes.path, somebody);
    const answer = await runIn(place, somebody, scene, commands(scene), { require });
    const text = textOf(answer);
    expect(text).toMatch(/^in\n/);
    expect(text).toMatch(/done\n$/);
    expect(text.match(/Permission denied/g)?.length).toBeGreaterThanOrEqual(3);
    expect(text).toMatch(/Address family not supported/);
    expect(existsSync(`${scene.outside}/new`)).toBe(false);
    expect(existsSync(`${scene.outside}/file`)).toBe(true);
    expect(answer.result?.sandbox?.enforced).toEqual({
      write: 'landlock',
      read: 'none',
      tmp: 'none',
      network: 'seccomp',
      unixSockets: 'none',
      processes: 'landlock',
      socketFamilies: 'seccomp',
      privileges: 'none',
      settings: 'none',
      caches: 'none',
      undo: 'none',
    });
    expect(answer.result?.sandbox?.denials).toContainEqual({
      kind: 'socket',
      target: 'AF_INET',
      rule: 'network',
      source: 'kernel',
    });
    // Which is said, and so it is.
    expect(text).toContain('the secret key');
  });
});

describe('without /proc', () => {
  const withoutProc = ['unshare', '-Urm', 'sh', '-c', 'mount -t tmpfs none /proc; exec "$@"', 'sh'];
  const [somebody = 'a user'] = people.slice(-1);
  const ask = async (require: string) => {
    const scene = makeScene(scenes.path, somebody);
    const under = [...as(somebody), ...withoutProc];
    const host = startHost('commands', { under, env: { HOME: scene.home } });
    const options = { cwd: scene.work, sandbox: { require } };
    const answer = await host.run('unshare -U echo more; echo x > new && echo done', options);
    host.child.stdin?.end();
    await host.ended;
    return { answer, scene };
  };

  test('nothing is claimed that cannot be checked: `all` is refused', async () => {
    const { answer, scene } = await ask('all');
    expect(answer.error).toMatchObject({ name: 'LaunchError', step: 'sandbox' });
    expect(answer.error?.message).toMatch(/\b(?:write|unixSockets): .*\/proc/);
    expect(existsSync(`${scene.work}/new`)).toBe(false);
  });

  test('best-effort does without namespaces, and says so', async () => {
    const { answer } = await ask('best-effort');
    expect(textOf(answer)).toMatch(/done\n$/);
    const enforced = { write: 'landlock', unixSockets: 'none', privileges: 'none' };
    expect(answer.result?.sandbox?.enforced).toMatchObject(enforced);
  });
});

test('root without user namespaces is still confined', async () => {
  const [somebody = 'a user'] = people.slice(-1);
  const scene = makeScene(scenes.path, somebody);
  const under = [
    ...as(somebody),
    ...[
      'unshare',
      '-Ur',
      'sh',
      '-c',
      'echo 0 >/proc/sys/user/max_user_namespaces; exec "$@"',
      'sh',
    ],
  ];
  const host = startHost('commands', { under, env: { HOME: scene.home } });
  const options = { cwd: scene.work, sandbox: 'workspace-write' };
  const command = `id -u; echo out > ${scene.outside}/new; mount -t tmpfs none /mnt; cat ~/.ssh/id_rsa; echo in > new; grep CapEff /proc/self/status`;
  const answer = await host.run(command, options);
  host.child.stdin?.end();
  await host.ended;
  const text = textOf(answer);
  expect(text).toMatch(/^0\n.*Read-only file system.*CapEff:\t00000000000004fb\n$/s);
  expect(text).not.toContain('secret');
  expect(existsSync(`${scene.outside}/new`)).toBe(false);
  expect(existsSync(`${scene.work}/new`)).toBe(true);
});
