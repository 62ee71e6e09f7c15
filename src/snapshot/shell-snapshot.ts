import { constants } from 'node:fs';
import { access, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  makeTemporaryDirectory,
  removeTemporaryDirectory,
} from '../artifacts/temporary-directory.js';
import { execute } from '../command/execute.js';
import { createOwner, type Owner } from '../engine/owner.js';
import type { SandboxPolicy } from '../sandbox/policy.js';
import { isShellVariable, runsCodeFirst } from '../shell/variables.js';
import { messageOf } from '../support/errors.js';
import {
  type CapturedShell,
  captureCommand,
  parseCapture,
  readBackCommand,
} from './capture-script.js';
import { EVERY, FUNCTIONS, filesForAll } from './function-files.js';
import { keptFunctions } from './kept-functions.js';
import { declarationsOf, keptVariables } from './kept-variables.js';
import { NeededFunctions } from './needed-functions.js';
import { readableFunctions, readableVariables } from './read-back.js';
import {
  allowsStubs,
  changedOptions,
  keptAliases,
  snapshotText,
  withSnapshot,
} from './snapshot-text.js';
import { UnaffectedCommands } from './unaffected-commands.js';

/** Settings for making a snapshot. */
interface SnapshotSource {
  /** Absolute path of the rc file. */
  readonly rcFile: string;
  readonly timeoutMs: number;
  /** The environment block for the rc file. */
  readonly environment: () => string;
  readonly shell: readonly string[] | undefined;
  /** The sandbox in which the rc file is read, and in which the snapshot's directory is visible. */
  readonly sandboxWith: (directory: string) => SandboxPolicy | undefined;
  /** Returns whether commands may have a variable that the rc file has set; by name and declaration. */
  readonly mayKeep: (name: string, declaration: string) => boolean;
}

type GivenVariables = Readonly<Record<string, string | undefined>> | undefined;

/** A snapshot that commands can use. */
export interface ReadySnapshot {
  /** The snapshot's directory, which shells read. */
  readonly directory: string;
  /**
   * Returns the text that a shell is given for a command.
   *
   * @param variables Variables that the tool's owner and the call have set.
   */
  readonly textFor: (command: string, variables: GivenVariables) => string;
  /** `PATH` after the rc file. */
  readonly path: string;
  /** Variables that the rc file has exported. */
  readonly exported: Readonly<Record<string, string>>;
  /** Whether `pipefail` is set: a pipeline fails when any of its programs does. */
  readonly pipefail: boolean;
}

const PREFIX = 'snapshot-';
const MAX_AGE_MS = 7 * 24 * 3600 * 1000;
const MAX_DUMP_BYTES = 8 * 1024 * 1024;
/** A short grace period: an interactive bash ignores SIGTERM, and its children need no more. */
const GRACE_MS = 50;

/**
 * The state that a user's rc file leaves in an interactive bash, kept in files. It is captured once, when
 * it is first needed. If that fails there is no snapshot, and one warning.
 */
export class ShellSnapshot {
  readonly #source: SnapshotSource;
  readonly #warn: (message: string) => void;
  /**
   * Owner of the running command: processes that the rc file starts, such as a key agent, are ended once
   * it has been read.
   */
  #owner: Owner | undefined;
  #captured: Promise<ReadySnapshot | undefined> | undefined;
  #directory: string | undefined;
  #disposed = false;

  constructor(source: SnapshotSource, warn: (message: string) => void) {
    this.#source = source;
    this.#warn = warn;
  }

  /** Returns the snapshot; undefined when there is none. */
  ready(): Promise<ReadySnapshot | undefined> {
    this.#captured ??= this.#disposed ? Promise.resolve(undefined) : this.#capture();
    return this.#captured;
  }

  /** Removes the snapshot. */
  async dispose(): Promise<void> {
    this.#disposed = true;
    await this.#owner?.dispose(GRACE_MS);
    await this.#captured;
    if (this.#directory !== undefined) await removeTemporaryDirectory(this.#directory);
  }

  async #capture(): Promise<ReadySnapshot | undefined> {
    try {
      this.#directory = await makeTemporaryDirectory(PREFIX, MAX_AGE_MS);
      return await this.#captureInto(this.#directory);
    } catch (error) {
      if (this.#disposed) return undefined;
      const reason = messageOf(error);
      this.#warn(`shellSnapshot: not used, ${this.#source.rcFile}: ${reason}`);
      return undefined;
    }
  }

  async #captureInto(directory: string): Promise<ReadySnapshot> {
    const { rcFile, mayKeep } = this.#source;
    // The system's error for a missing file says more than a silent shell.
    await access(rcFile, constants.R_OK);
    const captured = parseCapture(await this.#dumpOf(captureCommand(rcFile), directory));
    if (captured === undefined) throw new Error('it ended the shell, or the shell is not bash');
    const { exported, declared } = keptVariables(captured, mayKeep);
    const aliases = keptAliases(captured.aliases);
    const functions = keptFunctions(captured.functions, aliases.values());
    const options = changedOptions(captured);
    const file = join(directory, 'snapshot');
    const writeSnapshot = (readable: Iterable<string>): Promise<void> => {
      const declarations = declarationsOf(declared, new Set(readable));
      return write(file, snapshotText({ directory, declarations, options, aliases }));
    };
    await writeFunctions(directory, functions);
    await writeSnapshot(declared.keys());
    let found = await this.#readBack(file, directory);
    const readable = readableVariables(declared, found);
    if (readable.size < declared.size) {
      // A declaration that cannot be read may have stopped bash from reading the rest.
      await writeSnapshot(readable);
      found = await this.#readBack(file, directory);
    }
    const stubs = { directory, functions, aliases, readable: readableFunctions(functions, found) };
    const needed = allowsStubs(options) && (await writeStubs(stubs));
    const unaffected = new UnaffectedCommands({ functions, aliases, options, declared });
    return {
      directory,
      textFor: (command, variables) => {
        if (steersShell(variables)) {
          return withSnapshot(file, EVERY, command, runsCodeFirst(variables));
        }
        const own = unaffected.textFor(command);
        return own ?? withSnapshot(file, needed ? needed.selectionFor(command) : EVERY, command);
      },
      path: Buffer.from(captured.path, 'latin1').toString('utf8'),
      exported,
      pipefail: captured.optionsAfter.includes('set -o pipefail'),
    };
  }

  /** Returns the state of a shell that has read a snapshot; undefined when it could not be seen. */
  async #readBack(file: string, directory: string): Promise<CapturedShell | undefined> {
    try {
      return parseCapture(await this.#dumpOf(readBackCommand(file), directory));
    } catch {
      return undefined;
    }
  }

  /** Returns the output of a command. Text is one character a byte. */
  async #dumpOf(command: string, directory: string): Promise<string> {
    if (this.#disposed) throw new Error('the tool has been disposed of');
    const { timeoutMs, environment, shell, sandboxWith } = this.#source;
    const owner = createOwner();
    this.#owner = owner;
    const dump = join(directory, 'dump');
    const { outcome, spill } = await execute(command, environment(), {
      cwd: '/',
      timeoutMs,
      graceMs: GRACE_MS,
      headBytes: 0,
      tailBytes: 0,
      spill: { path: dump, maxBytes: MAX_DUMP_BYTES },
      owner,
      shell,
      sandbox: sandboxWith(directory),
    });
    await owner.dispose(GRACE_MS);
    if (outcome.kind === 'timedOut') throw new Error(`not read within ${timeoutMs} ms`);
    if (spill?.error !== undefined) {
      const { code, message } = spill.error;
      throw new Error(`its result can't be kept in ${dump}: ${code}: ${message}`);
    }
    if ((spill?.dropped ?? 0) > 0) throw new Error(`leaves more than ${MAX_DUMP_BYTES} bytes`);
    const flag = constants.O_RDONLY | constants.O_NOFOLLOW;
    const text = await readFile(dump, { encoding: 'latin1', flag });
    await rm(dump);
    return text;
  }
}

/**
 * Returns whether variables make the shell run code of the caller's first, or read its text by other
 * rules.
 */
function steersShell(variables: GivenVariables): boolean {
  return Object.entries(variables ?? {}).some(
    ([name, value]) => value !== undefined && isShellVariable(name),
  );
}

async function writeFunctions(
  directory: string,
  functions: ReadonlyMap<string, string>,
): Promise<void> {
  await mkdir(join(directory, FUNCTIONS), { mode: 0o700 });
  // One by one, since all at once would take a file descriptor each.
  for (const [name, text] of functions) await write(join(directory, FUNCTIONS, name), text);
  const { every, named } = filesForAll(directory, functions.keys(), new Set());
  await write(join(directory, 'every'), every);
  await write(join(directory, 'named'), named);
}

async function writeStubs(of: {
  readonly directory: string;
  readonly functions: ReadonlyMap<string, string>;
  readonly aliases: ReadonlyMap<string, string>;
  readonly readable: ReadonlySet<string>;
}): Promise<NeededFunctions> {
  const needed = new NeededFunctions(of.functions, of.aliases, of.readable);
  const { stubs } = filesForAll(of.directory, of.functions.keys(), needed.stubs);
  await write(join(of.directory, 'stubs'), stubs);
  return needed;
}

/** As flag `w`, but not through a symlink. */
const NO_LINK = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;

function write(file: string, text: string): Promise<void> {
  return writeFile(file, text, { encoding: 'latin1', mode: 0o600, flag: NO_LINK });
}
