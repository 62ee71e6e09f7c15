import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { run } from '../../src/index.js';
import { leavesNothingBehind, useFolders } from '../support/leftovers.js';
import { childrenOf } from '../support/processes.js';

// A sandbox is kept for the next command, with processes that wait for what happens in it. If one of them is
// told something that it does not take, it asks for ever.
leavesNothingBehind(20);
const folders = useFolders();

/** Makes a repository that tracks a setting. */
function repository(): string {
  const work = folders();
  writeFileSync(join(work, '.npmrc'), 'save-exact=true\n');
  const script = `git init -q -b main; git add .npmrc; git config user.name a; git config user.email a@b
    git commit -q -m first; echo 'save-exact=false' > .npmrc; git commit -q -a -m second`;
  execFileSync('sh', ['-c', script], { cwd: work, stdio: 'ignore' });
  return work;
}

/** Returns the processor time of a process and its descendants, in ms. */
function usedBy(pid: number): number {
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const [user, system] = fields.split(' ').slice(11, 13).map(Number);
  const own = ((user ?? 0) + (system ?? 0)) * 10;
  return childrenOf(pid).reduce((sum, child) => sum + usedBy(child), own);
}

const COMMANDS: Record<string, string> = {
  nothing: 'true',
  'a branch written in place': 'echo x > .git/HEAD; echo "ref: refs/heads/main" > .git/HEAD',
  'a key written in place': 'echo "[core]" >> .git/config',
  'a hook, opened twice': 'exec 3> .git/hooks/a 4>> .git/hooks/a; exec 3>&-; echo x >&4',
  'a branch, closed later': 'exec 3> .git/HEAD; (sleep .2; echo x >&3) & exec 3>&-; sleep .4',
  'a setting written in place': 'echo x > .npmrc; echo y > .npmrc',
  'a setting of the history': 'git checkout -q HEAD~1; git checkout -q main',
  'a setting removed while open': 'rm .npmrc; exec 3> .npmrc; rm .npmrc; echo x >&3',
  'a setting that comes later': 'rm .npmrc; (sleep .2; echo x > .npmrc) & sleep .4',
};

test('a sandbox rests until the next command', async () => {
  const sandboxes = new Map<string, number[]>();
  for (const [name, command] of Object.entries(COMMANDS)) {
    const before = childrenOf(process.pid);
    await run(command, { cwd: repository(), sandbox: 'workspace-write' });
    const made = childrenOf(process.pid).filter((pid) => !before.includes(pid));
    expect(made, name).not.toEqual([]);
    sandboxes.set(name, made);
  }
  // What is to be put back takes its time.
  await sleep(2500);
  const used = () => Array.from(sandboxes, ([name, pids]) => [name, sum(pids)] as const);
  const before = new Map(used());
  await sleep(2000);
  const busy = used().filter(([name, time]) => time - (before.get(name) ?? 0) >= 100);
  expect(busy).toEqual([]);
});

const sum = (pids: number[]): number => pids.reduce((all, pid) => all + usedBy(pid), 0);
