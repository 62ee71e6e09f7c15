import { expect } from 'vitest';
import { TaskManager } from '../../../src/index.js';
import { type AdviceCase, companion } from '../advice-case.js';
import { said } from '../answers.js';

/** Tasks of a host that listens to events, as those that offer `notify` do. */
function listening(): TaskManager {
  return new TaskManager({ onEvent: () => {} });
}

const COMMAND = 'echo ready; sleep 300';
const notify = { line: 'ready' };

export const WATCHES: readonly AdviceCase[] = [
  {
    name: 'session: notify of what is waited for',
    says: /^notify: expected to come with `run_in_background: true`$/,
    async follow(kit) {
      const tool = kit.make('session', { tasks: listening(), notify: true });
      const { text } = await kit.ask(tool, { command: COMMAND, notify });
      const field = said(text, /expected to come with `(\w+): true`/);
      const started = await kit.ask(tool, { command: COMMAND, notify, [field]: true });
      expect(started.text).toContain('task_id');
    },
  },
  {
    name: 'workspace: notify of what is waited for',
    says: /^notify: expected to come with `async: true`$/,
    async follow(kit) {
      const tool = kit.make('workspace', { tasks: listening(), notify: true, async: true });
      const { text } = await kit.ask(tool, { command: COMMAND, notify });
      const field = said(text, /expected to come with `(\w+): true`/);
      const started = await kit.ask(tool, { command: COMMAND, notify, [field]: true });
      expect(started.text).toContain('Background job');
    },
  },
  {
    name: 'a host that listens to no events',
    says: /^notify: the host of this tool listens to no events; wait for them instead$/,
    async follow(kit) {
      const tool = kit.make('session', { notify: true });
      const input = { command: COMMAND, run_in_background: true };
      const { text } = await kit.ask(tool, { ...input, notify });
      said(text, /; (wait for them) instead/);
      const started = await kit.ask(tool, input);
      const task = JSON.parse(said(started.text, /call task_output with (\{.*?\})/));
      const waited = await kit.ask(companion(tool, 'task_output'), { ...task, ...notify });
      expect(waited.text).toContain('It has printed: ready');
    },
  },
];
