import type { Capture, Counts } from '../../../engine/outcome.js';
import type { OutputLimits } from '../../../options/command-options.js';
import { firstBytes, lastBytes } from '../../../support/text.js';

/** Makes the capture that the engine would have made of a text. */
export function captureText(text: string, { headBytes, tailBytes }: OutputLimits): Capture {
  const total = countText(text);
  if (total.bytes <= headBytes + tailBytes) return { kind: 'complete', text, total, lossy: false };
  const head = firstBytes(text, headBytes);
  const tail = lastBytes(text, tailBytes);
  const middle = text.slice(head.length, text.length - tail.length);
  const lastLine = text.slice(text.lastIndexOf('\n', text.length - 2) + 1);
  return {
    kind: 'cut',
    head,
    tail,
    dropped: { ...countText(middle), lines: countNewlines(middle) },
    total,
    lastLineBytes: Buffer.byteLength(lastLine.endsWith('\n') ? lastLine.slice(0, -1) : lastLine),
    lossy: false,
  };
}

function countText(text: string): Counts {
  const unfinished = text === '' || text.endsWith('\n') ? 0 : 1;
  let characters = 0;
  for (const _ of text) characters += 1;
  return {
    bytes: Buffer.byteLength(text),
    characters,
    lines: countNewlines(text) + unfinished,
  };
}

function countNewlines(text: string): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}
