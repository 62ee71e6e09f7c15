import { expect, test } from 'vitest';
import { longSleep, sleeping } from '../../../support/commands.js';
import { leavesNothingBehind } from '../../../support/leftovers.js';
import { eventually } from '../../../support/processes.js';
import { useJobTools } from '../../../support/tasks.js';
import { textOf } from '../../../support/tool.js';

leavesNothingBehind();

const makeTool = useJobTools();

/** An answer about a running job without the line about its state. */
const shown = (text: string): string => text.replace(/^Job bg_\d+ running for .*\n\n/, '');

/** The output of a command in an answer. */
const outputOf = (text: string): string => text.replace(/\n\nWall time: [\s\S]*$/, '');

test('T1, T2: a look at a job names the artifact while it runs, and the line is told once', async () => {
  const { bash, job } = makeTool();
  const command = 'seq -f "module %06g" 3000; echo compiled; seq -f "then %06g" 3000; sleep 60';
  await bash.execute({ command, async: true });
  // All is printed by then, and no model has seen it.
  await bash.tasks?.get('bg_1')?.wait({ line: 'then 003000' });
  const text = shown(textOf(await job({ poll: ['bg_1'], line: 'compiled' })));
  const [skipped = '', first = ''] = text.split('\n');
  const advice = /in artifact:\/\/0; the last of them: (sed -n \d+,\d+p artifact:\/\/0) …\]$/;
  const [, sed = ''] = advice.exec(skipped) ?? [];
  const before = outputOf(textOf(await bash.execute({ command: sed })));
  const number = Number(first.slice(-6));
  expect(before.split('\n').at(-1)).toBe(`module ${String(number - 1).padStart(6, '0')}`);
  expect(text).toMatch(
    /\ncompiled\nthen 000001\n[\s\S]* more: look again …\]\n\nIt has printed: compiled$/,
  );
  const none = shown(textOf(await job({ poll: ['bg_1'], line: 'compiled', seconds: 1 })));
  expect(none).toMatch(/\nthen 003000\n\nNothing of that has happened within 1 second\.$/);
  // The artifact stays what it is, and has all, when the job has ended.
  await job({ cancel: ['bg_1'] });
  expect(outputOf(textOf(await bash.execute({ command: sed })))).toBe(before);
  const wc = textOf(await bash.execute({ command: 'wc -l <artifact://0' }));
  expect(wc).toMatch(/^6001\n/);
});

test('W8: what a job has printed is told once', async () => {
  const { bash, job } = makeTool({ async: false, autoBackground: { afterMs: 1000 } });
  const slow = await bash.execute({ command: 'echo early; sleep 60' });
  expect(textOf(slow)).toMatch(/^early\n\nStill running after 1 second/);
  const look = async (fields: object) => shown(textOf(await job({ poll: ['bg_1'], ...fields })));
  expect(await look({ seconds: 0.1 })).toBe('(nothing new since the last look)');
  expect(await look({ line: 'early', seconds: 0.1 })).toMatch(
    /^\(nothing new .*\)\n\nNothing of that/,
  );
});

test('W8: a job that has printed nothing says so', async () => {
  const { bash, job } = makeTool();
  await bash.execute({ command: 'sleep 60', async: true });
  expect(shown(textOf(await job({ poll: ['bg_1'], seconds: 0.1 })))).toBe('(no output yet)');
});

test('W16: cancelling a job that has left processes ends them, and says so', async () => {
  const { bash, job } = makeTool();
  for (const wasTold of [true, false]) {
    const command = `${longSleep(7401)} & echo up`;
    const started = await bash.execute({ command, async: true });
    const id = started.details.async?.jobId ?? '';
    if (wasTold) expect(textOf(await job({ poll: [id] }))).toContain('Still running in the backgr');
    else await eventually(async () => expect(sleeping(7401)).toHaveLength(1));
    await eventually(async () =>
      expect((await job({ list: true })).details.jobs.at(-1)?.state).toBe('left'),
    );
    const text = textOf(await job({ cancel: [id] }));
    expect(text).toMatch(/\n\nThe processes that it had left running have been ended\.$/);
    expect(text.includes('delivered before')).toBe(wasTold);
    expect(sleeping(7401)).toEqual([]);
  }
});
