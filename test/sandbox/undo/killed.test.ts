import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listChanges, revertChanges } from '../../../src/index.js';
import { useState } from '../../support/held.js';
import { startHost } from '../../support/hosts.js';
import { leavesNothingBehind, useFolder, useFolders } from '../../support/leftovers.js';
import { eventually } from '../../support/processes.js';

leavesNothingBehind(15);
const state = useFolder();
useState(() => state.path);
const newFolder = useFolders();

const COMMAND = 'echo x >a; rm b; echo y >c; sleep 60';

test.each(['in a sandbox', 'without one'])(
  'what a command has changed is taken back after its host was killed, %s',
  async (how) => {
    const cwd = newFolder();
    for (const name of ['a', 'b']) writeFileSync(join(cwd, name), 'before\n');
    const host = startHost('commands', { env: { XDG_STATE_HOME: state.path } });
    const sandbox = how === 'in a sandbox' ? 'workspace-write' : undefined;
    void host.run(COMMAND, { cwd, undo: true, sandbox }).catch(() => {});
    await eventually(() => expect(readFileSync(join(cwd, 'c'), 'utf8')).toBe('y\n'));
    host.child.kill('SIGKILL');
    await host.ended;
    const all = await listChanges({ workspace: cwd });
    expect(all).toMatchObject([{ created: 1, changed: 1, deleted: 1, complete: true }]);
    expect(Date.now() - (all[0]?.at ?? 0)).toBeLessThan(60_000);
    const done = await revertChanges(all[0]?.id ?? '');
    expect(done).toMatchObject({ conflicts: [], lost: [] });
    for (const name of ['a', 'b']) expect(readFileSync(join(cwd, name), 'utf8')).toBe('before\n');
  },
);
