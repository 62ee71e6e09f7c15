import { expect, test } from 'vitest';
import { leavesNothingBehind, useFolder } from '../../../support/leftovers.js';
import { failureOf } from '../../../support/results.js';
import { textOf, useWorkspaceTools } from '../../../support/tool.js';

leavesNothingBehind();
const folder = useFolder();
const newTool = useWorkspaceTools(folder);

/** A program of that name which prints noise, then a line of the same kind, and goes on as it is told. */
const hanging = (name: string, noise: string, last: string, then: string) =>
  `${name}() { for i in $(seq 40); do echo "${noise} $i"; done; echo "${last}"; ${then}; }; ${name}`;

const LOCK = '    Blocking waiting for file lock on build directory';
const cargo = (then: string) => hanging('cargo', '   Compiling part v1.0', LOCK, then);
const go = (then: string) => hanging('go', '--- PASS: TestPart', '=== RUN   TestHangs', then);
const apt = (then: string) =>
  hanging('apt-get', 'Unpacking part (1.0)', 'Setting up tzdata (2024a) ...', then);

/** The message of what a call fails with. */
const messageOf = async (call: Promise<unknown>) => ((await failureOf(call)) as Error).message;

const LEFT_OUT = /^\[… 31 lines left out: .* …\]\n/;

test.each([
  ['cargo', cargo, LOCK],
  ['go', go, '=== RUN   TestHangs'],
  ['apt-get', apt, 'Setting up tzdata (2024a) ...'],
] as const)('W3: a timeout shows what %s was at', async (_, command, last) => {
  const tool = newTool({ minimizer: true });
  const message = await messageOf(tool.execute({ command: command('sleep 60'), timeout: 1 }));
  expect(message).toMatch(LEFT_OUT);
  expect(message).toContain(`\n${last}\n\n`);
});

test('W3: so does a cancellation', async () => {
  const tool = newTool({ minimizer: true });
  const controller = new AbortController();
  const options = {
    signal: controller.signal,
    onOutput: ({ text }: { readonly text: string }) => {
      if (text.includes('Blocking')) controller.abort();
    },
  };
  const message = await messageOf(tool.execute({ command: cargo('sleep 60') }, options));
  expect(message).toMatch(LEFT_OUT);
  expect(message).toContain(`\n${LOCK}\n\n`);
});

test('W3: so does a signal', async () => {
  const tool = newTool({ minimizer: true });
  const message = await messageOf(tool.execute({ command: cargo('kill -9 $$') }));
  expect(message).toMatch(LEFT_OUT);
  expect(message).toContain(`\n${LOCK}\n\n`);
});

test('W3: so does a job that fails, and one that ended well does not', async () => {
  const tool = newTool({ minimizer: true, async: true });
  await tool.execute({ command: cargo('exit 3'), async: true });
  await tool.execute({ command: cargo('true'), async: true });
  const failed = await tool.job?.execute({ poll: ['bg_1'] });
  expect(failed && textOf(failed)).toContain(`\n${LOCK}\n\n`);
  const ended = await tool.job?.execute({ poll: ['bg_2'] });
  expect(ended && textOf(ended)).toMatch(/\[… 41 lines left out: crates \(40\), waits \(1\) …\]/);
});

test('W3: of an output in two parts, the last lines are those of the end', async () => {
  const tool = newTool({
    minimizer: { maxInputBytes: 2000 },
    headBytes: 1000,
    tailBytes: 1000,
  });
  const command = hanging(
    'cargo',
    '   Compiling part v1.0',
    LOCK,
    'for i in $(seq 9); do echo $i; done; exit 1',
  );
  const text = textOf(await tool.execute({ command: command.replace('seq 40', 'seq 400') }));
  // The beginning ends where the output goes on.
  expect(text).toMatch(/^\[… \d+ lines left out: crates …\]\n\[… [\d,]+ lines elided/);
  expect(text).toContain(`${LOCK}\n1\n2\n`);
});

test('W4: marks of success of what is no test are shown', async () => {
  const lines = [
    '✔ Service deployed to stack shop (214s)',
    '✓ Production: https://shop.example.com [12s]',
  ];
  const tool = newTool({ minimizer: true });
  const prints = lines.map((line) => `echo '${line}'`).join('; ');
  const repeated = `npm() { for i in $(seq 9); do ${prints}; echo "step $i"; done; }; npm run deploy`;
  const text = textOf(await tool.execute({ command: repeated }));
  expect(text).not.toContain('left out');
  expect(text).toContain(lines.join('\n'));
});
