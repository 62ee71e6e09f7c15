import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { namespaces, startHost } from '../support/hosts.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';

leavesNothingBehind();
const folder = useFolder();

/** The warnings of a tool whose temporary directory is a file system of its own. */
async function warningsOn(mount: string): Promise<string> {
  const rcFile = folder.file('rc');
  writeFileSync(rcFile, `f() { echo ${'x'.repeat(100_000)}; }\n`);
  const disk = folder.file('disk');
  mkdirSync(disk, { recursive: true });
  const options = { contract: 'workspace', cwd: '/', shellSnapshot: { rcFile } };
  const host = startHost('tools', {
    under: namespaces(
      '-m',
      'sh',
      '-c',
      `mount -t tmpfs -o ${mount} none ${disk} && exec "$@"`,
      'sh',
    ),
    args: [JSON.stringify(options), '{"command":"echo works"}'],
    env: { TMPDIR: disk },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  host.child.stderr?.on('data', (text) => {
    said += text;
  });
  const [answer] = await host.next<{ text: string }[]>();
  expect(answer?.text).toMatch(/^works\n/);
  await host.ended;
  return said;
}

test.each([
  ['which is full', 'size=64k'],
  ['on which no file can be made', 'nr_inodes=3'],
])('D4: the warning for a snapshot on a disk %s has the reason', async (_, mount) => {
  expect(await warningsOn(mount)).toMatch(
    /shellSnapshot: not used, .*\/rc: its result can't be kept in .*\/dump: ENOSPC: No space/,
  );
});
