import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { connect } from '../../../src/remote/index.js';
import { quote } from '../../support/commands.js';
import { useDisposal } from '../../support/disposal.js';
import { FAR_SIDE } from '../../support/far.js';
import { leavesNothingBehind, useFolder } from '../../support/leftovers.js';
import { failureOf, printed } from '../../support/results.js';
import { textOf } from '../../support/tool.js';

leavesNothingBehind();
const folder = useFolder();
const keep = useDisposal();

/** A client of a far side that confines all its clients to one directory. */
async function confined() {
  const [work, outside] = [folder.file('work'), folder.file('outside')];
  for (const path of [work, outside]) mkdirSync(path, { recursive: true });
  const always = { sandbox: { mode: 'workspace-write', network: 'none' }, directories: [work] };
  const module = folder.file('far.mjs');
  writeFileSync(module, `export const always = ${JSON.stringify(always)};`);
  const far = keep(await connect({ command: [...FAR_SIDE, '--profiles', module] }));
  return { far, work, outside };
}

test('A far side’s sandbox holds for commands and tools of all its clients', async () => {
  const { far, work, outside } = await confined();
  const write = `echo in >${quote(`${work}/in`)}; echo out >${quote(`${outside}/out`)}`;
  const result = await far.run(write);
  expect(result.sandbox).toBeDefined();
  const bash = await far.createBashTool({ contract: 'session' });
  await bash.execute({ command: write });
  await bash.dispose();
  expect(printed(await far.run('cat in'))).toBe('in\n');
  expect(existsSync(`${outside}/out`)).toBe(false);
});

test('No client can widen the sandbox, or lead the far side itself out of it', async () => {
  const { far, outside } = await confined();
  const file = `${outside}/written`;
  for (const given of [
    { sandbox: 'danger-full-access' },
    { cwd: outside },
    { spill: file },
    { undo: true },
  ] as const) {
    const [name] = Object.keys(given);
    const error = await failureOf(far.run('echo hi', given));
    expect(error).toMatchObject({ name: 'InputError' });
    expect((error as Error).message).toMatch(new RegExp(`^${name}: `));
  }
  for (const given of [{ log: file }, { shellSnapshot: true }, { taskLifetime: 'detached' }]) {
    const [name] = Object.keys(given);
    const options = { contract: 'session', ...given } as never;
    expect(((await failureOf(far.createBashTool(options))) as Error).message).toMatch(
      new RegExp(`^${name}: not taken where the far side has set a sandbox`),
    );
  }
  expect(existsSync(file)).toBe(false);
  expect(
    textOf(await (await far.createBashTool({ contract: 'plain' })).execute({ command: 'pwd' })),
  ).toContain('work');
});
