import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { SessionOptions } from '../../../src/index.js';
import { quote } from '../../support/commands.js';
import { leavesNothingBehind, useFolder } from '../../support/leftovers.js';
import { useSessionTools } from '../../support/session.js';
import { textOf } from '../../support/tool.js';

leavesNothingBehind();
const folder = useFolder();
const newSession = useSessionTools(folder);

/** What a model and its tools say, as the model sees it: with a name for ids and files, and long output shortened. */
function conversation(options: Partial<SessionOptions> = {}) {
  const bash = newSession(options);
  const tools = {
    bash,
    task_output: bash.taskOutput,
    write_task: bash.writeTask,
    kill_task: bash.killTask,
  };
  const said: string[] = [];
  let task = '';
  const call = async (name: keyof typeof tools, input: object): Promise<string> => {
    const asked = name === 'bash' ? input : { task_id: task, ...input };
    const text = textOf(await tools[name].execute(asked));
    task = /task_id: (task_\w+)/.exec(text)?.[1] ?? task;
    said.push(
      `> ${name} ${Object.values(input).join(' ')}`.trimEnd(),
      ...shorten(text.replaceAll(task, 'ID')),
      '',
    );
    return text;
  };
  const transcript = (): string =>
    said
      .join('\n')
      .replaceAll(/\/\S+\.bash\.log/g, 'FILE')
      .replaceAll(folder.path, '.')
      .replaceAll(/\b\d+ \(/g, 'PID (')
      .replaceAll(/-- -\d+/g, '-- -PID')
      .replaceAll(/nothing for [\d.]+ seconds?/g, 'nothing for N seconds');
  /** Lets time pass, unseen by the model. */
  const pass = async (seconds: number) => bash.execute({ command: `sleep ${seconds}` });
  return { call, pass, transcript };
}

/** Leaves out the middle of output. */
function shorten(text: string): string[] {
  const lines = text.split('\n');
  return lines.length < 20 ? lines : [...lines.slice(0, 7), '(…)', ...lines.slice(-6)];
}

test('a dev server that rebuilds: the old build is not taken for the new one', async () => {
  const { call, transcript } = conversation();
  const changed = folder.file('changed');
  await call('bash', {
    command: `printf '\\033[32mcompiled\\033[0m in 12 ms\\n'; until test -e ${quote(changed)}; do sleep .05; done; echo rebuilding; sleep .2; printf '\\033[32mcompiled\\033[0m in 7 ms\\n'; sleep 60`,
    run_in_background: true,
  });
  await call('task_output', { line: 'compiled in' });
  writeFileSync(changed, '');
  await call('task_output', { line: 'compiled in' });
  await call('kill_task', {});
  expect(transcript()).toMatchInlineSnapshot(`
    "> bash printf '\\033[32mcompiled\\033[0m in 12 ms\\n'; until test -e './changed'; do sleep .05; done; echo rebuilding; sleep .2; printf '\\033[32mcompiled\\033[0m in 7 ms\\n'; sleep 60 true
    Started in the background with task_id: ID
    For its output, call task_output with {"task_id": "ID"}.

    > task_output compiled in
    task_id: ID
    status: running

    compiled in 12 ms

    It has printed: compiled in 12 ms

    > task_output compiled in
    task_id: ID
    status: running

    rebuilding
    compiled in 7 ms

    It has printed: compiled in 7 ms

    > kill_task
    task_id: ID
    status: killed

    (nothing new since the last look)

    All of its output: FILE

    Command cancelled
    "
  `);
});

test('a noisy task: the end is shown, and where the rest is', async () => {
  const { call, transcript } = conversation();
  await call('bash', {
    command: 'seq -f "request %.0f: 200 OK" 100000; sleep 60',
    run_in_background: true,
  });
  const text = await call('task_output', { silent: 2 });
  await call('bash', { command: / of them: (.*) …\]/.exec(text)?.[1] ?? '' });
  await call('task_output', { new: true });
  expect(transcript()).toMatchInlineSnapshot(`
    "> bash seq -f "request %.0f: 200 OK" 100000; sleep 60 true
    Started in the background with task_id: ID
    For its output, call task_output with {"task_id": "ID"}.

    > task_output 2
    task_id: ID
    status: running

    [… 2,172,526 bytes (99,256 lines) skipped. They are in FILE; the last of them: sed -n 99057,99256p FILE …]
    request 99257: 200 OK
    request 99258: 200 OK
    request 99259: 200 OK
    (…)
    request 99997: 200 OK
    request 99998: 200 OK
    request 99999: 200 OK
    request 100000: 200 OK

    It has printed nothing for N seconds.

    > bash sed -n 99057,99256p FILE
    request 99057: 200 OK
    request 99058: 200 OK
    request 99059: 200 OK
    request 99060: 200 OK
    request 99061: 200 OK
    request 99062: 200 OK
    request 99063: 200 OK
    (…)
    request 99251: 200 OK
    request 99252: 200 OK
    request 99253: 200 OK
    request 99254: 200 OK
    request 99255: 200 OK
    request 99256: 200 OK

    > task_output true
    task_id: ID
    status: running

    (nothing new since the last look)
    "
  `);
});

test('a line in the middle of noise: what is around it, and the next look goes on', async () => {
  const { call, pass, transcript } = conversation();
  await call('bash', {
    command:
      'seq -f "test %.0f passed" 4000; echo "test 4001 FAILED"; seq -f "test %.0f passed" 4002 9000; sleep 60',
    run_in_background: true,
  });
  await pass(2);
  await call('task_output', { line: 'FAILED' });
  await call('task_output', { silent: 2 });
  expect(transcript()).toMatchInlineSnapshot(`
    "> bash seq -f "test %.0f passed" 4000; echo "test 4001 FAILED"; seq -f "test %.0f passed" 4002 9000; sleep 60 true
    Started in the background with task_id: ID
    For its output, call task_output with {"task_id": "ID"}.

    > task_output FAILED
    task_id: ID
    status: running

    [… 62,813 bytes (3,760 lines) skipped. They are in FILE; the last of them: sed -n 3561,3760p FILE …]
    test 3761 passed
    test 3762 passed
    test 3763 passed
    (…)
    test 4720 passed
    test 4721 passed
    test 4722 passed
    [… 72,726 bytes (4,278 lines) more: look again …]

    It has printed: test 4001 FAILED

    > task_output 2
    task_id: ID
    status: running

    [… 56,355 bytes (3,315 lines) skipped. They are in FILE; the last of them: sed -n 7838,8037p FILE …]
    test 8038 passed
    test 8039 passed
    test 8040 passed
    (…)
    test 8997 passed
    test 8998 passed
    test 8999 passed
    test 9000 passed

    It has printed nothing for N seconds.
    "
  `);
});

test('a progress bar: its last drawing', async () => {
  const { call, transcript } = conversation();
  await call('bash', {
    command:
      'for n in $(seq 0 5 100); do printf "\\rDownloading %3d%%" $n; done; sleep 2; printf "\\nUnpacking\\n"; sleep 60',
    run_in_background: true,
  });
  await call('task_output', { line: '100%' });
  await call('task_output', { line: 'ing' });
  expect(transcript()).toMatchInlineSnapshot(`
    "> bash for n in $(seq 0 5 100); do printf "\\rDownloading %3d%%" $n; done; sleep 2; printf "\\nUnpacking\\n"; sleep 60 true
    Started in the background with task_id: ID
    For its output, call task_output with {"task_id": "ID"}.

    > task_output 100%
    task_id: ID
    status: running

    Downloading 100%

    It has printed: Downloading 100%

    > task_output ing
    task_id: ID
    status: running

    Unpacking

    It has printed: Unpacking
    "
  `);
});

test('a program that answers', async () => {
  const { call, transcript } = conversation();
  await call('bash', {
    command:
      'seq -f "loading %.0f" 5000; printf "> "; while read -r x; do echo "got $x"; printf "> "; done',
    run_in_background: true,
    stdin: true,
  });
  await call('task_output', { line: '> ' });
  await call('write_task', { text: 'one\n' });
  await call('write_task', { text: 'two\n' });
  expect(transcript()).toMatchInlineSnapshot(`
    "> bash seq -f "loading %.0f" 5000; printf "> "; while read -r x; do echo "got $x"; printf "> "; done true true
    Started in the background with task_id: ID
    For its output, call task_output with {"task_id": "ID"}.

    > task_output >
    task_id: ID
    status: running

    [… 59,798 bytes (4,685 lines) skipped. They are in FILE; the last of them: sed -n 4486,4685p FILE …]
    loading 4686
    loading 4687
    loading 4688
    (…)
    loading 4998
    loading 4999
    loading 5000
    >

    It has printed: > 

    > write_task one
    task_id: ID
    status: running

    got one
    >

    It has printed nothing for N seconds, and waits for input on its stdin.

    > write_task two
    task_id: ID
    status: running

    got two
    >

    It has printed nothing for N seconds, and waits for input on its stdin.
    "
  `);
});

test('a task that is stopped, goes on and is killed', async () => {
  const { call, transcript } = conversation();
  await call('bash', {
    command: 'echo up; kill -STOP $$; echo on; sleep 60',
    run_in_background: true,
  });
  const text = await call('task_output', { silent: 1 });
  await call('bash', { command: /go on: (.*)$/m.exec(text)?.[1] ?? '' });
  await call('task_output', { line: 'on' });
  await call('task_output', { new: true });
  await call('kill_task', {});
  expect(transcript()).toMatchInlineSnapshot(`
    "> bash echo up; kill -STOP $$; echo on; sleep 60 true
    Started in the background with task_id: ID
    For its output, call task_output with {"task_id": "ID"}.

    > task_output 1
    task_id: ID
    status: running

    up

    It is stopped: PID (echo up; kill -STOP $$; echo on; sleep 60). To let it go on: kill -CONT -- -PID

    It has printed nothing for N seconds.

    > bash kill -CONT -- -PID
    (no output)

    > task_output on
    task_id: ID
    status: running

    on

    It has printed: on

    > task_output true
    task_id: ID
    status: running

    (nothing new since the last look)

    > kill_task
    task_id: ID
    status: killed

    (nothing new since the last look)

    All of its output: FILE

    Command cancelled
    "
  `);
});

test('a command that takes longer than the call may', async () => {
  const { call, transcript } = conversation({ autoBackgroundMs: 2000 });
  await call('bash', {
    command: 'echo fetching; seq -f "package %.0f" 1000; sleep 4; echo linked; exit 3',
  });
  await call('task_output', { seconds: 30 });
  expect(transcript()).toMatchInlineSnapshot(`
    "> bash echo fetching; seq -f "package %.0f" 1000; sleep 4; echo linked; exit 3
    [… 7,809 bytes (660 lines) skipped. They are in FILE; the last of them: sed -n 461,660p FILE …]

    package 660
    package 661
    package 662
    package 663
    package 664
    (…)
    package 998
    package 999
    package 1000

    Still running after 2 seconds; it goes on in the background with task_id: ID
    For its output, call task_output with {"task_id": "ID"}.

    > task_output 30
    task_id: ID
    status: completed

    linked

    All of its output: FILE

    Command exited with code 3
    "
  `);
});
