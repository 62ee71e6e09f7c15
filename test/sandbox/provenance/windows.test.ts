import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { leavesNothingBehind } from '../../support/leftovers.js';
import { describeForAll, useScenes } from '../../support/sandbox.js';
import { inWorkspace, makeHistory, SETTINGS } from './repository.js';

leavesNothingBehind();
const scenes = useScenes();

const ways = ['replace', 'remake', 'open', 'directory'].flatMap((way) =>
  SETTINGS.filter((name) => way !== 'directory' || name.includes('/')).map((name) => [way, name]),
);

describeForAll('a setting that comes or goes can never be caught by %s', (person) => {
  test.each(ways)('while another process makes it %s: %s', async (way = '', name = '') => {
    const scene = makeHistory(scenes.path, person, 'catch.py');
    expect(await inWorkspace(person, scene, `/usr/bin/python3 catch.py ${way} ${name}`)).toBe(
      '0 0\n',
    );
    const path = join(scene.work, name);
    expect(existsSync(path) ? readFileSync(path, 'utf8') : 'none\n').toMatch(
      /^(?:main|release|none)\n$/,
    );
    const left = () =>
      readdirSync(join(scene.work, '.git')).filter((entry) => entry.startsWith('.'));
    await expect.poll(left, { timeout: 5000 }).toEqual([]);
  });
});

describeForAll('the place where %s has settings made ready', (person) => {
  test('is no place for commands', async () => {
    const scene = makeHistory(scenes.path, person);
    const names = ['.git/.forkline-gate-0', '.git/.FORKLINE-gate-0/x'];
    const ways = names.flatMap((name) => [`echo evil > ${name}`, `mkdir ${name}`, `ln a ${name}`]);
    const script = `echo a > a; ${ways.map((way) => `${way} && echo done`).join('; ')}; rmdir .git/.fork*`;
    expect(await inWorkspace(person, scene, `{ ${script}; } 2>/dev/null`)).toBe('');
  });
});
