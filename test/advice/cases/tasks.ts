import { existsSync } from 'node:fs';
import { expect } from 'vitest';
import { type AdviceCase, companion, type Kit } from '../advice-case.js';
import { said } from '../answers.js';

/** Starts a task of a session that prints lines and stays; resolves when nearly all can be read. */
async function startPrinting(kit: Kit, lines: number, digits = 9) {
  const tool = kit.make('session');
  const print = `echo compiled; seq -f "line %0${digits}.0f" 1 ${lines}; touch printed; sleep 300`;
  const started = await kit.ask(tool, { command: print, run_in_background: true });
  await expect.poll(() => existsSync(kit.folder.file('printed'))).toBe(true);
  const task = JSON.parse(said(started.text, /call task_output with (\{.*?\})/));
  return { tool, output: companion(tool, 'task_output'), task };
}

export const TASKS: readonly AdviceCase[] = [
  {
    name: 'more output after a line than a look shows',
    says: /^\[… … more: look again …\]$/,
    async follow(kit) {
      const { output, task } = await startPrinting(kit, 10_000);
      const first = await kit.ask(output, { ...task, line: 'compiled' });
      said(first.text, / more: (look again) …\]/);
      const again = await kit.ask(output, { ...task, new: true });
      expect(again.text).toMatch(/line 00000\d{4}/);
      expect(again.text).not.toContain('compiled');
    },
  },
  {
    name: 'output that a look has skipped',
    says: /^\[… …\. To read them: … …\]$/,
    async follow(kit) {
      const { tool, output, task } = await startPrinting(kit, 170, 99);
      const { text } = await kit.ask(output, { ...task, line: '0170', new: true });
      const command = said(text, /To read them: (.*) …\]/);
      const followed = await kit.ask(tool, { command });
      expect(followed.text).toMatch(/^compiled\nline 0+1\n/);
    },
  },
  {
    name: 'a task that is stopped',
    says: /^It is stopped: …\. To let it go on: kill -CONT -- …$/,
    async follow(kit) {
      const tool = kit.make('session');
      const command = 'kill -STOP $$; echo went on; sleep 300';
      const started = await kit.ask(tool, { command, run_in_background: true });
      const task = JSON.parse(said(started.text, /call task_output with (\{.*?\})/));
      const output = companion(tool, 'task_output');
      let text = '';
      const look = async () => (text = (await kit.ask(output, { ...task, new: true })).text);
      await expect.poll(look).toContain('It is stopped');
      await kit.ask(tool, { command: said(text, /To let it go on: (kill -CONT -- .*)$/m) });
      await expect.poll(look).toContain('went on');
    },
  },
];
