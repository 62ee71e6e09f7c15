import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { type CommandTrace, createInteractionLog } from '../../../../src/index.js';
import { longSleep, sleeping } from '../../../support/commands.js';
import { leavesNothingBehind, useFolder } from '../../../support/leftovers.js';
import { eventually } from '../../../support/processes.js';
import { data, useSessionTools } from '../../../support/session.js';
import { textOf } from '../../../support/tool.js';

leavesNothingBehind();
const folder = useFolder();
const newSession = useSessionTools(folder);
const newTool = (options: Parameters<typeof newSession>[0] = {}) =>
  newSession({ persistent: true, ...options });

describe('a call', () => {
  test('has its own stdout, stderr and exit code', async () => {
    const tool = newTool();
    const first = await data(tool, 'echo a; echo b >&2; (exit 5)');
    expect(first).toMatchObject({ stdout: 'a\n', stderr: 'b\n', exit_code: 5 });
    expect(await data(tool, 'true')).toMatchObject({ stdout: '', stderr: '', exit_code: 0 });
  });

  test('has no descriptor but stdin, stdout and stderr', async () => {
    const tool = newTool();
    // The last is that of `ls` itself.
    const [, ...names] = String((await data(tool, 'ls /proc/self/fd')).stdout)
      .split('\n')
      .reverse();
    expect(names.sort()).toEqual(['0', '1', '2', '3']);
  });

  test('has errors that count its lines from 1, the first of a shell like any other', async () => {
    const tool = newTool();
    const told = { stdout: '1\n2\n', stderr: 'bash: line 2: nowhere: command not found\n' };
    for (const _ of [1, 2, 3]) {
      expect(await data(tool, 'echo $LINENO\necho $LINENO; nowhere')).toMatchObject(told);
    }
  });

  test('shows what an EXIT trap prints, also when set -e has ended the shell', async () => {
    const tool = newTool();
    await data(tool, "set -e; trap 'echo bye' EXIT");
    const ended = await data(tool, 'echo a; false; echo b');
    expect(ended).toMatchObject({ stdout: 'a\nbye\n', exit_code: 1 });
    expect(await data(tool, "trap 'echo bye' EXIT; exit 3")).toMatchObject({ stdout: 'bye\n' });
  });

  test('is parsed as it stands', async () => {
    const tool = newTool();
    expect(await data(tool, 'cat <<X\nhi\nX')).toMatchObject({ stdout: 'hi\n', exit_code: 0 });
    expect(await data(tool, 'echo "abc')).toMatchObject({ exit_code: 2 });
    expect(await data(tool, 'cat <<X\nhi')).toMatchObject({ stdout: 'hi\n' });
    expect(await data(tool, 'if true; then')).toMatchObject({ exit_code: 2 });
    expect(await data(tool, 'echo x # no \\')).toMatchObject({ stdout: 'x\n' });
    expect(await data(tool, '-e')).toMatchObject({ exit_code: 127 });
    expect(await data(tool, "echo 'it'\\''s' \"$HOME\" | grep -c s")).toMatchObject({
      exit_code: 0,
    });
  });

  test('says of errors in which of its own lines they are', async () => {
    const tool = newTool();
    await tool.execute({ command: 'true\ntrue' });
    expect(await data(tool, 'true\nnocmd')).toMatchObject({
      stderr: 'bash: line 2: nocmd: command not found\n',
    });
  });

  test('sees nothing of what is put around it', async () => {
    const tool = newTool();
    await tool.execute({ command: 'set -xv' });
    expect(await data(tool, 'echo a')).toMatchObject({ stderr: 'echo a\n++ echo a\n' });
    await tool.execute({ command: 'set +xv' });
    expect(await data(tool, 'declare -F; echo $0 $- $#')).toMatchObject({ stdout: 'bash hB 0\n' });
    await tool.execute({ command: 'n=0; trap "let n+=1" ERR' });
    expect(await data(tool, 'false')).toMatchObject({ exit_code: 1 });
    expect(await data(tool, 'echo $n')).toMatchObject({ stdout: '1\n' });
  });

  test.each([
    'declare -i n; n=0#4',
    'declare -i n; f() { n=1/0; }; f',
    'a=(1); declare -i a; a[0]=1+',
  ])(
    'whose error throws bash back to its script has its exit code, and the shell stays: %s',
    async (text) => {
      const tool = newTool();
      await tool.execute({ command: 'kept=1' });
      const answer = await data(tool, `echo a; ${text}; echo not here`);
      expect(answer).toMatchObject({ stdout: 'a\n', exit_code: 1 });
      expect(answer.notices).toBeUndefined();
      expect(await data(tool, 'echo $? $kept')).toMatchObject({ stdout: '1 1\n' });
    },
  );

  test('is cut at its first characters, with exact counts, however long it is', async () => {
    const tool = newTool({ maxCharacters: 10 });
    const answer = await data(tool, 'yes é | head -c 30000000; printf x >&2');
    expect(answer.stdout).toMatch(/^é\né\né\né\né\n\[stdout truncated: it has 20,000,000 char/);
    expect(answer).toMatchObject({ stdout_characters: 20_000_000, stderr: 'x' });
  });

  test('that prints no text says so', async () => {
    const tool = newTool();
    const { stdout } = await data(tool, 'head -c 5000 /dev/urandom');
    expect(stdout).toMatch(/^\[binary output, 5,000 bytes, not kept; /);
    expect(await data(tool, "printf 'a\\0b\\xff'")).toMatchObject({ stdout: 'a␀b\ufffd' });
  });

  test('tells its listeners all of its output, in order, and nothing after its answer', async () => {
    const tool = newTool();
    const chunks: string[] = [];
    const updates: string[] = [];
    const answer = await tool.execute(
      { command: 'for i in 1 2 3; do echo $i; sleep .06; done; echo e >&2', description: 'd' },
      {
        onOutput: ({ stream, text }) => chunks.push(`${stream} ${text}`),
        onUpdate: ({ content, label }) => updates.push(`${label} ${content[0]?.text}`),
      },
    );
    const told = chunks.join('|');
    await sleep(80);
    expect(told).toBe('stdout 1\n|stdout 2\n|stdout 3\n|stderr e\n');
    expect(chunks.join('|')).toBe(told);
    expect(updates.at(-1)).toBe('d 1\n2\n3\ne\n');
    expect(textOf(answer)).toContain('1\n2\n3');
  });

  test('leaves what it started running, and says so without ending the shell', async () => {
    const tool = newTool();
    await tool.execute({ command: 'x=1' });
    const { notices } = await data(tool, `${longSleep(11)} >/dev/null 2>&1 &`);
    const [, kill] = /^Still running in the background: \d+ \(sleep [\d.]+\)\. To stop: (.*)$/.exec(
      String(notices),
    ) as RegExpExecArray;
    expect(await data(tool, 'echo $x')).toEqual(
      expect.not.objectContaining({ notices: expect.anything() }),
    );
    expect(await data(tool, `${kill}; wait; echo $x`)).toMatchObject({ stdout: '1\n' });
    expect(sleeping(11)).toEqual([]);
  });

  test('is never shown what a process of an earlier one prints, which is not held up', async () => {
    const tool = newTool();
    await tool.execute({ command: '(sleep .4; yes | head -c 300000; echo ok >done) & echo hi' });
    expect(await data(tool, 'sleep .6; cat done; echo now')).toMatchObject({ stdout: 'ok\nnow\n' });
  });

  test('is given what a process substitution prints after its last command', async () => {
    const tool = newTool();
    expect(await data(tool, 'echo hi > >(sleep .05; cat)')).toMatchObject({ stdout: 'hi\n' });
  });

  test('says whose exit code it is, unless pipefail is set', async () => {
    const tool = newTool();
    const { notices } = await data(tool, 'python3 -c "exit(3)" | tail -1');
    expect(String(notices)).toMatch(/^Exit code 0 is that of tail, not of python3/);
    await tool.execute({ command: 'set -o pipefail' });
    const answer = await data(tool, 'python3 -c "exit(3)" | tail -1');
    expect(answer).toMatchObject({ exit_code: 3 });
    expect(answer.notices).toBeUndefined();
  });

  test('has a receipt, and an entry in the log', async () => {
    const path = folder.file('log');
    const log = createInteractionLog({ path });
    const tool = newTool({ log });
    const { details } = await tool.execute({ command: 'echo hi; exit 3' });
    expect(details.receipt).toMatchObject({
      outcome: { kind: 'exited', exitCode: 3 },
      streams: { stdout: { bytes: 3, characters: 3, lines: 1, cut: false } },
      background: [],
      troubles: [],
    });
    expect(details.receipt?.cpu).toBeUndefined();
    await tool.dispose();
    const [entry] = readFileSync(path, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(entry).toMatchObject({ command: 'echo hi; exit 3', exitCode: 3, stdoutBytes: 3 });
  });

  test('in another encoding is shown as text', async () => {
    const tool = newTool({ encoding: 'gbk' });
    const chunks: string[] = [];
    const command = "printf '\\xd6\\xd0'; printf '\\xce' >&2; sleep .1; printf '\\xc4' >&2";
    const { structured } = await tool.execute(
      { command },
      { onOutput: ({ stream, text }) => chunks.push(`${stream} ${text}`) },
    );
    expect(structured).toMatchObject({ stdout: '中', stderr: '文', stdout_characters: 1 });
    expect(chunks).toEqual(['stdout 中', 'stderr 文']);
  });

  test('of which a program was killed has looked whether memory ran out', async () => {
    const tool = newTool();
    const { details } = await tool.execute({ command: "sh -c 'kill -9 $$'" });
    expect(details.receipt).toMatchObject({ outcome: { kind: 'exited', exitCode: 137 } });
    expect(details.receipt?.outOfMemory).toMatch(/^(no|unknown|likely)$/);
    const other = await tool.execute({ command: 'true' });
    expect(other.details.receipt?.outOfMemory).toBeUndefined();
  });

  test('has a structured answer as the output schema says', async () => {
    const tool = newTool();
    const validate = new Ajv().compile(tool.outputSchema ?? false);
    const inputs = [
      { command: 'echo a; (exit 3)' },
      { command: `${longSleep(19)} & cd /usr` },
      { command: 'sleep 60', timeout: 100 },
      { command: 'kill -9 $$' },
      { restart: true },
      { restart: true, command: 'pwd' },
    ];
    for (const input of inputs) {
      const { structured } = await tool.execute(input);
      expect(validate(structured), JSON.stringify(structured)).toBe(true);
    }
  });

  test('is told on the tracing channel, beside its shell', async () => {
    const told: CommandTrace[] = [];
    const watch = (trace: unknown): void => void told.push(trace as CommandTrace);
    subscribe('tracing:forkline:command:asyncEnd', watch);
    const tool = newTool();
    await tool.execute({ command: 'echo hi; (exit 3)', timeout: 5000 });
    await tool.dispose();
    await eventually(() => expect(told).toHaveLength(2));
    unsubscribe('tracing:forkline:command:asyncEnd', watch);
    const [own, shell] = told;
    expect(own).toMatchObject({ command: 'echo hi; (exit 3)', cwd: folder.path, timeoutMs: 5000 });
    expect(own?.receipt?.outcome).toEqual({ kind: 'exited', exitCode: 3 });
    expect(own?.result).toBeUndefined();
    expect(shell?.receipt?.outcome.kind).toBe('cancelled');
  });

  test('W18: on the tracing channel it has the receipt of its answer', async () => {
    const told: CommandTrace[] = [];
    const watch = (trace: unknown): void => void told.push(trace as CommandTrace);
    subscribe('tracing:forkline:command:asyncEnd', watch);
    const tool = newTool();
    await tool.execute({ command: 'set -o pipefail' });
    const { details } = await tool.execute({ command: 'python3 -c "exit(0)" | tail -1' });
    await eventually(() => expect(told).toHaveLength(2));
    unsubscribe('tracing:forkline:command:asyncEnd', watch);
    expect(details.receipt?.exitCodeOf).toBeUndefined();
    expect(told[1]?.receipt).toEqual(details.receipt);
  });

  test('with run_in_background has a bash of its own, in the directory of the shell', async () => {
    const tool = newTool();
    await tool.execute({ command: 'x=1; cd /usr' });
    const { task_id } = await data(tool, 'echo x$x; pwd', { run_in_background: true });
    await eventually(async () => {
      const { structured } = await tool.taskOutput.execute({ task_id });
      expect(structured).toMatchObject({ stdout: 'x\n/usr\n' });
    });
    expect(await data(tool, 'echo $x')).toMatchObject({ stdout: '1\n', cwd: '/usr' });
  });

  test('of text that is long is run all the same', async () => {
    const tool = newTool();
    const text = 'x'.repeat(300_000);
    expect(await data(tool, `: ${text}; echo end`)).toMatchObject({ stdout: 'end\n' });
  }, 20_000);
});

test('how background jobs have ended is kept until it is asked for, and no notice of it is printed', async () => {
  const tool = newTool();
  await data(tool, 'set -m; (exit 4) & (exit 3) & sleep .3');
  expect(await data(tool, 'wait %2; echo $?; wait %1; echo $?')).toMatchObject({
    stdout: '3\n4\n',
    stderr: '',
  });
});
