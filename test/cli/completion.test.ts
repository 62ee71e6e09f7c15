import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type LiveProcess, spawn } from '../../src/index.js';
import { cli } from '../support/cli.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';

leavesNothingBehind();
const folder = useFolder();

/** What a shell makes of words and a Tab at its prompt. */
class Prompt {
  readonly #shell: LiveProcess;
  #seen = '';

  constructor(shell: LiveProcess) {
    this.#shell = shell;
    void this.#read();
  }

  static async open(command: string, ...setUp: readonly string[]): Promise<Prompt> {
    const env = { PS1: '> ', TERM: 'dumb', HISTFILE: undefined, HOME: folder.path };
    const pty = { columns: 200, rows: 50 };
    const prompt = new Prompt(await spawn(command, { env, pty, cwd: folder.path }));
    for (const [index, line] of setUp.entries()) {
      await prompt.#type(`${line}; echo rea''dy ${index}\r`, `ready ${index}`);
    }
    return prompt;
  }

  /** Types, and waits for what the shell adds to it. */
  async completes(typed: string, added: string): Promise<void> {
    await this.#type(`${typed}\t`, added);
    await this.#type('\x15', '');
  }

  end(): Promise<unknown> {
    return this.#shell.kill({ graceMs: 0 });
  }

  async #type(text: string, expected: string): Promise<void> {
    this.#seen = '';
    await this.#shell.write(text);
    await expect.poll(() => this.#seen, { timeout: 10_000 }).toContain(expected);
  }

  async #read(): Promise<void> {
    for await (const { text } of this.#shell) this.#seen += text;
  }
}

async function scriptOf(shell: string): Promise<string> {
  const { code, stdout } = await cli('completion', shell);
  expect(code).toBe(0);
  const file = folder.file(`completion.${shell}`);
  writeFileSync(file, stdout);
  return file;
}

test('bash completes commands, options, their values, and files', async () => {
  mkdirSync(folder.file('some place'));
  writeFileSync(folder.file('some file'), '');
  const listing = "bind 'set show-all-if-ambiguous on' 'set bell-style none'";
  const setUp = [listing, `. ${await scriptOf('bash')}`];
  const prompt = await Prompt.open('exec bash --norc --noprofile -i', ...setUp);
  await prompt.completes('forkline sch', 'forkline schema ');
  await prompt.completes('forkline att', 'forkline attach ');
  await prompt.completes('forkline attach --e', '--end ');
  await prompt.completes('forkline ', 'completion');
  await prompt.completes('forkline run --max', '--max-output ');
  await prompt.completes('forkline schema --contract ses', '--contract session ');
  await prompt.completes('forkline schema --contract=ses', '--contract=session ');
  await prompt.completes('forkline mcp --contract plain --inherit-env scr', 'scrubbed ');
  await prompt.completes('forkline run --cwd some', 'some\\ place/');
  await prompt.completes('forkline run --spill some\\ f', 'some\\ file ');
  await prompt.completes('forkline run -- cat some\\ f', 'some\\ file ');
  await prompt.completes('forkline completion fi', 'completion fish ');
  await prompt.end();
});

test('zsh completes commands, options and their values', async () => {
  const setUp = [
    'autoload -Uz compinit',
    `compinit -D; unsetopt zle_bracketed_paste; source ${await scriptOf('zsh')}`,
  ];
  const prompt = await Prompt.open('exec zsh -f -i', ...setUp);
  await prompt.completes('forkline sch', 'schema ');
  await prompt.completes('forkline schema --contract=ses', 'session');
  await prompt.completes('forkline run --max', '--max-output=');
  await prompt.completes('forkline completion fi', 'fish');
  await prompt.end();
});

test('fish completes commands, options and their values, and says what they are', async () => {
  const script = await scriptOf('fish');
  const offeredFor = (line: string): string =>
    execFileSync('fish', ['--no-config', '-c', `source ${script}; complete -C '${line}'`], {
      encoding: 'utf8',
      env: { ...process.env, HOME: folder.path },
    });
  expect(offeredFor('forkline sch')).toBe(
    "schema\tPrint the definitions of a contract's tools as JSON, for model APIs\n",
  );
  expect(offeredFor('forkline schema --contract ses')).toMatch(/^session\b.*\n$/);
  expect(offeredFor('forkline run --max')).toMatch(/^--max-output\tprint at most/);
  expect(offeredFor('forkline completion ').split('\n').sort()).toEqual([
    '',
    'bash',
    'fish',
    'zsh',
  ]);
});

test.each(['bash', 'zsh', 'fish'])(
  'the script for %s knows every option of the help',
  async (shell) => {
    const script = (await cli('completion', shell)).stdout.toString();
    for (const command of ['run', 'schema', 'mcp', 'doctor', 'completion']) {
      const help = (await cli(command, '--help')).stdout.toString();
      for (const [, name = ''] of help.matchAll(/^ {2}(?:-\w, )?--([\w-]+)/gm)) {
        expect(script).toMatch(new RegExp(shell === 'fish' ? ` -l ${name} ` : `--${name}\\b`));
      }
    }
  },
);

test('a shell that is not known is refused with those that are', async () => {
  const { code, stderr } = await cli('completion', 'tcsh');
  expect(stderr).toContain('Allowed choices are bash, zsh, fish.');
  expect(code).toBe(2);
});
