import { expect, test } from 'vitest';
import { leavesNothingBehind, useFolder } from '../../support/leftovers.js';
import { useSessionTools } from '../../support/session.js';
import { conversation } from '../../support/transcripts.js';

leavesNothingBehind();
const folder = useFolder();
const newSession = useSessionTools(folder);

test('a noisy task: the end is shown, and where the rest is', async () => {
  const { call, transcript } = conversation(newSession, folder.path);
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
  const { call, pass, transcript } = conversation(newSession, folder.path);
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

test('a command that takes longer than the call may', async () => {
  const { call, transcript } = conversation(newSession, folder.path, { autoBackgroundMs: 2000 });
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
