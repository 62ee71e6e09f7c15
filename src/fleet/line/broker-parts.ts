import { createHash } from 'node:crypto';
import type { ObjectStore } from '@nats-io/obj';
import { lateLibrary, OPEN_ONE_BY_ONE } from '../../faces/engine.js';
import type { PartStore, StoredPart } from '../../remote/for-fleet.js';
import { errorOf, hasCode } from '../../support/errors.js';
import { firstOf, pause, UnderWay, withinTime } from '../../support/timing.js';
import type { Broker } from './broker.js';

/** How long parts stay that nobody has removed, in milliseconds. */
const KEPT_MS = 3_600_000;
/** How long one question to the store may take, in milliseconds: a part on a slow network. */
const ANSWER_MS = 30_000;
/** How long the next piece of a part may take, of 128 KiB, in milliseconds. */
const STALL_MS = 5000;
/** The pause after a question that has failed, in milliseconds. */
const RETRY_MS = 250;
/** How long nothing is asked of a broker that has no store, in milliseconds. */
const REFUSED_MS = 60_000;
/** Bytes of the largest part that is taken: more than any client sends. */
const MOST_BYTES = 4 * 1024 * 1024;
const NAME = /^[0-9a-f]{64}$/;

/**
 * The parts of large inputs and outputs in a bucket of the broker's object store. Where there is none, and where it
 * fails for longer than the lease, nothing is put or taken.
 */
export class BrokerParts implements PartStore {
  readonly #broker: Broker;
  readonly #bucket: string;
  readonly #leaseMs: number;
  readonly #removals = new UnderWay();
  #store: Promise<ObjectStore> | undefined;
  #refusedAt = Number.NEGATIVE_INFINITY;

  /** @param leaseMs How long a store that fails is asked again. */
  constructor(broker: Broker, bucket: string, leaseMs: number) {
    this.#broker = broker;
    this.#bucket = bucket;
    this.#leaseMs = leaseMs;
  }

  async put(bytes: Uint8Array): Promise<StoredPart | undefined> {
    const name = createHash('sha256').update(bytes).digest('hex');
    return this.#untilLease(async (store) => {
      const known = await store.info(name);
      // A transfer that was broken off has brought it.
      if (known === null || known.deleted || known.size !== bytes.length) {
        await store.putBlob({ name }, bytes, { timeout: ANSWER_MS });
      }
      return { name, bytes: bytes.length };
    });
  }

  async take({ name, bytes }: StoredPart): Promise<Uint8Array | undefined> {
    if (!NAME.test(name) || bytes > MOST_BYTES) return undefined;
    return this.#untilLease(async (store) => {
      const known = await store.info(name);
      if (known === null || known.deleted || known.size !== bytes) return undefined;
      const found = await store.get(name);
      const taken = found && (await bytesOf(found.data));
      const sum = taken && createHash('sha256').update(taken).digest('hex');
      return sum === name && taken !== null ? taken : undefined;
    });
  }

  remove(names: Iterable<string>): Promise<void> {
    return this.#removals.add(
      this.#untilLease<void>(async (store) => {
        await Promise.all([...names].map((name) => store.delete(name)));
      }),
    );
  }

  settled(): Promise<void> {
    return this.#removals.settled();
  }

  /** Asks again while the broker is away, as long as its lines would last. */
  async #untilLease<T>(
    ask: (store: ObjectStore) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const begun = performance.now();
    if (begun - this.#refusedAt < REFUSED_MS) return undefined;
    do {
      try {
        this.#store ??= openStore(this.#broker, this.#bucket);
        return await this.#answered(this.#store.then(ask));
      } catch (error) {
        this.#store = undefined;
        if (this.#broker.isThere && isRefusal(error)) {
          this.#refusedAt = performance.now();
          return undefined;
        }
        await pause(RETRY_MS);
        await this.#broker.comesBack(this.#leaseMs - (performance.now() - begun));
      }
    } while (performance.now() - begun < this.#leaseMs);
    return undefined;
  }

  /** Waits for an answer no longer than it can come: what was asked before a reconnect is lost. */
  async #answered<T>(work: Promise<T>): Promise<T> {
    work.catch(() => {});
    let off = (): void => {};
    const lost = new Promise<never>((_, reject) => {
      off = this.#broker.onReconnect(() => reject(new Error('the broker was away')));
    });
    const first = firstOf(work, lost);
    return withinTime(first, ANSWER_MS, 'the object store did not answer').finally(off);
  }
}

/** @throws Error They have not come: somebody removes them meanwhile. */
async function bytesOf(data: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  const reader = data.getReader();
  try {
    for (let size = 0; size <= MOST_BYTES; ) {
      const next = await withinTime(reader.read(), STALL_MS, 'nothing came of a part');
      if (next.done) return Buffer.concat(pieces);
      pieces.push(next.value);
      size += next.value.length;
    }
    throw new Error('a part has more bytes than it should have');
  } catch (error) {
    // It may wait for ever for what is gone.
    reader.cancel().catch(() => {});
    throw error;
  }
}

async function openStore(broker: Broker, bucket: string): Promise<ObjectStore> {
  const { Objm, StorageType, nanos } = await loadLibrary();
  const manager = new Objm(broker.connection);
  return manager.create(bucket, {
    description: 'Parts of what forkline transfers, removed when it has arrived',
    storage: StorageType.File,
    ttl: nanos(KEPT_MS),
  });
}

/** Errors after which asking again is of no use: there is no JetStream, or it is forbidden, or full. */
const REFUSALS: ReadonlySet<string> = new Set([
  ...['JetStreamNotEnabled', 'JetStreamApiError', 'NoResponders', 'PermissionViolationError'],
]);

function isRefusal(error: unknown): boolean {
  // Its library is not installed.
  if (hasCode(error, 'ERR_MODULE_NOT_FOUND')) return true;
  const { name, cause } = errorOf(error);
  return REFUSALS.has(name) || REFUSALS.has(errorOf(cause).name);
}

const loadLibrary = lateLibrary('the object store of the broker', importLibrary, OPEN_ONE_BY_ONE);

async function importLibrary() {
  const { Objm, StorageType } = await import('@nats-io/obj');
  const { nanos } = await import('@nats-io/transport-node');
  return { Objm, StorageType, nanos };
}
