import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type LiveProcess, run, spawn } from '../../src/index.js';
import { program } from '../support/cli.js';
import { quote } from '../support/commands.js';
import { leavesNothingBehind, useFolders } from '../support/leftovers.js';
import { textUntil } from '../support/streams.js';

leavesNothingBehind();
const newFolder = useFolders();

const RULES = [
  { program: 'rm', argv: [{ matches: '^-\\w*r' }], answer: 'ask', say: 'Keep it.' },
  { program: 'id', answer: 'deny' },
];

/** The command line with these rules, in a folder with a directory `x`. */
function commandLine(command: string, ...flags: readonly string[]): readonly [string, string] {
  const folder = newFolder();
  const rules = join(folder, 'rules.json');
  writeFileSync(rules, JSON.stringify(RULES));
  mkdirSync(join(folder, 'x'));
  const sandbox = ['--sandbox', 'danger-full-access', '--exec-rules', rules, '--cwd', folder];
  const words = [process.execPath, program, 'run', ...sandbox, ...flags, command];
  return [words.map(quote).join(' '), folder];
}

async function onTerminal(command: string, redirection = ''): Promise<LiveProcess> {
  const [text] = commandLine(command);
  return spawn(`${text} ${redirection}; echo "code $?"`, { pty: { columns: 200, rows: 20 } });
}

async function shownBy(live: LiveProcess): Promise<string> {
  const result = await live.result;
  if (!('output' in result) || result.output.kind !== 'complete') throw new Error('too long');
  return result.output.text;
}

test('without a terminal nobody is asked, and what is denied is told', async () => {
  const [text] = commandLine('id; bash -c "rm -r x"; ls');
  const { output } = await run(text);
  const shown = output.kind === 'complete' ? output.text : '';
  expect(shown).toContain("forkline: The sandbox's rules denied: `id`. Do without it,");
  expect(shown).toContain(
    "The sandbox's rules denied: `rm -r x`. Nobody was there to be asked, so it is not allowed. Keep it.",
  );
  expect(shown).toMatch(/^x$/m);
});

test('the user at the terminal is asked, and allows', async () => {
  const live = await onTerminal('echo "rm -rf x" | xargs -I{} sh -c {}; ls');
  const asked = await textUntil(live, '[y/N] ');
  expect(asked).toContain('forkline: may this run?  rm -rf x\r\n');
  expect(asked).toMatch(/forkline: {3}in \S+, run by (?:da)?sh < xargs < /);
  expect(asked).toContain('forkline:   if not, the command is told: Keep it.\r\n');
  expect(asked).toMatch(/1[12]\d s left \[y\/N\] $/);
  await live.write('y\r');
  const shown = await shownBy(live);
  expect(shown).toContain('rules.json');
  expect(shown).not.toMatch(/^x\r$/m);
  expect(shown).toContain('code 0');
});

test('the question is on the terminal where standard error and output are not', async () => {
  const live = await onTerminal('rm -r x', '</dev/null >/dev/null 2>&1');
  await textUntil(live, '[y/N] ');
  await live.write('y\r');
  expect(await shownBy(live)).toContain('code 0');
});

test.each(['n\r', '\r', 'yesterday\r', '\x04'])('%j at the terminal is a denial', async (typed) => {
  const live = await onTerminal('exec rm -r x');
  await textUntil(live, '[y/N] ');
  await live.write(typed);
  const shown = await shownBy(live);
  expect(shown).toContain('The user has not allowed it. Keep it.');
  expect(shown).toContain('code 126');
});

test('Ctrl-C at the question denies, and ends the command', async () => {
  const live = await onTerminal('rm -r x; sleep 77; echo "went on"');
  await textUntil(live, '[y/N] ');
  await live.write('\x03');
  const shown = await shownBy(live);
  expect(shown).not.toContain('went on\r');
  expect(shown).toContain('code 130');
});
