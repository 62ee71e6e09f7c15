// Answers requests that come as lines of JSON on stdin.
import { createInterface } from 'node:readline';

/** @param {(request: any) => Promise<unknown>} answer */
export async function answerLines(answer) {
  for await (const line of createInterface(process.stdin)) {
    try {
      console.log(JSON.stringify({ answer: await answer(JSON.parse(line)) }));
    } catch (error) {
      const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
      console.log(JSON.stringify({ error: message }));
    }
  }
}
