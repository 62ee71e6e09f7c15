import { describe, expect, test } from 'vitest';
import { connectFleet } from '../../src/fleet/index.js';
import { useDisposal } from '../support/disposal.js';
import { leavesNothingBehind, makeFolder } from '../support/leftovers.js';
import { makeCertificate, startWorker, useNats } from '../support/nats.js';
import { installed, where } from '../support/needs.js';
import { failureOf, printed } from '../support/results.js';

describe('a broker with TLS and users', where(installed('nats-server')), async () => {
  leavesNothingBehind();
  const keep = useDisposal();
  const folder = makeFolder();
  const { cert, key } = makeCertificate(folder);
  // Two tenants: each in an account of its own, with a pool of the same name.
  const nats = await useNats(
    folder,
    `tls { cert_file: "${cert}", key_file: "${key}" }
     accounts {
       one { users: [{ user: one, password: first }] }
       two { users: [{ user: two, password: second }] }
     }`,
  );
  // Certificates are checked against names, not addresses.
  const servers = nats.url.replace('nats://127.0.0.1', 'tls://localhost');
  const connect = async (user: string, password: string) =>
    keep(await connectFleet({ servers, user, password, tls: { ca: cert } }));
  const worker = () =>
    startWorker(servers, ['--tls-ca', cert], {
      FORKLINE_NATS_USER: 'one',
      FORKLINE_NATS_PASSWORD: 'first',
    });

  test('serves clients with the right credentials, which no command learns', async () => {
    await worker();
    const fleet = await connect('one', 'first');
    const env = printed(await fleet.run('env; cat /proc/self/environ'));
    expect(env).not.toMatch(/FORKLINE_NATS|first/);
  });

  test('keeps tenants apart', async () => {
    await worker();
    const other = await connect('two', 'second');
    expect(await failureOf(other.run('true'))).toMatchObject({ name: 'NoWorkerError' });
  });

  test('refuses a wrong password, and a client without the certificate', async () => {
    expect(await failureOf(connect('one', 'wrong'))).toMatchObject({
      message: expect.stringMatching(/ refuses these credentials: .*Authorization/i),
    });
    const trusting = connectFleet({ servers, user: 'one', password: 'first' });
    expect(await failureOf(trusting)).toMatchObject({
      message: expect.stringContaining('self-signed certificate'),
    });
  });
});
