import { Command, Option } from 'commander';
import {
  type BashTool,
  CONTRACT_NAMES,
  type ContractName,
  createBashTool,
  run,
  type ShellOptions,
} from '../index.js';
import type { CallLogFile, HttpOptions, McpService, StdioOptions } from '../mcp/index.js';
import {
  checkBeside,
  collectEnvironment,
  collectVariable,
  parseCount,
  parseOptions,
  parsePort,
  parseSeconds,
} from './arguments.js';
import { BROKER_FLAGS, type BrokerFlags, brokerOf, brokerOptions } from './broker-options.js';
import { contractOptions } from './mcp-tool.js';
import { note } from './notes.js';
import {
  execRulesOption,
  policyOption,
  publishOption,
  reachOption,
  type SandboxFlags,
  sandboxOf,
  sandboxOption,
  secretOption,
  undoOption,
} from './sandbox-flags.js';
import { serveToTheEnd } from './serving.js';
import { exitSoon } from './standard-output.js';

interface McpFlags extends BrokerFlags, SandboxFlags {
  readonly contract: ContractName;
  readonly cwd?: string | undefined;
  /** The limit in milliseconds. */
  readonly timeout?: number | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly inheritEnv?: 'scrubbed' | 'all' | 'none' | undefined;
  readonly options: Readonly<Record<string, unknown>>;
  readonly structured?: boolean | undefined;
  /** The length of an answer's text at most. */
  readonly maxCharacters?: number | undefined;
  readonly log?: string | undefined;
  /** The port; true: any free one. */
  readonly http?: number | true | undefined;
  readonly token?: string | undefined;
  /** The time in milliseconds. */
  readonly idle?: number | undefined;
  /** The addresses of a broker. */
  readonly fleet?: string | undefined;
  readonly label?: Readonly<Record<string, string>> | undefined;
  readonly inbox?: string | undefined;
}

/** The contract for MCP: it has progress, structured results and a directory that stays. */
const DEFAULT_CONTRACT = 'session';

/** Matches the error about a flag that is gone, with a hint that names its opposite. */
const NO_STRUCTURED = /^(error: unknown option '--no-structured')\n.*/;

/** What clients are told of where commands run, with `--fleet`. */
const OF_A_FLEET = [
  "Runs shell commands on a worker of a fleet, another machine than the user's, with the rights of the",
  'worker. Commands read an empty standard input. Cancelling a request ends its command; when the',
  'client goes away, everything that it started ends.',
].join(' ');

const TOKEN_VARIABLE = 'FORKLINE_MCP_TOKEN';

/** Makes `forkline mcp`: serves the shell tool of a contract by MCP. */
export function mcpCommand(): Command {
  const contract = new Option('--contract <name>', 'the contract of the tool');
  const inherit = new Option('--inherit-env <what>', 'variables that commands inherit');
  const command = new Command('mcp')
    .description('Serve the shell tool to an MCP client, on standard input and output')
    .configureOutput({
      outputError: (text, write) =>
        write(text.replace(NO_STRUCTURED, '$1: answers are text alone by default')),
    })
    .addOption(contract.choices(CONTRACT_NAMES).default(DEFAULT_CONTRACT))
    .option('--cwd <directory>', 'where commands run; default: the current directory')
    .option('--timeout <seconds>', 'the timeout of calls that ask for none', parseSeconds)
    .option(
      '--env <name=value>',
      'set a variable for commands; may be repeated',
      collectEnvironment,
    )
    .addOption(inherit.choices(['scrubbed', 'all', 'none']))
    .addOption(sandboxOption())
    .addOption(policyOption())
    .addOption(secretOption())
    .addOption(reachOption())
    .addOption(publishOption())
    .addOption(execRulesOption())
    .addOption(undoOption())
    .option(
      '--options <json>',
      'options of the contract, such as {"async": true}; the options above override them',
      parseOptions,
      {},
    )
    .option('--structured', 'answer with structured results, too, where the tool has them')
    .option(
      '--max-characters <count>',
      'the length of an answer; default: what the client shows a model',
      parseCount,
    )
    .option('--log <file>', 'append calls and their outcomes to a file, as lines of JSON')
    .option('--http [port]', 'serve clients on a port of 127.0.0.1 instead', parsePort)
    .addOption(
      new Option(
        '--token <token>',
        'the token that clients must send, with --http; default: a random one',
      ).env(TOKEN_VARIABLE),
    )
    .option(
      '--idle <seconds>',
      'the time after which a silent client counts as gone, with --http',
      parseSeconds,
    )
    .option('--fleet <url>', 'run commands on the workers of a pool, over a NATS broker')
    .option('--label <name=value>', 'a label of the worker, with --fleet', collectVariable)
    .option('--inbox <name>', 'the word in the subjects of answers, with --fleet');
  for (const option of brokerOptions()) command.addOption(option);
  return command.action(async (flags: McpFlags) => {
    checkBeside(command, 'http', ['token', 'idle'], 'for a server on a port');
    checkBeside(command, 'fleet', ['label', 'inbox', ...BROKER_FLAGS], 'for a fleet');
    process.exitCode = await serve(flags);
    exitSoon();
  });
}

/** Loaded only by this command: no other one needs the protocol's library. */
type Mcp = typeof import('../mcp/index.js');

async function serve(flags: McpFlags): Promise<number> {
  // Commands of the server must not inherit its secret.
  delete process.env[TOKEN_VARIABLE];
  let log: CallLogFile | undefined;
  let place: ToolSource | undefined;
  try {
    return await serveToTheEnd(async () => {
      const mcp = await import('../mcp/index.js');
      if (flags.log !== undefined) log = mcp.openCallLog(flags.log, note);
      place = await openPlace(mcp, flags);
      const { structured, maxCharacters } = flags;
      const instructions = flags.fleet === undefined ? undefined : OF_A_FLEET;
      const shared = { log, structured, maxCharacters, instructions, logger: { warn: note } };
      const service = await start(mcp, flags, place, shared);
      return { closed: service.closed, end: () => service.close() };
    });
  } finally {
    await place?.close();
    await log?.close();
  }
}

/** The place where a client's commands run. */
interface ToolSource {
  readonly createTool: () => Promise<BashTool>;
  readonly close: () => Promise<void>;
}

async function openPlace(mcp: Mcp, flags: McpFlags): Promise<ToolSource> {
  const { contract, options, timeout, fleet: servers, label: labels, maxCharacters } = flags;
  if (servers === undefined) {
    const given = shellOf(flags);
    const onExec = hasRules(given.sandbox ?? options.sandbox) ? { onExec: mcp.askClient } : {};
    const shell = { ...given, ...onExec, logger: { warn: note } };
    const tool = contractOptions(contract, options, shell, timeout, maxCharacters);
    return { createTool: async () => createBashTool(tool), close: async () => {} };
  }
  const { connectFleet } = await import('../fleet/index.js');
  const fleet = await connectFleet({
    ...brokerOf(servers, flags),
    pool: flags.pool,
    inbox: flags.inbox,
  });
  const given = contractOptions(contract, options, givenShell(flags), timeout, maxCharacters);
  return {
    createTool: () => fleet.createLastingTool({ ...given, labels }),
    close: () => fleet.dispose(),
  };
}

/** Whether a sandbox that was asked for has rules for programs; the tool checks them. */
function hasRules(sandbox: unknown): boolean {
  return typeof sandbox === 'object' && sandbox !== null && 'exec' in sandbox;
}

async function start(
  mcp: Mcp,
  flags: McpFlags,
  { createTool }: ToolSource,
  options: StdioOptions & HttpOptions,
): Promise<McpService> {
  // Wrong options, or a fault of this machine, are reported now, to the user who starts the server: a
  // client would only see calls fail.
  await (await createTool()).dispose();
  if (flags.fleet === undefined) {
    // Both are checked by now, with the tool's other options.
    const { cwd, sandbox, undo } = { ...flags.options, ...shellOf(flags) } as Partial<ShellOptions>;
    await run('true', { cwd, sandbox, undo });
  }
  if (flags.http === undefined) {
    if (process.stdin.isTTY) note('waiting for an MCP client on standard input');
    return mcp.serveStdio(await createTool(), options);
  }
  const service = await mcp.serveHttp(createTool, {
    ...options,
    port: flags.http === true ? 0 : flags.http,
    token: flags.token,
    idleMs: flags.idle,
  });
  note(`MCP server at ${service.url}`);
  if (flags.token === undefined) note(`token: ${service.token}`);
  return service;
}

/** Returns the options that have flags of their own; the others come by `--options`. */
function shellOf(flags: McpFlags): Partial<ShellOptions> {
  const { cwd, options } = flags;
  const directory = cwd ?? ('cwd' in options ? undefined : process.cwd());
  return { ...givenShell(flags), ...(directory !== undefined && { cwd: directory }) };
}

/**
 * Returns the same options for a tool on another machine, where this process's directory means nothing.
 */
function givenShell({
  cwd,
  env,
  inheritEnv,
  options,
  undo,
  ...flags
}: McpFlags): Partial<ShellOptions> {
  const sandbox = sandboxOf(flags, options.sandbox);
  return {
    ...(cwd !== undefined && { cwd }),
    ...(env && { env }),
    ...(inheritEnv && { inheritEnv }),
    ...(sandbox && { sandbox }),
    ...(undo && { undo }),
  };
}
