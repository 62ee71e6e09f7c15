import { basename } from 'node:path';
import type { HeldChange, SandboxReport } from '../engine/sandbox-report.js';
import { visibleText } from '../support/text.js';

const SHOWN_CHANGES = 5;
const SHOWN_KEYS = 4;

/**
 * Says in one line what a sandbox has held back, and why; undefined: nothing. The exact words are for models, too.
 */
export function heldNotice(report: SandboxReport | undefined): string | undefined {
  const { held = [], writable = [] } = report ?? {};
  if (held.length === 0) return undefined;
  // One that was tried again is told once.
  const told = new Map(held.map((one) => [`${one.path}\0${whyOf(one)}`, one]));
  const all = [...told.values()];
  const shown = all
    .slice(0, SHOWN_CHANGES)
    .map((one) => `${nameOf(one, writable)} (${whyOf(one)})`);
  const more = all.length - shown.length;
  const listed = [...shown, ...(more > 0 ? [`${more} more`] : [])].join(', ');
  const them = all.length === 1 ? 'it' : 'them';
  return `Held back, not in effect: ${listed}. The user can accept ${them}. All else was written.`;
}

function whyOf({ reason, keys = [] }: HeldChange): string {
  switch (reason) {
    case 'setting': {
      const shown = keys.slice(0, SHOWN_KEYS).map(visibleText);
      const more = keys.length > shown.length ? [`${keys.length - shown.length} more keys`] : [];
      return keys.length === 0 ? 'a setting' : [...shown, ...more].join(', ');
    }
    case 'unknown-content':
      return "content that is not in this repository's history";
    case 'removal':
      return 'its removal';
  }
}

/** Returns the path within the writable directory that has it, or the absolute path. */
function nameOf({ path }: HeldChange, writable: readonly string[]): string {
  const above = writable
    .filter((root) => root !== '/' && path.startsWith(`${root}/`))
    .sort((one, other) => one.length - other.length)
    // In git's own directory, a name alone says nothing.
    .find((root) => !basename(root).endsWith('.git'));
  return visibleText(above === undefined ? path : path.slice(above.length + 1));
}
