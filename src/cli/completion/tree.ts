import type { Command, Option } from 'commander';

/** What may follow an option. */
type Value =
  | { readonly kind: 'none' }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  | { readonly kind: 'file' | 'directory' }
  /** A number, a name of the user's: nothing that could be offered. */
  | { readonly kind: 'other' };

/** An option of a command, or of the program itself. */
interface OfferedOption {
  /** `--help` and `-h`, as far as there are both. */
  readonly names: readonly string[];
  readonly about: string;
  readonly value: Value;
  /** How its value is called, such as `seconds`. */
  readonly valueName: string;
  /** It may be given without its value. */
  readonly isOptional: boolean;
}

/** A command as its completion needs to know it. */
export interface OfferedCommand {
  readonly name: string;
  readonly about: string;
  readonly options: readonly OfferedOption[];
  /** What may stand for its argument; empty: nothing that could be offered. */
  readonly words: readonly string[];
  readonly commands: readonly OfferedCommand[];
}

/** What there is to complete, from the program's own declaration: nothing is listed twice. */
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
