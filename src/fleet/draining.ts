import { NoWorkerError } from '../remote/for-fleet.js';
import { InputError, showValue } from '../support/errors.js';
import type { Broker } from './line/broker.js';
import { isId, type Subjects } from './subjects.js';

/** The time within which a worker answers, in milliseconds. */
const ANSWER_MS = 3000;

/**
 * Tells a worker to take nothing new, and to end when what it has is over.
 *
 * @throws {InputError} `worker` is no id.
 * @throws {NoWorkerError} There is no such worker, or it does not answer.
 * @throws Error The broker forbids that.
 */
export async function tellToDrain(
  broker: Broker,
  subjects: Subjects,
  worker: unknown,
): Promise<void> {
  if (!isId(worker)) {
    throw new InputError(`worker: expected the id of a worker, got ${showValue(worker)}`);
  }
  const subject = subjects.drain(worker);
  const answer = await broker.ask(subject, new Uint8Array(), ANSWER_MS);
  if (answer === 'forbidden')
    throw new Error(`The broker forbids this user to publish on ${subject}`);
  if (answer === 'nobody') throw new NoWorkerError(`There is no worker ${worker}.`);
  if (answer === 'silence') throw new NoWorkerError(`The worker ${worker} does not answer.`);
}
