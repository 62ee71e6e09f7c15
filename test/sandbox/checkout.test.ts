import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { CONTRACT_NAMES } from '../../src/index.js';
import {
  COMMIT,
  git,
  inSandbox,
  KEEPING,
  MOVE,
  makeRepository,
  noticeOf,
} from '../support/checkouts.js';
import { runHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { useScenes } from '../support/sandbox.js';

leavesNothingBehind();
const scenes = useScenes();
const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

/** A file of each kept name, as a repository tracks it. */
const FORMS = {
  '.npmrc': '.npmrc',
  '.vscode': '.vscode/settings.json',
  '.claude': '.claude/settings.json',
  '.mcp.json': '.mcp.json',
} as const;
const forms = Object.entries(FORMS);

describe.each(forms)('U3: %s', (name, file) => {
  test('a checkout that could not replace it is reported, and so is a commit after it', async () => {
    const work = makeRepository(scenes, file);
    const moved = await inSandbox(work, MOVE);
    expect(moved.outcome).toMatchObject({ kind: 'exited', exitCode: 0 });
    expect(moved.sandbox?.incomplete).toEqual([
      {
        path: name,
        repository: work,
        head: 'release',
        changed: [file],
        staged: [],
        leftover: [],
        recorded: [],
      },
    ]);
    expect(noticeOf(moved)).toBe(
      `Checkout is incomplete: ${name} could not be replaced (the sandbox keeps it). ` +
        `Nothing should be committed before \`git checkout -f release -- ${name}\` outside.`,
    );
    const committed = await inSandbox(work, COMMIT);
    const commit = git(work, 'rev-parse', 'HEAD');
    expect(git(work, 'show', `HEAD:${file}`)).toBe('main');
    expect(committed.sandbox?.incomplete).toMatchObject([
      { path: name, changed: [], recorded: [{ commit, isHead: true, changed: [file], added: [] }] },
    ]);
    expect(noticeOf(committed)).toContain(`commit ${commit.slice(0, 12)} has the old files`);
    // What is advised helps.
    const [, remedy = ''] = /`([^`]+)`/.exec(noticeOf(committed) ?? '') ?? [];
    execFileSync('sh', ['-c', remedy], { cwd: work, stdio: 'ignore' });
    expect(git(work, 'show', `HEAD:${file}`)).toBe('release');
    expect(git(work, 'show', 'HEAD:a')).toBe('fix');
    expect(git(work, 'status', '--short')).toBe('');
    expect(noticeOf(await inSandbox(work, 'echo more > a && git commit -qam more'))).toBe(
      undefined,
    );
  });

  test('a checkout and a commit in one command are reported', async () => {
    const work = makeRepository(scenes, file);
    const result = await inSandbox(work, `${MOVE} && ${COMMIT}`);
    expect(result.outcome).toMatchObject({ kind: 'exited', exitCode: 0 });
    expect(result.sandbox?.incomplete).toMatchObject([
      { path: name, recorded: [{ commit: git(work, 'rev-parse', 'HEAD'), changed: [file] }] },
    ]);
  });

  test('a file that the branch does not have is to be removed, says the notice', async () => {
    const work = makeRepository(scenes, file);
    const moved = await inSandbox(work, 'git checkout -q without');
    expect(moved.sandbox?.incomplete).toMatchObject([
      { path: name, head: 'without', changed: [], leftover: [file] },
    ]);
    expect(noticeOf(moved)).toContain(`\`rm -f -- ${file}\` outside`);
    const committed = await inSandbox(work, 'git add -A && git commit -qm all');
    expect(committed.sandbox?.incomplete).toMatchObject([{ recorded: [{ added: [file] }] }]);
  });

  test.each(CONTRACT_NAMES)('the text of %s begins with the notice', async (contract) => {
    const work = makeRepository(scenes, file);
    const args = [{ contract, cwd: work, sandbox: KEEPING }, { command: MOVE }];
    const [answer] = await runHost<{ text: string }[]>('tools', {
      args: args.map((each) => JSON.stringify(each)),
    });
    const start = contract === 'plain' ? '{"notice":"' : '';
    expect(answer?.text.startsWith(`${start}Checkout is incomplete: ${name} could not`)).toBe(true);
    expect(answer?.text).not.toContain('Leave it as it is');
  });

  test('a persistent shell reports it, and the command line', async () => {
    const work = makeRepository(scenes, file);
    const options = {
      contract: 'session',
      persistent: true,
      cwd: work,
      sandbox: KEEPING,
    };
    const args = [options, { command: MOVE }, { command: COMMIT }, { command: 'true' }];
    const answers = await runHost<{ text: string }[]>('tools', {
      args: args.map((each) => JSON.stringify(each)),
    });
    const told = answers.map(({ text }) => text.startsWith('Checkout is incomplete: '));
    expect(told).toEqual([true, true, false]);

    const other = makeRepository(scenes, file);
    const command = ['run', '--sandbox', 'workspace-write', '--cwd', other, '--', 'sh', '-c'];
    // Without a directory for what would be held back, no change is judged.
    const env = { ...process.env, XDG_STATE_HOME: '/dev/null' };
    const runCli = (text: string) =>
      spawnSync(process.execPath, [cli, ...command, text], { encoding: 'utf8', env });
    const moved = runCli(MOVE);
    expect(moved.status).toBe(0);
    expect(moved.stderr).toContain(`forkline: Checkout is incomplete: ${name} could not`);
    // Another process knows nothing of the first but what the repository says.
    expect(runCli('git commit --allow-empty -qm empty').stderr).toContain('Checkout is incomplete');
    expect(runCli(COMMIT).stderr).toContain('has the old files');
  });
});
