import { Command, Option } from 'commander';
import { collectEnvironment, parseSeconds, parseSize, parseUmask } from '../arguments.js';
import { note } from '../notes.js';
import {
  execRulesOption,
  policyOption,
  publishOption,
  reachOption,
  sandboxOption,
  secretOption,
  undoOption,
} from '../sandbox-flags.js';
import { commandText, QUOTE_HINT } from './command-text.js';
import { runDetached } from './run-detached.js';
import { type RunFlags, runOnce } from './run-once.js';

/** Commander's error codes for words that were meant as a command. */
const MEANT_AS_WORDS: readonly string[] = ['commander.unknownOption', 'commander.excessArguments'];

/** Makes `forkline run`: runs one command, and passes on its output and its exit code. */
export function runCommand(): Command {
  return new Command('run')
    .description('Run a shell command; print its output and exit with its exit code')
    .usage("[options] 'COMMAND' | [options] -- PROGRAM [ARGUMENT...]")
    .argument('<command...>', 'text of the command, one argument; or, after --, its words')
    .option('--timeout <seconds>', 'end the command after this time; exit code 124', parseSeconds)
    .option('--cwd <directory>', 'where the command runs; default: here')
    .option('--env <name=value>', 'set a variable; may be repeated', collectEnvironment)
    .option(
      '--max-output <bytes>',
      'print at most so many bytes, from the start and the end (64K, 1M)',
      parseSize,
    )
    .option('--umask <mask>', 'its umask, in octal: 077', parseUmask)
    .option('--spill <file>', 'write all of its output to a file as well')
    .addOption(sandboxOption())
    .addOption(policyOption())
    .addOption(secretOption())
    .addOption(reachOption())
    .addOption(publishOption())
    .addOption(execRulesOption())
    .addOption(undoOption())
    .option('--no-input', 'give the command an empty standard input')
    .option(
      '--pty',
      'run the command on a terminal that takes all of yours; Ctrl-] twice ends it; ' +
        'with --detach: on one that forkline attach shows',
    )
    .option('--json', 'print the result, output included, as one line of JSON')
    .addOption(
      new Option(
        '--detach',
        'only start the command, and print the id that forkline attach takes',
      ).conflicts(['maxOutput', 'spill', 'secret']),
    )
    .option('--keep-input', 'with --detach: give it an input that forkline attach can write to')
    .exitOverride((error) => {
      if (MEANT_AS_WORDS.includes(error.code)) note(QUOTE_HINT);
      throw error;
    })
    .action(async (words: readonly string[], flags: RunFlags, command: Command) => {
      const text = commandText(words, process.argv);
      if (text === undefined) {
        const message = `error: too many arguments for 'run': expected 1, got ${words.length}`;
        command.error(message, { code: 'commander.excessArguments' });
      }
      process.exitCode = await (flags.detach ? runDetached : runOnce)(text, flags);
    });
}
