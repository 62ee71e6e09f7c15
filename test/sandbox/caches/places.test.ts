import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { toolCaches } from '../../../src/sandbox/caches/places.js';
import { leavesNothingBehind, useFolders } from '../../support/leftovers.js';

leavesNothingBehind();
const newFolder = useFolders();

/** The paths that are found, by name. */
function found(home: string, variables: Readonly<Record<string, string | undefined>> = {}) {
  return Object.fromEntries(toolCaches(home, variables).map(({ name, path }) => [name, path]));
}

test('without variables and settings caches are where the tools have them', () => {
  expect(found('/h')).toEqual({
    cache: '/h/.cache',
    npm: '/h/.npm',
    pnpm: '/h/.local/share/pnpm/store',
    yarn: '/h/.yarn/berry',
    bun: '/h/.bun/install/cache',
    'cargo-registry': '/h/.cargo/registry',
    'cargo-git': '/h/.cargo/git',
    go: '/h/go/pkg',
    maven: '/h/.m2/repository',
    'maven-wrapper': '/h/.m2/wrapper',
    gradle: '/h/.gradle',
  });
});

test('variables decide, if they are absolute paths', () => {
  const variables = {
    XDG_CACHE_HOME: '/c',
    NPM_CONFIG_CACHE: '/n',
    PNPM_HOME: '/p',
    YARN_GLOBAL_FOLDER: '/y',
    BUN_INSTALL: '/b',
    CARGO_HOME: '/r',
    GOPATH: '/g:/g2',
    GOCACHE: '/gc',
    GRADLE_USER_HOME: 'relative',
    PIP_CACHE_DIR: '/pip',
    HF_HOME: '',
  };
  expect(found('/h', variables)).toMatchObject({
    cache: '/c',
    npm: '/n',
    pnpm: '/p/store',
    yarn: '/y',
    bun: '/b/install/cache',
    'cargo-registry': '/r/registry',
    go: '/g/pkg',
    gocache: '/gc',
    gradle: '/h/.gradle',
    'pip-cache-dir': '/pip',
  });
  expect(found('/h', variables)).not.toHaveProperty('hf-home');
});

test('npm reads its variables in both spellings, and puts variables into its settings', () => {
  const home = newFolder();
  const file = join(home, 'npmrc');
  const variables = { NPM_CONFIG_USERCONFIG: file, XDG_CACHE_HOME: '/c', XDG_DATA_HOME: undefined };
  writeFileSync(file, `cache=\${XDG_CACHE_HOME}/npm\${NO_SUCH_NAME?}\nstore-dir=\${HOME}/s\n`);
  expect(found(home, variables)).toMatchObject({ npm: '/c/npm', pnpm: join(home, 's') });
  writeFileSync(file, `cache=\${NO_SUCH_NAME}/npm\n`);
  expect(found(home, variables)).toMatchObject({ npm: join(home, '.npm') });
  const upper = { PNPM_CONFIG_STORE_DIR: '/p', npm_config_userconfig: '/no/such/file' };
  expect(found(home, { ...variables, ...upper })).toMatchObject({ pnpm: '/p' });
});

test('so do the settings of npm, Go and Maven', () => {
  const home = newFolder();
  for (const path of ['.m2', '.config/go']) mkdirSync(join(home, path), { recursive: true });
  writeFileSync(
    join(home, '.npmrc'),
    'registry=https://r.test\ncache = ~/npm cache\nstore-dir="/s"\n',
  );
  writeFileSync(join(home, '.config/go/env'), 'GOPATH=/gp\nGOMODCACHE=/gm\nGOFLAGS=-x\n');
  writeFileSync(
    join(home, '.m2/settings.xml'),
    `<settings><!-- <localRepository>/no</localRepository> -->
      <localRepository>\${user.home}/m</localRepository></settings>`,
  );
  expect(found(home)).toMatchObject({
    npm: join(home, 'npm cache'),
    pnpm: '/s',
    go: '/gp/pkg',
    gomodcache: '/gm',
    maven: join(home, 'm'),
  });
});
