import type { Command, Option } from 'commander';

/** The value of an option. */
type Value =
  | { readonly kind: 'none' }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  | { readonly kind: 'file' | 'directory' }
  /** A number or a name of the user's: there is nothing to offer. */
  | { readonly kind: 'other' };

/** An option of a command, or of the program itself. */
interface OfferedOption {
  /** The names of the option, such as `--help` and `-h`. */
  readonly names: readonly string[];
  readonly about: string;
  readonly value: Value;
  /** The name of the option's value, such as `seconds`. */
  readonly valueName: string;
  /** Whether the value may be left out. */
  readonly isOptional: boolean;
}

/** A command, as its completion describes it. */
export interface OfferedCommand {
  readonly name: string;
  readonly about: string;
  readonly options: readonly OfferedOption[];
  /** Words that the argument may be; empty: there is nothing to offer. */
  readonly words: readonly string[];
  readonly commands: readonly OfferedCommand[];
}

/**
 * Returns the commands and options to complete, from the program's own declaration: nothing is listed
 * twice.
 */
export function offered(command: Command): OfferedCommand {
  const help = command.createHelp();
  return {
    name: command.name(),
    about: command.description(),
    options: help.visibleOptions(command).map(offeredOption),
    words: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    commands: help.visibleCommands(command).map(offered),
  };
}

function offeredOption(option: Option): OfferedOption {
  const names = [option.long, option.short].filter((name) => name != null);
  const valueName = /[<[]([^>\]]+)[>\]]/.exec(option.flags)?.[1] ?? '';
  const { description: about, optional: isOptional } = option;
  return { names, about, value: takenBy(option, valueName), valueName, isOptional };
}

function takenBy({ argChoices }: Option, name: string): Value {
  if (argChoices !== undefined) return { kind: 'choice', choices: argChoices };
  if (name === '') return { kind: 'none' };
  return { kind: name === 'file' || name === 'directory' ? name : 'other' };
}
