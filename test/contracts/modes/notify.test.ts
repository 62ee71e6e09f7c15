import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { TaskEvent, ToldNews } from '../../../src/index.js';
import { useBackground } from '../../support/background.js';
import { quote } from '../../support/commands.js';
import { leavesNothingBehind } from '../../support/leftovers.js';
import { useModesTools } from '../../support/modes.js';
import { eventually } from '../../support/processes.js';

leavesNothingBehind();
const background = useBackground();
const makeTool = useModesTools(background.folder);

/** A tool of a runtime that is told of its commands in the background, by whichever host. */
function newTool() {
  const told: ToldNews[] = [];
  const onEvent = ({ news }: TaskEvent) => {
    told.push(...news.filter(({ watch, unmet }) => (watch ?? unmet) !== undefined));
  };
  const notify = { line: 'ready', ended: true };
  return { tool: makeTool({ tasks: { name: 'modes of tests', notify, onEvent } }), told };
}

test('a command in the background is told once, by the tool that has started it or by the next one', async () => {
  const first = newTool();
  const go = background.folder.file('go');
  const command = `echo ready; until test -e ${quote(go)}; do sleep .05; done; exit 3`;
  await background.start(first.tool, command);
  await eventually(() => expect(first.told).toMatchObject([{ watch: 'line', line: 'ready' }]));
  await first.tool.dispose();
  const second = newTool();
  writeFileSync(go, '');
  await eventually(() => expect(second.told).toHaveLength(1));
  expect(second.told).toMatchObject([
    { kind: 'ended', watch: 'ended', receipt: { outcome: { exitCode: 3 } } },
  ]);
  expect(first.told).toHaveLength(1);
});
