import { expect, test } from 'vitest';
import { resolveEnvironment } from '../../src/command/environment.js';
import { SECRET_NAME_PATTERNS } from '../../src/index.js';
import { connect } from '../../src/remote/index.js';
import { isShellVariable } from '../../src/shell/variables.js';
import { FAR_BUILT, STATIC_FAR } from '../support/far.js';
import { read } from '../support/house.js';
import { leavesNothingBehind } from '../support/leftovers.js';
import { where } from '../support/needs.js';
import { fc } from '../support/properties.js';
import { printed } from '../support/results.js';

// What a command has of environment variables is decided once in TypeScript and once in Rust.

leavesNothingBehind();
const linesOf = (name: string) => read(`native/far/src/environment/${name}`).trimEnd().split('\n');
/** Whatever the sources of both policies name. */
const named = ['command/launchers.ts', 'shell/variables.ts'].flatMap((file) =>
  [...read(`src/${file}`).matchAll(/'([A-Za-z_]\w*)'/g)].map(([, name = '']) => name),
);
const NAMES = [
  ...named,
  ...SECRET_NAME_PATTERNS.flatMap((pattern) => [
    pattern.replaceAll('*', ''),
    pattern.replaceAll('*', 'x').toLowerCase(),
  ]),
  ...[
    'PATH',
    'NODE',
    'EDITOR',
    'NODE_PATH',
    'NODE_OPTIONS',
    'APPDIR',
    'LD_LIBRARY_PATH',
    'HOME',
    'TERM',
  ],
  ...[
    'npm_node_execpath',
    'npm_config_x',
    'VSCODE_PID',
    'VSCODE_GIT_X',
    'VSCODE_PORTABLE',
    'VSCODE_ENV_A',
  ],
  ...['JB_IDE_X', 'BASH_FUNC_x%%', 'TOKENIZERS_PARALLELISM', 'TZ', 'COLUMNS', 'DISPLAY'],
];
const FOLDERS = [
  ...[
    '/usr/bin',
    '/bin',
    '',
    '/x/node_modules/.bin',
    'node_modules/.bin/',
    '/x/node-gyp-bin',
    '/my-node_modules/.bin',
  ],
  ...[
    '/tmp/yarn--12-a',
    '/tmp/yarn--a',
    '/tmp/xfs-0a1b2c',
    '/tmp/xfs-0a1b2',
    '/tmp/bun-node-1',
    '/a/.bin',
  ],
  ...['/tmp/.mount_x', '/tmp/.mount_x/lib', '/tmp/.mount_xy', '/y/node_modules/.pnpm/z'],
];
const WORDS = [
  ...[
    '--require',
    '-r',
    '--import=',
    '--loader=',
    '--experimental-loader',
    '--max-old-space-size=9',
    ' ',
    '\t',
    '  ',
  ],
  ...[
    '/a/.pnp.cjs',
    '"/a b/.pnp.js"',
    '"/a\\"b/.pnp.cjs"',
    '/a/.pnp.loader.mjs',
    '/x/ms-js-debug/y/bootloader.js',
  ],
  ...[
    '/x/js-debug/bootloader.js',
    '/js-debug.bootloader.js',
    '/x/debugConnector.js',
    'x',
    '=',
    '"',
    '\u00a0',
  ],
];
const URLS = [
  'https://a:b@c',
  'https://a@c',
  'x://:p@',
  'a://b:c/d@e',
  'see http://u:p@h',
  'http://ü:ö@h',
  ' ',
  '://',
];
const some = (of: readonly string[], between: string) =>
  fc.array(fc.constantFrom(...of), { maxLength: 5 }).map((all) => all.join(between));
const value = fc.oneof(
  some(FOLDERS, ':'),
  some(WORDS, ' '),
  some(WORDS, ''),
  some(URLS, ''),
  fc.constantFrom('vi', '1', '/usr/bin/node', '/tmp/.mount_x', '/tmp/.mount_x/', '/', 'é\u00a0'),
);
const variables = fc.uniqueArray(fc.tuple(fc.constantFrom(...new Set(NAMES)), value), {
  selector: ([name]) => name,
  minLength: 10,
  maxLength: 60,
});

/** Without what the engine adds. */
const entriesOf = (block: string) =>
  block.split('\0').filter((entry) => entry !== '' && !/^(?:_|FORKLINE_MARK)=/.test(entry));

test(
  'a command of the far side without Node has the variables that one of this process would have',
  where(FAR_BUILT),
  async () => {
    const policies = fc.record({
      inheritEnv: fc.constantFrom('scrubbed' as const, 'all' as const),
      cwd: fc.constantFrom(undefined, '/usr/./bin/..'),
      env: fc.dictionary(
        fc.constantFrom('A', 'PATH', 'PWD', '_'),
        fc.constantFrom('x', 'é', undefined),
      ),
    });
    await fc.assert(
      fc.asyncProperty(variables, policies, async (inherited, { inheritEnv, cwd, env }) => {
        const command = [STATIC_FAR, 'serve', '--stdio'];
        await using far = await connect({ command, env: Object.fromEntries(inherited) });
        const given = { inheritEnv, env, ...(cwd !== undefined && { cwd }) };
        const there = await far.run(['/usr/bin/env', '-0'], given);
        const here = resolveEnvironment({
          inherit: inheritEnv,
          inherited: inherited
            .map(([name, text]) => `${name}=${text}`)
            .map(latin1)
            .join('\0'),
          overrides: env,
          cwd: cwd === undefined ? undefined : '/usr',
        });
        const text = Buffer.from(here, 'latin1').toString().replaceAll('\0', '␀');
        expect(entriesOf(printed(there).replaceAll('␀', '\0'))).toEqual(
          entriesOf(text.replaceAll('␀', '\0')),
        );
      }),
      { numRuns: 150 },
    );
  },
);

/** One character a byte. */
const latin1 = (text: string) => Buffer.from(text).toString('latin1');

test('the list of names that look like secrets is the same on both sides', () => {
  expect(linesOf('secrets.txt')).toEqual([...SECRET_NAME_PATTERNS]);
});

test('the list of variables that steer a shell is the same on both sides', () => {
  const known = named.filter((name) => isShellVariable(name) && name !== 'BASH_FUNC_');
  expect(linesOf('shell-variables.txt').sort()).toEqual([...new Set(known)].sort());
});
