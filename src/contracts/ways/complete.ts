import { inLaterTurn } from '../../support/timing.js';
import type { BashTool } from '../contract.js';
import { answerTo } from './answer.js';
import { standardSchema } from './standard-schema.js';
import { streamOf } from './stream.js';

/** A tool as its contract makes it: without what all tools have in the same way. */
type OwnPart<Tool> = Omit<Tool, 'schema' | 'answer' | 'stream'>;

/** Gives a tool what all of them have in the same way; its schema is made when it is asked for. */
export function completeTool<Tool extends BashTool>(own: OwnPart<Tool>): Tool {
  // They are added to it, and not it to a copy: some of its fields are getters.
  const { execute } = own;
  const tool: Tool = Object.assign(own as Tool, {
    // What goes wrong before anything has started must not be over at once.
    execute: (...[input, call]: Parameters<Tool['execute']>) =>
      inLaterTurn(() => execute(input, call)),
    answer: (...[input, call]: Parameters<Tool['answer']>) => answerTo(tool, input, call),
    stream: (...[input, call]: Parameters<Tool['stream']>) => streamOf(tool, input, call),
  });
  let schema: Tool['schema'] | undefined;
  const get = () => (schema ??= standardSchema(tool.inputSchema));
  return Object.defineProperty(tool, 'schema', { get, enumerable: true });
}
