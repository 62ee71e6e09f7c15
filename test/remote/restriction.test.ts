import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { InputError } from '../../src/index.js';
import { type Always, connect, serveStream } from '../../src/remote/index.js';
import { quote } from '../support/commands.js';
import { useDisposal } from '../support/disposal.js';
import { FAR_SIDE } from '../support/far.js';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { failureOf, printed } from '../support/results.js';
import { textOf } from '../support/tool.js';

leavesNothingBehind();
const folder = useFolder();
const keep = useDisposal();

/** A client of a far side that has set these options for all. */
async function clientOf(always: Always, profiles: object = {}) {
  const module = folder.file(`far-${Math.random()}.mjs`);
  const text = `export const always = ${JSON.stringify(always)};`;
  writeFileSync(module, `${text} export const profiles = ${JSON.stringify(profiles)};`);
  return keep(await connect({ command: [...FAR_SIDE, '--profiles', module] }));
}

describe('what a far side has set for all its clients', () => {
  test('holds for commands, live ones and tools', async () => {
    const far = await clientOf({ env: { TOKEN: 'theirs' }, inheritEnv: 'none', umask: 0o077 });
    expect(printed(await far.run('echo $TOKEN; umask'))).toBe('theirs\n0077\n');
    const live = await far.spawn('echo $TOKEN; umask');
    let text = '';
    for await (const chunk of live) text += chunk.text;
    expect(text).toBe('theirs\n0077\n');
    const bash = await far.createBashTool({ contract: 'plain', env: { OWN: 'mine' } });
    const answer = textOf(await bash.execute({ command: 'echo $TOKEN $OWN; umask' }));
    expect(answer).toContain('theirs mine\\n0077');
    await bash.dispose();
  });

  test.each([
    [
      'umask',
      { umask: 0o22 },
      /^umask: the far side has set it for all its clients; leave it out$/,
    ],
    ['inheritEnv', { inheritEnv: 'scrubbed' }, /^inheritEnv: the far side has set it/],
    ['a variable', { env: { TOKEN: 'mine' } }, /^env\.TOKEN: the far side has set it/],
    ['limits', { limits: { cpuSeconds: 100 } }, /^limits: the far side has set it/],
  ])('can be changed by no client: %s', async (_, options, message) => {
    const always = { env: { TOKEN: 'theirs' }, inheritEnv: 'none', umask: 0o077 } as const;
    const far = await clientOf({ ...always, limits: { cpuSeconds: 5 } });
    const given = options as object;
    const tool = { contract: 'plain', ...given } as const;
    for (const call of [
      () => far.run('true', given),
      () => far.spawn('true', given),
      () => far.createBashTool(tool),
    ]) {
      const error = await failureOf(call());
      expect(error).toBeInstanceOf(InputError);
      expect((error as Error).message).toMatch(message);
    }
  });

  test('goes before what a profile says', async () => {
    const far = await clientOf({ umask: 0o077 }, { open: { umask: 0, cwd: '/usr' } });
    const bash = await far.createBashTool({ contract: 'plain', profile: 'open' });
    expect(textOf(await bash.execute({ command: 'umask; pwd' }))).toContain('0077\\n/usr');
    await bash.dispose();
  });

  test('keeps clients to its directories, links followed', async () => {
    const [inside, outside] = [folder.file('inside'), folder.file('outside')];
    for (const path of [inside, `${inside}/deep`, outside, `${inside}-not`]) mkdirSync(path);
    symlinkSync(outside, `${inside}/link`);
    const far = await clientOf({ directories: [inside] });
    expect(printed(await far.run('pwd'))).toBe(`${inside}\n`);
    expect(printed(await far.run('pwd', { cwd: 'deep' }))).toBe(`${inside}/deep\n`);
    for (const cwd of [outside, `${inside}/link`, `${inside}/..`, `${inside}-not`, '/']) {
      const error = await failureOf(far.run('pwd', { cwd }));
      expect((error as Error).message).toMatch(/^cwd: expected a directory within /);
      expect(await failureOf(far.createBashTool({ contract: 'plain', cwd }))).toBeInstanceOf(
        InputError,
      );
    }
    const missing = await failureOf(far.run('pwd', { cwd: `${inside}/nope` }));
    expect((missing as Error).message).toMatch(/^cwd: expected a directory that is there: ENOENT/);
  });

  test.each([
    [{ sandbox: 'open' }, /^sandbox: expected /],
    [{ directories: [] }, /^always\.directories: expected one directory or more, got \[\]$/],
    [{ directories: ['/nope'] }, /^always\.directories\[0\]: expected a directory that is there/],
    [{ spill: '/tmp/x' }, /^always\.spill: not known here/],
    ['all', /^always: expected an object, got "all"$/],
  ])('is checked when the far side starts: %o', (always, message) => {
    const given = { always } as unknown as Parameters<typeof serveStream>[0];
    expect(() => serveStream(given)).toThrow(message);
  });

  test('is loaded from a module that exports something', async () => {
    const module = folder.file('empty.mjs');
    writeFileSync(module, 'export const nothing = 1;');
    const error = await failureOf(connect({ command: [...FAR_SIDE, '--profiles', module] }));
    expect((error as Error).message).toMatch(
      /--profiles: expected a module that exports `profiles` or `always`/,
    );
  });
});

test('a command of a client is as free as before where the far side has set nothing', async () => {
  const far = await clientOf({});
  const file = folder.file('spill');
  await far.run('echo hi', { spill: file, umask: 0o22, cwd: '/' });
  expect(printed(await far.run(`cat ${quote(file)}`))).toBe('hi\n');
});
