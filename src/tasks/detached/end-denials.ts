import type { Capture } from '../../engine/outcome.js';
import type { EngineReport } from '../../engine/sandbox-report.js';
import { toReport } from '../../engine/told/report.js';
import { withDenialsWithin } from '../../sandbox/denials/denials.js';
import { withHeldRows } from '../../sandbox/held/report.js';
import { withChangeRows } from '../../sandbox/undo/report.js';
import { messageOf } from '../../support/errors.js';
import { withEndCheckouts } from './end-checkouts.js';
import type { KeptEnd } from './keeper/keeper-state.js';
import { readOutputFile } from './output-file.js';
import { readBounds } from './place/bounds.js';
import { readDeniedHosts } from './place/denied-hosts.js';
import { readMoreTold } from './place/more-told.js';
import type { DetachedOrder } from './place/order.js';
import type { TaskPlace } from './place/place.js';

/** Bytes of an output that are examined at its beginning and at its end. */
const LOOKED_AT_BYTES = 256 * 1024;
const NOTHING = { bytes: 0, characters: 0, lines: 0 };

/**
 * Makes the report on a detached command's sandbox: from the kernel's denials that its keeper has
 * recorded, from those of the proxy that its host has recorded, and from its output. Any process of the
 * user can make it, at any time; facts that cannot be seen are reported as unseen.
 *
 * @param until When the last process of the command ended, in milliseconds since 1970; Infinity: one
 * still runs.
 */
export async function endDenials(
  { directory, output: path }: TaskPlace,
  { command, cwd }: DetachedOrder,
  end: KeptEnd,
  until: number,
): Promise<EngineReport> {
  const more = await readMoreTold(directory, end.sandbox);
  const held = await withHeldRows(toReport(more.words.join(' ')));
  const { ports, ...told } = await withChangeRows(held, { text: command, cwd, owner: undefined });
  // What has ended does not listen, whatever was told before.
  const mayListen = ports !== undefined && until === Number.POSITIVE_INFINITY;
  const report = mayListen ? { ...told, ports } : told;
  const unseen = [...more.unseen];
  if (end.moreDenied > 0) unseen.push(`there was no room for ${end.moreDenied} more denials`);
  if (end.unheard) unseen.push('some denials of the kernel may not have been heard');
  const bounds = await readBounds(directory);
  if (bounds === undefined) {
    unseen.push('its policy is no longer known, so its output could not be searched for denials');
    return { ...report, unseen: [...(report.unseen ?? []), ...unseen] };
  }
  const hasProxy = bounds.proxyPort !== undefined;
  const noted = hasProxy ? await readDeniedHosts(directory, until) : undefined;
  if (noted?.isComplete === false) unseen.push('some denied hosts may not have been written down');
  if (hasProxy && end.alone) unseen.push(PROXY_ENDED);
  const output = await captureOf(path).catch((error: unknown) => {
    unseen.push(`its output can't be read: ${messageOf(error)}`);
    return undefined;
  });
  if (output?.kind === 'complete' && output.text === '' && end.outputBytes > 0) {
    unseen.push('its output is no longer there');
  }
  const printed = { sandbox: report, output: output ?? NO_OUTPUT };
  const { sandbox } = await withDenialsWithin(printed, bounds, cwd, noted?.hosts ?? []);
  const all = [...(sandbox.unseen ?? []), ...unseen];
  return withEndCheckouts(directory, all.length > 0 ? { ...sandbox, unseen: all } : sandbox);
}

const PROXY_ENDED =
  'the process that started it has ended, or may have: no host could be reached from then on, and requests ' +
  'for hosts were not seen';

const NO_OUTPUT = { kind: 'complete', text: '', total: NOTHING, lossy: false } as const;

async function captureOf(path: string): Promise<Capture> {
  const first = await readOutputFile(path, 0, LOOKED_AT_BYTES);
  const rest = Math.max(first.bytes.length, first.total - LOOKED_AT_BYTES);
  const last = await readOutputFile(path, rest, LOOKED_AT_BYTES);
  const head = Buffer.from(first.bytes).toString();
  const tail = Buffer.from(last.bytes).toString();
  const isWhole = rest === first.bytes.length && last.from === rest;
  if (isWhole) return { ...NO_OUTPUT, text: head + tail };
  return {
    kind: 'cut',
    head,
    tail,
    dropped: NOTHING,
    total: NOTHING,
    lastLineBytes: 0,
    lossy: false,
  };
}
