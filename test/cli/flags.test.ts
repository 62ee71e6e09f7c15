import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { fleetCommand } from '../../src/cli/fleet-command.js';
import { mcpCommand } from '../../src/cli/mcp-command.js';
import { runCommand } from '../../src/cli/run/run-command.js';
import { schemaCommand } from '../../src/cli/schema-command.js';
import { serveCommand } from '../../src/cli/serve-command.js';
import { read } from '../support/house.js';

/** Commands that have an interface of flags, with its file, and the pages that describe their flags. */
const COMMANDS: readonly (readonly [command: Command, file: string, pages: readonly string[]])[] = [
  [runCommand(), 'src/cli/run/run-once.ts', ['docs/cli.md']],
  [mcpCommand(), 'src/cli/mcp-command.ts', ['docs/mcp.md', 'docs/fleet.md']],
  [serveCommand(), 'src/cli/serve-command.ts', ['docs/fleet.md', 'docs/remote.md']],
  [fleetCommand(), 'src/cli/fleet-command.ts', ['docs/fleet.md']],
  [schemaCommand(), 'src/cli/schema-command.ts', ['docs/cli.md']],
];

const SANDBOX_FLAGS = 'src/cli/sandbox-flags.ts';

/** The fields of the interfaces of flags in these files. */
function fieldsIn(files: readonly string[]): string[] {
  const bodies = files.flatMap((file) => [
    ...read(file).matchAll(/^(?:export )?interface \w+Flags\b[^\n]*\{\n(.*?)^\}/gms),
  ]);
  return bodies.flatMap(([, body = '']) =>
    [...body.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, name = '']) => name),
  );
}

/** The attributes of a command that a function takes out of its flags. */
function takenIn(file: string): string[] {
  const [, names = ''] = /const \{([^}]*)\} = flags;/.exec(read(file)) ?? [];
  return names.split(',').map((name) => name.trim().replace(/:.*/, ''));
}

describe.each(COMMANDS.map(([command, ...rest]) => [command.name(), command, ...rest] as const))(
  'the flags of forkline %s',
  (_, command, file, pages) => {
    const names = command.options.map((option) => option.attributeName());

    test('are the fields of its interface', () => {
      const broker = names.includes('creds') ? ['src/cli/broker-options.ts'] : [];
      const sandbox = names.includes('sandbox') ? [SANDBOX_FLAGS] : [];
      expect(fieldsIn([file, ...broker, ...sandbox]).sort()).toEqual([...names].sort());
    });

    test.each(command.options.map(({ long }) => long))('%s is on a page', (flag) => {
      const told = pages.map(read).join('\n');
      expect(told).toMatch(new RegExp(`${flag}(?![\\w-])`));
    });
  },
);

test('every flag of forkline run is for a detached command too, or in conflict with --detach', () => {
  const { options } = runCommand();
  const detach = options.find((option) => option.attributeName() === 'detach');
  const conflicts: unknown = Reflect.get(detach ?? {}, 'conflictsWith');
  const file = 'src/cli/run/run-detached.ts';
  // They are taken together.
  const sandbox = read(file).includes('sandboxOf(flags)') ? fieldsIn([SANDBOX_FLAGS]) : [];
  const taken = [...takenIn(file), ...sandbox, ...(conflicts as readonly string[])];
  const names = options.map((option) => option.attributeName());
  // A detached command has no input, unless it is to keep one.
  expect(names.filter((name) => !taken.includes(name))).toEqual(['input', 'detach']);
});
