import { link } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { OutputKeeper } from '../../artifacts/keep-output.js';
import { numbersInside } from '../../receipt/inside.js';
import type { SandboxPolicy } from '../../sandbox/policy.js';
import { TOOL } from '../contract.js';
import { placesOfOutput, showingPaths } from '../options.js';
import type { ModesSettings } from './options.js';

/** A command in the background, as somebody knows it. */
interface SeenCommand {
  readonly id: string;
  /** Also the number of its group. */
  readonly pid: number;
  readonly outputFile: string;
}

/** How the other commands of a tool with a sandbox see one in the background. */
interface SandboxWindow {
  /** That of the others: it shares their files, processes and loopback. */
  readonly sandbox: SandboxPolicy;
  /** By the names that they know it by, as far as they can see it. */
  show(command: SeenCommand): Promise<Omit<SeenCommand, 'id'>>;
}

/** Undefined: there is no sandbox. */
export async function windowOf(settings: ModesSettings): Promise<SandboxWindow | undefined> {
  if (settings.sandbox === undefined) return undefined;
  const keeper = await OutputKeeper.open(settings.outputs, TOOL);
  const spill = keeper.spill(settings.maxOutputBytes);
  keeper.abandon();
  const { sandbox = settings.sandbox } = showingPaths(settings, placesOfOutput(spill));
  return {
    sandbox,
    async show({ id, pid, outputFile }) {
      const inside = await numbersInside(pid);
      const name = spill && join(dirname(spill.path), `background-${id}`);
      // Its own place has its socket too, by which it is controlled: that is not for the sandbox.
      const isSeen = name !== undefined && (await link(outputFile, name).then(yes, no));
      return { pid: inside?.pid ?? pid, outputFile: isSeen ? name : outputFile };
    },
  };
}

const yes = (): boolean => true;
const no = (): boolean => false;
