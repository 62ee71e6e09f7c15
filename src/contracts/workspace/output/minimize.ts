import { type KeptOutput, keepText, type OutputKeeper } from '../../../artifacts/keep-output.js';
import type { Capture, MergedResult } from '../../../engine/outcome.js';
import {
  inputLimits,
  type MinimizedCapture,
  minimizeCapture,
  type Version,
} from '../../../minimizer/minimize-capture.js';
import type { Minimizer } from '../../../minimizer/minimizer.js';
import { cleanTerminalText } from '../../../minimizer/terminal-text.js';
import type { OutputLimits } from '../../../options/command-options.js';
import type { UpdateOptions } from '../../call-listeners.js';
import { finishOutput, limitsToShow, type OutputSettings } from './show.js';

/** The name under which the raw text of a shortened output is kept. */
const ORIGINAL = 'bash-original';

/** The minimizer's changes to an output. */
export interface MinimizerReport {
  /** Names of the filters that changed it; `terminal`: escape sequences and redrawn lines were removed. */
  readonly filters: readonly string[];
  /** Size of the output. */
  readonly inputBytes: number;
  /** Size of the shortened output, before it is cut to what is shown. */
  readonly outputBytes: number;
  /** Id of the artifact with the raw output (`artifact://ID`); absent when it could not be kept. */
  readonly artifactId?: string;
}

/** An output in the version that may be shown. */
interface ShortenedOutput {
  readonly version: Version;
  readonly report: MinimizerReport;
}

/** An output after the end of its command: where it is kept, and its shortened version. */
export interface EndedOutput {
  readonly kept: KeptOutput;
  /** Undefined: the output is shown as it is. */
  readonly shortened?: ShortenedOutput | undefined;
}

/** The limits of a capture that is shown, after the minimizer if there is one. */
export function limitsToMinimize(
  minimizer: Minimizer | undefined,
  shown: OutputLimits,
): OutputLimits {
  return limitsToShow(minimizer === undefined ? shown : inputLimits(minimizer, shown));
}

/**
 * Shortens an output and keeps its raw bytes. Lines are left out only when the raw output can be read
 * elsewhere.
 */
export async function endOutput(
  result: MergedResult,
  keeper: OutputKeeper,
  command: string,
  minimizer: Minimizer,
  settings: OutputSettings,
): Promise<EndedOutput> {
  const { output } = settings;
  const { outcome } = result;
  const endedWell = outcome.kind === 'exited' && outcome.exitCode === 0;
  const made = await minimizeCapture(minimizer, result.output, output, {
    text: command,
    endedWell,
  });
  if (made === undefined) return { kept: await finishOutput(result, keeper, settings) };
  const kept = await keeper.finish(result.spill, ORIGINAL);
  const raw = kept.kind === 'none' ? await keepShort(settings, result.output) : kept;
  return { kept: raw, ...shorten(made, raw, result.output.total.bytes) };
}

/** Keeps a short output, which is only in memory; its exact bytes are known only if all of them were text. */
async function keepShort(
  { artifacts, encoding }: OutputSettings,
  output: Capture,
): Promise<KeptOutput> {
  if (artifacts === undefined) return { kind: 'none' };
  // The text would be kept as UTF-8, and decoded by the other encoding when it is read.
  if (output.kind !== 'complete' || output.lossy || encoding !== undefined) {
    return { kind: 'failed', reason: 'its bytes are not all text' };
  }
  return keepText(artifacts, ORIGINAL, output.text);
}

function shorten(
  { minimized, cleaned }: MinimizedCapture,
  kept: KeptOutput,
  inputBytes: number,
): { readonly shortened?: ShortenedOutput } {
  const artifactId = kept.kind === 'kept' && kept.complete ? kept.artifact.id : undefined;
  const version = artifactId === undefined ? cleaned : minimized;
  if (version.filters.length === 0) return {};
  const report: MinimizerReport = {
    filters: version.filters,
    inputBytes,
    outputBytes: version.bytes,
    ...(artifactId !== undefined && { artifactId }),
  };
  return { shortened: { version, report } };
}

/** Options for updates, which show the last output with all its lines, cleaned if there is a minimizer. */
export function updateOptions(
  minimizer: Minimizer | undefined,
  { tailBytes }: OutputLimits,
): UpdateOptions {
  return { maxBytes: tailBytes, toShown: minimizer && cleanTerminalText };
}
