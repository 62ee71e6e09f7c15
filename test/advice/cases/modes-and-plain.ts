import { existsSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { AdviceCase } from '../advice-case.js';
import { said } from '../answers.js';

const SLOW = 'sleep 1.3; echo done';

export const MODES_AND_PLAIN: readonly AdviceCase[] = [
  {
    name: 'modes: more time',
    says: /^\[?for more time: …?.*mode="background"\]?/i,
    async follow(kit) {
      const tool = kit.make('modes', { timeouts: { default: 1, slow: 60 } });
      const { text } = await kit.ask(tool, { command: SLOW });
      const slow = said(text, /for more time: mode="(\w+)"/);
      const followed = await kit.ask(tool, { command: SLOW, mode: slow });
      expect(followed).toMatchObject({ exitCode: 0, isError: false });
      const background = said(text, /or mode="(\w+)"/);
      const started = await kit.ask(tool, { command: SLOW, mode: background });
      const file = said(started.text, /<output_file>(.*)<\/output_file>/);
      await expect
        .poll(async () => (await kit.ask(tool, { command: `cat '${file}'` })).text, {
          timeout: 20_000,
        })
        .toContain('done');
    },
  },
  {
    name: 'modes: how to stop what is in the background',
    says: /<reminder>To stop: …<\/reminder>$/,
    async follow(kit) {
      const tool = kit.make('modes');
      const { text } = await kit.ask(tool, { command: 'exec sleep 300', mode: 'background' });
      const pid = said(text, /<pid>(\d+)<\/pid>/);
      expect(existsSync(`/proc/${pid}`)).toBe(true);
      await kit.ask(tool, { command: said(text, /To stop: (.*)<\/reminder>/) });
      await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
    },
  },
  {
    name: 'modes: all of a long output',
    says: /^whole output: …$/,
    async follow(kit) {
      const tool = kit.make('modes');
      const { text } = await kit.ask(tool, { command: 'seq 100000' });
      const file = said(text, /\[whole output: (.*)\]/);
      expect((await kit.ask(tool, { command: `wc -l <'${file}'` })).text).toMatch(/^100000\n/);
    },
  },
  {
    name: 'modes: a command that is too long',
    says: /write a long script to a file, then run the file$/,
    async follow(kit) {
      const tool = kit.make('modes', { maxCommandBytes: 200 });
      const lines = Array.from({ length: 30 }, (_, index) => `echo line ${index}`);
      const { text } = await kit.ask(tool, { command: lines.join('\n') });
      expect(text).toContain('write a long script to a file, then run the file');
      for (let at = 0; at < lines.length; at += 5) {
        const part = lines.slice(at, at + 5).join('\n');
        await kit.ask(tool, { command: `cat >>script <<'EOF'\n${part}\nEOF` });
      }
      expect((await kit.ask(tool, { command: 'bash script' })).text).toContain('line 29');
    },
  },
  {
    name: 'plain: more time',
    says: /For more time, start it with `&` and its output in a file, and read the file later/,
    async follow(kit) {
      const tool = kit.make('plain', { timeout: 1 });
      const { text } = await kit.ask(tool, { command: SLOW });
      const how = said(text, /start it with `(&)` and its output in a file/);
      const started = await kit.ask(tool, { command: `{ ${SLOW}; } >out 2>&1 ${how}` });
      expect(started).toMatchObject({ exitCode: 0 });
      await expect
        .poll(async () => (await kit.ask(tool, { command: 'cat out' })).text, { timeout: 20_000 })
        .toContain('done');
    },
  },
  {
    name: 'plain and the others: an editor',
    says: /^sh -c 'echo "No editor is available here: give the text as an argument or in a file/,
    async follow(kit) {
      const tool = kit.make('workspace');
      const git = 'git -c user.name=a -c user.email=a@b.c';
      await kit.ask(tool, { command: 'git init -q . && echo 1 >f && git add f' });
      const { text } = await kit.ask(tool, { command: `${git} commit` });
      const [message, file, kept] = said(text, /\(git: (.*)\)/).split(', ');
      writeFileSync(kit.folder.file('message'), 'from a file\n');
      await kit.ask(tool, { command: `${git} commit -q ${message} first` });
      await kit.ask(tool, { command: `${git} commit -q --allow-empty ${file} message` });
      await kit.ask(tool, { command: `${git} commit -q --allow-empty --amend ${kept}` });
      const log = await kit.ask(tool, { command: 'git log --format=%s' });
      expect(log.text).toMatch(/^from a file\nfirst\n/);
    },
  },
];
