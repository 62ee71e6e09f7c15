import {
  type BashTool,
  type BashToolOf,
  type BashToolOptions,
  type ContractName,
  callOfNow,
  completeTool,
  type ToolCall,
  ToolError,
  type ToolResult,
  toToolError,
} from '../../faces/contracts.js';
import { isMissing } from '../../support/checks.js';
import { InputError } from '../../support/errors.js';
import { inLaterTurn } from '../../support/timing.js';
import { WorkerLostError } from '../errors.js';
import type { FarDefinition, MadeTool } from '../wire/protocol.js';
import { FarArtifacts } from './artifacts.js';
import type { FarFiles } from './files/files.js';
import { filesOfTool } from './files/of-tool.js';
import type { FarLine } from './machine.js';
import { plainOptions } from './plain.js';
import { FarPorts } from './ports/ports.js';
import { FarTasks } from './tasks.js';
import { ToolLine } from './tool-line.js';
import { beginOf, type FarWorkspace } from './workspace/begin.js';
import { beginWorkspace } from './workspace/workspace.js';

type FarToolOptionsOf<Name extends ContractName> = Extract<
  BashToolOptions,
  { readonly contract: Name }
>;

/**
 * Options of a tool on a far side: those of `createBashTool()` that are plain data. All of them may
 * come from a profile there.
 */
export type FarToolOptions<Name extends ContractName> = { readonly contract: Name } & Partial<
  Omit<FarToolOptionsOf<Name>, 'contract'>
> & {
    /** The name of a profile of the far side; options given here override the profile's. */
    readonly profile?: string | undefined;
    /** What the session begins with, in a directory of its own, which is its `cwd` and goes with it. Default: none. */
    readonly workspace?: FarWorkspace | undefined;
  };

/** A tool with files and ports of the machine where it is. */
export interface HasMachine {
  /** Files where the tool is: relative paths begin in its directory, and its sandbox holds, if it was given one. */
  readonly files: FarFiles;
  /** Ports of the machine where the tool is. */
  readonly ports: FarPorts;
}

const INSTEAD = 'put it into a profile of the far side';
const NO_TOOLS =
  'createBashTool: expected a far side with tools, got one that has run() and spawn() alone, as ' +
  'forkline-far: install Node and forkline there, and start `forkline serve --stdio` in its place';

/**
 * Makes a tool on the far side of a line. Its definition and its calls go over the line; its state,
 * directory, tasks and artifacts stay there.
 *
 * @throws {InputError} The far side has no tools, or an option is not valid, or no plain data.
 */
export function createFarTool<Name extends ContractName>(
  line: FarLine,
  given: FarToolOptions<Name>,
): Promise<BashToolOf<Name> & HasMachine> {
  return inLaterTurn(() => makeTool(line, given));
}

async function makeTool<Name extends ContractName>(
  line: FarLine,
  given: FarToolOptions<Name>,
): Promise<BashToolOf<Name> & HasMachine> {
  if (!line.hasTools) throw new InputError(NO_TOOLS);
  const { workspace, ...own } = given;
  const begin = beginOf(workspace);
  if (begin !== undefined && !isMissing(given.cwd)) {
    throw new InputError('cwd: expected nothing beside workspace, which is the directory then');
  }
  const options = plainOptions({ ...own }, INSTEAD);
  const held = begin && (await beginWorkspace(line, begin));
  try {
    const sent = { ...options, ...(held && { cwd: held.path }) };
    const session = new ToolLine(line);
    const made = await session.make(sent);
    const dispose = async (): Promise<void> => {
      await session.dispose();
      await held?.dispose();
    };
    // The far side has made a tool of that contract.
    const tool = toolOf(session, made, dispose) as BashToolOf<ContractName> as BashToolOf<Name>;
    const files = filesOfTool(line, sent, () => session.cwd);
    return Object.assign(tool, { files, ports: new FarPorts(() => line) });
  } catch (error) {
    await held?.dispose();
    throw error;
  }
}

function toolOf(
  session: ToolLine,
  made: MadeTool,
  dispose: () => Promise<void>,
): BashTool & AsyncDisposable {
  const companions = made.companions.map((one) => callable(session, one));
  const byName = new Map(companions.map((one) => [one.name, one]));
  const named = Object.entries(made.named).map(([key, name]) => [key, byName.get(name)]);
  const tasks = made.maxTasks == null ? undefined : new FarTasks(session, made.maxTasks);
  const tool = completeTool<BashTool & AsyncDisposable>({
    ...own(session, made.made),
    ...Object.fromEntries(named),
    companions,
    tasks,
    artifacts: made.hasArtifacts ? new FarArtifacts(session) : undefined,
    dispose,
    [Symbol.asyncDispose]: dispose,
  });
  // Only some tools tell where their next command starts.
  if (made.cwd == null) return tool;
  return Object.defineProperty(tool, 'cwd', { get: () => session.cwd, enumerable: true });
}

function callable(session: ToolLine, definition: FarDefinition): BashTool {
  return completeTool(own(session, definition));
}

/** Returns a tool without the members that `completeTool()` adds. */
function own(
  session: ToolLine,
  definition: FarDefinition,
): Omit<BashTool, 'schema' | 'answer' | 'stream'> {
  return {
    ...definition,
    companions: [],
    async execute(input, given): Promise<ToolResult<unknown>> {
      let call: ToolCall<unknown> | undefined;
      try {
        if (session.isDisposed) throw new ToolError('disposed', 'The bash tool was disposed.');
        call = callOfNow(given, input);
        return await session.execute(definition.name, input, call);
      } catch (error) {
        // A lost worker is told as such even if the call was cancelled: what became of the command is
        // not known.
        throw error instanceof WorkerLostError ? error : toToolError(error, call?.signal);
      }
    },
    async dispose() {},
  };
}
