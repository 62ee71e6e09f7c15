import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { type BashTool, type SessionTool, TaskManager } from '../../../src/index.js';
import { quote } from '../../support/commands.js';
import { leavesNothingBehind, useFolder } from '../../support/leftovers.js';
import { eventually } from '../../support/processes.js';
import { data, startTask, useSessionTools } from '../../support/session.js';
import { textOf } from '../../support/tool.js';

leavesNothingBehind();
const folder = useFolder();
const newSession = useSessionTools(folder);

async function say(tool: BashTool, input: object): Promise<string> {
  return textOf(await tool.execute(input));
}

/** Starts a command with an open stdin. */
async function startTalk(tool: SessionTool, command: string): Promise<string> {
  const { task_id } = await data(tool, command, { run_in_background: true, stdin: true });
  return String(task_id);
}

/** What a model reads of a running task, without the lines about its state. */
const shown = (text: string): string => text.replace(/^task_id: \S+\nstatus: running\n\n/, '');

/** Runs the command in a notice as it stands there. */
const follow = (command: string): string => execFileSync('bash', ['-c', command]).toString();

/** A build that goes on: noise, a line, noise, whenever a file appears. */
function watcher(name: string): {
  readonly command: string;
  readonly change: (build: number) => void;
} {
  const noise = (word: string) => `seq -f 'module ${word} %06g' 2000`;
  const file = (build: string) => `${quote(folder.path)}/${name}-${build}`;
  const command =
    `for n in 1 2 3; do until test -e ${file('$n')}; do sleep 0.02; done; ` +
    `${noise('before')}; echo "build $n compiled"; ${noise('after')}; done; sleep 60`;
  return { command, change: (build) => writeFileSync(folder.file(`${name}-${build}`), '') };
}

test('T1: a line is told once, however much is unread', async () => {
  const tool = newSession();
  const { command, change } = watcher('one');
  const id = await startTask(tool, command);
  change(1);
  const first = await say(tool.taskOutput, { task_id: id, line: 'compiled' });
  expect(first).toMatch(/It has printed: build 1 compiled$/);
  // No other build yet: the old one is not taken for it.
  const none = await say(tool.taskOutput, { task_id: id, line: 'compiled', seconds: 0.3 });
  expect(none).toMatch(/Nothing of that has happened within 0\.3 seconds\.$/);
  expect(none).not.toContain('build 1');
  change(2);
  const second = await say(tool.taskOutput, { task_id: id, line: 'compiled' });
  expect(second).toMatch(/It has printed: build 2 compiled$/);
});

test('T2, W22: a look shows what is around the line, on whole lines, and says what it skipped', async () => {
  const tool = newSession();
  const { command, change } = watcher('two');
  const id = await startTask(tool, command);
  change(1);
  // All is printed by then, and no model has seen it.
  await tool.tasks?.get(id)?.wait({ line: 'module after 002000' });
  const text = shown(await say(tool.taskOutput, { task_id: id, line: 'compiled' }));
  const lines = text.split('\n');
  const at = lines.indexOf('build 1 compiled');
  expect(lines[at - 1]).toBe('module before 002000');
  expect(lines[at + 1]).toBe('module after 000001');
  expect(Buffer.byteLength(text)).toBeLessThan(17_000);
  for (const line of lines.slice(1, -3))
    expect(line).toMatch(/^(?:module \w+ \d{6}|build 1 comp.*)$/);
  const skipped =
    /^\[… ([\d,]+) bytes \(([\d,]+) lines\) skipped\. They are in (\S+); the last of them: (.*) …\]$/;
  const [, bytes, count, file = '', advice = ''] = skipped.exec(lines[0] ?? '') ?? [];
  expect(existsSync(file)).toBe(true);
  // Each line has 21 bytes.
  expect(Number(bytes?.replaceAll(',', ''))).toBe(21 * Number(count?.replaceAll(',', '')));
  expect(follow(advice).trimEnd().split('\n').at(-1)).toBe(lineBefore(lines[1]));
  expect(lines.slice(-3)[0]).toMatch(/^\[… [\d,]+ bytes \([\d,]+ lines\) more: look again …\]$/);
  // The advice is followed: the next look goes on from there, and ends at the end.
  const rest = await say(tool.taskOutput, { task_id: id, silent: 0.4 });
  const next = shown(rest)
    .replace(/\n\nIt has .*$/, '')
    .split('\n');
  expect(next.at(-1)).toBe('module after 002000');
  const [, , missing = '', , more = ''] = skipped.exec(next[0] ?? '') ?? [];
  expect(follow(more).trimEnd().split('\n').at(-1)).toBe(lineBefore(next[1]));
  // None is missing between the two looks.
  const numberOf = (line = '') => Number(/\d+$/.exec(line)?.[0]);
  expect(numberOf(next[1]) - numberOf(lines.at(-4)) - 1).toBe(Number(missing.replaceAll(',', '')));
  expect(shown(await say(tool.taskOutput, { task_id: id, new: true }))).toBe(
    '(nothing new since the last look)',
  );
});

/** The line that comes before one of the numbered ones. */
function lineBefore(line = ''): string {
  return line.replace(/\d+$/, (digits) => String(Number(digits) - 1).padStart(digits.length, '0'));
}

test('T2: the newest output of a task that prints without end is shown, and its reply', async () => {
  const tool = newSession();
  const id = await startTalk(
    tool,
    'yes "$(printf %080d 0)" | head -c 3000000; while read -r x; do echo "you said $x"; done',
  );
  const look = async () =>
    shown(await say(tool.taskOutput, { task_id: id, new: true, seconds: 0.1 }));
  await eventually(async () => expect(await look()).toContain('0000'));
  await eventually(async () => expect(await look()).not.toContain('0000'));
  const reply = await say(tool.writeTask, { task_id: id, text: 'hello\n' });
  expect(shown(reply)).toMatch(/^you said hello\n/);
  const noisy = await startTalk(
    tool,
    'while :; do printf "noise\\n%.0s" {1..400}; sleep .01; done & read -r x; echo "you said $x"; kill $!; sleep 60',
  );
  await say(tool.taskOutput, { task_id: noisy, line: 'noise' });
  const [first = '', ...rest] = shown(
    await say(tool.taskOutput, { task_id: noisy, seconds: 0.5 }),
  ).split('\n');
  expect(first).toMatch(
    /^\[… [\d,]+ bytes .*skipped\. They are in \/.*; the last of them: .* …\]$/,
  );
  expect(rest).toContain('noise');
  const answer = await say(tool.writeTask, { task_id: noisy, text: 'stop\n', silent: 0.5 });
  expect(answer).toContain('noise');
  expect(answer.length).toBeLessThan(20_000);
  // The reply is where nobody reads it at once, in the middle of a flood: it is found by its words.
  const file = / (\/\S+);/.exec(first)?.[1] ?? '';
  await eventually(() => expect(follow(`grep -c '^you said stop' ${file}`)).toBe('1\n'));
});

test('W8: nothing new is told from nothing at all, and from blanks', async () => {
  const tool = newSession();
  const id = await startTalk(tool, 'read -r x; echo hi; read -r x; echo; read -r x');
  const look = async () => shown(await say(tool.taskOutput, { task_id: id, new: true }));
  expect(await look()).toBe('(no output yet)');
  expect(shown(await say(tool.writeTask, { task_id: id, text: '\n', line: 'hi' }))).toMatch(
    /^hi\n/,
  );
  expect(await look()).toBe('(nothing new since the last look)');
  await say(tool.writeTask, { task_id: id, text: '\n', silent: 0.2 });
  expect(await look()).toBe('(nothing new since the last look)');
});

test('W9: what was killed is told as killed, and that nothing is new', async () => {
  const tool = newSession();
  const id = await startTask(tool, 'echo hi; sleep 60');
  await say(tool.taskOutput, { task_id: id, line: 'hi' });
  const answer = await tool.killTask.execute({ task_id: id });
  expect(textOf(answer)).toMatch(
    new RegExp(
      `^task_id: ${id}\nstatus: killed\n\n\\(nothing new since the last look\\)\n\n` +
        'All of its output: /.*\n\nCommand cancelled$',
    ),
  );
  expect(answer.structured).toMatchObject({ status: 'killed', output: '', exit_code: null });
});

test('T9: a call that waits beside kill_task is no error, and no path is named that is gone', async () => {
  const tool = newSession();
  for (const command of ['echo hi; sleep 60', 'sleep 60']) {
    const id = await startTask(tool, command);
    if (command.startsWith('echo')) await say(tool.taskOutput, { task_id: id, line: 'hi' });
    const waits = tool.taskOutput.execute({ task_id: id, line: 'never' });
    const kills = tool.killTask.execute({ task_id: id });
    const answers = await Promise.all([waits, kills]);
    for (const answer of answers) {
      expect(answer.isError).toBeFalsy();
      expect(answer.details.status).toBe('killed');
      expect(textOf(answer)).toMatch(/\n\nCommand cancelled$/);
    }
    const again = await say(tool.taskOutput, { task_id: id });
    const told = [...answers.map(textOf), again].join('\n');
    const paths = [...told.matchAll(/All of its output: (\S+)/g)].map(([, path = '']) => path);
    expect(paths.length > 0).toBe(command.startsWith('echo'));
    for (const path of paths) expect(existsSync(path)).toBe(true);
  }
});

test('W2: a command that goes on as a task shows the end of its output so far, once', async () => {
  const tool = newSession({ autoBackgroundMs: 2500 });
  const command =
    'seq -f "module %06g" 1000; sleep .3; echo oops >&2; sleep .2; echo waiting; ' +
    `until test -e ${quote(folder.file('go on'))}; do sleep .05; done; echo done; sleep 60`;
  const answer = await tool.execute({ command });
  const [skipped = '', ...lines] = textOf(answer).split('\n');
  expect(skipped).toMatch(/^\[… [\d,]+ bytes \([\d,]+ lines\) skipped\. They are in /);
  const advice = /the last of them: (.*) …\]$/.exec(skipped)?.[1] ?? '';
  expect(follow(advice).trimEnd().split('\n').at(-1)).toBe(lineBefore(lines[1]));
  expect(lines.slice(-7)).toEqual([
    'waiting',
    '',
    'stderr:',
    'oops',
    '',
    expect.stringMatching(/^Still running after 2\.5 seconds; it goes on in the background with /),
    expect.stringMatching(/^For its output, call task_output with /),
  ]);
  expect(textOf(answer).length).toBeLessThan(5000);
  expect(answer.structured).toMatchObject({
    stdout: expect.stringMatching(/^module \d{6}\n(?:module \d{6}\n)+waiting\n$/),
    stderr: 'oops\n',
    stdout_characters: 14_008,
    notices: [skipped],
    status: 'running',
  });
  const id = answer.details.task?.id;
  writeFileSync(folder.file('go on'), '');
  expect(shown(await say(tool.taskOutput, { task_id: id, line: 'done' }))).toBe(
    'done\n\nIt has printed: done',
  );
});

test('W2: a command that ends in time leaves no file behind', async () => {
  const tool = newSession({ autoBackgroundMs: 20_000 });
  const answer = await tool.execute({ command: 'seq 100000 | tail -n 2000' });
  expect(textOf(answer)).toMatch(/^98001\n/);
  // The next task's file is the only one.
  const id = await startTask(tool, 'seq 5000; sleep 60');
  const text = await say(tool.taskOutput, { task_id: id, line: '5000' });
  const file = / in (\S+);/.exec(text)?.[1] ?? '';
  const names = readdirSync(dirname(file)).filter((name) => !name.startsWith('.ids'));
  expect(names.map((name) => name.replace(/^\.draft-.*/, '.draft')).sort()).toEqual([
    '.draft',
    '0.bash.log',
  ]);
});

test('T16: a task that is stopped is told as stopped, and the advice lets it go on', async () => {
  const tool = newSession();
  const command = 'echo up; kill -STOP $$; echo on again; sleep 60';
  const id = await startTask(tool, command);
  const looks = [{ silent: 0.5 }, { line: 'on again', seconds: 0.5 }, { new: true }];
  let advice = '';
  for (const look of looks) {
    const answer = await tool.taskOutput.execute({ task_id: id, ...look });
    const stopped = /^It is stopped: \d+ \(.*\)\. To let it go on: (kill -CONT -- -\d+)$/m;
    const [line, told = ''] = stopped.exec(textOf(answer)) ?? [];
    expect(answer.structured?.notices).toContain(line);
    advice = told;
  }
  expect(await data(tool, advice)).toMatchObject({ exit_code: 0 });
  expect(shown(await say(tool.taskOutput, { task_id: id, line: 'on again' }))).toBe(
    'on again\n\nIt has printed: on again',
  );
});

test('T16: an event of silence names what is stopped', async () => {
  const task = await new TaskManager().start('kill -STOP $$; sleep 60', { graceMs: 0 });
  const silent = await task.wait({ silentMs: 300 });
  expect(silent).toMatchObject({ kind: 'silent', stopped: [{ processGroup: expect.any(Number) }] });
  await task.stop();
});
