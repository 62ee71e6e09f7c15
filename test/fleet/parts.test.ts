import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Objm } from '@nats-io/obj';
import { describe, expect, test } from 'vitest';
import { connectFleet } from '../../src/fleet/index.js';
import { Broker } from '../../src/fleet/line/broker.js';
import { accessOf } from '../../src/fleet/line/broker-access.js';
import { BrokerParts } from '../../src/fleet/line/broker-parts.js';
import { PART_BYTES } from '../../src/remote/wire/part-store.js';
import { useDisposal } from '../support/disposal.js';
import { leavesNothingBehind, makeFolder, useFolders } from '../support/leftovers.js';
import { brokerAt, startNats, startWorker, useNats } from '../support/nats.js';
import { installed, where } from '../support/needs.js';
import { eventually } from '../support/processes.js';
import { failureOf } from '../support/results.js';

// What is large goes over the broker's object store, where it has one, and over the line where that fails.

const sumOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

describe('large files of a fleet', where(installed('nats-server')), async () => {
  leavesNothingBehind();
  const newFolder = useFolders();
  const keep = useDisposal();
  const folder = makeFolder();
  const nats = await useNats(folder, `jetstream { store_dir: "${join(folder, 'store')}" }`);

  /** A connection of the test's own to the store. */
  async function stored() {
    const broker = await brokerAt(nats.url);
    const store = await new Objm(broker.connection).create('forkline-default');
    const names = async () =>
      (await store.list()).filter(({ deleted }) => !deleted).map(({ name }) => name);
    /** How many messages it has ever got. */
    const messages = async () => (await store.status()).streamInfo.state.last_seq;
    return { broker, store, names, messages };
  }

  async function fleetOf(leaseMs = 4000) {
    const fleet = keep(await connectFleet({ servers: nats.url, leaseMs }));
    const newTool = async (cwd: string) =>
      keep(await fleet.createBashTool({ contract: 'session', cwd }));
    return { fleet, newTool };
  }

  test('a large file goes by parts that are gone afterwards, a small one by the line', async () => {
    await startWorker(nats.url);
    const { fleet, newTool } = await fleetOf();
    const cwd = newFolder();
    const bash = await newTool(cwd);
    const { broker, names, messages } = await stored();
    const before = await messages();
    const large = randomBytes(2 * PART_BYTES + 1_500_000);
    await bash.files.write('large', large);
    // Pieces of 128 KiB and their name, and one message more when it is removed.
    await eventually(async () => expect((await messages()) - before).toBe(16 + 16 + 12 + 2 * 3));
    await bash.files.write('small', 'small');
    expect(sumOf(readFileSync(join(cwd, 'large')))).toBe(sumOf(large));
    await fleet.dispose();
    expect(await names()).toEqual([]);
    expect((await messages()) - before).toBe(50);
    await broker.close();
  });

  test('a transfer goes on over a restart of the broker, exact to the byte', async () => {
    await startWorker(nats.url);
    const { newTool } = await fleetOf(20_000);
    const cwd = newFolder();
    const bash = await newTool(cwd);
    const large = randomBytes(16 * PART_BYTES);
    let at = 0;
    async function* slowly(): AsyncGenerator<Uint8Array> {
      for (; at < large.length; at += PART_BYTES) {
        yield large.subarray(at, at + PART_BYTES);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
    const writing = bash.files.write('large', slowly(), { size: large.length });
    await eventually(() => expect(at).toBeGreaterThan(4 * PART_BYTES));
    await nats.restart(300);
    expect(at).toBeLessThan(large.length);
    await writing;
    expect(sumOf(readFileSync(join(cwd, 'large')))).toBe(sumOf(large));
    expect(readdirSync(cwd)).toEqual(['large']);
  });

  test('after its worker was killed, a transfer to another one sends only what is missing', async () => {
    const worker = await startWorker(nats.url);
    const { fleet } = await fleetOf(2000);
    const cwd = newFolder();
    const bash = keep(await fleet.createLastingTool({ contract: 'session', cwd }));
    const large = randomBytes(6 * PART_BYTES);
    const { broker, names, messages } = await stored();
    async function* half(): AsyncGenerator<Uint8Array> {
      yield large.subarray(0, 3 * PART_BYTES);
      await new Promise((resolve) => setTimeout(resolve, 500));
      worker.child.kill('SIGKILL');
      await worker.ended;
      yield large.subarray(3 * PART_BYTES);
    }
    expect(
      await failureOf(bash.files.write('large', half(), { size: large.length })),
    ).toBeDefined();
    expect(existsSync(join(cwd, 'large'))).toBe(false);
    const kept = await names();
    expect(kept.length).toBeGreaterThanOrEqual(3);
    await startWorker(nats.url);
    await bash.execute({ command: 'true' });
    const before = await messages();
    await bash.files.write('large', large);
    expect(sumOf(readFileSync(join(cwd, 'large')))).toBe(sumOf(large));
    await fleet.dispose();
    expect(await names()).toEqual([]);
    // None of those that were there was put again.
    expect((await messages()) - before).toBe((6 - kept.length) * 17 + 6);
    await broker.close();
  });

  test('a file is whole although others remove its parts', async () => {
    await startWorker(nats.url);
    const { newTool } = await fleetOf();
    const cwd = newFolder();
    const bash = await newTool(cwd);
    const { broker, store } = await stored();
    const watch = await store.watch({ includeHistory: false });
    let removed = 0;
    const removing = (async () => {
      for await (const { name, deleted } of watch) {
        if (deleted) continue;
        await store.delete(name);
        removed += 1;
      }
    })();
    const large = randomBytes(5 * PART_BYTES + 1);
    await bash.files.write('large', large);
    expect(readFileSync(join(cwd, 'large')).equals(large)).toBe(true);
    watch.stop();
    await removing;
    expect(removed).toBeGreaterThan(0);
    await broker.close();
  });

  test('a part that is gone, or has other bytes, comes over the line', async () => {
    const { broker, store } = await stored();
    const parts = new BrokerParts(broker, 'forkline-default', 2000);
    const part = await parts.put(randomBytes(1000));
    expect(part).toBeDefined();
    if (part === undefined) return;
    expect((await parts.take(part))?.length).toBe(1000);
    await store.putBlob({ name: part.name }, randomBytes(1000));
    expect(await parts.take(part)).toBeUndefined();
    await store.delete(part.name);
    expect(await parts.take(part)).toBeUndefined();
    expect(await parts.take({ name: '../x', bytes: 1 })).toBeUndefined();
    expect(await parts.take({ name: part.name, bytes: 1e12 })).toBeUndefined();
    await broker.close();
  });

  test('the rights that the page names are enough for it', async () => {
    const page = readFileSync(new URL('../../docs/fleet.md', import.meta.url), 'utf8');
    const listed = (role: string): string => {
      const [, found = ''] =
        new RegExp(`^${role} = \\{.*?publish: \\[(.*?)\\]`, 'ms').exec(page) ?? [];
      return found;
    };
    const subjects = ['client', 'worker', 'store'].map(listed).join(',');
    const other = await startNats(
      newFolder(),
      `authorization { users = [ { user: a, password: b, permissions: {
         publish: { allow: [${subjects}] }, subscribe: { allow: ["forkline.eval.>"] } } } ] }
       jetstream { store_dir: "${newFolder()}" }`,
    );
    const env = { FORKLINE_NATS_USER: 'a', FORKLINE_NATS_PASSWORD: 'b' };
    await startWorker(other.url, ['--pool', 'eval'], env);
    const who = { user: 'a', password: 'b', pool: 'eval' };
    const fleet = await connectFleet({ servers: other.url, ...who });
    const broker = await Broker.connect(
      await accessOf({ servers: other.url, ...who }, 'forkline.eval.inbox.a'),
    );
    const forbidden: string[] = [];
    broker.onForbidden((what) => forbidden.push(what));
    const store = new BrokerParts(broker, 'forkline-eval', 2000);
    const part = await store.put(randomBytes(1_200_000));
    expect(part && (await store.take(part))?.length).toBe(1_200_000);
    await store.remove([part?.name ?? '']);
    expect(part && (await store.take(part))).toBeUndefined();
    expect(forbidden).toEqual([]);
    const cwd = newFolder();
    const bash = await fleet.createBashTool({ contract: 'session', cwd });
    const large = randomBytes(PART_BYTES);
    await bash.files.write('large', large);
    expect(readFileSync(join(cwd, 'large')).equals(large)).toBe(true);
    await fleet.dispose();
    await broker.close();
    await other.stop();
  });

  test('without an object store, or the right to it, the line takes all', async () => {
    const users = `authorization { users = [ { user: a, password: b, permissions: {
      publish: { allow: ["forkline.>"] }, subscribe: { allow: ["forkline.>"] } } } ] }`;
    for (const config of ['', `${users}\njetstream { store_dir: "${newFolder()}" }`]) {
      const other = await startNats(newFolder(), config);
      const who = config === '' ? {} : { user: 'a', password: 'b' };
      const env = config === '' ? {} : { FORKLINE_NATS_USER: 'a', FORKLINE_NATS_PASSWORD: 'b' };
      await startWorker(other.url, [], env);
      const fleet = await connectFleet({ servers: other.url, ...who });
      const cwd = newFolder();
      const bash = await fleet.createBashTool({ contract: 'session', cwd });
      writeFileSync(join(cwd, 'here'), randomBytes(2 * PART_BYTES));
      await bash.files.write('there', { file: join(cwd, 'here') });
      expect(readFileSync(join(cwd, 'there')).equals(readFileSync(join(cwd, 'here')))).toBe(true);
      await fleet.dispose();
      await other.stop();
    }
  });
});
