import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { InputError, LaunchError } from '../../src/index.js';
import { type Connection, connect } from '../../src/remote/index.js';
import { encodeFrame, FRAME } from '../../src/remote/wire/frames.js';
import { FAR_BUILT, STATIC_FAR } from '../support/far.js';
import { namespaces } from '../support/hosts.js';
import { read, root } from '../support/house.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { where } from '../support/needs.js';
import { exited, failureOf, printed } from '../support/results.js';

// The far side that is a program without Node: what it has not, where it runs, and the suites of a far
// side once more.

vi.hoisted(() => {
  process.env.FORKLINE_TEST_FAR_SIDE = 'static';
});
leavesNothingBehind();
const folder = useFolder();
// Rust may lack the target: scripts/build-native.mjs says so.
const isBuilt = FAR_BUILT.isMet;
const SERVE = [STATIC_FAR, 'serve', '--stdio'];
const far: Connection = isBuilt ? await connect({ command: SERVE }) : Object.create(null);
if (isBuilt) afterAll(() => far.dispose());

/** How a client of this protocol begins. */
function hello(protocol: number): string {
  const payload = Buffer.from(JSON.stringify({ protocol, version: '0.0.0' }));
  return String(encodeFrame({ kind: FRAME.hello, more: false, call: 0, payload }));
}

const HERE = 'at a far side without Node';

test.each([
  [
    { sandbox: 'read-only' },
    `sandbox: expected 'danger-full-access' or nothing ${HERE}, which makes no`,
  ],
  [
    { limits: { memoryBytes: 2 ** 30 } },
    `limits.memoryBytes: expected nothing ${HERE}, which makes no`,
  ],
  [
    { limits: { processes: 9 } },
    `limits.processes: expected nothing ${HERE}, which makes no control`,
  ],
  [{ encoding: 'gbk' }, `encoding: expected 'utf-8' ${HERE}, got "gbk"`],
  [{ env: { 'A=': 'x' } }, 'env: expected a name without "=" and NUL, got "A="'],
  [{ env: { A: '\ud800' } }, 'env.A: expected text without lone surrogates'],
] as const)(
  '%o is refused by name, and nothing is started',
  where(FAR_BUILT),
  async (options, message) => {
    const refused = await failureOf(far.run('true', options as object));
    expect(refused).toBeInstanceOf(InputError);
    expect((refused as Error).message).toContain(message);
  },
);

test(
  'W11, W12: a pipeline ends from the left there, and a timeout says why',
  where(FAR_BUILT),
  async () => {
    const limits = { timeoutMs: 2000, graceMs: 4000 };
    const piped = await far.run('(echo a; echo b; sleep 600) | tail -1', limits);
    expect(printed(piped)).toBe('b\n');
    const { outcome } = await far.run('kill -STOP $$; true', limits);
    expect(outcome).toMatchObject({ kind: 'timedOut', reason: { kind: 'stopped' } });
  },
);

test(
  'no sandbox, text as UTF-8 and processor time can be asked for',
  where(FAR_BUILT),
  async () => {
    const options = {
      sandbox: 'danger-full-access',
      encoding: 'utf8',
      limits: { cpuSeconds: 1 },
    } as const;
    const { outcome, limits } = await far.run('while :; do :; done', options);
    expect(limits).toEqual({ cpuSeconds: 'rlimit' });
    expect(outcome).toEqual({ kind: 'signaled', signal: 'SIGXCPU' });
  },
);

test(
  'its greeting tells that it has no tools, and the error says what to do',
  where(FAR_BUILT),
  async () => {
    expect(far.hasTools).toBe(false);
    const refused = await failureOf(far.createBashTool({ contract: 'plain' }));
    expect(refused).toBeInstanceOf(InputError);
    expect((refused as Error).message).toBe(
      'createBashTool: expected a far side with tools, got one that has run() and spawn() alone, as ' +
        'forkline-far: install Node and forkline there, and start `forkline serve --stdio` in its place',
    );
  },
);

test(
  'a client that does not read the greeting is refused a tool by the call',
  where(FAR_BUILT),
  async () => {
    const asked = encodeFrame({
      kind: FRAME.open,
      more: false,
      call: 1,
      payload: Buffer.from(JSON.stringify({ op: 'tool', options: { contract: 'plain' } })),
    });
    const child = spawn(STATIC_FAR, SERVE.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] });
    child.stdin.write(Buffer.concat([Buffer.from(hello(1)), asked]));
    let said = '';
    child.stdout.on('data', (bytes: Buffer) => {
      said += bytes.toString('latin1');
    });
    await vi.waitFor(() => expect(said).toContain('"InputError"'));
    child.stdin.end();
    await once(child, 'close');
    expect(said).toContain('"takes":["command"]');
    expect(said).toContain('createBashTool: expected a far side with Node, got forkline-far');
  },
);

test(
  'it runs on a machine without anything else: no Node, no C library, no shell',
  where(FAR_BUILT),
  async () => {
    const image = folder.file('image');
    for (const name of ['dev', 'proc']) mkdirSync(`${image}/${name}`, { recursive: true });
    copyFileSync(STATIC_FAR, `${image}/forkline-far`);
    const inside = `mount --rbind /dev ${image}/dev && mount -t proc proc ${image}/proc &&
    PATH=$PATH:/usr/sbin:/sbin exec chroot ${image} /forkline-far serve --stdio`;
    const command = namespaces('-m', '--fork', '--pid', '--kill-child', 'sh', '-c', inside);
    const there = await connect({ command });
    const result = await there.run(['/forkline-far', '--version'], { cwd: '/' });
    expect(result.outcome).toEqual(exited(0));
    expect(printed(result)).toMatch(/^\d+\.\d+\.\d+\n$/);
    const shell = await failureOf(there.run('true'));
    expect(shell).toBeInstanceOf(LaunchError);
    expect(shell).toMatchObject({ step: 'exec', code: 'ENOENT' });
    await there.dispose();
  },
);

test.each([
  [
    'GET / HTTP/1.1\r\n\r\n',
    /^forkline-far: the client can't be understood: expected a frame, got 47/,
  ],
  [hello(2), /^forkline-far: the client can't be understood: it speaks protocol 2, not 1\n$/],
  ['', /^$/],
])('after %j the far side ends, and says why', where(FAR_BUILT), (said, why) => {
  const { stderr, status } = spawnSync(STATIC_FAR, SERVE.slice(1), {
    input: said,
    encoding: 'utf8',
  });
  expect(stderr).toMatch(why);
  expect(status).toBe(0);
});

test('it passes the checks that run on other machines', where(FAR_BUILT), () => {
  const asked = [join(root, 'test', 'environments', 'far.mjs'), STATIC_FAR];
  const said = execFileSync(process.execPath, asked, { encoding: 'utf8' }).trim().split('\n');
  expect(said.filter((line) => JSON.parse(line).ok !== true)).toEqual([]);
  expect(said).toHaveLength(7);
});

test(
  'it needs no loader and no library, and is for its kind of processor',
  where(FAR_BUILT),
  () => {
    const check = join(root, 'scripts', 'far-static.mjs');
    const said = execFileSync(process.execPath, [check], { encoding: 'utf8' });
    expect(said).toContain(`ok     ${STATIC_FAR}\n`);
    expect(said).not.toContain('FAILED');
  },
);

test('it is of the version of the package', where(FAR_BUILT), () => {
  const { version } = JSON.parse(read('package.json'));
  expect(execFileSync(STATIC_FAR, ['--version'], { encoding: 'utf8' })).toBe(`${version}\n`);
});

test('it says how it is used', where(FAR_BUILT), () => {
  const usage = execFileSync(STATIC_FAR, ['--help'], { encoding: 'utf8' });
  expect(usage).toMatch(/^usage: forkline-far serve --stdio\n/);
  expect(() => execFileSync(STATIC_FAR, ['mcp'], { stdio: 'pipe' })).toThrow(/usage: forkline-far/);
});

if (isBuilt) {
  await import('./connect.test.js');
  await import('./deaths.test.js');
  await import('./slow-reader.test.js');
}
