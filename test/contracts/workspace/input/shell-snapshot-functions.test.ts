import { readdirSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { WorkspaceOptions } from '../../../../src/index.js';
import { leavesNothingBehind, useFolder } from '../../../support/leftovers.js';
import { answerTo, useWorkspaceTools } from '../../../support/tool.js';

leavesNothingBehind();
const folder = useFolder();
const toolOf = useWorkspaceTools(folder);

const kept = join(tmpdir(), `forkline-${process.getuid?.() ?? userInfo().username}`);

let files = 0;

function toolWith(rc: string, options: Partial<WorkspaceOptions> = {}) {
  files += 1;
  const rcFile = folder.file(`${files}.rc`);
  writeFileSync(rcFile, rc);
  return toolOf({ shellSnapshot: { rcFile }, ...options });
}

/** The output alone. */
async function outputOf(tool: Parameters<typeof answerTo>[0], command: string) {
  return (await answerTo(tool, { command })).split('\n\nWall time')[0];
}

const GREET = 'greet() { echo "hello $1"; }\n';

test('P14: a function is there by its name, by one that is made, and by one in a script', async () => {
  const tool = toolWith(GREET);
  writeFileSync(folder.file('script.sh'), 'greet script\n');
  expect(await outputOf(tool, 'greet you')).toBe('hello you');
  expect(await outputOf(tool, `by=gre; \${by}et name; \${by}et again`)).toBe(
    'hello name\nhello again',
  );
  expect(await outputOf(tool, `. ${folder.file('script.sh')}`)).toBe('hello script');
  expect(await outputOf(tool, `# ${'long '.repeat(10_000)}\ngreet all`)).toBe('hello all');
});

test('P14: a command that can use nothing of a snapshot is run as without one', async () => {
  const tool = toolWith(`${GREET}alias l='echo listed'\n`);
  const depth = 'tr "\\0" "\\n" < /proc/self/environ | grep SHLVL';
  expect(await outputOf(tool, depth)).toBe(await outputOf(toolOf(), depth));
  expect(await outputOf(tool, 'l one && l two')).toBe('listed one\nlisted two');
});

test('a function whose file was removed meanwhile is not found', async () => {
  const tool = toolWith(GREET);
  await tool.execute({ command: 'true' });
  const [name = ''] = readdirSync(kept).filter((one) => one.startsWith(`snapshot-${process.pid}-`));
  const remove = `rm -r ${join(kept, name, 'functions')}`;
  expect(await outputOf(tool, `by=gre; ${remove}; \${by}et 2>/dev/null; echo $?; echo on`)).toBe(
    '127\non',
  );
  expect(await outputOf(tool, 'greet you 2>/dev/null; echo $?')).toBe('127');
});

test('a function that bash cannot read again takes no other with it', async () => {
  const tool = toolWith(`function time { echo time; }\n${GREET}`);
  expect(await outputOf(tool, `greet you; by=gre; \${by}et name`)).toBe('hello you\nhello name');
});

test('in POSIX mode no command ends for a name that this mode does not take', async () => {
  const rc = `${GREET}greet-all() { echo all; }\nset() { echo mine; }\n`;
  const tool = toolWith(rc, { env: { POSIXLY_CORRECT: '1' } });
  expect(await outputOf(tool, `greet you; by=gre; \${by}et name`)).toBe('hello you\nhello name');
});

test('a function is as it was for whatever looks at it', async () => {
  const tool = toolWith(`${GREET}shown() { declare -f "$1"; }\nalias show='declare -f'\n`);
  const shown = 'greet () \n{ \n    echo "hello $1"\n}';
  for (const command of [
    `name=gre; declare -f \${name}et`,
    `name=gre; shown \${name}et`,
    `name=gre; show \${name}et`,
    'set | sed -n "/^greet/,/^}/p"',
  ]) {
    expect(await outputOf(tool, command)).toBe(shown);
  }
  expect(await outputOf(tool, `name=gre; export -f \${name}et; bash -c "greet child"`)).toBe(
    'hello child',
  );
});
