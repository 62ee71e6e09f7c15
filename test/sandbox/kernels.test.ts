import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { program } from '../support/cli.js';
import { namespaces, startHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { as, makeScene, people, useScenes } from '../support/sandbox.js';

// What is told of a sandbox where the kernel, or a container around the host, lacks a part of it. A kernel is one that
// does not know the calls that came later; what real ones say: scripts/kernels/kernels.sh.
leavesNothingBehind();
const scenes = useScenes();

beforeAll(() => {
  for (const name of ['deny', 'docker-filter']) {
    const source = fileURLToPath(new URL(`../support/${name}.c`, import.meta.url));
    execFileSync(process.env.CC?.split(' ')[0] || 'cc', ['-o', join(scenes.path, name), source]);
  }
  execFileSync('chmod', ['755', scenes.path]);
});

interface Finding {
  readonly name: string;
  readonly status: string;
  readonly found: string;
  readonly cost?: string;
}

/** What doctor finds about the sandbox, in a place. */
function findingsIn(under: readonly string[]): Map<string, Finding> {
  const [first = '', ...args] = [...under, process.execPath, program, 'doctor', '--json'];
  const said = execFileSync(first, args, { encoding: 'utf8' });
  const { findings }: { readonly findings: readonly Finding[] } = JSON.parse(said);
  const ofSandbox = findings.filter(({ name }) => name.startsWith('sandbox'));
  return new Map(ofSandbox.map((finding) => [finding.name, finding]));
}

/** How the protections are enforced, by their lines. */
function lines(findings: ReadonlyMap<string, Finding>): Record<string, string> {
  const parts = [...findings.values()].filter(({ name }) => name.startsWith('sandbox, '));
  return Object.fromEntries(
    parts.map(({ name, found }) => [name.slice('sandbox, '.length), found]),
  );
}

/** What came with Linux 5.6 to 5.9, in 5.11 and 5.12, and in 5.13. */
const OF_5_9 = ['openat2', 'pidfd_getfd', 'faccessat2', 'close_range'];
const OF_5_12 = ['epoll_pwait2', 'mount_setattr'];
const OF_5_13 = ['landlock_create_ruleset'];

describe.each<[string, readonly string[], RegExp]>([
  ['Linux 5.4', [...OF_5_9, ...OF_5_12, ...OF_5_13], /write: .*read-only \(Linux 5\.12 or newer\)/],
  ['Linux 5.10', [...OF_5_12, ...OF_5_13], /write: .*read-only \(Linux 5\.12 or newer\)/],
  ['Linux 5.12', OF_5_13, /write: making rules of Landlock \(Linux 5\.13\)/],
])('%s', (_, calls, why) => {
  const under = () => [join(scenes.path, 'deny'), 'ENOSYS', ...calls, '--'];

  test('no sandbox can be made: nothing runs, whatever is required, and the call says why', async () => {
    const host = startHost('commands', { under: under() });
    for (const require of ['all', 'best-effort', 'landlock']) {
      const sandbox = { mode: 'read-only', require };
      const { result, error } = await host.run('true', { cwd: '/', sandbox });
      expect(result).toBeUndefined();
      expect(error).toMatchObject({ name: 'LaunchError', step: 'sandbox' });
      // Without namespaces Landlock is the first thing that is missing.
      const isAlone = require !== 'all';
      expect(error?.message).toMatch(isAlone ? /Landlock \(Linux 5\.13\)/ : why);
    }
    expect((await host.run('echo out', {})).result?.output).toMatchObject({ text: 'out\n' });
    host.child.stdin?.end();
    await host.ended;
  });

  test('doctor says why, and which kernel it takes', () => {
    const findings = findingsIn(under());
    expect([...findings.values()]).toEqual([
      {
        name: 'sandbox',
        status: 'limited',
        found: expect.stringMatching(/^ENOSYS: .*Linux 5\.1[23]/),
        cost: expect.stringMatching(/^no command can run in a sandbox: .*5\.13 or newer.*6\.2$/),
      },
    ]);
  });
});

test('where Landlock is off, doctor says what switches it on', () => {
  const findings = findingsIn([join(scenes.path, 'deny'), 'EOPNOTSUPP', ...OF_5_13, '--']);
  expect(findings.get('sandbox')).toMatchObject({
    status: 'limited',
    found: expect.stringMatching(/^ENOTSUP: .*`lsm=` on its command line has to name it/),
  });
});

/** `prctl(PR_GET_AUXV)`, which is how libraries learn the size of a page from Linux 6.4 on. */
const GET_AUXV = `prctl=${0x41555856}`;

test.each(people)('before Linux 6.4, %s has whole sandboxes, too', async (person) => {
  const scene = makeScene(scenes.path, person);
  const under = [...as(person), join(scenes.path, 'deny'), 'EPERM', GET_AUXV, '--'];
  const host = startHost('commands', { under, env: { HOME: scene.home } });
  const options = { cwd: scene.work, sandbox: 'workspace-write' };
  const { result, error } = await host.run('echo in > new && cat new', options);
  host.child.stdin?.end();
  await host.ended;
  expect(error).toBeUndefined();
  expect(result?.output).toMatchObject({ text: 'in\n' });
  expect(result?.sandbox?.enforced).toMatchObject({ write: 'namespace', network: 'namespace' });
});

test('doctor tells each protection of a whole sandbox, and that some hosts can be allowed', () => {
  const findings = findingsIn([]);
  expect(findings.get('sandbox')).toEqual({
    name: 'sandbox',
    status: 'ok',
    found: 'namespaces, Landlock and seccomp',
  });
  expect(lines(findings)).toMatchObject({
    write: 'by a namespace',
    // By mounts where something is mounted in the home directory.
    read: expect.stringMatching(/^by (?:a namespace|mounts)$/),
    tmp: 'by a namespace',
    network: 'by a namespace',
    unixSockets: 'by seccomp',
    processes: 'by a namespace',
    socketFamilies: 'by seccomp',
    privileges: 'by a namespace',
    'some hosts': 'by a proxy',
  });
});

test("doctor tells what is left in Docker's default profile, and what each gap costs", () => {
  const findings = findingsIn([join(scenes.path, 'docker-filter')]);
  expect(findings.get('sandbox')).toMatchObject({
    status: 'limited',
    found: expect.stringContaining("a container's filter may refuse them, as Docker's own does"),
    cost: "a sandbox needs `require: 'landlock'`, which enforces less",
  });
  const gaps = [...findings.values()].filter(({ name }) => name !== 'sandbox');
  expect(lines(findings)).toMatchObject({
    write: 'by Landlock',
    read: 'not enforced',
    tmp: 'not enforced',
    network: 'by seccomp',
    unixSockets: 'not enforced',
    socketFamilies: 'by seccomp',
    privileges: 'not enforced',
  });
  for (const { found, status, cost } of gaps) {
    const isWhole = found === 'by seccomp' && cost === undefined;
    expect(status).toBe(isWhole ? 'ok' : 'limited');
  }
  expect(findings.get('sandbox, read')?.cost).toContain('keys in ~/.ssh');
});

test('where a container covers parts of /proc, all but its processes can be had, and doctor says how', () => {
  const cover = 'mount -t tmpfs none /proc/fs && exec "$@"';
  const findings = findingsIn(namespaces('-m', 'sh', '-c', cover, 'sh'));
  expect(findings.get('sandbox')).toMatchObject({
    status: 'limited',
    found: expect.stringContaining('`--security-opt systempaths=unconfined`'),
    cost: "a sandbox needs `processes: 'host'`, and enforces all the rest",
  });
  expect(lines(findings)).toMatchObject({
    write: 'by a namespace',
    network: 'by a namespace',
    unixSockets: 'by seccomp',
    processes: 'not enforced',
    privileges: 'by a namespace',
  });
});
