import { expect } from 'vitest';
import { type AdviceCase, companion, type Kit } from '../advice-case.js';
import { said } from '../answers.js';

const make = (kit: Kit) => kit.make('session');
const idOf = (text: string): string => said(text, /task_id: (\w+)/);

/** A task that was started without stdin, and what the answer to a write says. */
async function refused(kit: Kit, fields: object) {
  const tool = make(kit);
  const input = { command: 'read -r x; echo "got $x"; sleep 300', run_in_background: true };
  const task_id = idOf((await kit.ask(tool, { ...input, ...fields })).text);
  return { tool, input, task_id, write: companion(tool, 'write_task') };
}

export const TERMINALS: readonly AdviceCase[] = [
  {
    name: 'the screen of a task',
    says: /For its screen, call task_output with \{"task_id": "…", "silent": 0\.5\}\.$/,
    async follow(kit) {
      const tool = make(kit);
      const input = { command: 'echo on a screen; cat', pty: true, run_in_background: true };
      const { text } = await kit.ask(tool, input);
      const ask = JSON.parse(said(text, /call task_output with (\{.*?\})/));
      expect((await kit.ask(companion(tool, 'task_output'), ask)).text).toContain('on a screen');
    },
  },
  {
    name: 'the screen of a job',
    says: /For its screen, call the job tool with \{"poll": \["…"\], "silent": 0\.5\}\.$/,
    async follow(kit) {
      const tool = kit.make('workspace', { async: true });
      const input = { command: 'echo on a screen; cat', pty: true, async: true };
      const { text } = await kit.ask(tool, input);
      const ask = JSON.parse(said(text, /call the job tool with (\{.*?\})\./));
      expect((await kit.ask(companion(tool, 'job'), ask)).text).toContain('on a screen');
    },
  },
  {
    name: 'a terminal that is not in the background',
    says: /^pty: expected to come with `run_in_background: true`$/,
    async follow(kit) {
      const tool = make(kit);
      const { text } = await kit.ask(tool, { command: 'cat', pty: true });
      const field = said(text, /expected to come with `(\w+): true`/);
      expect(await kit.ask(tool, { command: 'cat', pty: true, [field]: true })).toMatchObject({
        isError: false,
      });
    },
  },
  {
    name: 'nothing to write',
    says: /^text: expected a text, or `keys` in its place, got neither$/,
    async follow(kit) {
      const { write, task_id } = await refused(kit, { pty: true });
      const { text } = await kit.ask(write, { task_id });
      const field = said(text, /or `(\w+)` in its place/);
      const written = await kit.ask(write, { task_id, text: 'it', [field]: ['enter'] });
      expect(written.text).toContain('got it');
    },
  },
  {
    name: 'a task without stdin',
    says: /^End it, and start its command again with `stdin: true` to write to it, or with `pty: true`/,
    async follow(kit) {
      const { tool, write, task_id, input } = await refused(kit, {});
      const { text } = await kit.ask(write, { task_id, text: 'it\n' });
      await kit.ask(companion(tool, 'kill_task'), { task_id });
      const fields = [...text.matchAll(/with `(\w+): true`/g)].map(([, field = '']) => field);
      expect(fields).toEqual(['stdin', 'pty']);
      for (const field of fields) {
        const again = await kit.ask(tool, { ...input, [field]: true });
        const written = await kit.ask(write, { task_id: idOf(again.text), text: 'it\n' });
        expect(written.text).toContain('got it');
      }
    },
  },
  {
    name: 'a key for a task without a terminal',
    says: /^…\[…\]: expected … \(start it again with `pty: true`\), got …$/,
    async follow(kit) {
      const { tool, write, task_id, input } = await refused(kit, { stdin: true });
      const keys = ['up'];
      const { text } = await kit.ask(write, { task_id, keys });
      const field = said(text, /start it again with `(\w+): true`/);
      const again = await kit.ask(tool, { ...input, [field]: true });
      const pressed = await kit.ask(write, { task_id: idOf(again.text), keys });
      expect(pressed).toMatchObject({ isError: false });
    },
  },
  {
    name: 'a key that is misspelt',
    says: /^ \(did you mean …\?\)$/,
    async follow(kit) {
      const { write, task_id } = await refused(kit, { pty: true });
      const { text } = await kit.ask(write, { task_id, text: 'it', keys: ['entr'] });
      const key = said(text, /\(did you mean "(\w+)"\?\)/);
      const pressed = await kit.ask(write, { task_id, text: 'it', keys: [key] });
      expect(pressed.text).toContain('got it');
    },
  },
];
