import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { resolveEnvironment } from '../../src/command/environment.js';
import { useFolder } from '../support/leftovers.js';
import { fc } from '../support/properties.js';

const folder = useFolder();

let inherited = '';
vi.mock('../../src/engine/environ.js', () => ({ inheritedEnvironment: () => inherited }));

type Variables = Record<string, string>;

function left(variables: Variables, inherit: 'scrubbed' | 'all' = 'scrubbed'): Variables {
  inherited = Object.entries(variables)
    .map(([name, value]) => `${name}=${value}`)
    .join('\0');
  const block = resolveEnvironment({ inherit });
  const entries = block === '' ? [] : block.split('\0');
  return Object.fromEntries(
    entries.map((entry) => /^([^=]*)=([\s\S]*)$/.exec(entry)?.slice(1) ?? []),
  );
}

beforeEach(() => {
  inherited = '';
});

describe('D1: a package manager', () => {
  test('D1: the real npm leaves no variables behind', () => {
    const project = folder.file('project');
    mkdirSync(project, { recursive: true });
    writeFileSync(`${project}/.npmrc`, 'registry=https://a.example.com/\n');
    const print = `"${process.execPath}" -p "JSON.stringify(process.env)"`;
    writeFileSync(`${project}/package.json`, JSON.stringify({ name: 'a', scripts: { print } }));
    // These tests themselves may have been started by npx.
    const { PATH = '' } = left({ PATH: process.env.PATH ?? '', npm_command: 'exec' });
    const before = { PATH, HOME: folder.path, LANG: 'C' };
    const options = { cwd: project, env: before, encoding: 'utf8' } as const;
    const printed = execFileSync('npm', ['run', '--silent', 'print'], options);
    const host = JSON.parse(printed) as Variables;
    expect(Object.keys(host).length).toBeGreaterThan(15);
    const clean = left(before);
    expect(left(host)).toEqual(clean);
    expect(left(host, 'all')).toEqual(clean);
  });

  const user = { PATH: '/usr/bin:/x/node_modules/.bin:/bin', NPM_CONFIG_CACHE: '/c', NODE: '/n' };
  test.each<[string, Variables]>([
    [
      'pnpm',
      {
        npm_command: 'run-script',
        npm_config_registry: 'https://a.example.com/',
        npm_node_execpath: '/usr/bin/node',
        PNPM_SCRIPT_SRC_DIR: '/a',
        INIT_CWD: '/a',
        NODE_PATH: '/p/node_modules/.pnpm/x/node_modules:/p/node_modules/.pnpm/node_modules',
        PATH: `/a/node_modules/.bin:/p/dist/node-gyp-bin:${user.PATH}`,
      },
    ],
    [
      'yarn 1',
      {
        npm_execpath: '/y/bin/yarn.js',
        npm_package_name: 'a',
        PATH: `/tmp/yarn--1700000000000-0.123:/a/node_modules/.bin:/r/.config/yarn/link/node_modules/.bin:/u/lib/node_modules/npm/bin/node-gyp-bin:${user.PATH}`,
      },
    ],
    [
      'yarn berry with Plug and Play',
      {
        npm_execpath: '/y/yarn.cjs',
        BERRY_BIN_FOLDER: '/tmp/xfs-1a2b3c4d',
        PROJECT_CWD: '/a',
        NODE_OPTIONS:
          '--require "/a b/.pnp.cjs" --experimental-loader file:///a/.pnp.loader.mjs --no-warnings',
        PATH: `/tmp/xfs-1a2b3c4d:${user.PATH}`,
      },
    ],
    [
      'bun',
      {
        npm_config_user_agent: 'bun/1.3.0',
        npm_lifecycle_event: 'x',
        PATH: `/tmp/bun-node-0a1b2c3:/a/node_modules/.bin:/node_modules/.bin:${user.PATH}`,
      },
    ],
  ])('D1: %s leaves nothing behind', (name, launch) => {
    const kept = name.endsWith('Play') ? { ...user, NODE_OPTIONS: '--no-warnings' } : user;
    expect(left({ ...user, ...launch })).toEqual(kept);
  });

  test('D1: variables of the user stay if no package manager has started the host', () => {
    const own = { PATH: './node_modules/.bin:/bin', npm_config_proxy: 'x', INIT_CWD: '/a' };
    expect(left(own)).toEqual(own);
  });
});

describe('H12: an editor or AppImage', () => {
  test('H12: of an editor only the variables for asking it are left', () => {
    const own = { VSCODE_GIT_IPC_HANDLE: '/s', VSCODE_IPC_HOOK_CLI: '/i', ELECTRON_MIRROR: 'm' };
    const launch = {
      ELECTRON_RUN_AS_NODE: '1',
      VSCODE_INSPECTOR_OPTIONS: ':::{"inspectorIpc":"/x"}',
      VSCODE_PID: '1',
      NODE_OPTIONS: ' --require "/o/extensions/ms-vscode.js-debug/src/bootloader.js" ',
      JB_IDE_PORT: '1',
    };
    expect(left({ ...own, ...launch })).toEqual(own);
  });

  test('H12: Node options of the user stay', () => {
    const NODE_OPTIONS =
      '--max-old-space-size=4096  --require=/x/js-debug/bootloader.js -r /u/setup.js';
    expect(left({ NODE_OPTIONS }).NODE_OPTIONS).toBe('--max-old-space-size=4096   -r /u/setup.js');
  });

  test('H12: of an AppImage no variables are left, and no paths into its mount', () => {
    const own = { HOME: '/root', XDG_DATA_DIRS: '/usr/share' };
    const mount = '/tmp/.mount_CursorAb12';
    const launch = {
      APPDIR: mount,
      APPIMAGE: '/opt/cursor.AppImage',
      ARGV0: 'cursor',
      OWD: '/root',
      LD_LIBRARY_PATH: `${mount}/usr/lib:${mount}/lib`,
      PYTHONHOME: `${mount}/usr/`,
      XDG_DATA_DIRS: `${mount}/usr/share:/usr/share`,
      NEAR: `${mount}2/x`,
    };
    expect(left({ ...own, ...launch })).toEqual({ ...own, NEAR: `${mount}2/x` });
  });
});

test('D1, H12: any other environment stays unchanged', () => {
  const name = fc.stringMatching(/^[A-Z]{5,8}$/);
  const value = fc.string({
    unit: fc.constantFrom(':', '/', ' ', '"', '-r ', 'node_modules/.bin'),
  });
  const variables = fc.dictionary(name, value, { maxKeys: 5 });
  fc.assert(
    fc.property(variables, value, value, (others, PATH, NODE_OPTIONS) => {
      const all = { ...others, PATH, NODE_OPTIONS };
      expect(left(all, 'all')).toEqual(all);
    }),
  );
});
