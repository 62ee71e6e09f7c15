import { expect, test } from 'vitest';
import type { TaskEvent, ToldNews } from '../../../../src/index.js';
import { leavesNothingBehind, useFolder } from '../../../support/leftovers.js';
import { eventually } from '../../../support/processes.js';
import { data, useSessionTools } from '../../../support/session.js';

leavesNothingBehind();
const folder = useFolder();
const newSession = useSessionTools(folder);

test('watches of a command in the background are told beside a persistent shell, too', async () => {
  const told: ToldNews[] = [];
  const onEvent = ({ news }: TaskEvent) => void told.push(...news);
  const tool = newSession({ persistent: true, notify: true, tasks: { onEvent, watch: {} } });
  await data(tool, 'cd /usr');
  const notify = { line: '/usr', ended: true };
  await data(tool, 'pwd', { run_in_background: true, notify });
  await eventually(() =>
    expect(told.map(({ watch }) => watch)).toEqual(['line', 'ended', undefined]),
  );
});
