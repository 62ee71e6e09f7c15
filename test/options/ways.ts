import { type BashTool, createBashTool, type RunResult, run } from '../../src/index.js';
import { endOf, program, startCli } from '../support/cli.js';
import { textOf } from '../support/tool.js';
import type { Seen } from './probes.js';

/** A road, as a function of a command and unchecked options. */
export type Way = (
  command: string,
  options: Readonly<Record<string, unknown>>,
  endAfterMs?: number,
) => Promise<Seen>;

/** A function as callers without a type checker see it. */
type Loose = (...given: readonly unknown[]) => Promise<unknown>;
export const loose = (called: unknown): Loose => called as Loose;

export async function timed(action: () => Promise<Omit<Seen, 'tookMs'>>): Promise<Seen> {
  const begun = performance.now();
  const seen = await action();
  return { ...seen, tookMs: performance.now() - begun };
}

/** Returns the output of a result, cut or not. */
export function textIn(result: RunResult): string {
  const captures = 'output' in result ? [result.output] : [result.stdout, result.stderr];
  return captures.map((one) => (one.kind === 'complete' ? one.text : one.head + one.tail)).join('');
}

/** Makes a road of a `run()`. */
export function runWay(run: unknown, more: object = {}): Way {
  return (command, options, endAfterMs) =>
    timed(async () => {
      const given = { ...more, ...(endAfterMs && { timeoutMs: endAfterMs }), ...options };
      const result = (await loose(run)(command, given)) as RunResult;
      return { text: textIn(result), result };
    });
}

/** Makes a tool with these options and passes it to `use`. */
export function withTool<Tool extends BashTool>(
  made: Readonly<Record<string, unknown>>,
  use: (tool: Tool) => Promise<Omit<Seen, 'tookMs'>>,
): Promise<Seen> {
  return timed(async () => {
    const tool = (createBashTool as (given: object) => BashTool)({ cwd: '/', ...made }) as Tool;
    try {
      return await use(tool);
    } finally {
      await tool.dispose();
    }
  });
}

/** Makes a road of a call of a tool that has the options. */
export function toolWay(made: Readonly<Record<string, unknown>>): Way {
  return (command, options, endAfterMs) =>
    withTool({ ...made, ...options }, async (tool) => {
      const signal = endAfterMs === undefined ? undefined : AbortSignal.timeout(endAfterMs);
      const call = tool.execute({ command }, { signal });
      const result = await call.catch((error: unknown) => {
        if (!signal?.aborted) throw error;
      });
      return { text: result === undefined ? '' : textOf(result) };
    });
}

/** The flags of `forkline run` with the same meaning. */
const FLAGS: Readonly<Record<string, (value: unknown) => readonly string[]>> = {
  cwd: (value) => ['--cwd', String(value)],
  timeoutMs: (value) => ['--timeout', String(Number(value) / 1000)],
  spill: (value) => ['--spill', String(value)],
  sandbox: (value) => ['--sandbox', String(value)],
  undo: () => ['--undo'],
  pty: () => ['--pty'],
  umask: (value) => ['--umask', Number(value).toString(8)],
  env: (value) =>
    Object.entries(value as object).flatMap(([name, of]) => ['--env', `${name}=${of}`]),
};

/** The road of `forkline run`. An option without a flag is passed as the flag that it would have. */
export const commandLineWay: Way = (command, options) =>
  timed(async () => {
    const flags = Object.entries(options).flatMap(
      ([name, value]) => FLAGS[name]?.(value) ?? [`--${kebab(name)}`, String(value)],
    );
    if (options.pty) {
      const ended = await run([process.execPath, program, 'run', ...flags, command], { pty: true });
      return { text: textIn(ended) };
    }
    const { stdout, stderr } = await endOf(startCli('run', ...flags, command));
    if (/unknown option/.test(stderr)) throw new Error(stderr);
    return { text: stdout.toString() };
  });

export const kebab = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
