import { Command, Option } from 'commander';
import {
  TOOL_FORMAT_NAMES,
  TOOL_FORMATS,
  type ToolDefinition,
  type ToolFormat,
  toolsOf,
} from '../adapters/index.js';
import {
  type BashToolOptions,
  CONTRACT_NAMES,
  type ContractName,
  createBashTool,
  InputError,
} from '../index.js';
import { parseOptions } from './arguments.js';
import { USAGE_ERROR } from './exit-code.js';
import { note } from './notes.js';
import { expectOutputErrors, writeOrTell } from './standard-output.js';

interface SchemaFlags {
  readonly contract: ContractName;
  readonly format?: ToolFormat | undefined;
  readonly options: Readonly<Record<string, unknown>>;
}

/** Makes `forkline schema`: prints how a contract's tools are described to a model API. */
export function schemaCommand(): Command {
  return new Command('schema')
    .description("Print the definitions of a contract's tools as JSON, for model APIs")
    .addOption(
      new Option('--contract <name>', 'the tool interface')
        .choices(CONTRACT_NAMES)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option('--format <name>', 'one API, as an array; default: an object of all').choices(
        TOOL_FORMAT_NAMES,
      ),
    )
    .option(
      '--options <json>',
      'options of the contract that change the definitions, such as {"cwd": "/srv/project"}',
      parseOptions,
      {},
    )
    .action(async (flags: SchemaFlags) => {
      process.exitCode = await printDefinitions(flags);
    });
}

async function printDefinitions({ contract, format, options }: SchemaFlags): Promise<number> {
  expectOutputErrors();
  try {
    const definitions = await describe(contract, options);
    const chosen = format === undefined ? definitions : definitions[format];
    return (await writeOrTell(`${JSON.stringify(chosen, null, 2)}\n`)) ? 0 : 1;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    note(error.message);
    return USAGE_ERROR;
  }
}

async function describe(
  contract: ContractName,
  options: SchemaFlags['options'],
): Promise<Readonly<Record<string, readonly object[]>>> {
  // `createBashTool()` checks the options; the type of the union does not tell which contract they
  // belong to.
  const given = { cwd: process.cwd(), ...options, contract } as BashToolOptions;
  const tool = createBashTool(given);
  try {
    const tools = toolsOf(tool);
    const formats: [string, (tool: ToolDefinition) => object][] = Object.entries(TOOL_FORMATS);
    return Object.fromEntries(formats.map(([name, shape]) => [name, tools.map(shape)]));
  } finally {
    await tool.dispose();
  }
}
