import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  CONTRACT_NAMES,
  createBashTool,
  type DeniedCommand,
  type MergedResult,
  run,
  spawn,
} from '../../src/index.js';
import { runHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { as, describeForAll, makeScene, useScenes } from '../support/sandbox.js';

leavesNothingBehind();
const scenes = useScenes();

/** What `asking.mjs` reports. */
interface Report {
  readonly asked: readonly DeniedCommand[];
  readonly result?: MergedResult;
  readonly text?: string;
  readonly error?: string;
}

describeForAll('%s: a command that was denied something', (person) => {
  /** Runs a command that notes each of its runs, and writes beside its workspace. */
  const ask = async (
    way: string,
    { contract, spills }: { contract?: string; spills?: boolean } = {},
  ) => {
    const { home, work, outside } = makeScene(scenes.path, person);
    const command = `echo ran >>runs; echo here >${outside}/new && echo done`;
    const spill = spills ? { path: join(work, 'spilled'), afterBytes: 0 } : undefined;
    const options = { cwd: work, sandbox: 'workspace-write', spill };
    const request = { way, allow: outside, contract, command, options };
    const report = await runHost<Report>('asking', {
      args: [JSON.stringify(request)],
      under: as(person),
      env: { HOME: home },
    });
    const runs = readFileSync(join(work, 'runs'), 'utf8').split('\n').length - 1;
    return { ...report, command, work, target: `${outside}/new`, runs };
  };

  test('is run again in the returned sandbox, and its result says so', async () => {
    const { asked, result, runs, command, target } = await ask('allow');
    const denial = { kind: 'write', target, rule: 'allowWrite', source: 'output' };
    expect(asked).toMatchObject([
      { command, denials: [denial], sandbox: { mode: 'workspace-write' } },
    ]);
    expect(result).toMatchObject({
      output: { text: 'done\n' },
      outcome: { kind: 'exited', exitCode: 0 },
      sandbox: { denials: [] },
      firstRun: { outcome: { kind: 'exited', exitCode: 1 }, denials: [denial], background: [] },
    });
    expect(runs).toBe(2);
  });

  test('is run again only once, whatever it is denied then', async () => {
    const { asked, result, runs } = await ask('same');
    expect(asked).toHaveLength(1);
    expect(runs).toBe(2);
    expect(result?.sandbox?.denials).toHaveLength(1);
  });

  test('is not run again when onDenied returns nothing', async () => {
    const { result, runs } = await ask('nothing');
    expect(result?.firstRun).toBeUndefined();
    expect(runs).toBe(1);
  });

  test('is not run again when its call is aborted during onDenied', async () => {
    const { result, runs } = await ask('abort');
    expect(result?.outcome).toMatchObject({ kind: 'exited', exitCode: 1 });
    expect(runs).toBe(1);
  });

  test.each([
    ['throw', 'nobody is there'],
    [
      'wrong',
      `sandbox.mode: expected 'read-only' or 'workspace-write' or 'danger-full-access', got "all"`,
    ],
  ])('fails its call when onDenied fails (%s)', async (way, message) => {
    const { error, runs } = await ask(way);
    expect(error).toBe(message);
    expect(runs).toBe(1);
  });

  test('writes its spill file anew, also one that must not exist', async () => {
    const { result, work } = await ask('allow', { spills: true });
    expect(result?.spill).toEqual({ path: join(work, 'spilled'), bytes: 5, dropped: 0 });
    expect(readFileSync(join(work, 'spilled'), 'utf8')).toBe('done\n');
  });

  test.each(CONTRACT_NAMES)(
    'is run again by a tool of %s, which says so to the model',
    async (contract) => {
      const { text, asked, runs, work, target } = await ask('allow', { contract });
      expect(text).toContain('done');
      expect(text).toContain(
        `The command was run twice: the sandbox denied the first run (write ${target}), then the user allowed more. ` +
          'The effects of the first run remain.',
      );
      expect(asked).toMatchObject([{ sandbox: { workspace: work } }]);
      expect(runs).toBe(2);
    },
  );
});

test('onDenied is refused where a command cannot be run again', async () => {
  const onDenied = () => undefined;
  await expect(spawn('true', { onDenied } as never)).rejects.toThrow(
    'onDenied: not known here, look at result.sandbox.denials, and start it again yourself',
  );
  await expect(run('true', { onDenied: true } as never)).rejects.toThrow(
    'onDenied: expected a function, got true',
  );
  const persistent = { contract: 'session', cwd: '/', persistent: true, onDenied } as const;
  expect(() => createBashTool(persistent)).toThrow('onDenied: expected nothing beside persistent');
});
