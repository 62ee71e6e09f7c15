import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { keepText, OutputKeeper } from '../../src/artifacts/keep-output.js';
import type { ArtifactDraft, ArtifactStore } from '../../src/index.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const never = () => new Promise<never>(() => {});
const report = { path: '/x/draft', bytes: 9, dropped: 0 };

function storeOf(own: Partial<ArtifactStore>): ArtifactStore {
  const none = () => Promise.reject(new Error('not asked for'));
  return {
    ...{ draft: none, save: none, list: none, find: none, read: none },
    ...{ dispose: async () => {} },
    ...own,
  };
}

function draftOf(own: Partial<ArtifactDraft> = {}): ArtifactDraft {
  return { path: '/x/draft', maxBytes: 100, keep: never, discard: () => {}, ...own };
}

/** What becomes of an output when a store answers so. */
async function keptWith(draft: ArtifactStore['draft']) {
  const opening = OutputKeeper.open(storeOf({ draft }), 'bash');
  await vi.advanceTimersByTimeAsync(5000);
  const finishing = (await opening).finish(report);
  await vi.advanceTimersByTimeAsync(30_000);
  return finishing;
}

test('a store that never answers with a draft keeps nothing, after five seconds', async () => {
  expect(await keptWith(never)).toEqual({
    kind: 'failed',
    reason: 'the artifact store did not answer within 5 seconds',
  });
});

test('a draft that comes too late is discarded', async () => {
  const discard = vi.fn();
  let give = (_draft: ArtifactDraft): void => {};
  const late = new Promise<ArtifactDraft>((resolve) => {
    give = resolve;
  });
  await keptWith(() => late);
  give(draftOf({ discard }));
  await vi.advanceTimersByTimeAsync(0);
  expect(discard).toHaveBeenCalledOnce();
});

test('a store that never finishes keeping an output is waited for thirty seconds', async () => {
  const reason = 'the artifact store did not answer within 30 seconds';
  expect(await keptWith(async () => draftOf())).toEqual({ kind: 'failed', reason });
  const saving = keepText(storeOf({ save: never }), 'bash', 'text');
  await vi.advanceTimersByTimeAsync(30_000);
  expect(await saving).toEqual({ kind: 'failed', reason });
});

test.each([
  ['no draft', async () => null],
  ['a relative path', async () => draftOf({ path: 'x' })],
  ['no path', async () => ({ ...draftOf(), path: 5 })],
  ['an odd quota', async () => draftOf({ maxBytes: Number.NaN })],
  ['no artifact', async () => draftOf({ keep: async () => null as never })],
  ['an artifact without an id', async () => draftOf({ keep: async () => ({}) as never })],
])('a store that returns %s is reported, and the command does not fail', async (_, draft) => {
  expect(await keptWith(draft as ArtifactStore['draft'])).toMatchObject({ kind: 'failed' });
});

test('a draft that cannot be discarded causes a warning', async () => {
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  const discard = () => {
    throw new Error('no');
  };
  const keeper = await OutputKeeper.open(
    storeOf({ draft: async () => draftOf({ discard }) }),
    'bash',
  );
  expect(await keeper.finish(undefined)).toEqual({ kind: 'none' });
  keeper.abandon();
  expect(warned.mock.calls).toEqual([
    ["the artifact store's discard() failed: no"],
    ["the artifact store's discard() failed: no"],
  ]);
  vi.restoreAllMocks();
});
