import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { program } from '../support/cli.js';
import { runHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import {
  as,
  describeForAll,
  makeScene,
  type Person,
  runDetachedAs,
  type Scene,
  useScenes,
} from '../support/sandbox.js';
import { acrossCommands } from './ways/across-commands.js';
import { byGitNames } from './ways/by-git-names.js';

// A few of the ways of the other suites, by every road that a command takes.
leavesNothingBehind();
const scenes = useScenes();

/** What is tried: two commands of the policy by its name. */
interface Try {
  readonly before: string;
  readonly first: string;
  readonly next: string;
}

function triesIn(scene: Scene): readonly Try[] {
  const crossings = acrossCommands(scene);
  const crossed = (name: string): Try => {
    const found = crossings.find((crossing) => crossing.name === name);
    if (found === undefined) throw new Error(name);
    return { before: found.before ?? 'true', first: found.first, next: found.next };
  };
  const [opening] = byGitNames(scene);
  return [
    crossed('a link to others for `.git`'),
    crossed('a false worktree that names others'),
    {
      before: 'true',
      first: opening?.command ?? '',
      next: 'echo x > .git/hooks/post-index-change',
    },
  ];
}

/** Whether a command has got out, or git obeys it. */
function isOut(person: Person, { work, outside }: Scene): boolean {
  const names = ['new', 'made', 'ran'].map((name) => `${outside}/${name}`);
  const obeyed = ['commondir', 'hooks/post-index-change'].map((name) => `${work}/.git/${name}`);
  if ([...names, ...obeyed].some((path) => existsSync(path))) return true;
  outsideAs(person, work, '[ -d .git ] && git status');
  return existsSync(`${outside}/ran`);
}

function outsideAs(person: Person, cwd: string, script: string): void {
  const [shell = '', ...args] = [...as(person), 'sh', '-c', `(${script}) 2>&1; true`];
  const env = { PATH: process.env.PATH, HOME: cwd, GIT_CONFIG_GLOBAL: '/dev/null' };
  execFileSync(shell, args, { cwd, env });
}

type Road = (person: Person, scene: Scene, commands: readonly string[]) => Promise<void>;

const sandbox = 'workspace-write';

/** A tool that is given both commands, as inputs. */
function tool(options: object, more: object = {}): Road {
  return async (person, { home, work: cwd }, commands) => {
    const inputs = commands.map((command) => ({ command, ...more }));
    const args = [{ cwd, sandbox, ...options }, ...inputs].map((each) => JSON.stringify(each));
    const env = { HOME: home, TMPDIR: home };
    const answers = await runHost<{ text: string }[]>('tools', { args, under: as(person), env });
    expect(answers).toHaveLength(commands.length);
  };
}

/** Until a background command must have run: nothing tells the test when. */
const waits = (road: Road): Road => {
  return async (person, scene, commands) => {
    for (const [index, command] of commands.entries()) {
      await road(person, scene, [`${command}\ntouch done${index}`]);
      await expect
        .poll(() => existsSync(`${scene.work}/done${index}`), { timeout: 15_000 })
        .toBe(true);
    }
  };
};

const roads: readonly (readonly [name: string, road: Road])[] = [
  ['plain', tool({ contract: 'plain' })],
  ['modes', tool({ contract: 'modes' })],
  ['session', tool({ contract: 'session' })],
  ['workspace', tool({ contract: 'workspace' })],
  ['a persistent session', tool({ contract: 'session', persistent: true })],
  ['background of modes', waits(tool({ contract: 'modes' }, { mode: 'background' }))],
  [
    'detached tasks of session',
    waits(tool({ contract: 'session', taskLifetime: 'detached' }, { run_in_background: true })),
  ],
  [
    'detach()',
    async (person, scene, commands) => {
      for (const command of commands) {
        await runDetachedAs(person, scene, command, { cwd: scene.work, sandbox });
      }
    },
  ],
  [
    'forkline run --sandbox',
    async (person, { home, work }, commands) => {
      for (const command of commands) {
        const args = ['run', '--sandbox', sandbox, '--cwd', work, command];
        const child = spawnAs(person, [process.execPath, program, ...args], home, 'ignore');
        await once(child, 'exit');
      }
    },
  ],
  ['forkline mcp --sandbox', overMcp],
];

function spawnAs(person: Person, line: readonly string[], home: string, io: 'ignore' | 'pipe') {
  const [first = '', ...args] = [...as(person), ...line];
  const env = { ...process.env, HOME: home };
  return spawn(first, args, { env, stdio: [io, io, 'ignore'] });
}

/** By a client that says no more than it must. */
async function overMcp(person: Person, { home, work }: Scene, commands: readonly string[]) {
  const args = ['mcp', '--contract', 'plain', '--sandbox', sandbox, '--cwd', work];
  const child = spawnAs(person, [process.execPath, program, ...args], home, 'pipe');
  if (child.stdin === null || child.stdout === null) throw new Error('no pipes');
  const answers = createInterface(child.stdout)[Symbol.asyncIterator]();
  const say = (message: object) =>
    child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const ask = async (id: number, method: string, params: object) => {
    say({ id, method, params });
    for (;;) {
      const line = await answers.next();
      if (line.done) throw new Error('the server has ended');
      const answer: { id?: number } = JSON.parse(line.value);
      if (answer.id === id) return answer;
    }
  };
  const clientInfo = { name: 'test', version: '1' };
  await ask(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  say({ method: 'notifications/initialized' });
  for (const [index, command] of commands.entries()) {
    const answer = await ask(index + 2, 'tools/call', { name: 'bash', arguments: { command } });
    expect(answer).toHaveProperty('result');
  }
  child.stdin.end();
  await once(child, 'exit');
}

describeForAll('%s', (person) => {
  test.each(roads)(
    'S1, S2: by %s a command gains no right by a file that it has written',
    async (_, road) => {
      const count = triesIn({ home: '/h', work: '/w', outside: '/o' }).length;
      for (let index = 0; index < count; index += 1) {
        const scene = makeScene(scenes.path, person);
        const { before = '', first = '', next = '' } = triesIn(scene)[index] ?? {};
        outsideAs(person, scene.work, before);
        await road(person, scene, [`${first}\ntouch first`, `${next}\ntouch next`]);
        const ran = ['first', 'next'].map((name) => existsSync(`${scene.work}/${name}`));
        expect([index, ...ran]).toEqual([index, true, true]);
        expect([index, isOut(person, scene)]).toEqual([index, false]);
      }
    },
  );
});
