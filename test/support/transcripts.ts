import type { SessionOptions, SessionTool } from '../../src/index.js';
import { textOf } from './tool.js';

/** What a model and its tools say, as the model sees it: with a name for ids and files, and long output shortened. */
export function conversation(
  newSession: (options?: Partial<SessionOptions>) => SessionTool,
  directory: string,
  options: Partial<SessionOptions> = {},
) {
  const bash = newSession(options);
  const tools = {
    bash,
    task_output: bash.taskOutput,
    write_task: bash.writeTask,
    kill_task: bash.killTask,
  };
  const said: string[] = [];
  let task = '';
  const call = async (name: keyof typeof tools, input: object): Promise<string> => {
    const asked = name === 'bash' ? input : { task_id: task, ...input };
    const text = textOf(await tools[name].execute(asked));
    task = /task_id: (task_\w+)/.exec(text)?.[1] ?? task;
    said.push(
      `> ${name} ${Object.values(input).join(' ')}`.trimEnd(),
      ...shorten(text.replaceAll(task, 'ID')),
      '',
    );
    return text;
  };
  const transcript = (): string =>
    said
      .join('\n')
      .replaceAll(/\/\S+\.bash\.log/g, 'FILE')
      .replaceAll(directory, '.')
      .replaceAll(/\b\d+ \(/g, 'PID (')
      .replaceAll(/-- -\d+/g, '-- -PID')
      .replaceAll(/nothing for [\d.]+ seconds?/g, 'nothing for N seconds');
  /** Lets time pass, unseen by the model. */
  const pass = async (seconds: number) => bash.execute({ command: `sleep ${seconds}` });
  return { call, pass, transcript };
}

/** Leaves out the middle of output. */
function shorten(text: string): string[] {
  const lines = text.split('\n');
  return lines.length < 20 ? lines : [...lines.slice(0, 7), '(…)', ...lines.slice(-6)];
}
