import { expect, test } from 'vitest';
import { run } from '../../../src/index.js';
import { leavesNothingBehind, useFolders } from '../../support/leftovers.js';
import { installed, type Need, where } from '../../support/needs.js';

// A command that is allowed everything it does ends as it does without rules: same status, same output.
leavesNothingBehind(120);
const folders = useFolders();

const exec = { rules: [{ program: 'shred', answer: 'deny' }] } as const;

const python = (script: string): string => `python3 - <<'END'\n${script}\nEND`;
const PYTHON = installed('python3');

const THREADS = python(`import subprocess, threading
counts = []
def spawn():
    for i in range(80):
        counts.append(subprocess.run(['true'] if i % 2 else ['sh', '-c', 'exit 0']).returncode)
threads = [threading.Thread(target=spawn) for _ in range(8)]
[t.start() for t in threads]; [t.join() for t in threads]
print(len(counts), sum(counts))`);
const OTHER_THREAD = python(`import os, threading, time
threading.Thread(target=lambda: os.execvp('sh', ['sh', '-c', 'echo executed by another thread'])).start()
time.sleep(10)`);
const TWO_THREADS = python(`import os, threading, time
for word in ['one', 'two']:
    threading.Thread(target=lambda: os.execvp('sh', ['sh', '-c', 'echo one of two; exit 7'])).start()
time.sleep(10)`);
const OTHER_THREADS = python(`import os, threading, time
def child():
    threading.Thread(target=lambda: os.execv('/bin/true', ['true'])).start()
    time.sleep(10)
statuses = set()
for burst in range(20):
    pids = [pid for pid in (os.fork() for _ in range(16)) if pid or child()]
    statuses |= {os.waitpid(pid, 0)[1] for pid in pids}
print(statuses)`);
const HANDLER = python(`import os, signal, subprocess
seen = []
signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
for i in range(200): subprocess.run(['true'])
signal.setitimer(signal.ITIMER_REAL, 0)
print(len(seen) > 0)`);
const FAILING = python(`import os, errno
for path in ['missing', 'plain', '.', 'file/x', 'loop', 'x' * 5000, '']:
    try: os.execv(path, ['x'])
    except OSError as error: print(path[:8], errno.errorcode[error.errno])`);

const COMMANDS: readonly (readonly [what: string, command: string, ...needs: Need[]])[] = [
  ['640 programs of eight threads', THREADS, PYTHON],
  ['a program that another thread executes', OTHER_THREAD, PYTHON],
  ['programs that two threads execute at once', TWO_THREADS, PYTHON],
  ['programs that other threads of 320 processes execute', OTHER_THREADS, PYTHON],
  ['signals with a handler', HANDLER, PYTHON],
  [
    'calls that fail',
    `printf 'x\\n' > file; printf x > plain; ln -s loop loop; ${FAILING}`,
    PYTHON,
  ],
  ['126 and 127', 'touch file; ./file; echo $?; missing; echo $?; /; echo $?'],
  ['a script without a first line', `printf 'echo ran $1\\n' > s; chmod +x s; ./s a; env ./s b`],
  [
    'a script with an argument',
    `printf '#!/bin/sh -e\\nfalse\\necho no\\n' > s; chmod +x s; ./s; echo $?`,
  ],
  [
    'a script from a relative directory',
    `mkdir d; printf '#!/bin/sh\\necho $0\\n' > d/s; chmod +x d/s; cd d; ./s; ../d/s`,
  ],
  [
    'an interpreter that is missing',
    `printf '#!/missing\\n' > s; chmod +x s; ./s 2>/dev/null; echo $?`,
  ],
  ['a thousand arguments', 'printf "%s\\n" $(seq 1000) | xargs -n 1000 echo | wc -w'],
  ['a long argument', 'x=$(head -c 100000 /dev/zero | tr "\\0" x); /bin/echo "$x" | wc -c'],
  ['too long arguments', 'x=$(head -c 200000 /dev/zero | tr "\\0" x); /bin/echo "$x" 2>&1 | wc -c'],
  ['empty arguments', 'printf "[%s]" a "" b "" | cat; /usr/bin/printf "[%s]" a "" ""'],
  ['job control', 'set -m; sleep 0.1 & fg %1 >/dev/null; (sleep 0.1; true) & wait; echo $?'],
  [
    'a stopped process',
    'sh -c "kill -STOP \\$\\$; echo went on" & sleep 0.2; kill -CONT $!; wait; echo $?',
  ],
  ['timeout', 'timeout 0.2 sleep 5; echo $?'],
  [
    'a signal while programs start',
    'trap "echo caught" USR1; (sleep 0.1; kill -USR1 $$) & for i in $(seq 60); do /bin/true; done; wait; echo end',
  ],
  ['a pipeline', 'seq 1000 | grep 7 | sort -r | head -n 3'],
  [
    'a file descriptor for a script',
    `printf '#!/bin/sh\\necho run\\n' > s; chmod +x s; exec 5< s; /proc/self/fd/5`,
  ],
  [
    'make -j',
    `printf 'all: %s\\n' "$(seq -s ' ' 20)" > Makefile; printf '%%:\\n\\t@true\\n' >> Makefile; make -j 8 all; echo $?`,
    installed('make'),
  ],
];

for (const [what, command, ...needs] of COMMANDS) {
  test(`${what}: as without rules`, where(...needs), async () => {
    const ends = async (sandbox: object) => {
      const { outcome, output, background } = await run(command, { cwd: folders(), sandbox });
      const text = output.kind === 'complete' ? output.text : output.head;
      // Process ids and folders differ anyway.
      return {
        outcome,
        background,
        text: text.replaceAll(/\d{3,}(?= (?:Killed|Terminated))/g, 'PID'),
      };
    };
    const without = await ends({});
    expect(without.text).not.toBe('');
    expect(await ends({ exec })).toEqual(without);
    expect(await ends({ exec: { record: true } })).toEqual(without);
  });
}

test.each([
  'strace -f -o log sh -c "/bin/true; echo ran"',
  'gdb -q -batch -ex run -ex quit --args /bin/true',
])(
  'what `%s` traces is recorded, and not exact; where something may be denied it is denied',
  async (command) => {
    const [program = ''] = command.split(' ');
    if (!installed(program).isMet) return;
    const cwd = folders();
    const recorded = await run(command, { cwd, sandbox: { exec: { record: true } } });
    expect(recorded.outcome).toEqual({ kind: 'exited', exitCode: 0 });
    const traced = recorded.executed?.find(({ program: path }) => path.endsWith('/true'));
    expect(traced).toMatchObject({ decision: 'allow', exact: false });
    const denied = await run(command, { cwd, sandbox: { exec } });
    const told = denied.executed?.find(({ why }) => why === 'traced');
    expect(told).toMatchObject({ decision: 'deny', why: 'traced' });
  },
);
