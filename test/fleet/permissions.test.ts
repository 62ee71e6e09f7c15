import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect as connectNats, nkeyAuthenticator, nkeys } from '@nats-io/transport-node';
import { describe, expect, test } from 'vitest';
import { connectFleet, type FleetOptions, serveNats } from '../../src/fleet/index.js';
import { longSleep, sleeping } from '../support/commands.js';
import { useDisposal } from '../support/disposal.js';
import { leavesNothingBehind, makeFolder } from '../support/leftovers.js';
import { makeCertificate, startWorker, useNats } from '../support/nats.js';
import { installed, where } from '../support/needs.js';
import { eventually } from '../support/processes.js';
import { failureOf, printed } from '../support/results.js';

/** The permissions of docs/fleet.md, for a pool of another name. */
function documented(role: 'worker' | 'client', pool: string, user: string): string {
  const page = readFileSync(new URL('../../docs/fleet.md', import.meta.url), 'utf8');
  const [, found] = new RegExp(`^${role} = (\\{.*?^\\})`, 'ms').exec(page) ?? [];
  return (found ?? expect.fail(role)).replaceAll('.eval.', `.${pool}.`).replaceAll('alice', user);
}

describe('pools of one account, by permissions', where(installed('nats-server')), async () => {
  leavesNothingBehind();
  const keep = useDisposal();
  const folder = makeFolder();
  const { cert, key } = makeCertificate(folder);

  /** Users with a key pair each: two clients and a worker of the pool `eval`, and a client of another. */
  const users = ['alice', 'mallory', 'worker', 'other', 'deaf', 'mute'] as const;
  const pairs = new Map(users.map((name) => [name, nkeys.createUser()]));
  const seedOf = (name: (typeof users)[number]) => pairs.get(name)?.getSeed() ?? expect.fail(name);
  for (const name of users) writeFileSync(join(folder, name), seedOf(name), { mode: 0o600 });
  const may = {
    alice: documented('client', 'eval', 'alice'),
    mallory: documented('client', 'eval', 'mallory'),
    worker: documented('worker', 'eval', ''),
    other: documented('client', 'rollouts', 'other'),
    deaf: '{ publish: ">", subscribe: "elsewhere" }',
    mute: '{ publish: "elsewhere", subscribe: ">" }',
  };
  const rows = users.map(
    (name) => `{ nkey: ${pairs.get(name)?.getPublicKey()}, permissions: ${may[name]} }`,
  );
  const nats = await useNats(
    folder,
    `tls { cert_file: "${cert}", key_file: "${key}" }
     accounts { one { users: [\n${rows.join('\n')}\n] } }`,
  );
  const servers = nats.url.replace('nats://127.0.0.1', 'tls://localhost');
  const as = (name: (typeof users)[number]) =>
    ({ servers, nkey: join(folder, name), tls: { ca: cert }, inbox: name }) as const;
  const connect = async (name: (typeof users)[number], options: Partial<FleetOptions> = {}) =>
    keep(await connectFleet({ ...as(name), pool: 'eval', ...options }));
  const worker = () =>
    startWorker(servers, ['--pool', 'eval', '--tls-ca', cert, '--nkey', join(folder, 'worker')]);
  /** A bare connection with the same rights, and the refusals that it has heard. */
  async function bare(name: (typeof users)[number]) {
    const authenticator = nkeyAuthenticator(seedOf(name));
    const inboxPrefix = `forkline.eval.inbox.${name}`;
    const connection = await connectNats({
      ...{ servers, authenticator, inboxPrefix, tls: { caFile: cert } },
    });
    keep({ dispose: () => connection.close() });
    const refusals: string[] = [];
    void (async () => {
      for await (const status of connection.status()) {
        if (status.type === 'error') refusals.push(status.error.message);
      }
    })();
    return { connection, refusals };
  }

  test('R5: a client with the documented permissions runs commands, and has tools', async () => {
    await worker();
    const fleet = await connect('alice');
    expect(printed(await fleet.run('echo hi'))).toBe('hi\n');
    const bash = await fleet.createBashTool({ contract: 'session', cwd: '/tmp' });
    await bash.execute({ command: 'cd /usr' });
    expect(bash.cwd).toBe('/usr');
    await bash.dispose();
    // A line that is long enough for each side to ask for the other.
    const lasting = await connect('alice', { leaseMs: 1000 });
    expect(printed(await lasting.run('sleep 1.5; echo still'))).toBe('still\n');
  });

  test('R5: another client hears nothing of it, and can forge no answer', async () => {
    await worker();
    const fleet = await connect('alice');
    const { connection, refusals } = await bare('mallory');
    const heard: string[] = [];
    const listen = (what: string) =>
      connection.subscribe(what, {
        callback: (error, { subject }) => {
          if (error === null) heard.push(subject);
        },
      });
    const all = ['forkline.>', 'forkline.eval.>', 'forkline.eval.inbox.>', '_INBOX.>', '>'];
    for (const what of all) listen(what);
    for (const what of ['forkline.eval.worker.>', 'forkline.eval.inbox.alice.>']) listen(what);
    await connection.flush();
    const controller = new AbortController();
    const running = fleet.run(`echo mine; ${longSleep(231)}`, { signal: controller.signal });
    await eventually(() => expect(sleeping(231)).toHaveLength(1));
    connection.publish('forkline.eval.inbox.alice.x', 'forged');
    connection.publish('_INBOX.x.y', 'forged');
    await connection.flush();
    await eventually(() => expect(refusals).toHaveLength(9));
    controller.abort();
    expect(printed(await running)).toBe('mine\n');
    expect(heard).toEqual([]);
    expect(refusals.filter((each) => each.includes('Publish'))).toHaveLength(2);
  });

  test('R5: a client with the documented permissions can drain no worker', async () => {
    const { id } = await worker();
    const fleet = await connect('alice');
    expect(await failureOf(fleet.drain(id))).toMatchObject({
      message: `The broker forbids this user to publish on forkline.eval.drain.${id}`,
    });
  });

  test('R5: a client of another pool finds no worker in this one, and starts nothing', async () => {
    await worker();
    await connect('other', { pool: 'rollouts' });
    expect(await failureOf(connect('other'))).toMatchObject({
      message: expect.stringMatching(/forbids this user to (publish|listen) on forkline\.eval\./),
    });
  });

  test.each([
    ['deaf', /^The broker at tls:\S+ forbids this user to listen on forkline\.eval\./],
    ['mute', /^The broker at tls:\S+ forbids this user to publish on forkline\.eval\.inbox\./],
  ] as const)('R5: a worker that is %s says so, and does not serve', async (name, message) => {
    const error = await failureOf(serveNats({ ...worksAs(name), pool: 'eval' }));
    expect((error as Error).message).toMatch(message);
  });

  test('R5: a key that the broker does not know is refused by name, and a file without one', async () => {
    const stranger = join(folder, 'stranger');
    writeFileSync(stranger, nkeys.createUser().getSeed());
    expect(await failureOf(connect('alice', { nkey: stranger }))).toMatchObject({
      message: expect.stringMatching(/ refuses these credentials: .*Authorization/i),
    });
    expect(await failureOf(connect('alice', { nkey: cert }))).toMatchObject({
      name: 'InputError',
      message: expect.stringMatching(/^nkey: expected a file with the seed of a user/),
    });
    expect(await failureOf(connect('alice', { inbox: 'a.b' }))).toMatchObject({
      name: 'InputError',
      message: 'inbox: expected letters, digits, - and _, got "a.b"',
    });
  });

  function worksAs(name: (typeof users)[number]) {
    const { inbox: _, ...rest } = as(name);
    return rest;
  }
});
