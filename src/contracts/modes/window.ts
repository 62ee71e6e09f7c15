import { link } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { OutputKeeper } from '../../artifacts/keep-output.js';
import { numbersInside } from '../../receipt/inside.js';
import type { SandboxPolicy } from '../../sandbox/policy.js';
import { TOOL } from '../contract.js';
import { placesOfOutput, showingPaths } from '../options.js';
import type { ModesSettings } from './options.js';

/** A command in the background, by the numbers and names of one observer. */
interface SeenCommand {
  readonly id: string;
  /** Process id, which is also the id of the process group. */
  readonly pid: number;
  readonly outputFile: string;
}

/** The view that commands in a sandbox have of one in the background. */
interface SandboxWindow {
  /** The sandbox of the tool's other commands, whose files, processes and loopback are shared. */
  readonly sandbox: SandboxPolicy;
  /** The directory in which outputs are seen; undefined: they can't be kept. */
  readonly directory: string | undefined;
  /** Returns the command by the numbers and names inside of the sandbox, as far as it is visible there. */
  show(command: SeenCommand): Promise<Omit<SeenCommand, 'id'>>;
}

/** Opens the view; undefined: there is no sandbox. */
export async function windowOf(settings: ModesSettings): Promise<SandboxWindow | undefined> {
  if (settings.sandbox === undefined) return undefined;
  const keeper = await OutputKeeper.open(settings.outputs, TOOL);
  const spill = keeper.spill(settings.maxOutputBytes);
  keeper.abandon();
  const { sandbox = settings.sandbox } = showingPaths(settings, placesOfOutput(spill));
  const directory = spill && dirname(spill.path);
  return {
    sandbox,
    directory,
    async show({ id, pid, outputFile }) {
      const inside = await numbersInside(pid);
      const name = directory && join(directory, `background-${id}`);
      // A link: the command's own directory also has its control socket, which the sandbox must not reach.
      const isSeen = name !== undefined && (await link(outputFile, name).then(yes, no));
      return { pid: inside?.pid ?? pid, outputFile: isSeen ? name : outputFile };
    },
  };
}

const yes = (): boolean => true;
const no = (): boolean => false;
