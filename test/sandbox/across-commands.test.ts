import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startHost } from '../support/hosts.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import {
  as,
  describeForAll,
  makeScene,
  type Person,
  runAs,
  type Scene,
  useScenes,
} from '../support/sandbox.js';
import { acrossCommands, type Crossing } from './ways/across-commands.js';

leavesNothingBehind();
const scenes = useScenes();
const nowhere: Scene = { home: '/h', work: '/w', outside: '/o' };
const crossings = acrossCommands(nowhere).map(({ name }, index) => ({ name, index }));

/** All that is to stay as it is; in `.local` are the layers of caches. */
function look({ outside, home }: Scene): string {
  const script = `cd "$0" && find . -printf '%p %m %T@ %s\\n' | sort; cat file; cd "$1" && find . -path ./cache -prune -o -path ./.local -prune -o -print | sort`;
  return execFileSync('sh', ['-c', script, outside, home], { encoding: 'utf8' });
}

function begin(person: Person, index: number): { scene: Scene; crossing: Crossing; seen: string } {
  const scene = makeScene(scenes.path, person);
  const crossing = acrossCommands(scene)[index];
  if (crossing === undefined) throw new Error(`no crossing ${index}`);
  const [program = '', ...args] = [...as(person), 'sh', '-c', crossing.before ?? 'true'];
  execFileSync(program, args, {
    cwd: scene.work,
    env: { PATH: process.env.PATH, HOME: scene.home },
  });
  return { scene, crossing, seen: look(scene) };
}

const optionsOf = ({ work }: Scene, { sandbox }: Crossing) => {
  return { cwd: work, sandbox: sandbox ?? 'workspace-write', timeoutMs: 20_000 };
};

describeForAll('%s', (person) => {
  test.each(crossings)('S1, S4, S6: no later command gains rights by $name', async ({ index }) => {
    const { scene, crossing, seen } = begin(person, index);
    const host = startHost('commands', { under: as(person), env: { HOME: scene.home } });
    const options = optionsOf(scene, crossing);
    const at = { ...options, cwd: crossing.cwd ?? scene.work };
    // What it may is decided here.
    expect((await host.run('true', at)).error).toBeUndefined();
    const first = await host.run(crossing.first, options);
    const next = await host.run(crossing.next, at);
    host.child.stdin?.end();
    await host.ended;
    expect(look(scene)).toBe(seen);
    expect(JSON.stringify([first, next])).not.toContain('the secret key');
  });

  test.each(crossings.filter(({ name }) => !name.includes('that it starts in')))(
    'S1, S4: no command of another host by $name',
    async ({ index }) => {
      const { scene, crossing, seen } = begin(person, index);
      const options = optionsOf(scene, crossing);
      const first = await runAs(person, scene, crossing.first, options);
      const next = await runAs(person, scene, crossing.next, options);
      expect(look(scene)).toBe(seen);
      expect(first.text + next.text).not.toContain('the secret key');
    },
  );

  test("S4: a link in place of a command's working directory is refused by its name", async () => {
    const scene = makeScene(scenes.path, person);
    const { work, outside } = scene;
    const host = startHost('commands', { under: as(person), env: { HOME: scene.home } });
    const sandbox = 'workspace-write';
    await host.run(`ln -s ${outside} sub`, { cwd: work, sandbox });
    const { error } = await host.run('echo x > new', { cwd: `${work}/sub`, sandbox });
    host.child.stdin?.end();
    await host.ended;
    expect(error).toMatchObject({ name: 'InputError' });
    expect(error?.message).toMatch(/^sandbox\.workspace: expected .*'.*\/sub'.*link/);
  });

  test('S3: files that the user replaces between two commands stay protected and hidden', async () => {
    const scene = makeScene(scenes.path, person);
    const { work } = scene;
    writeFileSync(`${work}/.env`, 'first');
    writeFileSync(`${work}/.mcp.json`, 'first');
    const host = startHost('commands', { under: as(person), env: { HOME: scene.home } });
    const options = { cwd: work, sandbox: { filesystem: { denyRead: ['.env'] } } };
    const command = 'cat .env; echo evil >> .mcp.json';
    for (let round = 0; round < 4; round++) {
      for (const name of ['.env', '.mcp.json']) {
        writeFileSync(`${scene.outside}/next`, 'the secret key\n');
        chmodSync(`${scene.outside}/next`, 0o666);
        renameSync(`${scene.outside}/next`, `${work}/${name}`);
      }
      const { result } = await host.run(command, options);
      const text = result?.output.kind === 'complete' ? result.output.text : '';
      expect(text).toMatch(/\.env: Permission denied\n.*\.mcp\.json: Read-only/s);
    }
    host.child.stdin?.end();
    await host.ended;
  });

  test('S3: files that the user replaces while a command runs are protected and hidden a moment later', async () => {
    const scene = makeScene(scenes.path, person);
    const { work, outside } = scene;
    mkdirSync(`${work}/.claude`);
    for (const name of ['.env', '.mcp.json', '.claude/settings.json']) {
      writeFileSync(`${work}/${name}`, 'first');
    }
    execFileSync('chmod', ['-R', 'a+rwX', `${work}/.claude`]);
    const host = startHost('commands', { under: as(person), env: { HOME: scene.home } });
    const options = {
      cwd: work,
      sandbox: { filesystem: { denyRead: ['.env'] } },
      timeoutMs: 30_000,
    };
    const rounds = [1, 2, 3, 4];
    const command = `touch begun; for i in ${rounds.join(' ')}; do until [ -e go$i ]; do sleep 0.01; done
      cat .env; mv .env e; cp .env e; echo evil >> .mcp.json; mv .mcp.json m; echo evil > .claude/settings.json; touch did$i; done`;
    const running = host.run(command, options);
    const until = (name: string) =>
      expect.poll(() => existsSync(`${work}/${name}`), { timeout: 10_000, interval: 5 }).toBe(true);
    await until('begun');
    for (const round of rounds) {
      for (const name of ['.env', '.mcp.json']) {
        writeFileSync(`${outside}/next`, 'the secret key\n');
        chmodSync(`${outside}/next`, 0o666);
        renameSync(`${outside}/next`, `${work}/${name}`);
      }
      renameSync(`${work}/.claude`, `${outside}/claude${round}`);
      execFileSync('cp', ['-r', `${outside}/claude${round}`, `${work}/.claude`]);
      execFileSync('chmod', ['-R', 'a+rwX', `${work}/.claude`]);
      await sleep(600);
      writeFileSync(`${work}/go${round}`, '');
      await until(`did${round}`);
      expect(readFileSync(`${work}/.mcp.json`, 'utf8')).toBe('the secret key\n');
      expect(readFileSync(`${work}/.claude/settings.json`, 'utf8')).toBe('first');
    }
    const { result } = await running;
    const text = result?.output.kind === 'complete' ? result.output.text : '';
    expect(text).not.toContain('the secret key');
    expect(text.match(/cat: \.env: Permission denied/g)).toHaveLength(rounds.length);
    host.child.stdin?.end();
    await host.ended;
  });
});
