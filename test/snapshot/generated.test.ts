import { expect, test } from 'vitest';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { fc } from '../support/properties.js';
import { useSnapshots } from '../support/snapshots.js';

leavesNothingBehind();
const folder = useFolder();
const snapshotOf = useSnapshots(folder);

const name = fc.constantFrom('f0', 'f1', 'f2', 'f-3', 'f4');
const number = fc.integer({ min: 0, max: 3 });

const simple = fc.oneof(
  fc.constant('echo "status $? last $_ args $# $*"'),
  fc.constant('echo "x=$x y=$y $FUNCNAME $LINENO"'),
  fc.constant('false'),
  fc.constant('say hi'),
  fc.constant('IFS= read -r line; echo "read $line"'),
  fc.constant("set -- p 'q r'"),
  fc.constant('shift'),
  fc.constant('cat <<EOF\n$x "here"\nEOF\n'),
  fc.constant('[[ $x == @(1|2) ]]'),
  fc.constant('nosuchprogram'),
  number.map((value) => `return ${value}`),
  number.map((value) => `x=${value}`),
  number.map((value) => `local x=${value} y`),
  number.map((value) => `y+=${value}`),
  name.map((of) => `${of}() { echo "${of} anew $*"; }`),
  name.map((of) => `unset -f ${of}`),
  name.map((of) => `trap 'echo at the end of ${of}' EXIT`),
);

const calls = fc
  .tuple(
    name,
    fc.constantFrom(
      '@',
      '@ a',
      '@ "$@" \'b c\'',
      'g=@; $g d',
      'g=@; "$g"',
      '(@ sub)',
      '@ | sed "s/^/| /"',
      'y=$(@ subst); echo "$y"',
      'x=5 @ env',
      '@ <<< "in a string"',
      '@ 2>&1 >/dev/null',
      '@ & wait',
      'eval "@ evaluated"',
      '@ || echo "failed $?"',
      'if @; then echo yes; else echo "no $?"; fi',
      '! @',
      'for i in 1 2; do @ "$i"; done',
    ),
  )
  .map(([of, call]) => call.replaceAll('@', of));

const statements = fc.array(fc.oneof({ weight: 2, arbitrary: simple }, calls), {
  minLength: 1,
  maxLength: 5,
});

/** Every function is called some times at most, by whatever way. */
const rcFile = fc
  .tuple(statements, statements, statements, statements, statements)
  .map((bodies) =>
    [
      'shopt -s extglob',
      ...bodies.map(
        (body, at) =>
          `${at === 3 ? 'f-3' : `f${at}`}() {\n((calls++ < 6)) || return 9\n${body.join('\n')}\n}`,
      ),
      'alias say="echo said" cat="cat -n"',
    ].join('\n'),
  );

const prologue = fc.constantFrom('', 'set -e', 'set -u', 'set -f', 'IFS=0123', 'exec 2>&1', 'cd /');
const command = fc
  .tuple(prologue, statements, statements)
  .map(([first, some, others]) => [first, ': start', ...some, ...others].join('\n'));

/** A fault of bash's, for each call that it leaves when it ends: `set -e` with an `eval` in functions. */
const COMPLAINT = /^.*pop_var_context: head of shell_variables not a function context\n/gm;

test('any command does the same with stubs as with functions', async () => {
  await fc.assert(
    fc.asyncProperty(rcFile, command, async (rc, text) => {
      const snapshot = await snapshotOf(rc);
      const [every, stubs, needed] = await Promise.all(
        (['every', 'stubs', 'needed'] as const).map(async (as) => {
          const ending = await snapshot.run(text, as);
          return { ...ending, stderr: ending.stderr.replace(COMPLAINT, '') };
        }),
      );
      expect(stubs).toEqual(every);
      expect(needed).toEqual(every);
    }),
    { numRuns: 60 },
  );
});
