import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CONTRACT_NAMES } from '../../src/contracts/create-bash-tool.js';
import { endOf, program } from '../support/cli.js';
import { quote } from '../support/commands.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { answerOf, useClients } from '../support/mcp.js';
import { where } from '../support/needs.js';
import { SSH_LOGIN, type Sshd, startSshd } from '../support/sshd.js';

leavesNothingBehind();
const folder = useFolder();

/** The rc file of people: read by the shell that ssh starts, and by none of ours. */
const RC = 'export PATH=$HOME/bin:$PATH\ngreet() { :; }\ngreet whoami\n';
const COMPOUND = 'echo one; echo "$(echo two)" | cat; if true; then echo three; fi';
const LONG = `true ${quote('x'.repeat(100 * 1024))}; ${COMPOUND}`;

function writeHome(): string {
  const home = folder.file('home');
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, '.bashrc'), RC);
  return home;
}

/** The command line under test, as one word for a remote shell each. */
const remote = (...args: readonly string[]) =>
  [process.execPath, program, ...args].map(quote).join(' ');

describe('Z1: by a real ssh login', where(SSH_LOGIN), () => {
  let sshd: Sshd;
  beforeAll(async () => {
    sshd = await startSshd(folder.path, writeHome());
  });
  afterAll(() => sshd.stop());

  const bySsh = async (command: string) =>
    (await promisify(execFile)('ssh', [...sshd.ssh, command], { encoding: 'utf8' })).stdout;

  test('bash takes the host for one run by ssh', async () => {
    expect(await bySsh('echo "$SSH_CLIENT"; type -t greet')).toMatch(
      /^127\.0\.0\.1 .*\nfunction\n$/,
    );
  });

  test('`forkline run` runs what was asked for', async () => {
    expect(await bySsh(remote('run', 'echo one'))).toBe('one\n');
    expect(await bySsh(remote('run', COMPOUND))).toBe('one\ntwo\nthree\n');
    expect(await bySsh(remote('run', '--pty', COMPOUND))).toBe('one\ntwo\nthree\n');
    const file = folder.file('long');
    writeFileSync(file, LONG);
    expect(await bySsh(`${remote('run')} "$(cat ${file})"`)).toBe('one\ntwo\nthree\n');
  });

  describe.each(CONTRACT_NAMES)('`forkline mcp --contract %s`', (contract) => {
    const clients = useClients();
    test('the server runs what was asked for', async () => {
      const client = await clients.connect(
        new StdioClientTransport({
          command: 'ssh',
          args: [...sshd.ssh, remote('mcp', '--contract', contract)],
          stderr: 'ignore',
        }),
      );
      for (const command of ['echo one', COMPOUND, LONG]) {
        const text = answerOf(await client.callTool({ name: 'bash', arguments: { command } }));
        const expected = command === 'echo one' ? ['one'] : ['one', 'two', 'three'];
        expect(text.replaceAll('\\n', '\n')).toContain(expected.join('\n'));
        expect(text).not.toContain('root');
      }
    });
  });
});

describe('Z1: with a socket as standard input, as under rshd', () => {
  function start(...args: readonly string[]): ChildProcess {
    // Node's own pipes are sockets.
    return spawn(process.execPath, [program, ...args], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH, HOME: writeHome() },
    });
  }

  async function printedBy(...args: readonly string[]) {
    const child = start(...args);
    child.stdin?.end();
    const { stdout, code } = await endOf(child);
    return [stdout.toString(), code];
  }

  test('`forkline run` runs what was asked for', async () => {
    for (const command of [COMPOUND, LONG]) {
      expect(await printedBy('run', command)).toEqual(['one\ntwo\nthree\n', 0]);
    }
  });

  test('Z2: `forkline run --env BASH_ENV=FILE` reads the file, then runs what was asked for', async () => {
    const file = folder.file('env file');
    writeFileSync(file, `echo read\n${RC}`);
    for (const command of [COMPOUND, LONG]) {
      const printed = await printedBy('run', '--env', `BASH_ENV=${file}`, command);
      expect(printed).toEqual(['read\none\ntwo\nthree\n', 0]);
    }
  });
});
