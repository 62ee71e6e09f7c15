import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { findDiagnosis } from '../../../src/contracts/plain/diagnosis.js';
import { quote } from '../../support/commands.js';
import { useFolder } from '../../support/leftovers.js';
import { need, where } from '../../support/needs.js';
import { answerOf, usePlainTools } from '../../support/plain.js';
import { fc } from '../../support/properties.js';

const GERMAN = '/usr/share/locale/de/LC_MESSAGES/bash.mo';

const folder = useFolder();
const makeTool = usePlainTools();

async function errorOf(command: string, options = {}): Promise<string | undefined> {
  const answer = await answerOf(makeTool({ cwd: folder.path, ...options }), command);
  return 'error' in answer ? answer.error : undefined;
}

describe("bash's own diagnosis is an error", () => {
  test.each([
    ['no-such-program', 'bash: line 1: no-such-program: command not found'],
    ['echo a\nno-such-program', 'bash: line 2: no-such-program: command not found'],
    ['/no/such/program', 'bash: line 1: /no/such/program: No such file or directory'],
    ['exec no-such-program', 'bash: line 1: exec: no-such-program: not found'],
    ['x=$(no-such-program)', 'bash: line 1: no-such-program: command not found'],
    ['(no-such-program)', 'bash: line 1: no-such-program: command not found'],
    ['true | no-such-program', 'bash: line 1: no-such-program: command not found'],
    ['f() { no-such-program; }; f', 'environment: line 1: no-such-program: command not found'],
    ["'no such\nprogram'", "bash: line 2: $'no such\\nprogram': command not found"],
    ['shopt -s gnu_errfmt; no-such-program', 'bash:1: no-such-program: command not found'],
    ['/tmp', 'bash: line 1: /tmp: Is a directory'],
    ['/dev/null/x', 'bash: line 1: /dev/null/x: Not a directory'],
    ['ls $(seq 1 600000)', /^bash: line 1: \/.*\/ls: Argument list too long$/],
  ])('%j', async (command, error) => {
    expect(await errorOf(command)).toEqual(
      typeof error === 'string' ? error : expect.stringMatching(error),
    );
  });

  test('a script whose interpreter is missing', async () => {
    const path = folder.file('script');
    writeFileSync(path, '#!/no/such/interpreter\n');
    chmodSync(path, 0o755);
    expect(await errorOf(quote(path))).toMatch(
      /^bash: .*\/script: .*(?:required file|bad interpreter)/,
    );
  });

  test('in a command too long for an argument', async () => {
    const error = await errorOf(`: ${'x'.repeat(200_000)}\nno-such-program`);
    expect(error).toBe('bash: line 2: no-such-program: command not found');
  });

  test(
    'in another language',
    where(need(existsSync(GERMAN), 'bash has no German here')),
    async () => {
      const env = { LC_ALL: 'C.UTF-8', LANGUAGE: 'de' };
      expect(await errorOf('no-such-program', { env })).toBe(
        'bash: Zeile 1: no-such-program: Kommando nicht gefunden.',
      );
      expect(await errorOf('wait 99999', { env })).toBeUndefined();
    },
  );

  test('of sh, where there is no bash', async () => {
    const error = await errorOf('no-such-program', { shell: ['/no/such/bash', '/bin/sh'] });
    expect(error).toMatch(/^sh: .*no-such-program: .*not found$/);
  });
});

describe('the exit code alone is no error', () => {
  test.each([
    ['a shell that exits with it', 'exit 127'],
    ['a program that exits with it', "perl -e 'exit 127'"],
    ['a program that could not run another', 'env no-such-program'],
    ['another shell', "sh -c 'no-such-program'"],
    ['a script that did not find a program', 'echo no-such-program >s; bash ./s'],
    ['a shell that did not find its script', 'bash no-such-script'],
    ['a child to wait for that is none', 'wait 99999'],
    ['a message of its own kind', 'echo "bash: line 1: warning: something" >&2; exit 127'],
    ['words after the diagnosis', 'no-such-program; echo so >&2; exit 127'],
    ['its output elsewhere', 'no-such-program 2>/dev/null'],
    ['its output on stdout', '{ no-such-program; } 2>&1'],
    [
      'a handler of its own',
      'command_not_found_handle() { echo "$1?" >&2; return 127; }; no-such-program',
    ],
  ])('%s', async (_, command) => {
    expect(await errorOf(command)).toBeUndefined();
  });

  test('and neither is the diagnosis, of a command that goes on', async () => {
    expect(await errorOf('no-such-program; true')).toBeUndefined();
    expect(await errorOf('no-such-program || exit 1')).toBeUndefined();
  });
});

test('languages in which bash tells it', () => {
  const found = (line: string) => findDiagnosis(127, `a\n${line}\n`)?.text;
  for (const line of [
    'bash: ligne 1: nosuch : commande introuvable',
    'bash: ligne 1 : exec: nosuch : non trouvé',
    'bash: 行 1: nosuch: コマンドが見つかりません',
    'bash: sor: 12: nosuch: parancs nem található',
    'bash: linje 1: fant ikke kommando nosuch',
    'bash: 列 1: nosuch：指令找不到',
  ]) {
    expect(found(line)).toBe(line);
  }
});

test('any text on stderr is examined without harm, and only after exit codes 126 and 127', () => {
  const line = fc.oneof(
    fc.string(),
    fc.constantFrom('bash: line 1: x: command not found', 'bash: line', ': 1: ', 'a:'.repeat(5000)),
  );
  fc.assert(
    fc.property(fc.array(line), fc.integer({ min: 0, max: 255 }), (lines, exitCode) => {
      const stderr = lines.map((each) => `${each}\n`).join('');
      const diagnosis = findDiagnosis(exitCode, stderr);
      if (diagnosis === undefined) return;
      expect([126, 127]).toContain(exitCode);
      expect(stderr.endsWith(`${diagnosis.text}\n`)).toBe(true);
      expect(diagnosis.text).not.toContain('\n');
    }),
  );
});

test.each([
  ['colons', `bash: line 1: ${'E: '.repeat(350_000)}`],
  ['digits', `bash: line ${'1'.repeat(1_000_000)}`],
  ['required files', `bash: line 1: ${': required fil'.repeat(70_000)}`],
])('C8: a line of a megabyte takes no time: %s', (_, line) => {
  const start = performance.now();
  findDiagnosis(127, `${line}\n`);
  expect(performance.now() - start).toBeLessThan(500);
});
