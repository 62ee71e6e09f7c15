// U11: a text that ends within a quote or the like has the exit code that `bash -c` gives it.
import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { createBashTool, detach, run, spawn } from '../../src/index.js';
import { connect } from '../../src/remote/index.js';
import { useBackground } from '../support/background.js';
import { cli, program } from '../support/cli.js';
import { quote } from '../support/commands.js';
import { useDisposal } from '../support/disposal.js';
import { FAR_BUILT, STATIC_FAR } from '../support/far.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { where } from '../support/needs.js';
import { whole } from '../support/results.js';
import { waysIn } from '../support/ways.js';

leavesNothingBehind();
const { folder } = useBackground();
const keep = useDisposal();

const BEFORE = {
  succeeded: 'true',
  failed: 'false',
  'failed with 3': 'echo hi; (exit 3)',
  'failed in a pipe': 'echo a | grep -q b',
  'failed some lines above': 'false\n\n# a comment\n',
  'a trap waits': "trap 'echo trap $?' EXIT\nfalse",
  'set -e': 'set -e\ntrue',
} as const;

const ENDS = [
  ...['echo "unclosed', "echo 'unclosed", "echo $'unclosed", 'echo `ls', 'echo ${a', 'echo $((1+'],
  ...[
    '((1+',
    '[[ a == b',
    '[[ -f x',
    'true && [[ a != b',
    'a=(1 2',
    'echo $(ls',
    '(ls',
    'echo "$(ls"',
  ],
  ...['if true; then\necho "x', 'for x in a; do', 'f() {', '{ ls', 'case x in', 'echo )', ';;'],
  ...['true |', 'true &&', 'echo a\\', 'echo "a" \'b', '# it\'s\necho "x', 'echo "a$' + '{b:-"c}"'],
];

/** What bash itself does with the text. */
function bash(text: string) {
  const { status, stdout } = spawnSync('bash', ['--norc', '-c', '--', text], { encoding: 'utf8' });
  return { code: status, stdout };
}

async function ran(text: string, options: object = {}) {
  const result = await run(text, { cwd: folder.path, streams: 'separate', ...options });
  const code = result.outcome.kind === 'exited' ? result.outcome.exitCode : result.outcome;
  return { code, stdout: whole(result.stdout) };
}

describe.each(Object.entries(BEFORE))('U11: the line before %s', (_, before) => {
  test.each(ENDS)('and then %j', async (end) => {
    const text = `${before}\n${end}`;
    const expected = bash(text);
    expect(await ran(text)).toEqual(expected);
    expect(await ran(text, { followDirectory: true })).toEqual(expected);
    // One line, of which nothing runs.
    const line = `false; ${end.replaceAll('\n', ';')}`;
    expect(await ran(line)).toEqual(bash(line));
  });
});

const TEXT = 'echo before; (exit 7)\necho "unclosed';
const SAYS = { code: 7, stdout: 'before\n' };

describe('U11: an unclosed quote in the second line', () => {
  test('bash gives the code of the line before', () => {
    expect(bash(TEXT)).toEqual(SAYS);
  });

  test.each(
    waysIn('/tmp')
      .map(([name]) => name)
      .filter((name) => !/prefix|snapshot/.test(name)),
  )('runs the line before: %s', async (name) => {
    const way = new Map(waysIn(folder.path)).get(name);
    expect(await way?.(TEXT, {})).toContain('before');
  });

  test('a conditional expression that is none has the code 2, where bash gives none of its own', async () => {
    for (const text of ['true\n[[ a b', 'false; [[ a b', '[[ a b']) {
      expect(await ran(text)).toEqual({ code: 2, stdout: '' });
    }
  });

  test.each(['echo $(\n', 'false\necho $(\ntrue; ', 'true\na=(\n\n', TEXT])(
    'is reported with the line that bash names: %j',
    async (text) => {
      const { stderr } = spawnSync('/bin/bash', ['--norc', '-c', '--', text], {
        argv0: 'bash',
        encoding: 'utf8',
      });
      for (const followDirectory of [false, true]) {
        const result = await run(text, { cwd: folder.path, streams: 'separate', followDirectory });
        expect(whole(result.stderr)).toBe(stderr);
      }
    },
  );

  test('spawn(), a terminal, a detached command', async () => {
    const exited = { kind: 'exited', exitCode: 7 };
    const live = await spawn(TEXT, { cwd: folder.path });
    expect((await live.result).outcome).toEqual(exited);
    expect((await run(TEXT, { cwd: folder.path, pty: true })).outcome).toEqual(exited);
    const task = await detach(TEXT, { cwd: folder.path });
    const ended = await task.wait();
    expect(ended).toMatchObject({ kind: 'ended', receipt: { outcome: exited } });
  });

  test.each(['workspace', 'session', 'modes', 'plain'] as const)('%s', async (contract) => {
    const tool = keep(createBashTool({ contract, cwd: folder.path }));
    const { receipt } = await answerOf(tool.execute({ command: TEXT }));
    expect(receipt?.outcome).toEqual({ kind: 'exited', exitCode: 7 });
  });

  async function answerOf(answered: Promise<{ details: unknown }>) {
    const { details } = await answered;
    return details as { receipt?: { outcome: unknown } };
  }

  test('the command line', async () => {
    const { code, stdout } = await cli('run', '--json', TEXT);
    const { output } = JSON.parse(stdout.toString());
    expect(code).toBe(7);
    expect(output.text).toMatch(/^before\nbash: -c: line 2: unexpected EOF/);
  });

  test('a far side', async () => {
    const far = keep(await connect({ command: [process.execPath, program, 'serve', '--stdio'] }));
    expect((await far.run(TEXT)).outcome).toEqual({ kind: 'exited', exitCode: 7 });
  });

  test('a far side without Node', where(FAR_BUILT), async () => {
    const far = keep(await connect({ command: [STATIC_FAR, 'serve', '--stdio'] }));
    expect((await far.run(TEXT)).outcome).toEqual({ kind: 'exited', exitCode: 7 });
  });

  test('a complete text is no argument of its shell, where pkill -f would find it', async () => {
    const name = 'forkline-unclosed-probe';
    const complete = `# it's ${name}\ncat <<'E'\n"\nE\ntr '\\0' ' ' </proc/$$/cmdline | grep -c ${quote(name)}`;
    expect((await ran(complete)).stdout).toBe('"\n0\n');
  });
});
