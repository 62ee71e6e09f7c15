import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { leavesNothingBehind, useFolder } from '../../../support/leftovers.js';
import { fc } from '../../../support/properties.js';
import { data, useSessionTools } from '../../../support/session.js';

leavesNothingBehind();
const folder = useFolder();
const newSession = useSessionTools(folder);

/** Pieces of calls: what one leaves behind, another shows. */
const PIECES = [
  ['x=1', 'x+=2', 'echo "x=$x"', 'unset x', 'export x', "sh -c 'echo x=$x'", 'readonly r=1', 'r=2'],
  ['a=(1 "2 3")', 'a+=(4)', 'declare -p a', 'echo "$a" | wc -c', 'x=$(echo sub; exit 6)'],
  ['f() { echo "f $1"; return 4; }', 'f 1', 'unset -f f', 'declare -F f', 'f() { x=9; }'],
  ['echo "st=$?"', '(exit 4)', 'false', 'true', '! true', '(exit 5) && true', 'false || echo or'],
  ['((n++))', 'echo "n=$((n + 1))"', 'let n=3', ': $((1 / 0))', '[[ $x == 1 ]]', 'test -d d'],
  ['cd d', 'cd ..', 'cd -', 'cd nowhere', 'pushd d >/dev/null', 'mkdir -p m; cd m', 'pwd', 'cd /'],
  ['set -e', 'set +e', 'set -u', 'set -f', 'set +f', 'echo *', 'set -o pipefail', 'false | true'],
  [
    'shopt -s nullglob',
    'echo no*such',
    'shopt -s extglob',
    "p='@(ab)'; case ab in $p) echo m;; esac",
  ],
  ['shopt -s expand_aliases', "alias q='echo alias'", 'q', 'unalias q', 'alias z=echo\nz here'],
  ["trap 'echo bye' EXIT", 'trap - EXIT', "trap 'echo err' ERR", 'trap - ERR', 'trap'],
  ["trap 'echo usr' USR1", 'kill -USR1 $$', 'set -E', "trap 'echo ret' RETURN"],
  ['echo a | tr a b', 'echo e >&2', 'echo a | { read v; echo "v=$v"; }', 'false | true | (exit 3)'],
  [
    'cat <<X\nhi $x\nX',
    'cat <<"X"\n$hi\nX',
    'cat <<X\nopen',
    'cat <<<"here $x"',
    'read v; echo $?',
  ],
  ['echo "abc', 'if true; then', 'fi', ')', 'echo x \\', '! true # comment', 'for i in 1 2'],
  [
    'sleep .01 & wait',
    'sleep .01 & wait $!',
    '(exit 7) & wait $!',
    'true & wait',
    'jobs -r',
    'wait',
  ],
  ['exec 3>&1; echo three >&3; exec 3>&-', 'exec 4<<<hi', 'cat <&4', 'exec 4<&-', 'echo x >&7'],
  [
    'exec >&-; echo lost',
    'exec 2>&-',
    'exec 2>&1; echo both >&2',
    'exec </dev/null',
    'exec >f; cat f',
  ],
  [
    'exit 3',
    'exit',
    'exec true',
    'return 2',
    'break',
    'exec sh -c "echo sh; exit 6"',
    '(exit 300)',
  ],
  [
    'umask 027',
    'umask',
    'ulimit -n 64',
    'ulimit -n',
    'set -- a b',
    'echo "$# $1"',
    'shift',
    'echo $-',
  ],
  [
    'for i in 1 2; do echo $i; done',
    'while read l; do echo $l; done <<<"a"',
    'eval "x=5; echo ev"',
  ],
  ['nocmd', './d', 'local y', 'declare -i n; n=2+3', 'type f'],
].flat();

const call = fc
  .tuple(
    fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 4 }),
    fc.array(fc.constantFrom('; ', '\n', ' && ', ' || '), { minLength: 4, maxLength: 4 }),
  )
  .map(([pieces, joints]) =>
    pieces.map((piece, index) => (index === 0 ? '' : joints[index]) + piece).join(''),
  );

/** What a call has come to, in one shell or the other. */
interface Came {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: unknown;
}

/** The same place each time, with nothing in it but what the calls expect. */
function freshPlace(name: string): string {
  const place = folder.file(name);
  rmSync(place, { recursive: true, force: true });
  mkdirSync(`${place}/d/d`, { recursive: true });
  return place;
}

/**
 * What one plain bash makes of the calls, up to the first that ends it. It is given them as lines
 * of its script; those that are no whole commands would be the end of that, and are evaluated.
 */
function plainBash(calls: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Came[] {
  const files = freshPlace('plain-files');
  const file = (name: string, index: number) => `${files}/${index}.${name}`;
  const streams = (index: number) => `>${file('out', index)} 2>${file('err', index)}`;
  const lines = calls.flatMap((text, index) => [
    isWhole(text) ? text : `builtin eval -- '${text.replaceAll("'", "'\\''")}' && :`,
    `__code ${file('code', index)} ${file('out', index + 1)} ${file('err', index + 1)} && :`,
  ]);
  const script = `${files}/bash`;
  const first =
    '__code() { set -- $? $1 $2 $3; echo $1 >$2; exec >$3 2>$4; return $1; }; ' +
    `exec ${streams(0)}`;
  const last = 'exec >/dev/null 2>&1; trap - EXIT';
  writeFileSync(script, [first, ...lines, last].join('\n'));
  // By `env -i`, since Deno gives a child its own variables besides those that are named.
  const variables = Object.entries({ ...env, PWD: cwd }).map(([name, value]) => `${name}=${value}`);
  const bash = ['/bin/bash', '--norc', '--noprofile', script];
  const { status } = spawnSync('/usr/bin/env', ['-i', ...variables, ...bash], {
    cwd,
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  const came: Came[] = [];
  for (const index of calls.keys()) {
    const code = readOr(file('code', index));
    came.push({
      stdout: comparable(readOr(file('out', index)) ?? '', script),
      stderr: comparable(readOr(file('err', index)) ?? '', script),
      exitCode: code === undefined ? status : Number(code),
    });
    if (code === undefined) break;
  }
  return came;
}

function readOr(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function isWhole(text: string): boolean {
  if (text.endsWith('\\')) return false;
  const options = ['--norc', '-n', '-c', '--', text];
  const { status, stderr } = spawnSync('/bin/bash', options, { encoding: 'utf8' });
  return status === 0 && stderr === '';
}

/** Without the names, numbers and places in which the two must differ. */
function comparable(output: string, script = 'bash'): string {
  return output
    .replaceAll(script, 'bash')
    .replaceAll(/\b(eval: |at )?line \d+(: )?/g, '')
    .replaceAll(/\b\d{3,}\b/g, 'NUMBER')
    .replaceAll(/\/(plain|ours)\b/g, '/place');
}

test('each call comes to what it comes to in one plain bash that is given the same lines', async () => {
  const env = await commandEnvironment();
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 5 }), async (calls) => {
      const tool = newSession({ persistent: true, cwd: freshPlace('ours') });
      freshPlace('plain');
      try {
        for (let next = 0, cwd = folder.file('plain'); next < calls.length; ) {
          const expected = plainBash(calls.slice(next), cwd, env);
          for (const came of expected) {
            const answer = await data(tool, calls[next] ?? '');
            const given = {
              stdout: comparable(String(answer.stdout)),
              stderr: comparable(String(answer.stderr)),
              exitCode: answer.exit_code,
            };
            expect(given, `call ${next}: ${calls[next]}`).toEqual(came);
            cwd = String(answer.cwd).replace(folder.file('ours'), folder.file('plain'));
            next += 1;
          }
        }
      } finally {
        await tool.dispose();
      }
    }),
    { numRuns: Number(process.env.FORKLINE_RUNS ?? 40) },
  );
}, 300_000);

test('a text of any characters arrives as it is', async () => {
  const tool = newSession({ persistent: true });
  const any = fc.string({ unit: 'grapheme', maxLength: 40 });
  const shell = fc.string({ unit: fc.constantFrom(...'\'"\\$`!#\n\t(){}&;|<>é '), maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(fc.oneof(any, shell), async (text) => {
      fc.pre(!text.includes('\0'));
      const answer = await data(tool, `cat <<'-- END --'\n${text}\n-- END --`);
      expect(answer).toMatchObject({ stdout: `${text}\n`, stderr: '', exit_code: 0 });
    }),
    { numRuns: 100 },
  );
});

/** What commands of a session have around them. */
async function commandEnvironment(): Promise<NodeJS.ProcessEnv> {
  const { stdout } = await data(newSession(), 'env -0 | tr "\\0\\n" "\\n "');
  const entries = String(stdout).trimEnd().split('\n');
  const pairs = entries.map((entry) => [
    entry.slice(0, entry.indexOf('=')),
    entry.slice(entry.indexOf('=') + 1),
  ]);
  const { _, SHLVL, ...env } = Object.fromEntries(pairs);
  return env;
}
