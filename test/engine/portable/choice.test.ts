import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { choose } from '../../../src/engine/choice.js';
import { publicCopy, runHost, startHost } from '../../support/hosts.js';
import { useFolder } from '../../support/leftovers.js';

const folder = useFolder();
const { platform } = process;
const pretend = (name: string) => Object.defineProperty(process, 'platform', { value: name });
afterEach(() => pretend(platform));

test.each([
  ['linux', undefined, 'native'],
  ['linux', '', 'native'],
  ['linux', 'native', 'native'],
  ['linux', 'portable', 'portable'],
  ['darwin', undefined, 'portable'],
  ['darwin', 'portable', 'portable'],
] as const)('on %s, FORKLINE_ENGINE=%s is the %s engine', (name, asked, engine) => {
  expect(choose(name, asked)).toBe(engine);
});

test('a value that names no engine is refused, and the error lists the engines', () => {
  const message = `FORKLINE_ENGINE: expected 'native' or 'portable', got "rust"`;
  expect(() => choose('linux', 'rust')).toThrow(
    expect.objectContaining({ name: 'InputError', message }),
  );
});

test('the native engine is refused on macOS, and both on Windows', () => {
  expect(() => choose('darwin', 'native')).toThrow(
    `FORKLINE_ENGINE: expected 'portable' on darwin, got "native"`,
  );
  for (const asked of [undefined, 'native', 'portable']) {
    expect(() => choose('win32', asked)).toThrow(
      expect.objectContaining({ code: 'FORKLINE_UNSUPPORTED_PLATFORM' }),
    );
  }
});

const entry = new URL('../../../dist/index.js', import.meta.url).href;

/** Prints what a script that has the package as `forkline` makes of it, in a process of its own. */
function evaluate(script: string, env: NodeJS.ProcessEnv): string {
  const text = `import * as forkline from ${JSON.stringify(entry)};\n${script}`;
  const args = ['--input-type=module', '-e', text];
  const cwd = fileURLToPath(new URL('../../..', import.meta.url));
  return execFileSync(process.execPath, args, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  }).trim();
}

test('createBashTool() says at once that there is no engine for a platform', () => {
  const script = `
    Object.defineProperty(process, 'platform', { value: 'win32' });
    try { forkline.createBashTool({ contract: 'plain', cwd: '/' }); }
    catch (error) { console.log(error.message); }`;
  expect(evaluate(script, {})).toBe('forkline runs on Linux and macOS; win32 is not supported');
});

test('no weaker engine takes the place of a native one that cannot be loaded', () => {
  const script = "forkline.run('true').catch((error) => console.log(error.code));";
  expect(evaluate(script, { FORKLINE_BINDING: '/nowhere.node', FORKLINE_ENGINE: '' })).toBe(
    'FORKLINE_NO_BINDING',
  );
});

test('P13: no code of the portable engine is loaded unless it is chosen', () => {
  const script = `
    const { engine } = await forkline.run('true');
    const loaded = process.moduleLoadList.includes('NativeModule child_process');
    console.log(engine, loaded);`;
  expect(evaluate(script, { FORKLINE_ENGINE: '' })).toBe('native false');
  expect(evaluate(script, { FORKLINE_ENGINE: 'portable' })).toBe('portable true');
});

test('options of the native engine only are refused, with what would be right', () => {
  const script = `
    const said = (error) => console.log(error.name, error.message);
    const tool = (options) => { try { forkline.createBashTool({ cwd: '/', ...options }); } catch (error) { said(error); } };
    tool({ contract: 'session', persistent: true });
    tool({ contract: 'session', taskLifetime: 'detached' });
    await forkline.detach('true').catch(said);`;
  const lines = evaluate(script, { FORKLINE_ENGINE: 'portable' }).split('\n');
  expect(lines).toEqual([
    'InputError persistent: expected false (the portable engine cannot do it, see docs/portable.md), got true',
    `InputError taskLifetime: expected 'tool' or 'host' (the portable engine cannot do it, see docs/portable.md), got "detached"`,
    expect.stringMatching(/^LaunchError ENOTSUP: .* needs the native engine/),
  ]);
});

test('a terminal is refused where node-pty is not installed, and the error says to install it', async () => {
  const host = startHost('commands', {
    env: { FORKLINE_ENGINE: 'portable' },
    from: publicCopy(folder.file('copy')),
  });
  const { error } = await host.run('true', { pty: true });
  expect(error).toMatchObject({
    name: 'InputError',
    message: expect.stringMatching(/^pty: expected false, or the package node-pty to be installed/),
  });
  expect(await host.run('echo hi')).toMatchObject({ result: { engine: 'portable' } });
});

test('memory does not grow with a gigabyte of output', async () => {
  const command = 'head -c 1000000000 /dev/zero | tr "\\0" "x"';
  const { grownBy, result } = await runHost<{ grownBy: number; result: object }>('memory', {
    args: [command],
    env: { FORKLINE_ENGINE: 'portable' },
  });
  expect(result).toMatchObject({ engine: 'portable', output: { total: { bytes: 1_000_000_000 } } });
  expect(grownBy).toBeLessThan(150_000_000);
});

test.each([
  ['sandbox', `'read-only'`],
  ['limits', '{ memoryBytes: 2 ** 30 }'],
])('what the portable engine cannot do is refused before anything starts: %s', (name, value) => {
  const options = `{ ${name}: ${value}, cwd: '/', contract: 'plain' }`;
  const script = `
    const { contract, ...forRun } = ${options};
    for (const start of [() => forkline.run('true', forRun), () => forkline.createBashTool(${options})]) {
      try { await start(); } catch (error) { console.log(error.name, error.message.split(':')[0]); }
    }`;
  const env = { FORKLINE_ENGINE: 'portable' };
  expect(evaluate(script, env)).toBe(`InputError ${name}\nInputError ${name}`);
});
