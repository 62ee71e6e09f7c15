import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { leavesNothingBehind, useFolder } from '../../../support/leftovers.js';
import { data, useSessionTools } from '../../../support/session.js';

leavesNothingBehind();
const folder = useFolder();
const newSession = useSessionTools(folder);
const newTool = (options: Parameters<typeof newSession>[0] = {}) =>
  newSession({ persistent: true, graceMs: 200, ...options });

describe('a call that has run is told as one, and runs once, whatever it keeps open (U1)', () => {
  test.each([
    'exec 3>&1',
    'exec 4>&2',
    'exec 3>&1 4>&2',
    'exec 9>&1',
    'exec 10>&1',
    'exec 63>&2',
    'exec 200>&1',
    'exec 254>&1 255>&2',
    'exec {fd}>&1',
    'exec {fd}>&2 {other}>&1',
    'exec 3>&1 >/dev/null',
    'exec 3>&2 2>/dev/null',
    'exec 3>&1 4>&2 >/dev/null 2>&1',
    'exec 3<&1',
    'exec 3<>/dev/stdout',
    'keep() { exec 5>&1; }; keep',
    'echo "exec 6>&2" >source; . ./source',
    'eval "exec 7>&1"',
    'exec >&-',
    'exec 2>&-',
    'exec >&- 2>&-',
    'exec >file',
    'exec >file 2>&1',
    'exec 2>/dev/full',
    'exec 3> >(cat)',
    'exec 4< <(cat </dev/null)',
    'coproc cat',
    'coproc { cat; } 2>/dev/null',
    '( sleep 0.2 ) &',
    'sleep 0.2 & disown',
    '( ( sleep 0.2 ) & )',
    'exec 3>&1; sleep 0.2 >&3 &',
    'exec 255>&-',
    'ulimit -n 20; exec 3>&1',
  ])('%s', async (form) => {
    const tool = newTool();
    expect(await data(tool, `echo SIDE >>f; ${form}`)).toMatchObject({
      stdout: '',
      stderr: '',
      exit_code: 0,
      timed_out: false,
    });
    expect(await data(tool, `kept=1; cat f; ${form}`)).toMatchObject({ exit_code: 0 });
    expect(await data(tool, 'echo $kept; echo err >&2; rm f')).toMatchObject({
      stdout: '1\n',
      stderr: 'err\n',
    });
  });

  test.each([
    ['kill -9 $$', { signal: 'SIGKILL', exit_code: null }],
    ['exec true', { exit_code: 0 }],
    ['exec >&- 2>&-; exit 7', { exit_code: 7 }],
    ['exec 3>&1 4>&2; exec >/dev/null 2>&1; exit 7', { exit_code: 7 }],
    ['ulimit -n 3; exit 7', { exit_code: 7 }],
    ['set -n', { exit_code: null }],
    ['shopt -s extdebug; trap false DEBUG', { exit_code: null }],
    ['builtin() { :; }', { exit_code: null }],
    ['enable -n builtin echo', {}],
  ])('and when its shell ends or is of no more use: %s', async (form, expected) => {
    const tool = newTool();
    expect(await data(tool, `echo SIDE >>g; ${form}`)).toMatchObject(expected);
    await tool.execute({ restart: true });
    expect(await data(tool, 'cat g; rm g')).toMatchObject({ stdout: 'SIDE\n' });
  });

  test('output from before and after is complete, in both streams', async () => {
    const tool = newTool();
    const command =
      'echo a; echo b >&2; exec 3>&1 4>&2 >/dev/null 2>&1; echo c >&3; echo d >&4; echo lost';
    expect(await data(tool, command)).toMatchObject({ stdout: 'a\nc\n', stderr: 'b\nd\n' });
    expect(await data(tool, 'echo e; echo lost >&3')).toMatchObject({ stdout: 'e\n' });
  });
});

/** What `bash -c` makes of a text in a folder of its own. */
function plainBash(text: string) {
  const cwd = freshFolder('plain');
  const { stdout, stderr, status } = spawnSync('bash', ['--norc', '-c', text], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // Deno starts a program by its whole path, which is bash's name then.
  const told = stderr.replaceAll(/^(\/\S*\/)?bash: (-c: )?/gm, 'bash: ');
  return { stdout, stderr: told, exit_code: status };
}

function freshFolder(name: string): string {
  const path = folder.file(name);
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path);
  return path;
}

describe('a descriptor of any number is what it is in `bash -c` (U2)', () => {
  const numbers = [3, 9, 10, 11, 12, 13, 20, 63, 99, 200, 254, 255, 256, 400];
  test.each([
    ...numbers.map((fd) => `exec ${fd}>f; echo in >&${fd}; cat f`),
    ...numbers.map((fd) => `echo x >f; exec ${fd}<f; read -u ${fd} l; echo "$l"`),
    ...numbers.map((fd) => `exec ${fd}>lock; flock ${fd}; flock -n lock true; echo $?`),
    'exec {a}>f {b}>g; echo $a $b; echo 1 >&$a; cat f',
    'exec {a}>f; exec {a}>&-; exec {b}>g; echo $b',
    'for fd in 10 11 12; do if { true >&$fd; } 2>/dev/null; then echo used $fd; fi; done',
    'for fd in {3..255}; do eval "exec $fd>&-"; done; exec 10>f; echo in >&10; cat f',
    'for fd in {3..60}; do eval "exec $fd>f$fd"; done; for fd in {3..60}; do echo $fd >&$fd; done; cat f*',
    'exec 10>f 11>g; bash -c "echo child >&10; echo child >&11"; cat f g',
    'exec 10>f; { echo a; echo b >&10; } >g; cat f g',
    'exec 10>&1 >f; echo in; exec >&10 10>&-; cat f',
    'exec 11>&2 2>f; echo in >&2; exec 2>&11 11>&-; cat f',
    'echo x >&10',
    'echo x >&11',
    'echo x >&12',
    'sh -c "echo x >&10" 2>/dev/null; echo $?',
    'ulimit -n 64; exec 10>f; echo in >&10; cat f; exec {v}>g; echo $v',
    'ulimit -n 12; exec 10>f; echo in >&10; cat f',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: shell text.
    'coproc cat; echo ${COPROC[@]}; echo hi >&${COPROC[1]}; read -u ${COPROC[0]} l; echo $l; kill $COPROC_PID',
    'echo <(true) <(true)',
    '( exec 10>f; flock 10; echo held; ) 10>g; cat f',
    'f() { local fd; exec {fd}>f; echo $fd; echo in >&$fd; }; f; cat f',
    'while read -u 10 l; do echo "$l"; done 10<<<"a"',
  ])('%s', async (text) => {
    const tool = newTool({ cwd: freshFolder('ours') });
    const { stdout, stderr, exit_code } = await data(tool, text);
    expect({ stdout, stderr, exit_code }).toEqual(plainBash(text));
  });

  test('from one call to the next: it stays what it is, and a lock on it is held', async () => {
    const tool = newTool();
    const text = 'exec 10>f 11>g 12>lock; flock 12; echo one >&10; exec {v}>h; echo $v';
    expect(await data(tool, text)).toMatchObject({ stdout: '13\n' });
    expect(await data(tool, 'echo two >&10; echo out; flock -n lock true; echo $?')).toMatchObject({
      stdout: 'out\n1\n',
    });
    expect(readFileSync(folder.file('f'), 'utf8')).toBe('one\ntwo\n');
    expect(await data(tool, 'exec 12>&-; flock -n lock true; echo $?')).toMatchObject({
      stdout: '0\n',
    });
    expect(await data(tool, 'exec 255>k; echo in >&255; exec 10>&- 255>&-; cat k')).toMatchObject({
      stdout: 'in\n',
    });
    expect(await data(tool, 'echo still here')).toMatchObject({ stdout: 'still here\n' });
  });

  test("no child of the shell has one that is the shell's own", async () => {
    const tool = newTool();
    await tool.execute({ command: 'true' });
    const { stdout } = await data(tool, 'sh -c "ls -l /proc/self/fd"');
    expect(
      String(stdout)
        .match(/\d+ -> /g)
        ?.sort(),
    ).toEqual(['0 -> ', '1 -> ', '2 -> ', '3 -> ']);
  });
});
