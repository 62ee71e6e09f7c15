import type { CommandOptions } from '../../index.js';
import type { Shell, ShellOutput } from './shell.js';

/** A `shell_call` of the Responses API, with the fields that are used here. */
export interface ShellToolCall {
  readonly type: 'shell_call';
  /** The call's id; the answer has it, too. */
  readonly call_id: string;
  /** The commands to run. */
  readonly action: {
    /** Shell texts, run one after the other, each in a shell of its own. */
    readonly commands: readonly string[];
    /** The limit of each command, in milliseconds. Default: `timeoutMs` of the shell. */
    readonly timeout_ms?: number | null;
    /** Bytes of each stream that are kept. Default: 65,536. */
    readonly max_output_length?: number | null;
  };
}

/** A `local_shell_call` of the Responses API, with the fields that are used here. */
export interface LocalShellCall {
  readonly type: 'local_shell_call';
  /** The call's id; the answer has it, too. */
  readonly call_id: string;
  /** The command to run. */
  readonly action: {
    /** A program and its arguments, run without a shell. */
    readonly command: readonly string[];
    /** Variables for the command; they override those of the shell. Default: none. */
    readonly env?: Readonly<Record<string, string>> | null;
    /** The limit of the command, in milliseconds. Default: `timeoutMs` of the shell. */
    readonly timeout_ms?: number | null;
    /**
     * The user to run the command as. Refused with exit code 126: commands run as the host's user.
     */
    readonly user?: string | null;
    /** The directory where the command starts. Default: `cwd` of the shell. */
    readonly working_directory?: string | null;
  };
}

/** The answer to a `shell_call`, for the next request's `input`. */
export interface ShellCallOutput {
  type: 'shell_call_output';
  /** The call's id. */
  call_id: string;
  /** The call's limit, in bytes of each stream; absent if the call had none. */
  max_output_length?: number;
  /** The output of each command that was run; the last is one that timed out, if one has. */
  output: {
    /** The output; if it is too long, the middle is left out and a line says so. */
    stdout: string;
    /**
     * The error output, shortened as `stdout`; then what the command has left running, with how to end
     * that.
     */
    stderr: string;
    /** The exit code (128 and a signal's number), or that the command has timed out. */
    outcome: { type: 'exit'; exit_code: number } | { type: 'timeout' };
  }[];
}

/** The answer to a `local_shell_call`, for the next request's `input`. */
export interface LocalShellCallOutput {
  type: 'local_shell_call_output';
  /** The call's id. */
  id: string;
  /** The call's id once more. */
  call_id: string;
  /** JSON: `stdout`, `stderr`, and `exit_code` or `timed_out`. */
  output: string;
}

/**
 * Runs a call that a model of OpenAI's makes of its own tool, `shell` or `local_shell`.
 *
 * @example
 * for (const item of response.output) {
 *   if (item.type === 'shell_call') input.push(await answerShellCall(shell, item, { signal }));
 * }
 * @throws The reason of the signal.
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
