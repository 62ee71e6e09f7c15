import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { MergedResult } from '../../../src/index.js';
import { leavesNothingBehind } from '../../support/leftovers.js';
import { ROOT, where } from '../../support/needs.js';
import { as, makeScene, useScenes } from '../../support/sandbox.js';

// What a process has become is not seen by others if its user may execute the file and not read it.
leavesNothingBehind(4);
const scenes = useScenes();
const INDEX = fileURLToPath(new URL('../../../dist/index.js', import.meta.url));

test(
  'a program that can not be read is denied, and runs where nothing may be denied',
  where(ROOT),
  () => {
    const { work, outside, home } = makeScene(scenes.path, 'an ordinary user');
    const shell = join(outside, 'shell');
    copyFileSync('/bin/sh', shell);
    chmodSync(shell, 0o711);
    const runAs = (exec: object): MergedResult => {
      const options = { cwd: work, sandbox: { exec } };
      const script = `import { run } from ${JSON.stringify(INDEX)};
const result = await run("${shell} -c '/bin/echo in'; echo $?", ${JSON.stringify(options)});
console.log(JSON.stringify(result));`;
      const [program = '', ...argv] = as('an ordinary user');
      const node = [process.execPath, '--input-type=module', '-e', script];
      const env = { ...process.env, HOME: home };
      return JSON.parse(execFileSync(program, [...argv, ...node], { env, encoding: 'utf8' }));
    };
    const judged = runAs({ rules: [{ argv: ['denied'], answer: 'deny' }] });
    expect(judged.output).toMatchObject({
      text: expect.stringMatching(/Permission denied\n126\n$/),
    });
    expect(judged.executed).toMatchObject([{ decision: 'deny', why: 'unread' }]);
    expect(runAs({ record: true }).output).toMatchObject({ text: 'in\n0\n' });
  },
);
