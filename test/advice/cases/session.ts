import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { type AdviceCase, companion, type Kit } from '../advice-case.js';
import { said } from '../answers.js';

const make = (kit: Kit, options?: object) => kit.make('session', options);
const SLOW = 'sleep 0.7; echo done';
/** The input of a tool, as an answer spells it. */
const INPUT = /call task_output with (\{.*?\})/;

/** Asks for a task's output until its command has ended. */
async function untilEnded(kit: Kit, output: ReturnType<typeof companion>, input: object) {
  for (;;) {
    const { text } = await kit.ask(output, { ...input, seconds: 30 });
    if (!/^status: running$/m.test(text)) return text;
  }
}

export const SESSION: readonly AdviceCase[] = [
  {
    name: 'more time, by a larger timeout',
    says: /For more time, pass a larger `timeout`, or `run_in_background: true` without one\./,
    async follow(kit) {
      const tool = make(kit);
      const { text } = await kit.ask(tool, { command: SLOW, timeout: 300 });
      const field = said(text, /pass a larger `(\w+)`/);
      expect(await kit.ask(tool, { command: SLOW, [field]: 30_000 })).toMatchObject({
        exitCode: 0,
      });
    },
  },
  {
    name: 'more time, in the background, and its output',
    says: /task_id: …\\?\n?.*call task_output with \{"task_id": "…"\}|For its output, call task_output/s,
    async follow(kit) {
      const tool = make(kit);
      const { text } = await kit.ask(tool, { command: SLOW, timeout: 300 });
      const field = said(text, /or `(\w+): true` without one/);
      const started = await kit.ask(tool, { command: SLOW, [field]: true });
      const input = JSON.parse(said(started.text, INPUT));
      const ended = await untilEnded(kit, companion(tool, 'task_output'), input);
      expect(ended).toMatch(/status: completed[\s\S]*done/);
    },
  },
  {
    name: 'all of a task’s output',
    says: /^All of its output: …$/,
    async follow(kit) {
      const tool = make(kit, { maxCharacters: 100 });
      const command = 'seq 500';
      const started = await kit.ask(tool, { command, run_in_background: true });
      const input = JSON.parse(said(started.text, INPUT));
      const text = await untilEnded(kit, companion(tool, 'task_output'), input);
      const file = said(text, /All of its output: (\S.*)$/m);
      expect(readFileSync(file, 'utf8')).toMatch(/^1\n2\n[\s\S]*500\n$/);
      // A model reads it by the same tool.
      expect((await kit.ask(tool, { command: `tail -n 1 '${file}'` })).text).toContain('500');
    },
  },
  {
    name: 'a finished task that is read again',
    says: /^It has been returned as completed\. All of its output: …$/,
    async follow(kit) {
      const tool = make(kit);
      const started = await kit.ask(tool, { command: 'echo kept', run_in_background: true });
      const input = JSON.parse(said(started.text, INPUT));
      const output = companion(tool, 'task_output');
      await untilEnded(kit, output, input);
      const { text } = await kit.ask(output, input);
      const file = said(text, /All of its output: (\S.*)$/m);
      expect((await kit.ask(tool, { command: `cat '${file}'` })).text).toContain('kept');
    },
  },
  {
    name: 'what a task has left running',
    says: /^left: its command has ended, processes of it still run; kill_task ends them$/,
    async follow(kit) {
      const tool = make(kit);
      const command = 'sleep 300 >/dev/null 2>&1 & echo $! >pid';
      const started = await kit.ask(tool, { command, run_in_background: true });
      const input = JSON.parse(said(started.text, INPUT));
      const text = await untilEnded(kit, companion(tool, 'task_output'), input);
      const name = said(text, /still run; (\w+) ends them/);
      const pid = readFileSync(kit.folder.file('pid'), 'utf8').trim();
      await kit.ask(companion(tool, name), input);
      await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
    },
  },
  {
    name: 'a task that was read, and has left something running',
    says: /^ All of its output: …$/,
    async follow(kit) {
      const tool = make(kit);
      const command = 'echo kept; sleep 300 >/dev/null 2>&1 &';
      const started = await kit.ask(tool, { command, run_in_background: true });
      const input = JSON.parse(said(started.text, INPUT));
      const output = companion(tool, 'task_output');
      await untilEnded(kit, output, input);
      const { text } = await kit.ask(output, input);
      const file = said(text, /returned before\..* All of its output: (\S.*)$/m);
      expect((await kit.ask(tool, { command: `cat '${file}'` })).text).toContain('kept');
      await kit.ask(companion(tool, 'kill_task'), input);
    },
  },
  {
    name: 'nothing beside restart',
    says: /^command: expected a string, or nothing beside `restart: true`, got nothing$/,
    async follow(kit) {
      const tool = make(kit, { persistent: true });
      await kit.ask(tool, { command: 'x=1' });
      const { text } = await kit.ask(tool, {});
      const field = said(text, /nothing beside `(\w+): true`/);
      expect((await kit.ask(tool, { [field]: true })).text).toContain('The shell was restarted');
      expect((await kit.ask(tool, { command: 'echo "x is $x."' })).text).toContain('x is .');
    },
  },
  {
    name: 'restart in the background',
    says: /^restart: expected to come without `run_in_background: true`$/,
    async follow(kit) {
      const tool = make(kit, { persistent: true });
      const input = { command: 'echo hi', restart: true, run_in_background: true };
      const { text } = await kit.ask(tool, input);
      const { [said(text, /without `(\w+): true`/) as 'restart']: _, ...without } = input;
      expect((await kit.ask(tool, without)).text).toContain('hi');
    },
  },
  {
    name: 'a directory that is gone',
    says: /the next one will start in …, as at first\.$/,
    async follow(kit) {
      const tool = make(kit);
      await kit.ask(tool, { command: 'mkdir gone && cd gone && rmdir ../gone' });
      const { text } = await kit.ask(tool, { command: 'pwd' });
      const place = said(text, /the next one will start in (.*), as at first/);
      expect((await kit.ask(tool, { command: 'pwd' })).text.trim()).toBe(place);
    },
  },
];
