import type { OfferedCommand } from './tree.js';

/** Returns the script for fish. */
export function fishScript(program: OfferedCommand): string {
  const { name, commands } = program;
  const here = '__fish_use_subcommand';
  return [
    `# Completion of ${name} for fish: ${name} completion fish | source`,
    ...optionsOf(name, program, here),
    ...commands.map(
      (each) => `complete -c ${name} -n ${here} -fa ${each.name} -d ${word(each.about)}`,
    ),
    ...commands.flatMap((each) => {
      const after = word(`__fish_seen_subcommand_from ${each.name}`);
      const names = [...each.words, ...each.commands.map((one) => one.name)];
      const words =
        names.length > 0 ? [`complete -c ${name} -n ${after} -fa ${word(names.join(' '))}`] : [];
      return [...words, ...optionsOf(name, each, after)];
    }),
    '',
  ].join('\n');
}

function optionsOf(program: string, { options }: OfferedCommand, when: string): string[] {
  return options.map(({ names, about, value, isOptional }) => {
    const flags = names.map((name) =>
      name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`,
    );
    const takes = isOptional ? '' : takenBy(value);
    return `complete -c ${program} -n ${when} ${flags.join(' ')}${takes} -d ${word(about)}`;
  });
}

function takenBy(value: OfferedCommand['options'][number]['value']): string {
  switch (value.kind) {
    case 'none':
      return ' -f';
    case 'choice':
      return ` -xa ${word(value.choices.join(' '))}`;
    case 'file':
      return ' -rF';
    case 'directory':
      return " -xa '(__fish_complete_directories)'";
    case 'other':
      return ' -x';
  }
}

function word(text: string): string {
  return `'${text.replace(/['\\]/g, '\\$&')}'`;
}
