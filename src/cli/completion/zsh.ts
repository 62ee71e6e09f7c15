import type { OfferedCommand } from './tree.js';

type Offered = OfferedCommand['options'][number];

/** Ends a line of a command that goes on. */
const CONTINUED = '\\';

/** Returns the script for zsh. */
export function zshScript(program: OfferedCommand): string {
  const { name, commands } = program;
  const described = commands.map((each) => word(`${each.name}:${each.about}`));
  return `#compdef ${name}
# Completion of ${name} for zsh: source <(${name} completion zsh), or a file _${name} in $fpath.
_${name}() {
  local curcontext=$curcontext state line
  typeset -A opt_args
  _arguments -C \\
${program.options.map((each) => `    ${specOf(each)} ${CONTINUED}`).join('\n')}
    '1: :->command' '*:: :->argument'
  case $state in
    command)
      local -a commands=(${described.join(' ')})
      _describe command commands ;;
    argument)
      case $words[1] in
${commands.map(argumentsOf).join('\n')}
      esac ;;
  esac
}
(( $+functions[compdef] )) && compdef _${name} ${name}
`;
}

function argumentsOf({ name, options, words, commands }: OfferedCommand): string {
  const names = [...words, ...commands.map((each) => each.name)];
  const rest = names.length > 0 ? word(`*: :(${names.join(' ')})`) : word('*::: :_files');
  return `        ${name}) _arguments ${[...options.map(specOf), rest].join(' ')} ;;`;
}

/**
 * Returns the specification of an option: `'(-h --help)'{-h,--help}'[about]'`, or with a value
 * `--cwd=[about]:directory:_files -/`.
 */
function specOf({ names, about, value, valueName, isOptional }: Offered): string {
  const takes = value.kind !== 'none';
  const text = about.replace(/[[\]\\:]/g, '\\$&');
  const action = takes ? `${isOptional ? '::' : ':'}${valueName}:${actionOf(value)}` : '';
  const specs = names.map((name) => `${name}${takes && name.startsWith('--') ? '=' : ''}`);
  if (specs.length === 1) return word(`${specs[0]}[${text}]${action}`);
  return `${word(`(${names.join(' ')})`)}{${specs.join(',')}}${word(`[${text}]${action}`)}`;
}

function actionOf(value: Offered['value']): string {
  switch (value.kind) {
    case 'choice':
      return `(${value.choices.join(' ')})`;
    case 'file':
      return '_files';
    case 'directory':
      return '_files -/';
    default:
      return ' ';
  }
}

function word(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
