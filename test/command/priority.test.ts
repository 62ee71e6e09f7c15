import { existsSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { expect, test } from 'vitest';
import { CONTRACT_NAMES, createBashTool, receiptOf, run, spawn } from '../../src/index.js';
import { type HostAnswer, startHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { need, ROOT, where } from '../support/needs.js';

leavesNothingBehind();

/** Prints the command's nice value, and its session's if the kernel shares processors by session. */
const LOOK = 'nice; cat /proc/self/autogroup 2>/dev/null';

const isShared = existsSync('/proc/self/autogroup');
const isRoot = process.getuid?.() === 0;
const nicer = Math.min(19, getPriority() + 10);

const sessionOf = (text: string) => /^\/autogroup-\d+ nice (-?\d+)$/m.exec(text)?.[1];

test("with priority: 'low' a command and all that it starts come after the host", async () => {
  const { output, notLowered } = await run(`bash -c '${LOOK}'`, { priority: 'low' });
  const text = output.kind === 'complete' ? output.text : '';
  expect(text).toMatch(new RegExp(`^${nicer}\n`));
  if (isShared && notLowered === undefined) expect(Number(sessionOf(text))).toBeGreaterThan(0);
  if (isRoot) expect(notLowered).toBeUndefined();
});

test.each([{}, { priority: 'normal' as const }, { priority: undefined }])(
  'with %j a command has the priority of the host',
  async (options) => {
    const result = await run(LOOK, options);
    expect(result).not.toHaveProperty('notLowered');
    const text = result.output.kind === 'complete' ? result.output.text : '';
    expect(text).toMatch(new RegExp(`^${getPriority()}\n`));
    if (isShared) expect(sessionOf(text)).toBe('0');
  },
);

test('spawn() takes a priority too, on pipes and on a terminal', async () => {
  for (const pty of [false, true]) {
    const { result } = await spawn('nice', { priority: 'low', pty });
    expect(await result).toMatchObject({
      output: { text: expect.stringMatching(`^${nicer}\r?\n$`) },
    });
  }
});

test.each(CONTRACT_NAMES)(
  'a tool of %s gives its priority to each of its commands',
  async (contract) => {
    await using tool = createBashTool({ contract, cwd: '/', priority: 'low' });
    const { content } = await tool.execute({ command: 'echo "is $(nice)"' });
    expect(content[0]?.text).toContain(`is ${nicer}`);
  },
);

test('an unknown priority is refused, and the error names the valid ones', async () => {
  const priority = 'high' as 'low';
  const message = `priority: expected 'low' or 'normal', got "high"`;
  await expect(run('true', { priority })).rejects.toThrow(message);
  for (const contract of CONTRACT_NAMES) {
    expect(() => createBashTool({ contract, cwd: '/', priority })).toThrow(message);
  }
});

test('forkline in forkline: a low command of a low host comes after both hosts', async () => {
  const code = `
    import(${JSON.stringify(new URL('../../dist/index.js', import.meta.url).href)})
      .then(({ run }) => run(${JSON.stringify(LOOK)}, { priority: 'low' }))
      .then(({ output }) => process.stdout.write(output.text));`;
  const command = `'${process.execPath}' -e "$CODE"`;
  const { output } = await run(command, { priority: 'low', env: { CODE: code } });
  const text = output.kind === 'complete' ? output.text : '';
  expect(text).toMatch(/^19\n/);
  if (isShared && isRoot) expect(sessionOf(text)).toBe('19');
});

// The kernel lets an ordinary user lower ten sessions a second.
test(
  'the results of an ordinary user tell which commands were not lowered',
  where(ROOT, need(isShared, 'no autogroups in this kernel')),
  async () => {
    const under = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
    const host = startHost('commands', { under });
    const answers: HostAnswer[] = await Promise.all(
      Array.from({ length: 24 }, () => host.run(LOOK, { priority: 'low' })),
    );
    for (const { result } of answers) {
      const text = result?.output.kind === 'complete' ? result.output.text : '';
      expect(text).toMatch(/^10\n/);
      // The session may be lowered after the command has read its value.
      if (sessionOf(text) === '10') expect(result?.notLowered).toBeUndefined();
      if (result?.notLowered === undefined) continue;
      expect(sessionOf(text)).toBe('0');
      expect(result.notLowered).toEqual({ code: 'EAGAIN', errno: 11 });
      expect((await receiptOf(result)).troubles).toEqual([
        "the command's priority could not be lowered below that of its host: EAGAIN",
      ]);
    }
    host.child.stdin?.end();
    await host.ended;
  },
);

const isEnabled = () => readFileSync('/proc/sys/kernel/sched_autogroup_enabled', 'utf8')[0] === '1';

test(
  'long commands of an ordinary user are lowered one after another',
  where(ROOT, need(isShared, 'no autogroups in this kernel')),
  async () => {
    if (!isEnabled()) return;
    const under = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
    const host = startHost('commands', { under });
    const command = `until [[ $(cat /proc/self/autogroup) == *' 10' ]]; do sleep .05; done`;
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => host.run(command, { priority: 'low', timeoutMs: 20_000 })),
    );
    for (const { result } of answers) {
      expect(result?.outcome).toEqual({ kind: 'exited', exitCode: 0 });
      expect(result?.notLowered).toBeUndefined();
    }
    host.child.stdin?.end();
    await host.ended;
  },
);

test(
  'a command of a host in its own PID namespace comes after the host too',
  where(ROOT),
  async () => {
    const host = startHost('commands', { under: ['unshare', '--pid', '--fork', '--mount-proc'] });
    const { result } = await host.run(LOOK, { priority: 'low' });
    expect(result?.output).toMatchObject({ text: expect.stringMatching(`^${nicer}\n`) });
    expect(result?.notLowered).toBeUndefined();
    host.child.stdin?.end();
    await host.ended;
  },
);
