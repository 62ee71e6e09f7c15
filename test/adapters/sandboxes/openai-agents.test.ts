import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Runner } from '@openai/agents';
import {
  filesystem,
  Manifest,
  SandboxAgent,
  type SandboxClient,
  shell,
} from '@openai/agents/sandbox';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents/testing';
import { afterEach, describe, expect, test } from 'vitest';
import {
  LocalSandboxClient,
  type LocalSandboxOptions,
  type LocalSandboxSession,
  type LocalSessionState,
} from '../../../src/adapters/sandboxes/openai-agents/index.js';
import { longSleep, sleeping } from '../../support/commands.js';
import { leavesNothingBehind, useFolder } from '../../support/leftovers.js';
import { eventually } from '../../support/processes.js';

leavesNothingBehind();
const folder = useFolder();
const opened: LocalSandboxSession[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((session) => session.close()));
});

const client = (options = {}) => new LocalSandboxClient({ graceMs: 300, ...options });
async function open(
  options: LocalSandboxOptions = {},
  manifest = new Manifest(),
): Promise<LocalSandboxSession> {
  const session = await client(options).create({ manifest });
  opened.push(session);
  return session;
}
const quick = { login: false };

test('it is a client to the library, for its compiler too', () => {
  const made: SandboxClient<LocalSandboxOptions, LocalSessionState> = client();
  expect(made.backendId).toBe('forkline');
});

describe('commands', () => {
  test('a command tells its streams, both and apart, and its code', async () => {
    const session = await open();
    const result = await session.exec({ cmd: 'echo out; echo err >&2; exit 3', ...quick });
    expect(result).toMatchObject({ stdout: 'out\n', stderr: 'err\n', exitCode: 3 });
    expect(result.output).toContain('out\n');
    expect(result.sessionId).toBeUndefined();
    expect(await session.execCommand({ cmd: 'pwd', ...quick })).toMatch(
      new RegExp(
        `^Chunk ID: \\w{6}\\nWall time: [\\d.]+ seconds\\nProcess exited with code 0\\nOutput:\\n${session.state.root}\\n$`,
      ),
    );
  });

  test('a command that goes on has a number, can be written to, and is reported', async () => {
    const session = await open();
    const { sessionId = 0 } = await session.exec({ cmd: 'cat; exit 5', yieldTimeMs: 50, ...quick });
    expect(await session.writeStdin({ sessionId, chars: 'hello\n' })).toContain(
      `Process running with session ID ${sessionId}\nOutput:\nhello\n`,
    );
    const answer = await session.writeStdin({ sessionId, chars: '\x03', yieldTimeMs: 5000 });
    expect(answer).toContain('Process exited with code 130');
    await expect(session.writeStdin({ sessionId })).rejects.toThrow(
      'expected the number of a running command',
    );
  });

  test('a terminal is one, without Python', async () => {
    const session = await open({ env: { OPENAI_AGENTS_PYTHON: '/nothing' } });
    const { sessionId = 0, output } = await session.exec({
      cmd: 'tty; read -r line; echo "got $line"; sleep 60',
      tty: true,
      yieldTimeMs: 500,
      ...quick,
    });
    expect(output).toMatch(/^\/dev\/pts\/\d+\r\n$/);
    expect(await session.writeStdin({ sessionId, chars: 'hi\r', yieldTimeMs: 500 })).toContain(
      'got hi',
    );
    const answer = await session.writeStdin({ sessionId, chars: '\x03', yieldTimeMs: 5000 });
    expect(answer).toContain('Process exited with code 130');
  });

  test('a session that is stopped or closed leaves nothing running', async () => {
    const session = await open();
    const sleep = longSleep(891);
    await session.exec({ cmd: `trap '' TERM; setsid ${sleep} & wait`, yieldTimeMs: 50, ...quick });
    await eventually(() => expect(sleeping(891)).toHaveLength(1));
    await session.stop();
    expect(sleeping(891)).toEqual([]);
    await session.exec({ cmd: `${sleep} & exit`, ...quick });
    expect(sleeping(891)).toHaveLength(1);
    await session.close();
    expect(sleeping(891)).toEqual([]);
    expect(existsSync(session.state.root)).toBe(false);
  });

  test('the end of a long output is kept, and fitted into tokens', async () => {
    const session = await open();
    const cmd = 'head -c 5000000 /dev/zero | tr "\\0" x; echo end';
    const all = await session.exec({ cmd, ...quick });
    expect(all.output).toMatch(/^\[… \d+ bytes before this are left out …\]\nx+end\n$/);
    expect(all.output.length).toBeLessThan(1_048_576 + 100);
    const some = await session.exec({ cmd, maxOutputTokens: 100, ...quick });
    expect(some.output).toMatch(/^\[….*…\d+ tokens truncated…x+end\n$/s);
    expect(some.originalTokenCount).toBeGreaterThan(100_000);
  });

  test('a command longer than the kernel takes for an argument runs', async () => {
    const session = await open();
    const cmd = `read -r line <<< 'x'; wc -c <<'E'\n${'y'.repeat(300_000)}\nE`;
    expect(await session.exec({ cmd, ...quick })).toMatchObject({ stdout: '300001\n' });
  });

  test('a login shell and variables of the manifest are there, other users are not', async () => {
    // Somebody's own profile may do anything.
    const environment = { GIVEN: 'a b', HOME: folder.path };
    const session = await open({}, new Manifest({ environment }));
    const cmd = 'echo "$GIVEN"; shopt -q login_shell && echo login';
    expect((await session.exec({ cmd })).stdout).toBe('a b\nlogin\n');
    await expect(session.exec({ cmd, runAs: 'nobody' })).rejects.toThrow('runAs: expected');
  });
});

describe('files', () => {
  test('entries of the manifest are there, and more can come', async () => {
    mkdirSync(join(folder.path, 'source/d'), { recursive: true });
    writeFileSync(join(folder.path, 'source/d/f'), 'from a directory');
    const before = process.cwd();
    process.chdir(folder.path);
    try {
      const session = await open(
        {},
        new Manifest({
          entries: {
            'a/b.txt': { type: 'file', content: 'text' },
            made: { type: 'dir', children: { 'c.sh': { type: 'file', content: 'echo c' } } },
            one: { type: 'local_file', src: 'source/d/f' },
            all: { type: 'local_dir', src: 'source' },
          },
        }),
      );
      const { stdout } = await session.exec({ cmd: 'find . -type f | sort', ...quick });
      expect(stdout).toBe('./a/b.txt\n./all/d/f\n./made/c.sh\n./one\n');
      await session.materializeEntry({ path: 'later', entry: { type: 'file', content: 'x' } });
      await session.applyManifest(new Manifest({ environment: { LATER: 'yes' } }));
      expect((await session.exec({ cmd: 'cat later; echo $LATER', ...quick })).stdout).toBe(
        'xyes\n',
      );
      expect(Object.keys(session.state.manifest.entries)).toContain('later');
      await expect(
        open({}, new Manifest({ entries: { out: { type: 'local_file', src: '/etc/passwd' } } })),
      ).rejects.toThrow('it leads out of');
    } finally {
      process.chdir(before);
    }
  });

  test('entries that this machine cannot have are refused before anything is made', async () => {
    const repository = { type: 'git_repo', repo: 'a/b' } as const;
    await expect(open({}, new Manifest({ entries: { r: repository } }))).rejects.toThrow(
      'r: the local machine takes dir, file, local_file and local_dir entries',
    );
  });

  test('they are read, listed and looked for by the real path, and none is outside', async () => {
    const session = await open({ root: folder.path });
    writeFileSync(join(folder.path, 'f'), 'text');
    symlinkSync('/etc', join(folder.path, 'etc'));
    expect(String(await session.readFile({ path: join(folder.path, 'f'), maxBytes: 2 }))).toBe(
      'te',
    );
    expect(await session.listDir({ path: '.' })).toContainEqual({
      name: 'f',
      path: 'f',
      type: 'file',
    });
    expect(await session.pathExists('nothing')).toBe(false);
    expect(await session.directoryExists(folder.path)).toBe(true);
    await expect(session.readFile({ path: 'etc/passwd' })).rejects.toThrow('it leads out of');
    await expect(session.pathExists('/etc/passwd')).rejects.toThrow('it leads out of');
    await session.close();
    expect(existsSync(folder.path)).toBe(true);
  });

  test('a model sees images, and nothing else as one', async () => {
    const session = await open();
    const png = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
    writeFileSync(join(session.state.root, 'p'), png);
    writeFileSync(join(session.state.root, 't'), 'text');
    expect(await session.viewImage({ path: 'p' })).toMatchObject({
      image: { mediaType: 'image/png' },
    });
    await expect(session.viewImage({ path: 't' })).rejects.toThrow('expected an image');
  });
});

test('a session is resumed in its directory', async () => {
  const session = await open({ root: folder.path });
  await session.exec({ cmd: 'echo kept > kept', ...quick });
  const state = await client().serializeSessionState(session.state);
  const parsed = JSON.parse(JSON.stringify({ ...state, manifest: { environment: { A: '1' } } }));
  const resumed = await client().resume(await client().deserializeSessionState(parsed));
  opened.push(resumed);
  expect((await resumed.exec({ cmd: 'cat kept; echo $A', ...quick })).stdout).toBe('kept\n1\n');
});

test("an agent of the library's works with it, patches too", async () => {
  const operation = { type: 'update_file', path: 'f.txt', diff: '@@\n-one\n+two\n' } as const;
  const call = (name: string, input: object) => [
    functionCall(name, JSON.stringify(input), { callId: name }),
  ];
  const model = new ScriptedModel([
    call('exec_command', { cmd: 'pwd; echo one > f.txt', login: false }),
    [{ type: 'apply_patch_call', callId: 'patch', status: 'completed', operation }],
    [assistantMessage('done')],
  ]);
  const agent = new SandboxAgent({ name: 'Test', model, capabilities: [shell(), filesystem()] });
  const { finalOutput } = await new Runner({ tracingDisabled: true }).run(agent, 'Go', {
    sandbox: { client: client({ root: folder.path }) },
  });
  expect(finalOutput).toBe('done');
  expect(readFileSync(join(folder.path, 'f.txt'), 'utf8')).toBe('two\n');
  expect(JSON.stringify(model.calls[1]?.request.input)).toContain(folder.path);
});
