// An agent's loop with forkline's shell as its tools. The model here is a script, so that the example runs
// anywhere: replace `Model` by a call to your model's API.
//
//     npx tsc -p examples && node examples/build/agent.js
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BashTool, createBashTool, ToolAbortError, ToolError } from 'forkline';

/** A model's answer: a call of a tool, or its final text. */
type Turn =
  | { readonly kind: 'call'; readonly tool: string; readonly input: unknown }
  | { readonly kind: 'say'; readonly text: string };

/** The result of a call, as the model reads it. */
interface Answer {
  readonly text: string;
  readonly isError: boolean;
}

/** Replaces a model: gets the answer to its last call, and decides what comes next. */
type Model = (last: Answer | undefined) => Turn;

const call = (tool: string, input: object): Turn => ({ kind: 'call', tool, input });
const bash = (command: string, more: object = {}): Turn => call('bash', { command, ...more });

const PROGRAM = `export const sum = (a, b) => a - b;
`;

const TEST = `import { strictEqual } from 'node:assert';
import { sum } from './sum.mjs';
strictEqual(sum(2, 3), 5);
console.log('ok');
`;

/** Finds a bug and fixes it, while a job runs in the background. */
function* script(): Generator<Turn, Turn, Answer | undefined> {
  yield bash(`cat > sum.mjs <<'END'\n${PROGRAM}END\ncat > test.mjs <<'END'\n${TEST}END`);
  const failed = yield bash('node test.mjs');
  if (!failed?.isError) return { kind: 'say', text: 'There is nothing to mend.' };
  yield bash("sed -i 's/a - b/a + b/' sum.mjs && node test.mjs");
  yield bash('sleep 0.2; echo built', { async: true });
  yield bash('seq 1 30000');
  yield bash('tail -n 1 artifact://0');
  yield bash('sleep 60', { timeout: 1 });
  yield bash('cat /no/such/file', { cwd: 'no/such/directory' });
  yield call('job', { poll: ['bg_1'] });
  return { kind: 'say', text: 'sum() was subtracting; it adds now, and its test passes.' };
}

function scripted(): Model {
  const turns = script();
  return (last) => turns.next(last).value;
}

/** Calls a tool for the model, which also reads the error of a failed call. */
async function answer(tool: BashTool, input: unknown, signal: AbortSignal): Promise<Answer> {
  try {
    const { content, isError = false } = await tool.execute(input, { signal });
    return { text: content.map(({ text }) => text).join(''), isError };
  } catch (error) {
    // The agent was stopped, which the model need not know.
    if (error instanceof ToolAbortError) throw error;
    if (error instanceof ToolError) return { text: error.message, isError: true };
    throw error;
  }
}

const MOST_SHOWN = 6;

/** Returns the last lines of a text, indented. */
const shown = (text: string): string =>
  text
    .split('\n')
    .slice(-MOST_SHOWN)
    .join('\n')
    .replace(/^(?=.)/gm, '    ');

async function converse(model: Model, tools: readonly BashTool[], signal: AbortSignal) {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  let turn = model(undefined);
  while (turn.kind === 'call') {
    console.log(`${turn.tool} ${JSON.stringify(turn.input)}`);
    const tool = byName.get(turn.tool);
    const last: Answer =
      tool === undefined
        ? { text: `There is no tool named ${turn.tool}.`, isError: true }
        : await answer(tool, turn.input, signal);
    console.log(`${shown(last.text)}\n${last.isError ? '    (error)\n' : ''}`);
    turn = model(last);
  }
  console.log(turn.text);
}

const workspace = await mkdtemp(join(tmpdir(), 'forkline-example-'));
const tool = createBashTool({ contract: 'workspace', cwd: workspace, async: true });
const stop = new AbortController();
process.once('SIGINT', () => stop.abort());
try {
  await converse(scripted(), [tool, ...tool.companions], stop.signal);
} finally {
  await tool.dispose(); // ends whatever the commands left running
  await rm(workspace, { recursive: true });
}
