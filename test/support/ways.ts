import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type BashTool,
  type BashToolOptions,
  type CommandOptions,
  createBashTool,
  run,
  spawn,
} from '../../src/index.js';
import { backgroundIn, endingOf } from './background.js';
import { FakeUi } from './console.js';
import { whole } from './results.js';
import { textOf } from './tool.js';

/** Runs a text with variables, and gives what it has printed on stdout (or on a terminal). */
export type Way = (text: string, env: Record<string, string>) => Promise<string>;

/** Every way in which a text reaches a shell from the programming interface, by name. */
export function waysIn(folder: string): readonly (readonly [string, Way])[] {
  const options = { cwd: folder };
  return [
    ['run', (text, env) => stdoutOf(text, { ...options, env })],
    ['run, followed', (text, env) => stdoutOf(text, { ...options, env, followDirectory: true })],
    [
      'run on a terminal',
      async (text, env) => {
        const { output } = await run(text, { ...options, env, pty: true });
        return whole(output).replaceAll('\r\n', '\n');
      },
    ],
    [
      'spawn',
      async (text, env) => {
        const live = await spawn(text, { ...options, env, streams: 'separate', stdin: 'pipe' });
        let all = '';
        for await (const { stream, text: chunk } of live) if (stream === 'stdout') all += chunk;
        return all;
      },
    ],
    ['workspace', (text, env) => answered({ contract: 'workspace', ...options, env }, text)],
    [
      'workspace in a console',
      (text, env) =>
        using(
          createBashTool({ contract: 'workspace', ...options, env, ui: new FakeUi() }),
          async (tool) => bare(textOf(await tool.execute({ command: text, pty: true }))),
        ),
    ],
    ['workspace with a job', job(folder)],
    ['workspace with a snapshot', snapshotted(folder, 'greet')],
    ['workspace with a snapshot of stubs', snapshotted(folder, 'greet_by=greet; $greet_by')],
    [
      'workspace with a prefix',
      (text, env) =>
        answered({ contract: 'workspace', ...options, env, commandPrefix: 'nice -n 0' }, text),
    ],
    ['modes', (text, env) => answered({ contract: 'modes', ...options, env }, text)],
    ['modes, detached', detached(folder)],
    [
      'session',
      (text, env) =>
        using(createBashTool({ contract: 'session', ...options, env }), async (tool) =>
          String((await tool.execute({ command: text })).structured?.stdout),
        ),
    ],
    ['session with a task', task(folder)],
    [
      'plain',
      (text, env) =>
        using(createBashTool({ contract: 'plain', ...options, env }), async (tool) =>
          String(JSON.parse(textOf(await tool.execute({ command: text }))).stdout),
        ),
    ],
  ];
}

async function stdoutOf(text: string, options: CommandOptions): Promise<string> {
  return whole((await run(text, { ...options, streams: 'separate' })).stdout);
}

async function using<Tool extends BashTool>(
  tool: Tool,
  use: (tool: Tool) => Promise<string>,
): Promise<string> {
  try {
    return await use(tool);
  } finally {
    await tool.dispose();
  }
}

const answered = (options: BashToolOptions, text: string) =>
  using(createBashTool(options), async (tool) =>
    bare(textOf(await tool.execute({ command: text }))),
  );

/** An answer's text as the command has printed it. */
function bare(text: string): string {
  const [output = ''] = text
    .replace(/^\[command failed: exit code \d+\]\n*/, '')
    .split('\n\nWall time');
  if (output === '(no output)' || output === '') return '';
  return `${output.replace(/\n$/, '')}\n`;
}

/** @param call Of the function of the rc file. */
function snapshotted(folder: string, call: string): Way {
  // Captured from a file of its own: that of `HOME` is not to be read.
  const home = join(folder, 'home with a snapshot');
  const rcFile = join(home, 'rc');
  return (text, env) => {
    mkdirSync(home, { recursive: true });
    writeFileSync(rcFile, "alias ll='echo listing'\ngreet() { echo hello; }\n");
    return answered(
      { contract: 'workspace', cwd: folder, env, shellSnapshot: { rcFile } },
      `ll; ${call}; ${text}`,
    ).then((output) => {
      const begin = output.indexOf('listing\nhello\n');
      if (begin === -1) throw new Error(`expected alias and function to be there, got ${output}`);
      return output.replace('listing\nhello\n', '');
    });
  };
}

function job(folder: string): Way {
  return (text, env) =>
    using(
      createBashTool({ contract: 'workspace', cwd: folder, env, async: true }),
      async (tool) => {
        const started = await tool.execute({ command: text, async: true });
        const id = started.details.async?.jobId;
        const answer = await tool.job?.execute({ poll: [id] });
        if (answer === undefined) throw new Error('expected a job tool');
        return bare(textOf(answer).replace(/^Job .*\n\n/, ''));
      },
    );
}

function detached(folder: string): Way {
  return (text, env) =>
    using(createBashTool({ contract: 'modes', cwd: folder, env }), async (tool) => {
      const answer = await tool.execute({ command: text, mode: 'background' });
      const printed = await endingOf(backgroundIn(textOf(answer)));
      return printed.slice(0, printed.lastIndexOf('\n\n[background process '));
    });
}

function task(folder: string): Way {
  return (text, env) =>
    using(createBashTool({ contract: 'session', cwd: folder, env }), async (tool) => {
      const started = await tool.execute({ command: text, run_in_background: true });
      const id = started.structured?.task_id;
      const [output] = tool.companions;
      for (;;) {
        const answer = (await output?.execute({ task_id: id }))?.structured;
        if (answer?.status !== 'running') return String(answer?.stdout);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    });
}
