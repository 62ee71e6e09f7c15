import type { OfferedCommand } from './tree.js';

/** Returns the script for bash, which offers words without a description. */
export function bashScript(program: OfferedCommand): string {
  const { name, commands } = program;
  return `# Completion of ${name} for bash: eval "$(${name} completion bash)"
_${name}() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} command= words= index
  # Of --name=value, bash makes three words.
  if [[ $current == = ]]; then current=
  elif [[ $before == = ]]; then before=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  for ((index = 1; index < COMP_CWORD; index++)); do
    case \${COMP_WORDS[index]} in
      --) return ;;
      ${commands.map((each) => each.name).join('|')}) [[ $command ]] || command=\${COMP_WORDS[index]} ;;
    esac
  done
  local IFS=$'\\n'
  case $command:$before in
${[...valuesOf(program, ''), ...commands.flatMap((each) => valuesOf(each, each.name))].join('\n')}
  esac
  case $command in
${wordsOf(program, "''")}
${commands.map((each) => wordsOf(each, each.name)).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _${name} ${name}
`;
}

/** Returns the values of the options that take one. */
function valuesOf({ options }: OfferedCommand, command: string): string[] {
  const lines = options.flatMap(({ names, value, isOptional }) => {
    if (value.kind === 'none' || isOptional) return [];
    const pattern = names.map((each) => `${command}:${each}`).join('|');
    switch (value.kind) {
      case 'choice':
        return [`${pattern}) ${reply(`-W ${words(value.choices)}`)}; return`];
      case 'file':
        return [`${pattern}) compopt -o filenames; ${reply('-f')}; return`];
      case 'directory':
        return [`${pattern}) compopt -o filenames; ${reply('-d')}; return`];
      default:
        return [`${pattern}) compopt +o default; return`];
    }
  });
  return lines.map((line) => `    ${line} ;;`);
}

function reply(what: string): string {
  return `COMPREPLY=($(compgen ${what} -- "$current"))`;
}

function wordsOf(command: OfferedCommand, pattern: string): string {
  const all = [
    ...command.commands.map(({ name }) => name),
    ...command.words,
    ...command.options.flatMap(({ names }) => names),
  ];
  return `    ${pattern}) words=${words(all)} ;;`;
}

/** Joins names: forkline's own need no quoting. */
function words(names: readonly string[]): string {
  return `$'${names.join('\\n')}'`;
}
