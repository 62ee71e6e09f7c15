// AI SDK 7 takes a session by its shape: nothing of it is loaded.
import { checkPeer } from '../../../support/peers/check.js';
import { LocalMachine } from '../../local-machine/machine.js';
import type { LocalMachineOptions } from '../../local-machine/options.js';
import { runSandboxed, startSandboxed } from './commands.js';
import { sessionFiles } from './files.js';
import type { SandboxSession } from './session.js';

export { PathError, type PathErrorKind } from '../../local-machine/files/path-error.js';
export type { LocalMachineOptions } from '../../local-machine/options.js';
export type {
  SandboxCommand,
  SandboxDirectoryEntry,
  SandboxFileStat,
  SandboxPath,
  SandboxProcess,
  SandboxReadText,
  SandboxRunResult,
  SandboxSession,
  SandboxSpawn,
  SandboxWrite,
  WritableSandboxProcess,
} from './session.js';

checkPeer('forkline/sandboxes/ai-sdk', import.meta.url);

/**
 * Makes the local machine a sandbox session of AI SDK 7.
 *
 * ```ts
 * const sandbox = await createSandboxSession({ root: '/work/project' });
 * await generateText({ model, prompt, tools, experimental_sandbox: sandbox });
 * await sandbox.dispose();
 * ```
 *
 * @throws {InputError} An option is not valid.
 * @throws {PathError} The root is no directory.
 */
export async function createSandboxSession(options?: LocalMachineOptions): Promise<SandboxSession> {
  const machine = await LocalMachine.open(options);
  const dispose = (): Promise<void> => machine.dispose();
  return {
    description: describe(machine),
    ...sessionFiles(machine.files),
    run: (command) => runSandboxed(machine, command),
    // The overloads of the type cannot be expressed here: there is a stdin if one was asked for.
    spawn: ((command) => startSandboxed(machine, command)) as SandboxSession['spawn'],
    dispose,
    [Symbol.asyncDispose]: dispose,
  };
}

function describe({ root, isConfined }: LocalMachine): string {
  return [
    `Commands run in bash on this machine (${process.platform} ${process.arch}).`,
    `Each starts in ${root}, and files can be read and written there and below.`,
    isConfined ? 'Commands are confined by a sandbox.' : 'Commands are not confined.',
  ].join(' ');
}
