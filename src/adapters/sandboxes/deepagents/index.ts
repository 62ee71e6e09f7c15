// deepagents takes a backend by its shape: nothing of it is loaded.
import { exitCodeOf, type Outcome, textOf } from '../../../index.js';
import { checkPeer } from '../../../support/peers/check.js';
import { uniqueName } from '../../../support/random.js';
import { LocalMachine } from '../../local-machine/machine.js';
import type { LocalMachineOptions } from '../../local-machine/options.js';
import type { DeepAgentsBackend } from './backend.js';
import { backendFiles } from './files.js';

export type { LocalMachineOptions } from '../../local-machine/options.js';
export type {
  ChangeResult,
  DeepAgentsBackend,
  ExecuteResult,
  FileInfo,
  FilesResult,
  GrepResult,
  ReadRawResult,
  ReadResult,
  TransferError,
} from './backend.js';

checkPeer('forkline/sandboxes/deepagents', import.meta.url);

/**
 * The default limit, in milliseconds: deepagents has no limit of its own for a command, nor a way to
 * stop one.
 */
const DEFAULT_TIMEOUT_MS = 120_000;

/**
 * Makes the local machine a backend of deepagents, with a shell. A command may take 120 seconds, unless
 * `timeoutMs` says otherwise.
 *
 * ```ts
 * const backend = await createBackend({ root: '/work/project' });
 * const agent = createDeepAgent({ model, backend });
 * ```
 *
 * @throws {InputError} An option is not valid.
 * @throws {PathError} The root is no directory.
 */
export async function createBackend(given: LocalMachineOptions = {}): Promise<DeepAgentsBackend> {
  const timeoutMs = given.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const machine = await LocalMachine.open({ ...given, timeoutMs });
  const dispose = (): Promise<void> => machine.dispose();
  return {
    id: `forkline-${uniqueName()}`,
    ...backendFiles(machine.files),
    async execute(command) {
      const { output, outcome } = await machine.run(command);
      return {
        output: textOf(output) + whyEnded(outcome),
        exitCode: exitCodeOf(outcome),
        truncated: output.kind === 'cut',
      };
    },
    dispose,
    [Symbol.asyncDispose]: dispose,
  };
}

function whyEnded(outcome: Outcome): string {
  if (outcome.kind === 'timedOut') return `\n[Timed out after ${outcome.timeoutMs / 1000} s]`;
  return outcome.kind === 'cancelled' ? '\n[Ended from outside]' : '';
}
