import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  type BashTool,
  type BashToolOptions,
  CONTRACT_NAMES,
  type ContractName,
  createBashTool,
  type Receipt,
  ToolAbortError,
  ToolError,
  type ToolResult,
} from '../../src/index.js';
import { longSleep, sleeping } from '../support/commands.js';
import { useDisposal } from '../support/disposal.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { eventually } from '../support/processes.js';
import { textOf } from '../support/tool.js';

leavesNothingBehind();
const folder = useFolder();
const keep = useDisposal();

interface Answer {
  readonly text: string;
  readonly receipt: Receipt | undefined;
}

/** Of the only stream, or of stdout. */
const streamOf = (receipt: Receipt | undefined) =>
  receipt?.streams.output ?? receipt?.streams.stdout;

const receiptIn = (details: unknown) => (details as { receipt?: Receipt }).receipt;

/** What a call has come to, whether its contract has an answer for that or throws. */
async function answerOf(call: Promise<ToolResult<unknown>>): Promise<Answer> {
  try {
    const answer = await call;
    return { text: textOf(answer), receipt: receiptIn(answer.details) };
  } catch (error) {
    if (!(error instanceof ToolError || error instanceof ToolAbortError)) throw error;
    return { text: error.message, receipt: receiptIn(error.details) };
  }
}

/** Options for a time limit of a second. */
const oneSecond: { readonly [Name in ContractName]: object } = {
  workspace: { timeout: { default: 1 } },
  modes: { timeouts: { default: 1 } },
  session: { timeoutMs: 1000 },
  plain: { timeout: 1 },
};

describe.each(CONTRACT_NAMES)('a tool of the contract %s', (contract) => {
  const makeTool = (options: object = {}): BashTool =>
    keep(
      createBashTool({ contract, cwd: folder.path, graceMs: 300, ...options } as BashToolOptions),
    );
  const answerTo = (command: string, options?: object) =>
    answerOf(makeTool(options).execute({ command }));

  test('has the receipt of a command in its details', async () => {
    const { receipt } = await answerTo('echo one; exit 3');
    expect(receipt).toMatchObject({
      outcome: { kind: 'exited', exitCode: 3 },
      background: [],
      troubles: [],
      durationMs: expect.any(Number),
      cpu: expect.any(Object),
    });
    const [stream] = Object.values(receipt?.streams ?? {});
    expect(stream).toEqual({ bytes: 4, characters: 4, lines: 1, cut: false, lossy: false });
    expect(receipt).not.toHaveProperty('kept');
  });

  test('has the receipt of a command that was ended, with by whom', async () => {
    const late = await answerTo('sleep 30', oneSecond[contract]);
    expect(late.receipt?.outcome).toMatchObject({ kind: 'timedOut', timeoutMs: 1000 });
    const tool = makeTool();
    const signal = AbortSignal.timeout(200);
    const aborted = await answerOf(tool.execute({ command: 'sleep 30' }, { signal }));
    expect(aborted.receipt?.outcome).toMatchObject({ kind: 'cancelled', by: 'signal' });
    const running = answerOf(tool.execute({ command: `echo up; ${longSleep(821)}` }));
    await eventually(() => expect(sleeping(821)).toHaveLength(1));
    await tool.dispose();
    expect((await running).receipt?.outcome).toMatchObject({ kind: 'cancelled', by: 'owner' });
  });

  test('says whose the exit code is when a pipeline ends in a filter', async () => {
    const { text, receipt } = await answerTo("sh -c 'echo 1 failed; exit 3' | tail -n 1");
    expect(text).toContain('1 failed');
    expect(text).toContain(
      'Exit code 0 is that of tail, not of sh. ' +
        'For that one, begin the command with: set -o pipefail;',
    );
    expect(receipt?.exitCodeOf).toEqual({ program: 'tail', before: ['sh'] });
    const failed = await answerTo('sh -c true | grep nothing');
    expect(failed.text).toContain('Exit code 1 is that of grep, not of sh.');
  });

  test.each([
    'set -o pipefail; sh -c true | tail',
    'printf "1\\n2\\n" | grep 1 | wc -l',
    'true; true | sh',
  ])('says nothing of an exit code that hides nothing: %s', async (command) => {
    expect((await answerTo(command)).text).not.toContain('Exit code');
  });

  test('knows that a caller’s own variables may have set pipefail', async () => {
    const env = { SHELLOPTS: 'pipefail' };
    const { text, receipt } = await answerTo("sh -c 'exit 3' | tail", { env });
    expect(receipt?.outcome).toEqual({ kind: 'exited', exitCode: 3 });
    expect(receipt).not.toHaveProperty('exitCodeOf');
    expect(text).not.toContain('pipefail');
  });

  test('names the port on which what still runs listens', async () => {
    const file = folder.file(`port-of-${contract}`);
    const script = `
      const server = require("net").createServer().listen(0, "127.0.0.1", () =>
        require("fs").writeFileSync(process.argv[2], String(server.address().port)));`;
    writeFileSync(folder.file('server.cjs'), script);
    // Deno would ask for permissions to run it.
    const serve = `node server.cjs ${file} >/dev/null 2>&1`;
    const { text, receipt } = await answerTo(
      `${serve} & until [ -s ${file} ]; do sleep 0.02; done`,
    );
    const [{ ports = [] } = {}] = receipt?.background ?? [];
    expect(ports).toEqual([{ port: expect.any(Number), address: '127.0.0.1' }]);
    expect(text).toMatch(
      new RegExp(`server\\.cjs.*\\) on port ${ports[0]?.port}\\. To stop: kill`),
    );
  });

  test('says in the receipt what is not in the answer, and where it is', async () => {
    const { receipt } = await answerTo('seq 200000');
    expect(streamOf(receipt)).toMatchObject({ bytes: 1_288_895, lines: 200_000, cut: true });
    const isKept = contract === 'workspace' || contract === 'modes';
    const kept = { path: expect.stringMatching(/^\//), bytes: 1_288_895, missing: 0 };
    expect(receipt?.kept).toEqual(
      isKept ? { ...kept, ...(contract === 'workspace' && { artifactId: '0' }) } : undefined,
    );
  });

  test('B20: says that not all is in the answer when lines are left out for being no text', async () => {
    const { receipt } = await answerTo('echo text; head -c 999 /dev/zero');
    expect(streamOf(receipt)).toMatchObject({ bytes: 1004, cut: true, lossy: true });
    const little = await answerTo("printf 'a\\377b'");
    expect(streamOf(little.receipt)).toMatchObject({ cut: false, lossy: true });
  });

  test('B20: misses no bytes of output in another encoding than UTF-8', async () => {
    writeFileSync(folder.file('gbk'), Buffer.from('c4e3'.repeat(100_000), 'hex'));
    const { receipt } = await answerTo('cat gbk', { encoding: 'gbk' });
    const printed = { bytes: 300_000, characters: 100_000, lossy: false };
    expect(streamOf(receipt)).toMatchObject(printed);
    const isKept = contract === 'workspace' || contract === 'modes';
    if (isKept) expect(receipt?.kept).toMatchObject({ bytes: 200_000, missing: 0 });
  });

  test('has no receipt of what was never started', async () => {
    const missing = await answerOf(
      makeTool({ cwd: folder.file('never-was') }).execute({ command: 'true' }),
    ).catch(() => ({ receipt: undefined }));
    expect(missing.receipt).toBeUndefined();
  });
});

test('a snapshot that sets pipefail is known to do so, and one that does not is no obstacle', async () => {
  const rcFile = folder.file('rc');
  const tool = (text: string) => {
    writeFileSync(rcFile, text);
    const shellSnapshot = { rcFile };
    return keep(createBashTool({ contract: 'workspace', cwd: folder.path, shellSnapshot }));
  };
  const command = "sh -c 'exit 3' | tail";
  const strict = await answerOf(tool('set -o pipefail\n').execute({ command }));
  expect(strict.receipt?.outcome).toEqual({ kind: 'exited', exitCode: 3 });
  expect(strict.receipt).not.toHaveProperty('exitCodeOf');
  const usual = await answerOf(tool('alias ll=ls\n').execute({ command }));
  expect(usual.receipt?.exitCodeOf).toEqual({ program: 'tail', before: ['sh'] });
});
