import { Argument, Command } from 'commander';
import { expectOutputErrors, writeOrTell } from '../standard-output.js';
import { bashScript } from './bash.js';
import { fishScript } from './fish.js';
import { type OfferedCommand, offered } from './tree.js';
import { zshScript } from './zsh.js';

type CompletionShell = 'bash' | 'zsh' | 'fish';

const SCRIPTS: Readonly<Record<CompletionShell, (program: OfferedCommand) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/**
 * Makes `forkline completion`: prints the script by which a shell completes the words of this program.
 */
export function completionCommand(): Command {
  return new Command('completion')
    .description('Print a script that makes a shell complete the words of forkline')
    .addArgument(new Argument('<shell>', 'which shell').choices(Object.keys(SCRIPTS)))
    .action(async (shell: CompletionShell, _flags: object, command: Command) => {
      expectOutputErrors();
      const script = SCRIPTS[shell](offered(command.parent ?? command));
      process.exitCode = (await writeOrTell(script)) ? 0 : 1;
    });
}
