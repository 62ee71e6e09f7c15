import type { CallToolResult } from '@modelcontextprotocol/server';
import { type ArtifactStore, createArtifactStore } from '../../index.js';
import { messageOf } from '../../support/errors.js';
import { boundText, type TextLimits } from '../../support/texts/bound-text.js';

/**
 * Bounds the answers of a connection, and keeps those whole that are cut, in files that go with the
 * connection.
 */
export class WholeAnswers {
  readonly #store: ArtifactStore = createArtifactStore();
  #disposal: Promise<void> | undefined;

  /** Returns a result whose text is within limits. */
  async bound(tool: string, result: CallToolResult, limits: TextLimits): Promise<CallToolResult> {
    const texts = result.content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
    const text = texts.join('\n');
    if (boundText(text, limits).omitted === 0) return result;
    const place = await this.#keep(tool, text);
    const explain = (): string => `; ${place}`;
    const others = result.content.filter((part) => part.type !== 'text');
    const bound = boundText(text, limits, explain).text;
    return { ...result, content: [{ type: 'text', text: bound }, ...others] };
  }

  /** Removes the files. */
  dispose(): Promise<void> {
    this.#disposal ??= this.#store.dispose();
    return this.#disposal;
  }

  /** Returns where a whole text is, or why it is nowhere. */
  async #keep(tool: string, text: string): Promise<string> {
    try {
      const { path } = await this.#store.save(tool, text);
      return `the whole answer is in ${path}, on the server's machine`;
    } catch (error) {
      return `the whole answer could not be kept: ${messageOf(error)}`;
    }
  }
}
