// Commands that outlive their calls: of every contract that has them, of a manager, and detached.
/** @import { Room } from '../kind.d.ts' */
import { strict as assert } from 'node:assert';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { loadForkline } from '../../../peers/forkline.mjs';
import { renewed } from '../renewed.mjs';

const { attach, createBashTool, detach, listTasks, TaskManager } = await loadForkline();

const cwd = '/';
/** Kept only for a moment, so that those of the last minutes are not what has grown. */
const keepMs = 1000;

/** @param {{ readonly content: readonly { readonly text: string }[] }} answer */
const textOf = ({ content }) => content[0]?.text ?? '';

/** Removes what is left of a detached task, which forkline does a week later. @param {string} id */
async function removeDetached(id) {
  const task = await attach(id);
  await task.wait({ ended: true, atMostMs: 30_000 });
  await task.stop({ graceMs: 0 });
  assert.equal(task.state, 'ended');
  if (task.outputFile !== undefined) await rm(dirname(task.outputFile), { recursive: true });
}

/** @returns {Room} */
export function taskKinds() {
  const manager = new TaskManager({ keepMs, maxRunning: 100, onEvent: () => {} });
  // The files of a tool's tasks stay as long as the tool does.
  const session = renewed(() =>
    createBashTool({ contract: 'session', cwd, tasks: { keepMs }, maxRunningTasks: 50 }),
  );
  const workspace = renewed(() =>
    createBashTool({ contract: 'workspace', cwd, async: true, tasks: { keepMs, maxRunning: 50 } }),
  );
  const modes = createBashTool({ contract: 'modes', cwd });
  /** @type {Room['kinds']} */
  const kinds = [
    {
      name: 'task of session, waited for',
      every: 250,
      work: () =>
        session.use(async (tool) => {
          const { structured } = await tool.execute({
            command: 'echo one',
            run_in_background: true,
          });
          const task_id = structured?.task_id;
          let text = '';
          while (!/status: completed/.test(text)) {
            text = textOf(await tool.taskOutput.execute({ task_id, seconds: 5 }));
          }
          assert.match(text, /one/);
        }),
    },
    {
      name: 'task of session, written to and killed',
      every: 500,
      work: () =>
        session.use(async (tool) => {
          const call = { command: 'cat', run_in_background: true, stdin: true };
          const { structured } = await tool.execute(call);
          const task_id = structured?.task_id;
          const written = await tool.writeTask.execute({ task_id, text: 'said\n', line: 'said' });
          assert.match(textOf(written), /said/);
          assert.match(textOf(await tool.killTask.execute({ task_id })), /status: killed/);
        }),
    },
    {
      name: 'task on a terminal',
      every: 1000,
      work: () =>
        session.use(async (tool) => {
          const call = { command: 'read x; echo "got $x"', run_in_background: true, pty: true };
          const { structured } = await tool.execute(call);
          const task_id = structured?.task_id;
          const written = await tool.writeTask.execute({ task_id, text: 'abc\n', line: 'got abc' });
          assert.match(textOf(written), /got abc/);
          await tool.killTask.execute({ task_id });
        }),
    },
    {
      name: 'job of workspace',
      every: 250,
      work: (index) =>
        workspace.use(async (tool) => {
          const command = index % 2 === 0 ? 'echo one' : 'echo one; sleep 60';
          const { details } = await tool.execute({ command, async: true });
          const id = details?.async?.jobId ?? '';
          const poll = index % 2 === 0 ? { poll: [id] } : { cancel: [id] };
          assert.match(textOf((await tool.job?.execute(poll)) ?? { content: [] }), /Job bg_/);
        }),
    },
    {
      name: 'task of a manager',
      every: 250,
      work: async () => {
        const task = await manager.start('echo ready; exec sleep 60', { graceMs: 0 });
        const awaited = await task.wait({ line: 'ready', atMostMs: 30_000 });
        assert.equal(awaited.kind, 'line');
        assert.equal((await task.read()).text, 'ready\n');
        await task.stop();
      },
    },
    {
      name: 'task of a manager, on a terminal',
      every: 1000,
      work: async () => {
        const task = await manager.start('printf "a\\rb"; exec sleep 60', {
          pty: true,
          graceMs: 0,
        });
        await task.wait({ line: 'b', atMostMs: 30_000 });
        assert.match(await task.screen(), /^b/);
        await task.stop();
      },
    },
    {
      name: 'background of modes',
      every: 2500,
      work: async () => {
        const { details } = await modes.execute({ command: 'echo one', mode: 'background' });
        const file = details?.mode === 'background' ? details.outputFile : '';
        const task = (await listTasks()).find(({ outputFile }) => outputFile === file);
        await removeDetached(task?.id ?? '');
      },
    },
    {
      name: 'detached',
      every: 2500,
      work: async () => {
        const { id } = await detach('cat', { cwd, stdin: 'pipe' });
        const task = await attach(id);
        await task.write('over\n');
        await task.wait({ line: 'over', atMostMs: 30_000 });
        await task.closeInput();
        await removeDetached(id);
      },
    },
  ];
  const dispose = async () => {
    await Promise.all([session.dispose(), workspace.dispose(), modes.dispose()]);
    manager.dispose();
  };
  const rest = () => Promise.all([session.renew(), workspace.renew()]);
  return { kinds, rest, dispose };
}
