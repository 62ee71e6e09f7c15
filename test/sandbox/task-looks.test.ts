import { expect, test } from 'vitest';
import type { SessionOptions } from '../../src/index.js';
import { useTasks } from '../support/detached-tasks.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { fillSandboxes } from '../support/sandbox.js';
import { useSessionTools } from '../support/session.js';
import { textOf } from '../support/tool.js';

const detached = useTasks();
fillSandboxes();
leavesNothingBehind();
const folder = useFolder();
const newSession = useSessionTools(folder);

const KINDS: readonly Partial<SessionOptions>[] = [
  {},
  { taskLifetime: 'detached' },
  { persistent: true },
];

test.each(KINDS)(
  'T2, T16: in a sandbox too the advice of a look is followed: %j',
  async (options) => {
    const tool = newSession({ ...options, sandbox: 'workspace-write' });
    const command = 'seq -f "module %.0f" 5000; echo compiled; kill -STOP $$; echo on; sleep 60';
    const { details } = await tool.execute({ command, run_in_background: true });
    const id = details.task?.id ?? '';
    if (options.taskLifetime === 'detached') detached.note(id);
    const look = async (input: object) =>
      textOf(await tool.taskOutput.execute({ task_id: id, ...input }));
    const first = await look({ silent: 1 });
    const sed = /the last of them: (.*) …\]/.exec(first)?.[1] ?? 'false';
    const shown = /…\]\nmodule (\d+)/.exec(first)?.[1];
    const before = await tool.execute({ command: sed });
    expect(textOf(before)).toMatch(new RegExp(`module ${Number(shown) - 1}$`));
    const go = /To let it go on: (.*)$/m.exec(first)?.[1] ?? 'false';
    expect(textOf(await tool.execute({ command: go }))).toBe('(no output)');
    expect(await look({ line: 'on' })).toMatch(/\n\non\n\nIt has printed: on$/);
    expect(textOf(await tool.killTask.execute({ task_id: id }))).toContain('status: killed');
  },
);
