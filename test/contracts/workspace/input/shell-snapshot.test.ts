import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { getPriority, tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { WorkspaceOptions } from '../../../../src/index.js';
import { longSleep, sleeping } from '../../../support/commands.js';
import { leavesNothingBehind, useFolder } from '../../../support/leftovers.js';
import { answerTo, textOf, useWorkspaceTools, withoutTime } from '../../../support/tool.js';

leavesNothingBehind();
const folder = useFolder();
const toolOf = useWorkspaceTools(folder);

const kept = join(tmpdir(), `forkline-${process.getuid?.() ?? userInfo().username}`);
const snapshots = () =>
  readdirSync(kept).filter((name) => name.startsWith(`snapshot-${process.pid}-`));

/** The beginning of a Debian user's file: nothing of it is for shells that nobody types into. */
const INTERACTIVE_ONLY = `
case $- in
    *i*) ;;
      *) return;;
esac
[ -z "$PS1" ] && return
HISTCONTROL=ignoreboth
shopt -s histappend
shopt -s checkwinsize
[ -x /usr/bin/lesspipe ] && eval "$(SHELL=/bin/sh lesspipe)"
PS1='\${debian_chroot:+($debian_chroot)}\\u@\\h:\\w\\$ '
bind '"\\e[A": history-search-backward'
echo NOISE; echo NOISE >&2
`;

let homes = 0;

function toolWith(rc: string, options: Partial<WorkspaceOptions> = {}) {
  homes += 1;
  const home = folder.file(`home ${homes}`);
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, '.bashrc'), rc);
  const warnings: string[] = [];
  const tool = toolOf({
    env: { HOME: home },
    shellSnapshot: true,
    logger: { warn: (message) => warnings.push(message) },
    ...options,
  });
  return { tool, warnings, home };
}

/** The output alone. */
async function outputOf(tool: Parameters<typeof answerTo>[0], command: string, more = {}) {
  return (await answerTo(tool, { command, ...more })).split('\n\nWall time')[0];
}

test('aliases, functions, options and PATH of an interactive-only rc file are there', async () => {
  const { tool, warnings, home } = toolWith(`${INTERACTIVE_ONLY}
alias ll='echo listing'
greet() { local who=$1; echo "hello \${who:-you}"; }
shopt -s globstar
set -o pipefail
PATH="$HOME/bin:$PATH"
`);
  expect(await outputOf(tool, 'll -a\ngreet me; false | true; echo $?')).toBe(
    'listing -a\nhello me\n1',
  );
  expect(await outputOf(tool, 'shopt globstar; cut -d: -f1 <<< $PATH')).toBe(
    `globstar       \ton\n${home}/bin`,
  );
  expect(warnings).toEqual([]);
});

test('an alias may have quotes, newlines, an odd name', async () => {
  const { tool } = toolWith(`
alias say='echo "it'\\''s $((1+1))"; echo \\\\done'
alias two='echo a
echo b'
alias -- -='echo dash'
alias x+y='echo plus'
alias é='echo accent'
`);
  expect(await outputOf(tool, 'say; two; -; x+y; é')).toBe(
    "it's 2\n\\done\na\nb\ndash\nplus\naccent",
  );
});

test('functions call each other, also private ones; other private ones stay away', async () => {
  const { tool } = toolWith(`
nvm() { case "\${1:-}" in use|ls*) nvm_echo "using \${2:-}";; *) __nvm_deep "$@";; esac; }
nvm_echo() { command printf '%s\\n' "$@"; }
__nvm_deep() { _deeper "$@"; }
_deeper() { cat <<EOF
deep "$1" \\$x
EOF
}
_completion() { COMPREPLY=(); }
cd() { builtin cd "$@" && echo "now in $PWD"; }
shopt -s extglob
pick() { case $1 in !(a|b)) echo other;; *) echo ab;; esac; }
`);
  expect(await outputOf(tool, 'nvm use 20; nvm "q"; pick c; cd /usr; type -t _completion')).toBe(
    'using 20\ndeep "q" $x\nother\nnow in /usr',
  );
  expect(await outputOf(tool, 'shopt extglob')).toBe('extglob        \ton');
});

test('settings that only fit a terminal, or would end commands, are left out', async () => {
  const { tool } = toolWith(
    'set -o vi; set -o ignoreeof; set -o monitor; set -o history; set -e\n',
  );
  const options = await outputOf(
    tool,
    'set +o | grep -E " (vi|ignoreeof|monitor|history|histexpand|errexit)$"',
  );
  expect(options?.split('\n').every((line) => line.startsWith('set +o'))).toBe(true);
  expect(await outputOf(tool, 'false; echo "on and on!!"')).toBe('on and on!!');
});

test.each([
  'echo one\nnosuch',
  'echo a\nif',
  'echo "abc',
  'set -e\nfalse\necho no',
  'cat <<EOF\nhi\nEOF',
  'exit 42',
  'return 3',
  'exec true',
  '-e',
  '# only a comment',
  'echo hi # \\',
  'f() { echo $LINENO; nosuch; }\n\nf',
  'trap "echo bye $LINENO" EXIT\nfalse',
  'echo $-; echo $?; echo $((1/0))',
  'set -u\necho $nope\necho no',
  "echo 'it'\"'\"'s' \\\\ `echo \\`echo x\\``",
  'kill -9 $$',
])('with a snapshot, this does what it does without: %j', async (command) => {
  const answer = async (of: ReturnType<typeof toolOf>) =>
    answerTo(of, { command }).catch((error: unknown) => withoutTime(String(error)));
  const { tool } = toolWith('x() { :; }\n');
  // Beside a variable that steers the shell, no function is a stub.
  const env = { PS4: '+ ' };
  const { tool: withoutStubs } = toolWith('x() { :; }\n', { env });
  expect(await answer(tool)).toBe(await answer(toolOf()));
  expect(await answer(withoutStubs)).toBe(await answer(toolOf({ env })));
});

test.each([
  ['traps', 'trap "echo t" DEBUG RETURN EXIT ERR\nset -o functrace'],
  ['redirects', `exec >/dev/null 2>&1 9>/dev/null`],
  ['shadows', 'printf() { :; }; declare() { :; }; read() { :; }\nalias eval=false set=false'],
  ['separators', 'IFS=,; readonly IFS PATH'],
  ['strictness', 'set -eu; set -o posix -o noglob'],
  ['tracing', 'set -xv'],
])('an rc file may leave %s behind', async (_, rc) => {
  const { tool, warnings } = toolWith(`${rc}\nalias a='echo A'\nf() { echo F; }\n`);
  expect(await outputOf(tool, 'a; f')).toBe('A\nF');
  expect(warnings).toEqual([]);
});

test('a call can have a PATH of its own, and so can the tool', async () => {
  const rcFile = folder.file('path.rc');
  writeFileSync(rcFile, 'PATH="/from/rc:$PATH"\n');
  const tool = toolOf({ env: { PATH: '/usr/bin:/bin' }, shellSnapshot: { rcFile } });
  expect(await outputOf(tool, 'echo $PATH')).toBe('/from/rc:/usr/bin:/bin');
  expect(await outputOf(tool, 'echo $PATH', { env: { PATH: '/bin' } })).toBe('/bin');
});

test('the rc file is read once, by the first command, without input or history', async () => {
  const log = folder.file('read.log');
  const { tool, home } = toolWith(`echo "read:$(cat):$BASH_ENV" >> ${log}; history -s x`, {
    env: { BASH_ENV: '/dev/null', HOME: folder.file('home of history') },
    shellSnapshot: { rcFile: folder.file('once.rc') },
  });
  writeFileSync(folder.file('once.rc'), readFileSync(join(home, '.bashrc')));
  mkdirSync(folder.file('home of history'), { recursive: true });
  await tool.execute({ command: 'true' });
  await tool.execute({ command: 'true' });
  expect(readFileSync(log, 'utf8')).toBe('read::\n');
  expect(readdirSync(folder.file('home of history'))).toEqual([]);
});

test('the file is for its owner alone, and gone with the tool', async () => {
  const { tool } = toolWith('alias a=b; f() { :; }\n');
  expect(snapshots()).toEqual([]);
  await tool.execute({ command: 'true' });
  const [name = ''] = snapshots();
  expect(statSync(join(kept, name)).mode & 0o777).toBe(0o700);
  // Bun's lists are in no order.
  expect(readdirSync(join(kept, name)).sort()).toEqual([
    'every',
    'functions',
    'named',
    'snapshot',
    'stubs',
  ]);
  expect(statSync(join(kept, name, 'functions')).mode & 0o777).toBe(0o700);
  for (const file of ['every', 'functions/f', 'snapshot', 'stubs']) {
    expect(statSync(join(kept, name, file)).mode & 0o777).toBe(0o600);
  }
  // Somebody cleans up: commands go on.
  rmSync(join(kept, name, 'snapshot'));
  expect(await outputOf(tool, 'echo still')).toBe('still');
  await tool.dispose();
  expect(snapshots()).toEqual([]);
});

test.each([
  ['takes too long', `${longSleep(331)}\n`, 'not read within 300 ms'],
  ['becomes another program', 'exec sleep 0\n', 'it ended the shell, or the shell is not bash'],
  ['ends the shell', 'exit 3\n', 'it ended the shell, or the shell is not bash'],
])(
  'an rc file that %s means no snapshot, is told once and fails nothing',
  async (_, rc, reason) => {
    const rcFile = folder.file('bad.rc');
    writeFileSync(rcFile, rc);
    const { tool, warnings } = toolWith('', { shellSnapshot: { rcFile, timeoutMs: 300 } });
    expect(await outputOf(tool, 'echo works')).toBe('works');
    expect(await outputOf(tool, 'echo works')).toBe('works');
    expect(warnings).toEqual([`shellSnapshot: not used, ${rcFile}: ${reason}`]);
    expect(sleeping(331)).toEqual([]);
  },
);

test('an rc file that is not there is told once', async () => {
  const rcFile = folder.file('nowhere.rc');
  const { tool, warnings } = toolWith('', { shellSnapshot: { rcFile } });
  expect(await outputOf(tool, 'echo works')).toBe('works');
  expect(warnings).toEqual([expect.stringContaining(`${rcFile}: ENOENT`)]);
});

test('a syntax error in it costs what follows, as in any shell', async () => {
  const { tool } = toolWith('alias before="echo before"\nfi fi (\nalias after="echo after"\n');
  expect(await outputOf(tool, 'before; alias after')).toContain('before\n');
});

test('processes that the rc file starts are gone once it has been read', async () => {
  const { tool } = toolWith(`${longSleep(332)} &\nalias a='echo A'\n`);
  expect(await outputOf(tool, 'a')).toBe('A');
  expect(sleeping(332)).toEqual([]);
});

test('disposing of the tool while the rc file is read leaves nothing', async () => {
  const { tool, warnings } = toolWith(`${longSleep(333)}\n`);
  const call = tool.execute({ command: 'true' }).catch((error: unknown) => String(error));
  await tool.dispose();
  expect(await call).toContain('Command cancelled');
  expect(sleeping(333)).toEqual([]);
  expect(snapshots()).toEqual([]);
  expect(warnings).toEqual([]);
});

test('the text of the command is in no argument list', async () => {
  const { tool } = toolWith('x() { :; }\n');
  const command = "sleep 3979 & sleep .2; pkill -f 'sleep 3979'; echo alive";
  expect(await outputOf(tool, command)).toContain('alive');
});

test('the prefix stands before the command as it is', async () => {
  // Whoever runs the tests may be nice himself.
  const own = getPriority();
  const nicer = Math.min(own + 7, 19);
  expect(await outputOf(toolOf({ commandPrefix: 'nice -n 7' }), 'nice')).toBe(`${nicer}`);
  expect(await outputOf(toolOf({ commandPrefix: 'export X=1;' }), 'echo $X\nnosuch')).toBe(
    '1\nbash: line 2: nosuch: command not found',
  );
  // It is shell text, so it takes what shell syntax gives it.
  expect(await outputOf(toolOf({ commandPrefix: 'nice -n 7' }), 'nice; nice')).toBe(
    `${nicer}\n${own}`,
  );
});

test('a prefix may use the snapshot, and jobs are called by the command alone', async () => {
  const { tool } = toolWith("alias loud='echo LOUD;'\n", { commandPrefix: 'loud', async: true });
  expect(await outputOf(tool, 'echo x')).toBe('LOUD\nx');
  const started = await tool.execute({ command: 'echo y', async: true });
  expect(textOf(started)).toContain('Background job bg_1 started: echo y\n');
});

test('options that cannot work are refused', () => {
  expect(() => toolOf({ commandPrefix: 'a\0b' })).toThrow(
    'commandPrefix: expected shell text without NUL, got "a\\u0000b"',
  );
  expect(() => toolOf({ shellSnapshot: 'yes' as never })).toThrow(
    'shellSnapshot: expected a boolean or an object, got "yes"',
  );
  expect(() => toolOf({ shellSnapshot: { rcFile: '' } })).toThrow(
    'shellSnapshot.rcFile: expected a path, got ""',
  );
  expect(() => toolOf({ shellSnapshot: { timeoutMs: 0 } })).toThrow(
    'shellSnapshot.timeoutMs: expected a number from 1, got 0',
  );
});
