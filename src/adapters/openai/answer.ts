import type { CommandOptions } from '../../index.js';
import type { Shell, ShellOutput } from './shell.js';

/** A `shell_call` of the Responses API, as far as it matters here. */
export interface ShellToolCall {
  readonly type: 'shell_call';
  readonly call_id: string;
  readonly action: {
    readonly commands: readonly string[];
    readonly timeout_ms?: number | null;
    readonly max_output_length?: number | null;
  };
}

/** A `local_shell_call` of the Responses API, as far as it matters here. */
export interface LocalShellCall {
  readonly type: 'local_shell_call';
  readonly call_id: string;
  readonly action: {
    readonly command: readonly string[];
    readonly env?: Readonly<Record<string, string>> | null;
    readonly timeout_ms?: number | null;
    readonly user?: string | null;
    readonly working_directory?: string | null;
  };
}

/** The answer to a `shell_call`, for the next request's `input`. */
export interface ShellCallOutput {
  type: 'shell_call_output';
  call_id: string;
  max_output_length?: number;
  output: {
    stdout: string;
    stderr: string;
    outcome: { type: 'exit'; exit_code: number } | { type: 'timeout' };
  }[];
}

/** The answer to a `local_shell_call`, for the next request's `input`. */
export interface LocalShellCallOutput {
  type: 'local_shell_call_output';
  /** That of the call. */
  id: string;
  call_id: string;
  /** JSON: `stdout`, `stderr`, and `exit_code` or `timed_out`. */
  output: string;
}

/**
 * Runs what a model of OpenAI's wants run by its own tool, `shell` or `local_shell`.
 *
 * @example
 * for (const item of response.output) {
 *   if (item.type === 'shell_call') input.push(await answerShellCall(shell, item, { signal }));
 * }
 * @throws What the signal was aborted with.
 */
export function answerShellCall(
  shell: Shell,
  call: ShellToolCall,
  options?: Pick<CommandOptions, 'signal'>,
): Promise<ShellCallOutput>;
export function answerShellCall(
  shell: Shell,
  call: LocalShellCall,
  options?: Pick<CommandOptions, 'signal'>,
): Promise<LocalShellCallOutput>;
export async function answerShellCall(
  shell: Shell,
  call: ShellToolCall | LocalShellCall,
  options: Pick<CommandOptions, 'signal'> = {},
): Promise<ShellCallOutput | LocalShellCallOutput> {
  if (call.type === 'local_shell_call') return answerLocal(shell, call, options);
  const { commands, timeout_ms, max_output_length } = call.action;
  const length = max_output_length ?? undefined;
  const asked = { commands, timeoutMs: timeout_ms ?? undefined, maxOutputLength: length };
  const { output } = await shell.run(asked, options);
  return {
    type: 'shell_call_output',
    call_id: call.call_id,
    ...(length !== undefined && { max_output_length: length }),
    output: output.map(({ outcome, ...streams }) => ({
      ...streams,
      outcome: outcome.type === 'exit' ? { type: 'exit', exit_code: outcome.exitCode } : outcome,
    })),
  };
}

async function answerLocal(
  shell: Shell,
  { call_id, action }: LocalShellCall,
  { signal }: Pick<CommandOptions, 'signal'>,
): Promise<LocalShellCallOutput> {
  const { command, env, timeout_ms, working_directory, user } = action;
  const ended: ShellOutput = user
    ? {
        stdout: '',
        stderr: `user: expected none, since commands run as this host's; got "${user}"\n`,
        outcome: { type: 'exit', exitCode: 126 },
      }
    : await shell.runOne(command, {
        cwd: working_directory ?? undefined,
        env: env ?? undefined,
        timeoutMs: timeout_ms ?? undefined,
        signal,
      });
  const { stdout, stderr, outcome } = ended;
  const end = outcome.type === 'exit' ? { exit_code: outcome.exitCode } : { timed_out: true };
  const output = JSON.stringify({ stdout, stderr, ...end });
  return { type: 'local_shell_call_output', id: call_id, call_id, output };
}
