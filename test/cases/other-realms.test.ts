import { createContext, runInContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { createArtifactStore, createLineFilter, run, spawn } from '../../src/index.js';
import { messageOf } from '../../src/support/errors.js';
import { ExclusiveQueue } from '../../src/support/mutex.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { failureOf, printed } from '../support/results.js';
import { useWorkspaceTools } from '../support/tool.js';

leavesNothingBehind();
const folder = useFolder();
const toolOf = useWorkspaceTools(folder);

const realm = createContext({});
const there = (code: string) => runInContext(code, realm);

/** As packages have it that stand in for the global: without `reason` and `throwIfAborted()`. */
class OtherController {
  readonly #listeners = new Set<() => void>();
  readonly #signal = {
    aborted: false,
    addEventListener: (_: string, listener: () => void) => this.#listeners.add(listener),
    removeEventListener: (_: string, listener: () => void) => this.#listeners.delete(listener),
  };

  get signal(): AbortSignal {
    return this.#signal as unknown as AbortSignal;
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  abort(): void {
    this.#signal.aborted = true;
    // Each was added with `once`.
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
  }
}

describe('H8: an AbortSignal of another implementation', () => {
  test('H8: ends a command', async () => {
    const cancel = new OtherController();
    const call = run('sleep 100', { signal: cancel.signal });
    expect(cancel.listeners).toBe(1);
    cancel.abort();
    expect((await call).outcome).toMatchObject({ kind: 'cancelled' });
    expect(cancel.listeners).toBe(0);
  });

  test('H8: that was aborted before starts no command, and has a reason', async () => {
    const cancel = new OtherController();
    cancel.abort();
    const { signal } = cancel;
    expect((await run('true', { signal })).outcome).toMatchObject({ kind: 'cancelled' });
    expect(await failureOf(spawn('true', { signal }))).toMatchObject({ name: 'AbortError' });
    const call = toolOf().execute({ command: 'true' }, { signal });
    expect(await failureOf(call)).toMatchObject({ name: 'ToolAbortError' });
  });

  test('H8: takes waiting calls out of a queue', async () => {
    const queue = new ExclusiveQueue();
    const cancel = new OtherController();
    let finish = (): void => {};
    const first = queue.run(() => new Promise<void>((resolve) => (finish = resolve)));
    const second = queue.run(async () => {}, cancel.signal);
    cancel.abort();
    expect(await failureOf(second)).toMatchObject({ name: 'AbortError' });
    finish();
    await first;
  });

  test.each([{}, { aborted: false }, 'x', 1, () => {}])('H8: %j is no signal', async (signal) => {
    const call = run('true', { signal: signal as unknown as AbortSignal });
    await expect(call).rejects.toThrow('signal: expected an AbortSignal, got ');
  });
});

test('H8: bytes of another realm are written, and kept', async () => {
  const bytes = there('new Uint8Array([104, 105])') as Uint8Array;
  expect(bytes instanceof Uint8Array).toBe(false);
  expect(printed(await run('cat', { input: bytes }))).toBe('hi');
  const cat = await spawn('cat', { stdin: 'pipe' });
  await cat.write(bytes);
  cat.end();
  expect(await cat.result).toMatchObject({ output: { text: 'hi' } });
  const store = createArtifactStore();
  await store.save('bash', bytes);
  expect(Buffer.from(await store.read('0')).toString()).toBe('hi');
  await store.dispose();
  await expect(run('cat', { input: there('new Int8Array(1)') })).rejects.toThrow('input: expected');
});

test('H8: a RegExp of another realm works', () => {
  const noise = [{ what: 'x', pattern: there('/^x$/') as RegExp }];
  expect(createLineFilter({ name: 'x', programs: ['x'], noise })).toBeDefined();
});

test('H8: an error of another realm keeps its message', () => {
  expect(messageOf(there('new TypeError("no")'))).toBe('no');
});
