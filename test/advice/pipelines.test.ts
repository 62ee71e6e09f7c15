import { chmodSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { leavesNothingBehind, useFolder } from '../support/leftovers.js';
import { ask, CONTRACT_NAMES, said, useTools } from './answers.js';

leavesNothingBehind();
const folder = useFolder();
const makeTool = useTools(folder);

/** Prints far more than a pipe holds, so that a reader that stops early ends it. */
const SUITE = './suite';
const SCRIPT = `#!/bin/sh
i=0
while [ $i -lt 20000 ]; do i=$((i + 1)); echo "$i 5"; done
echo 1 failed
exit 3
`;
beforeAll(() => {
  writeFileSync(folder.file('suite'), SCRIPT);
  chmodSync(folder.file('suite'), 0o755);
});

const PREFIX = /For that one, begin the command with: (set .*;)/;
const FILE = /send its output to a file in place of the pipe: (>FILE 2>&1)/;
const AFTER = /For that one, put right after the pipeline: (; echo \$\{\S+\})/;
const IN_PLACE = /For that one, use (\$\{\S+\}) in its place/;

/** Follows an advice: gives the command that it asks for. */
type Follow = (text: string, command: string) => string;
const begin: Follow = (text, command) => `${said(text, PREFIX)} ${command}`;
const append: Follow = (text, command) => `${command}${said(text, AFTER)}`;
const replace: Follow = (text, command) => command.replace('$?', said(text, IN_PLACE));
/** In place of the pipe, and of all that it goes through. */
const toFile: Follow = (text, command) =>
  command.replace(
    / 2>&1 \|(?:'[^']*'|\|(?!\|)|[^;&)'|])*/,
    ` ${said(text, FILE).replace('FILE', 'out')} `,
  );

describe.each(CONTRACT_NAMES)('%s: followed literally', (contract) => {
  test.each([
    [`${SUITE} 2>&1 | tail -n 1`, 'tail', begin],
    [`${SUITE} 2>&1 | sort | uniq -c | tail -n 1`, 'tail', begin],
    [`${SUITE} 2>&1 | tee log | wc -l`, 'wc', begin],
    [`(cd . && ${SUITE} 2>&1 | tail -n 1)`, 'tail', begin],
    [`${SUITE} 2>&1 | head -n 1`, 'head', toFile],
    [`${SUITE} 2>&1 | sed 5q`, 'sed', toFile],
    [`${SUITE} 2>&1 | sed -n '1,5p;5q'`, 'sed', toFile],
    [`${SUITE} 2>&1 | awk 'NR>5{exit}'`, 'awk', toFile],
    [`${SUITE} 2>&1 | grep -q 5`, 'grep', toFile],
    [`${SUITE} 2>&1 | grep -m1 5`, 'grep', toFile],
    [`${SUITE} 2>&1 | head -n 9 | tail -n 1`, 'tail', toFile],
    [`timeout 60 ${SUITE} 2>&1 | tail -n 1`, 'tail', begin],
  ] as const)('W5: %s', async (command, reader, follow) => {
    const tool = makeTool(contract);
    const { text } = await ask(tool, { command });
    expect(text).toContain(`Exit code 0 is that of ${reader}, not of ./suite. `);
    const followed = await ask(tool, { command: follow(text, command) });
    expect(followed).toMatchObject({ exitCode: 3 });
    expect(followed.text).not.toContain('Exit code 0 is that');
  });

  test.each(['failed', 'nothing', '-v 7'])('W5: %s for grep', async (pattern) => {
    const tool = makeTool(contract);
    const command = `${SUITE} 2>&1 | grep -c ${pattern}`;
    const { text } = await ask(tool, { command });
    const followed = await ask(tool, { command: append(text, command) });
    expect(followed.text).toMatch(/^\d+\n3\b/);
  });

  test.each([
    [`${SUITE} 2>&1 | tail -n 1; echo "exit: $?"`, begin, 'exit: 3'],
    [`${SUITE} 2>&1 | grep -c 5; echo "exit: $?"`, replace, 'exit: 3'],
    [`${SUITE} 2>&1 | head -n 1; echo "exit: $?"`, toFile, 'exit: 3'],
    [`(${SUITE} 2>&1 | tail -n 1); echo "exit: $?"`, begin, 'exit: 3'],
    [`${SUITE} 2>&1 | tail -n 1; [ $? -eq 0 ] && echo OK || echo bad`, begin, 'bad'],
    [`${SUITE} 2>&1 | tail -n 1 || echo bad`, begin, 'bad'],
    [`${SUITE} 2>&1 | head -n 1 || echo bad`, toFile, 'bad'],
    [`if ${SUITE} 2>&1 | tail -n 1; then echo OK; else echo bad; fi`, begin, 'bad'],
    [`if ! ${SUITE} 2>&1 | tail; then echo bad; fi`, begin, 'bad'],
  ] as const)('W10: %s', async (command, follow, expected) => {
    const tool = makeTool(contract);
    const { text } = await ask(tool, { command });
    expect(text).toMatch(/`(?:\$\?|\|\||if)`.* the exit code of \w+, not of \.\/suite\. For that/);
    expect(text).not.toContain(expected);
    const followed = await ask(tool, { command: follow(text, command) });
    expect(followed.text).toContain(expected);
    expect(followed.text).not.toContain('the exit code of');
  });

  test('W10: && after a filter', async () => {
    const tool = makeTool(contract);
    const command = `${SUITE} 2>&1 | tail -n 1 && echo BUILD OK`;
    const { text } = await ask(tool, { command });
    expect(text).toContain('BUILD OK');
    expect(text).toContain(
      '`&&` after the pipeline goes by the exit code of tail, not of ./suite.',
    );
    const followed = await ask(tool, { command: begin(text, command) });
    expect(followed).toMatchObject({ exitCode: 3 });
    expect(followed.text).not.toContain('BUILD OK');
  });

  test.each([
    [`set -o pipefail; ${SUITE} 2>&1 | head -n 1`, 3],
    [`${SUITE} 2>&1 | head -n 1; exit \${PIPESTATUS[0]}`, 3],
    [`${SUITE} 2>&1 | head -n 1; echo \${PIPESTATUS[0]}`, 3],
  ])('W5: 141 is explained: %s', async (command, code) => {
    const tool = makeTool(contract);
    const { text } = await ask(tool, { command });
    expect(text.match(/Exit code 141 means SIGPIPE: /g)).toHaveLength(1);
    const followed = await ask(tool, { command: toFile(text, command) });
    expect(followed.text).not.toContain('141');
    expect([followed.exitCode, followed.text]).toContainEqual(
      command.includes('echo') ? expect.stringContaining(String(code)) : code,
    );
  });
});

test('W5: a persistent shell with pipefail explains 141 too', async () => {
  const tool = makeTool('session', { persistent: true });
  await ask(tool, { command: 'set -o pipefail' });
  const { text } = await ask(tool, { command: `${SUITE} 2>&1 | head -n 1` });
  expect(text).toContain('Exit code 141 means SIGPIPE: ');
  expect((await ask(tool, { command: 'echo 141' })).text).not.toContain('SIGPIPE');
});
