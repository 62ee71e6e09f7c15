import type { CommandOptions } from '../../index.js';
import type { Shell, ShellOutput } from './shell.js';

/** A `shell_call` of the Responses API, as far as it matters here. */
export interface ShellToolCall {
  readonly type: 'shell_call';
  /** The answer has it, too: models know it by that. */
  readonly call_id: string;
  /** What is to be run. */
  readonly action: {
    /** Shell texts, run one after the other, each in a shell of its own. */
    readonly commands: readonly string[];
    /** Time that each command may take. Default: `timeoutMs` of the shell. */
    readonly timeout_ms?: number | null;
    /** Bytes of each stream that are kept. Default: 65,536. */
    readonly max_output_length?: number | null;
  };
}

/** A `local_shell_call` of the Responses API, as far as it matters here. */
export interface LocalShellCall {
  readonly type: 'local_shell_call';
  /** The answer has it, too: models know it by that. */
  readonly call_id: string;
  /** What is to be run. */
  readonly action: {
    /** A program and its arguments, run without a shell. */
    readonly command: readonly string[];
    /** Variables for it, over those of the shell. Default: none. */
    readonly env?: Readonly<Record<string, string>> | null;
    /** Time that it may take. Default: `timeoutMs` of the shell. */
    readonly timeout_ms?: number | null;
    /** Whom to run it as. Refused with exit code 126: commands run as the host's user. */
    readonly user?: string | null;
    /** The directory that it starts in. Default: `cwd` of the shell. */
    readonly working_directory?: string | null;
  };
}

/** The answer to a `shell_call`, for the next request's `input`. */
export interface ShellCallOutput {
  type: 'shell_call_output';
  /** That of the call. */
  call_id: string;
  /** That of the call, in bytes of each stream; absent when it named none. */
  max_output_length?: number;
  /** One for each command that was run; the last is one that timed out, if one has. */
  output: {
    /** Its middle is left out where it is too long; a line says so. */
    stdout: string;
    /** As `stdout`, and after it what the command has left running, with how to end that. */
    stderr: string;
    /** Its exit code (128 and a signal's number), or that its time was up. */
    outcome: { type: 'exit'; exit_code: number } | { type: 'timeout' };
  }[];
}

/** The answer to a `local_shell_call`, for the next request's `input`. */
export interface LocalShellCallOutput {
  type: 'local_shell_call_output';
  /** That of the call. */
  id: string;
  /** That of the call, too. */
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
