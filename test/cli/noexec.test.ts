import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { ownPlaces } from '../../src/engine/addon/places.js';
import { endOf, program } from '../support/cli.js';
import { quote } from '../support/commands.js';
import { namespaces } from '../support/hosts.js';
import { useFolder } from '../support/leftovers.js';

const folder = useFolder();
const root = fileURLToPath(new URL('../..', import.meta.url));

/** The directory of the addon that this checkout uses, and its file. */
function addonHere(): { directory: string; file: string } {
  const names = ownPlaces().map((directory) => ({
    directory,
    file: readdirSync(directory).find((name) => name.endsWith('.node')) ?? '',
  }));
  const found = names.find(({ file }) => file !== '');
  if (found === undefined) throw new Error('there is no addon to copy');
  return found;
}

/** Runs a program in a mount namespace where the mount point has a copy of the addon, and lets nothing be executed. */
function runNoexec(place: string, env: NodeJS.ProcessEnv, ...args: readonly string[]) {
  const mount = [
    'mount -t tmpfs none "$0"',
    `cp ${quote(addonHere().directory)}/* "$0"`,
    // In a user's own namespace nothing but the flags of a mount can be changed.
    'mount -o remount,bind,noexec "$0"',
    'exec "$@"',
  ].join(' && ');
  const [unshare = '', ...before] = namespaces('-m', 'sh', '-c', mount, place);
  return endOf(
    spawn(unshare, [...before, process.execPath, ...args], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
}

describe.each(['plain', 'with a blank'])('I12: a noexec file system, %s', (name) => {
  const placed = () => {
    const place = folder.file(name);
    mkdirSync(place, { recursive: true });
    return { place, binding: join(place, addonHere().file) };
  };
  const said = ({ place, binding }: ReturnType<typeof placed>) =>
    `${binding} cannot be loaded: the file system at ${place} is mounted noexec; install forkline on ` +
    'another one, or copy that file, with forkline-keeper beside it, and set FORKLINE_BINDING to the copy';

  test('run() rejects with a code', async () => {
    const at = placed();
    const script = `
      const { run, createBashTool } = await import(${JSON.stringify(join(root, 'dist/index.js'))});
      const said = (error) => ({ code: error.code, message: error.message });
      const told = [await run('true').catch(said)];
      try {
        const tool = createBashTool({ contract: 'plain', cwd: '/' });
        await tool.execute({ command: 'true' });
      } catch (error) { told.push(said(error)); }
      console.log(JSON.stringify(told));`;
    const args = ['--input-type=module', '-e', script];
    const { stdout } = await runNoexec(at.place, { FORKLINE_BINDING: at.binding }, ...args);
    const error = { code: 'FORKLINE_NOEXEC', message: said(at) };
    expect(JSON.parse(stdout.toString())).toEqual([error, error]);
  });

  test('the program says it in one line', async () => {
    const at = placed();
    const env = { FORKLINE_BINDING: at.binding };
    const { code, stderr } = await runNoexec(at.place, env, program, 'run', '--', 'true');
    expect({ code, stderr }).toEqual({ code: 126, stderr: `forkline: ${said(at)}\n` });
  });

  test('doctor has a line for it', async () => {
    const at = placed();
    const env = { FORKLINE_BINDING: at.binding };
    const { code, stdout } = await runNoexec(at.place, env, program, 'doctor', '--json');
    const { findings } = JSON.parse(stdout.toString());
    expect(code).toBe(1);
    expect(findings).toContainEqual({
      name: 'noexec',
      status: 'failed',
      found: `set for the file system at ${at.place}`,
      cost: 'the addon there cannot be loaded; FORKLINE_BINDING can name a copy elsewhere',
    });
    expect(findings).toContainEqual(
      expect.objectContaining({ name: 'commands', status: 'failed', found: said(at) }),
    );
  });

  test('a copy elsewhere, named by FORKLINE_BINDING, runs commands', async () => {
    const at = placed();
    const copy = folder.file(`${name}-copy`);
    cpSync(addonHere().directory, copy, { recursive: true });
    const env = { FORKLINE_BINDING: join(copy, addonHere().file) };
    const { code, stdout } = await runNoexec(at.place, env, program, 'run', '--', 'echo ran');
    expect({ code, text: stdout.toString() }).toEqual({ code: 0, text: 'ran\n' });
  });
});

test('I12: without noexec the error of a broken binary stays the linker’s', async () => {
  const { explainLoad } = await import('../../src/engine/addon/load-error.js');
  const error = new Error('invalid ELF header');
  expect(explainLoad(error, () => join(dirname(program), 'cli.js'))).toBe(error);
  expect(explainLoad(error, () => '/no/such/file')).toBe(error);
});
