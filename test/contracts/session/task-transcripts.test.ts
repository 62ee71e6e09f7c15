import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { quote } from '../../support/commands.js';
import { leavesNothingBehind, useFolder } from '../../support/leftovers.js';
import { useSessionTools } from '../../support/session.js';
import { conversation } from '../../support/transcripts.js';

leavesNothingBehind();
const folder = useFolder();
const newSession = useSessionTools(folder);

test('a dev server that rebuilds: the old build is not taken for the new one', async () => {
  const { call, transcript } = conversation(newSession, folder.path);
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

test('a progress bar: its last drawing', async () => {
  const { call, transcript } = conversation(newSession, folder.path);
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
  const { call, transcript } = conversation(newSession, folder.path);
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
  const { call, transcript } = conversation(newSession, folder.path);
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
