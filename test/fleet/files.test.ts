import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { connectFleet, type FleetOptions } from '../../src/fleet/index.js';
import { InputError } from '../../src/index.js';
import { FarFileError } from '../../src/remote/index.js';
import { useDisposal } from '../support/disposal.js';
import { root } from '../support/house.js';
import { leavesNothingBehind, makeFolder, useFolders } from '../support/leftovers.js';
import { startWorker, useNats } from '../support/nats.js';
import { installed, where } from '../support/needs.js';
import { eventually } from '../support/processes.js';
import { failureOf } from '../support/results.js';
import { textOf } from '../support/tool.js';

// Files of the workers of a fleet, and the directories in which sessions begin.

describe('files of a fleet', where(installed('nats-server')), async () => {
  leavesNothingBehind();
  const newFolder = useFolders();
  const keep = useDisposal();
  const nats = await useNats(makeFolder());
  const connect = async (options: Partial<FleetOptions> = {}) =>
    keep(await connectFleet({ servers: nats.url, leaseMs: 4000, ...options }));

  /** A repository with two commits, and the ids of them. */
  function repository(): { readonly path: string; readonly ids: readonly string[] } {
    const path = newFolder();
    const git = (...args: readonly string[]): string => {
      const named = ['-c', 'user.name=a', '-c', 'user.email=a@b'];
      return execFileSync('git', [...named, ...args], { cwd: path, encoding: 'utf8' }).trim();
    };
    git('init', '-q', '-b', 'main');
    const ids = ['one', 'two'].map((text) => {
      writeFileSync(join(path, 'file'), text);
      git('add', '-A');
      git('commit', '-qm', text);
      return git('rev-parse', 'HEAD');
    });
    return { path, ids };
  }

  test('a tool has the files of its worker, from its directory on, as large as they are', async () => {
    await startWorker(nats.url);
    const fleet = await connect();
    const cwd = newFolder();
    mkdirSync(join(cwd, 'sub'));
    const bash = keep(await fleet.createBashTool({ contract: 'session', cwd }));
    const large = Buffer.alloc(5 << 20, 'forkline');
    await bash.files.write('large', large);
    expect((await bash.files.read('large')).equals(large)).toBe(true);
    await bash.execute({ command: 'cd sub; echo there >file' });
    expect(String(await bash.files.read('file'))).toBe('there\n');
    expect((await bash.files.list('..')).entries.map(({ path }) => path)).toEqual(['large', 'sub']);
  });

  test('files of a tool in a sandbox are those that its commands may reach', async () => {
    await startWorker(nats.url);
    const fleet = await connect();
    const [cwd, outside] = [newFolder(), newFolder()];
    const sandbox = { mode: 'workspace-write' } as const;
    const bash = keep(await fleet.createBashTool({ contract: 'plain', cwd, sandbox }));
    await bash.files.write('inside', 'x');
    expect(readFileSync(join(cwd, 'inside'), 'utf8')).toBe('x');
    const refused = await failureOf(bash.files.write('/usr/outside', 'x'));
    expect(refused).toBeInstanceOf(FarFileError);
    expect(existsSync('/usr/outside')).toBe(false);
    const holds = { ...sandbox, changes: 'hold' } as const;
    const other = keep(
      await fleet.createBashTool({ contract: 'plain', cwd: outside, sandbox: holds }),
    );
    expect(await failureOf(other.files.read('x'))).toBeInstanceOf(InputError);
  });

  test('a session begins with an archive, in a directory that goes with it', async () => {
    await startWorker(nats.url);
    const fleet = await connect();
    const [from, within] = [newFolder(), newFolder()];
    writeFileSync(join(from, 'file'), 'packed');
    const archive = execFileSync('tar', ['-czf', '-', '-C', from, '.']);
    const bash = await fleet.createBashTool({ contract: 'plain', workspace: { archive, within } });
    expect(textOf(await bash.execute({ command: 'cat file; mkdir -m 0 shut' }))).toContain(
      'packed',
    );
    expect(readdirSync(within)).toHaveLength(1);
    await bash.dispose();
    expect(readdirSync(within)).toEqual([]);
  });

  test('a session begins with a commit of a repository, by its id or its name', async () => {
    await startWorker(nats.url);
    const fleet = await connect();
    const { path, ids } = repository();
    const within = newFolder();
    const git = `file://${path}`;
    for (const [commit, text] of [
      [ids[0], 'one'],
      [ids[0]?.slice(0, 9), 'one'],
      ['main', 'two'],
      [undefined, 'two'],
    ]) {
      const workspace = { git, commit, within };
      const bash = keep(await fleet.createBashTool({ contract: 'plain', workspace }));
      expect(textOf(await bash.execute({ command: 'cat file' }))).toContain(text);
      await bash.dispose();
    }
    const refused = fleet.createBashTool({
      contract: 'plain',
      workspace: { git, commit: 'nowhere', within },
    });
    expect(await failureOf(refused)).toMatchObject({
      message: expect.stringContaining('there is no commit nowhere'),
    });
    expect(readdirSync(within)).toEqual([]);
  });

  test('a password in the address of a repository stays with whoever has given it', async () => {
    await startWorker(nats.url);
    const fleet = await connect();
    const { path, ids } = repository();
    execFileSync('git', ['update-server-info'], { cwd: path });
    const wanted = `Basic ${Buffer.from('me:secret').toString('base64')}`;
    // One that knows files alone, and so gives no single commit.
    const server = createServer(({ headers, url = '' }, answer) => {
      const file = join(path, new URL(url, 'http://x').pathname);
      if (headers.authorization !== wanted) answer.writeHead(401, { 'www-authenticate': 'Basic' });
      else if (existsSync(file)) answer.write(readFileSync(file));
      else answer.writeHead(404);
      answer.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const within = newFolder();
    const begun = (git: string) =>
      fleet.createBashTool({
        contract: 'plain',
        workspace: { git, commit: ids[0], within },
      });
    const bash = keep(await begun(`http://me:secret@127.0.0.1:${port}/.git`));
    const look = 'cat file; git remote get-url origin; grep -r secret . ; echo none';
    expect(JSON.parse(textOf(await bash.execute({ command: look })))).toMatchObject({
      stdout: `onehttp://127.0.0.1:${port}/.git\nnone\n`,
    });
    await bash.dispose();
    const error = await failureOf(begun(`http://me:wrong-one@127.0.0.1:${port}/.git`));
    expect(error).toBeInstanceOf(FarFileError);
    expect(String(error)).not.toContain('wrong-one');
    server.close();
    const file = join(within, 'run');
    expect(await failureOf(begun(`ext::touch ${file}`))).toBeInstanceOf(FarFileError);
    expect(readdirSync(within)).toEqual([]);
  });

  test.each([
    [{}, 'workspace: expected one of archive and git, got []'],
    [{ git: '-x' }, 'workspace.git: expected text that begins with no "-", got "-x"'],
    [{ git: 'a', branch: 'x' }, 'workspace.branch'],
  ])('%j is refused by name', async (workspace, message) => {
    await startWorker(nats.url);
    const fleet = await connect();
    const given = { contract: 'plain', workspace: workspace as never } as const;
    const refused = await failureOf(fleet.createBashTool(given));
    expect(refused).toBeInstanceOf(InputError);
    expect((refused as Error).message).toContain(message);
    const both = { ...given, workspace: { git: 'a' }, cwd: '/' };
    expect(await failureOf(fleet.createBashTool(both))).toBeInstanceOf(InputError);
  });

  test('a lasting tool begins anew with its workspace at another worker', async () => {
    const first = await startWorker(nats.url);
    const fleet = await connect({ leaseMs: 2000 });
    const { path } = repository();
    const within = newFolder();
    const workspace = { git: `file://${path}`, within };
    const bash = keep(await fleet.createLastingTool({ contract: 'plain', workspace }));
    await bash.files.write('mine', 'x');
    await startWorker(nats.url);
    first.child.kill('SIGKILL');
    await first.ended;
    await eventually(async () => {
      const answer = textOf(await bash.execute({ command: 'cat file; ls' }));
      expect(answer).toContain('a new session');
      expect(answer).toContain('two');
      expect(answer).not.toContain('mine');
    });
    expect(String(await bash.files.read('file'))).toBe('two');
    // A killed worker has had no time to remove a large one: the next session does.
    await eventually(() => expect(readdirSync(within)).toHaveLength(1));
  });

  test('a directory that was left is removed by the next session, and one in use is not', async () => {
    await startWorker(nats.url);
    const fleet = await connect();
    const within = newFolder();
    const left = join(within, 'forkline-workspace-abcdef');
    mkdirSync(join(left, 'tree'), { recursive: true });
    writeFileSync(join(left, 'lock'), '');
    // Others may make names where all may write.
    const mine = newFolder();
    writeFileSync(join(mine, 'lock'), '');
    chmodSync(join(mine, 'lock'), 0o444);
    symlinkSync(mine, join(within, 'forkline-workspace-linked'));
    const archive = execFileSync('tar', ['-cf', '-', '-T', '/dev/null']);
    const workspace = { archive, within };
    const one = keep(await fleet.createBashTool({ contract: 'plain', workspace }));
    await eventually(() => expect(existsSync(left)).toBe(false));
    const other = keep(await fleet.createBashTool({ contract: 'plain', workspace }));
    await other.files.write('file', 'x');
    await one.files.write('file', 'x');
    expect(readdirSync(within)).toHaveLength(3);
    expect(statSync(join(mine, 'lock')).mode & 0o777).toBe(0o444);
  });

  test('sessions with a workspace take no more places than others', async () => {
    await startWorker(nats.url, ['--capacity', '1']);
    const fleet = await connect({ waitMs: 5000 });
    const within = newFolder();
    const archive = execFileSync('tar', ['-cf', '-', '-T', '/dev/null']);
    const workspace = { archive, within };
    const tools = [];
    for (let count = 0; count < 3; count += 1) {
      tools.push(keep(await fleet.createBashTool({ contract: 'plain', workspace })));
    }
    expect((await fleet.run('true')).outcome).toMatchObject({ exitCode: 0 });
    for await (const { running, sessions } of fleet.workers()) {
      expect({ running, sessions }).toEqual({ running: 0, sessions: 3 });
    }
    for (const tool of tools) await tool.dispose();
    expect(readdirSync(within)).toEqual([]);
  });

  test('when the client is killed, its workspace goes, and a file that it was writing', async () => {
    await startWorker(nats.url);
    const within = newFolder();
    const text = `
      import { connectFleet } from ${JSON.stringify(join(root, 'dist/fleet/index.js'))};
      const fleet = await connectFleet({ servers: ${JSON.stringify(nats.url)}, leaseMs: 2000 });
      const workspace = { archive: ${JSON.stringify(join(within, '../empty.tar'))}, within: ${JSON.stringify(within)} };
      const bash = await fleet.createBashTool({ contract: 'plain', workspace });
      console.log('made');
      const pause = () => new Promise((resolve) => setTimeout(resolve, 20));
      async function* endless() { for (;;) { yield Buffer.alloc(100); await pause(); } }
      await bash.files.write('file', endless(), { size: 1e9 });`;
    execFileSync('tar', ['-cf', join(within, '../empty.tar'), '-T', '/dev/null']);
    const args = ['--input-type=module', '-e', text];
    const client = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((resolve) => client.stdout.once('data', resolve));
    await eventually(() => {
      const [workspace = ''] = readdirSync(within);
      expect(readdirSync(join(within, workspace, 'tree')).join()).toContain('.forkline-write-');
    });
    const ended = new Promise((resolve) => client.once('exit', resolve));
    client.kill('SIGKILL');
    await ended;
    await eventually(() => expect(readdirSync(within)).toEqual([]), 20_000);
  });
});
