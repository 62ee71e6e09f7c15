import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect, WorkerLostError } from '../../src/remote/index.js';
import { longSleep } from '../support/commands.js';
import {
  type Docker,
  makeImage,
  processesIn,
  startContainer,
  startDocker,
  WANTS_DOCKER,
} from '../support/docker.js';
import { startHost } from '../support/hosts.js';
import { need, where } from '../support/needs.js';
import { eventually } from '../support/processes.js';
import { exited, failureOf, printed } from '../support/results.js';

// Real containers, by `FORKLINE_DOCKER=1` (`npm run test:docker`): see CONTRIBUTING.
describe(
  'in a container, by docker exec',
  where(need(WANTS_DOCKER, 'needs FORKLINE_DOCKER=1: npm run test:docker')),
  () => {
    let docker: Docker;
    let image = '';
    let folder = '';
    const containers: string[] = [];

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'forkline-docker-'));
      docker = await startDocker(folder);
      image = makeImage(docker, folder);
    }, 600_000);

    afterAll(async () => {
      if (containers.length > 0) docker.run('rm', '-f', ...containers);
      if (image !== '') docker.run('rmi', image);
      await docker?.stop();
      rmSync(folder, { recursive: true });
    }, 120_000);

    /** A container of the test's own, and what reaches a far side in it. */
    function container() {
      const id = startContainer(docker, image);
      containers.push(id);
      const command = ['docker', 'exec', '-i', id, 'forkline', 'serve', '--stdio'];
      return { id, command, inside: () => processesIn(docker, id) };
    }
    const reach = (command: readonly string[]) =>
      connect({ command, env: { ...process.env, ...docker.env } });

    test('commands, live ones and tools run in it, and nothing is left when the line is closed', async () => {
      const { id, command, inside } = container();
      const far = await reach(command);
      const result = await far.run('hostname; pwd; exit 3', { cwd: '/usr' });
      expect(printed(result)).toBe(`${id.slice(0, 12)}\n/usr\n`);
      expect(result.outcome).toEqual(exited(3));
      const live = await far.spawn('read line; echo "<$line>"', { stdin: 'pipe' });
      await live.write('typed\n');
      let text = '';
      for await (const chunk of live) text += chunk.text;
      expect(text).toBe('<typed>\n');
      const bash = await far.createBashTool({ contract: 'session', cwd: '/usr' });
      await bash.execute({ command: 'cd share' });
      await bash.execute({ command: 'pwd' });
      expect(bash.cwd).toBe('/usr/share');
      await far.run(`${longSleep(190)} & setsid ${longSleep(190)} &`);
      expect(inside()).toContain(longSleep(190));
      await far.dispose();
      await eventually(() => expect(inside()).toEqual([]));
    });

    test('a cancelled command ends there, with all that it started', async () => {
      const { command, inside } = container();
      const far = await reach(command);
      const controller = new AbortController();
      const running = far.run(`${longSleep(191)} & setsid ${longSleep(191)} & ${longSleep(191)}`, {
        signal: controller.signal,
      });
      const sleeping = () => inside().filter((line) => line === longSleep(191));
      await eventually(() => expect(sleeping()).toHaveLength(3));
      controller.abort();
      expect((await running).outcome).toMatchObject({ kind: 'cancelled', by: 'signal' });
      expect(sleeping()).toEqual([]);
      await far.dispose();
      await eventually(() => expect(inside()).toEqual([]));
    });

    test('a client that is killed leaves nothing in it', async () => {
      const { command, inside } = container();
      const args = [JSON.stringify(command), `setsid ${longSleep(192)} & ${longSleep(192)}`];
      const host = startHost('far', { args, env: docker.env });
      await host.next();
      const sleeping = () => inside().filter((line) => line === longSleep(192));
      // A live command and a task in the background, two each.
      await eventually(() => expect(sleeping()).toHaveLength(4));
      host.child.kill('SIGKILL');
      await host.ended;
      await eventually(() => expect(inside()).toEqual([]));
    });

    test('the error after a container was killed has the output that was received', async () => {
      const { id, command } = container();
      const far = await reach(command);
      const controller = new AbortController();
      let heard = '';
      const running = failureOf(
        far.run(`echo early; ${longSleep(193)}`, {
          signal: controller.signal,
          onOutput: ({ text }) => {
            heard += text;
          },
        }),
      );
      await eventually(() => expect(heard).toBe('early\n'));
      docker.run('kill', id);
      const lost = await running;
      expect(lost).toBeInstanceOf(WorkerLostError);
      expect(lost).toMatchObject({ started: true, output: 'early\n' });
      await far.dispose();
    });

    test('a missing container is reported in the words of docker', async () => {
      const command = ['docker', 'exec', '-i', 'no-such-box', 'forkline', 'serve', '--stdio'];
      expect(await failureOf(reach(command))).toMatchObject({
        name: 'NoWorkerError',
        message: expect.stringMatching(/No such container: no-such-box/),
      });
    });

    test('the time of a call is printed', async () => {
      const far = await reach(container().command);
      const times: number[] = [];
      for (let call = 0; call < 200; call += 1) {
        const began = performance.now();
        await far.run('true');
        times.push(performance.now() - began);
      }
      times.sort((a, b) => a - b);
      const [median = 0, slow = 0] = [times[100], times[190]];
      // For whoever runs this: it depends on the machine, so that nothing is expected of it.
      console.log(`run('true') by docker exec: ${median.toFixed(2)} ms, p95 ${slow.toFixed(2)} ms`);
      await far.dispose();
    });
  },
);
