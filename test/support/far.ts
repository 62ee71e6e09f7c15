import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, test } from 'vitest';
// A test may put something else in the place of the public one.
import { createBashTool } from '../../src/contracts/create-bash-tool.js';
import type { BashTool, BashToolOptions } from '../../src/index.js';
import { type Connection, connect, serveStream } from '../../src/remote/index.js';
import { program } from './cli.js';
import { root } from './house.js';
import { type Need, need, where } from './needs.js';

/** The far side without Node. */
export const STATIC_FAR = join(
  root,
  'native',
  'prebuilt',
  `far-linux-${process.arch}`,
  'forkline-far',
);

/** What can be asked of it only where it was built. */
export const FAR_BUILT: Need = need(
  existsSync(STATIC_FAR),
  'the far side without Node is not built: rustup target add x86_64-unknown-linux-musl',
);

/** Whether that is what this file's tests are about: then there are no tools. */
const isStatic = process.env.FORKLINE_TEST_FAR_SIDE === 'static';

/** What starts a far side on this machine. */
export const FAR_SIDE: readonly string[] = isStatic
  ? [STATIC_FAR, 'serve', '--stdio']
  : [process.execPath, program, 'serve', '--stdio'];

/** Tests of what takes forkline itself at the far side. */
export function testWithNode(title: string, body: () => Promise<void>): void {
  test(title, where(need(!isStatic, 'takes a far side with Node')), body);
}

/** A far side in a process of its own, for all tests of a file. */
export async function useFar(command: readonly string[] = FAR_SIDE): Promise<Connection> {
  const far = await connect({ command });
  afterAll(() => far.dispose());
  return far;
}

/** Tests of what a tool sees of this very process: a far side's tool sees another one. */
export function testOfThisProcess(title: string, body: () => Promise<void>): void {
  test(
    title,
    where(need(process.env.FORKLINE_TEST_FAR !== '1', 'takes a tool of this process')),
    body,
  );
}

/** A tool of a far side, of which is known at once what it is. */
export function farTool(far: Connection, options: BashToolOptions): BashTool & AsyncDisposable {
  const here = createBashTool(options);
  let cwd = String(options.cwd);
  const making = far.createBashTool(options);
  making.catch(() => {});
  const there = (name: string): Pick<BashTool, 'execute' | 'dispose'> => ({
    execute: async (input, call) => {
      const made: BashTool = await making;
      const tool = [made, ...made.companions].find((one) => one.name === name);
      if (tool === undefined) throw new Error(`expected a tool with the name ${name}`);
      try {
        return await tool.execute(input, call);
      } finally {
        if ('cwd' in made) cwd = String(made.cwd);
      }
    },
    dispose: async () => {},
  });
  const companions = here.companions.map((one) => ({ ...one, ...there(one.name) }));
  const named = Object.entries(here).flatMap(([key, value]) => {
    const found = companions.find(({ name }) => name === (value as BashTool | undefined)?.name);
    return found === undefined || value === undefined ? [] : [[key, found]];
  });
  return {
    ...here,
    ...there(here.name),
    ...Object.fromEntries(named),
    companions,
    get cwd() {
      return cwd;
    },
    async dispose() {
      await (await making).dispose();
      await here.dispose();
    },
    [Symbol.asyncDispose]() {
      return this.dispose();
    },
  };
}

/** A far side in this process, over streams in memory, which a test can look into. */
export function memoryLine() {
  const toFar = new PassThrough();
  const toNear = new PassThrough();
  const service = serveStream({ streams: { input: toFar, output: toNear } });
  return { toFar, toNear, service };
}
