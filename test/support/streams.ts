import type { LiveProcess } from '../../src/index.js';

/** All text that comes until a piece of it does. */
export async function textUntil(live: LiveProcess, end: string): Promise<string> {
  let text = '';
  for await (const chunk of live) {
    text += chunk.text;
    if (text.includes(end)) return text;
  }
  throw new Error(`the command ended after ${JSON.stringify(text)}`);
}
