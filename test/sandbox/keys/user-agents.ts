import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Denial, Signature } from '../../../src/index.js';
import { startHost } from '../../support/hosts.js';
import { installed, type Need, need } from '../../support/needs.js';
import { eventually } from '../../support/processes.js';
import { as, give, makeScene, type Person, type Scene } from '../../support/sandbox.js';

/** What a user's ssh agent needs of the machine. */
export const SSH_AGENT: Need = need(
  installed('ssh-agent').isMet && installed('ssh-add').isMet && installed('python3').isMet,
  'ssh-agent or python3 is not installed',
);
/** What a user's gpg agent needs. */
export const GPG: Need = need(
  installed('gpg').isMet && installed('gpg-agent').isMet,
  'gpg is not installed',
);

/** A scene whose user has agents. */
export interface AgentScene extends Scene {
  readonly person: Person;
  readonly env: NodeJS.ProcessEnv;
}

/** Makes a scene with an agent that has a key; the key's file is `~/.ssh/id_ed25519`. */
export async function withSshAgent(folder: string, person: Person): Promise<AgentScene> {
  const scene = makeScene(folder, person);
  const key = join(scene.home, '.ssh/id_ed25519');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'me', '-f', key]);
  // As OpenSSH 10.1 has it.
  const socket = join(scene.home, '.ssh/agent/s.test');
  mkdirSync(join(scene.home, '.ssh/agent'), { mode: 0o700 });
  give(person, scene.home);
  const agent = started(person, ['ssh-agent', '-D', '-a', socket]);
  onTestFinished(() => end(agent));
  await eventually(() => {
    if (!existsSync(socket)) throw new Error('the agent does not listen yet');
  });
  const env = { HOME: scene.home, SSH_AUTH_SOCK: socket, SSH_AGENT_PID: undefined };
  run(person, env, ['ssh-add', '-q', key]);
  return { ...scene, person, env };
}

/** Makes a scene with a gpg agent that has a key to sign and one to decrypt with. */
export function withGpgAgent(folder: string, person: Person): AgentScene {
  const scene = makeScene(folder, person);
  const home = join(scene.home, '.gnupg');
  mkdirSync(home, { mode: 0o700 });
  give(person, scene.home);
  const env = { HOME: scene.home, GNUPGHOME: undefined };
  onTestFinished(() => void run(person, env, ['gpgconf', '--kill', 'gpg-agent']));
  const generate = ['gpg', '--batch', '--quiet', '--pinentry-mode', 'loopback', '--passphrase', ''];
  run(person, env, [
    ...generate,
    '--quick-gen-key',
    'me <me@example.com>',
    'default',
    'default',
    'never',
  ]);
  return { ...scene, person, env };
}

/** What became of a command. */
export interface Said {
  readonly text: string;
  readonly signatures: readonly Signature[];
  readonly denials: readonly Denial[];
}

/** Runs commands one after another in one host; an error is the text. */
export async function sayEach(
  scene: AgentScene,
  commands: readonly string[],
  sandbox: unknown,
): Promise<Said[]> {
  const host = startHost('commands', { under: as(scene.person), env: scene.env });
  const all: Said[] = [];
  for (const command of commands) {
    const { result, error } = await host.run(`{ ${command}\n} 2>&1`, { cwd: scene.work, sandbox });
    const output = result?.output.kind === 'complete' ? result.output.text : '';
    const { signatures = [], denials = [] } = result?.sandbox ?? {};
    all.push({ text: error?.message ?? output, signatures, denials });
  }
  host.child.stdin?.end();
  await host.ended;
  return all;
}

/** Runs a program as somebody, outside of any sandbox. */
export function run(person: Person, env: NodeJS.ProcessEnv, command: readonly string[]): string {
  const [program = '', ...args] = [...as(person), ...command];
  return execFileSync(program, args, {
    encoding: 'utf8',
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function started(person: Person, command: readonly string[]): ChildProcess {
  const [program = '', ...args] = [...as(person), ...command];
  return spawn(program, args, { stdio: 'ignore' });
}

function end(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve();
    child.once('close', () => resolve());
    child.kill('SIGTERM');
  });
}
