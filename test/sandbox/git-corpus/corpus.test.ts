import { relative } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { run } from '../../../src/index.js';
import { leavesNothingBehind } from '../../support/leftovers.js';
import { where } from '../../support/needs.js';
import { useScenes } from '../../support/sandbox.js';
import { differencesIn, known, knownFor } from './differences.js';
import { make, type Place } from './make.js';
import { repositories } from './repositories/index.js';
import type { Repository } from './repositories/repository.js';
import { snapshotOf } from './snapshot.js';

// The same command in a fresh copy of a repository, without a sandbox and in one: exit code, output, every
// byte and mode of the working tree, of git's directory and of the remotes are the same. What differs has
// its reason in `differences.json`, and one that does not differ any more is to be taken out of it.
leavesNothingBehind(40);
const scenes = useScenes();

/** Runs a command in a fresh copy, and looks at what it has left. */
async function came(place: Place, command: string, sandbox: object) {
  place.renew();
  const options = { cwd: place.workspace, env: place.env, timeoutMs: 50_000, ...sandbox };
  const { outcome, stdout, stderr } = await run(command, { ...options, streams: 'separate' });
  const text = (stream: typeof stdout) => (stream.kind === 'complete' ? stream.text : 'too long');
  return { outcome, stdout: text(stdout), stderr: text(stderr), left: snapshotOf(place.path) };
}

async function compare(place: Place, repository: Repository, command: string) {
  const allowWrite = (repository.writable ?? []).map((name) => `${place.path}/${name}`);
  const bare = await came(place, command, {});
  const confined = await came(place, command, {
    sandbox: { mode: 'workspace-write', filesystem: { allowWrite } },
  });
  return differencesIn(bare, confined, relative(place.path, place.workspace));
}

for (const repository of repositories) {
  describe(repository.name, where(...(repository.needs ?? [])), () => {
    let place: Place;
    beforeAll(() => {
      place = make(scenes.path, repository);
    });

    const isSame = async (command: string) => {
      const { parts, details } = await compare(place, repository, command);
      expect(parts, details).toBe(knownFor(repository.name, command));
    };
    test.each(repository.often)('%s', isSame);
    test.each(repository.commands)('%s', { tags: ['slow'] }, isSame);
  });
}

test('there are thirty commands for each of ten repositories, and none else has a difference', () => {
  const texts = repositories.map(({ name, often, commands }) => ({
    name,
    all: [...often, ...commands],
  }));
  expect(texts.map(({ all }) => new Set(all).size)).toEqual(Array(10).fill(30));
  const missing = known.flatMap(({ cases }) =>
    Object.entries(cases).flatMap(([name, commands]) => {
      const { all = [] } = texts.find((each) => each.name === name) ?? {};
      return Object.keys(commands).filter((command) => !all.includes(command));
    }),
  );
  expect(missing).toEqual([]);
});
