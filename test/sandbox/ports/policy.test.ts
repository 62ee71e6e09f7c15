import { expect, test } from 'vitest';
import { run, type SandboxPolicy } from '../../../src/index.js';
import { failureOf } from '../../support/results.js';

const refusalOf = async (policy: unknown): Promise<string> => {
  const failure = await failureOf(run('true', { sandbox: policy as SandboxPolicy }));
  return failure instanceof Error ? `${failure.name}: ${failure.message}` : 'none';
};

const PROXY = { network: { allowedDomains: ['a.test'] } };

test.each<[unknown, string]>([
  [{ ports: 5 }, 'sandbox.ports: expected an object, got 5'],
  [{ ports: { open: [1] } }, 'sandbox.ports.open'],
  [{ ports: { reach: 5432 } }, 'sandbox.ports.reach: expected an array of ports, got 5432'],
  [{ ports: { publish: 'all' } }, "sandbox.ports.publish: expected 'auto' or an array of ports"],
  [{ ports: { reach: [0] } }, 'sandbox.ports.reach: expected a port from 1 to 65535, got 0'],
  [{ ports: { reach: ['db:5432'] } }, 'expected a port from 1 to 65535, got "db:5432"'],
  [{ ports: { reach: [{ inside: 1 }] } }, 'sandbox.ports.reach.host: expected a port from 1'],
  [{ ports: { reach: [{ inside: 1, host: 0 }] } }, 'sandbox.ports.reach.host: expected a port'],
  [{ ports: { publish: [{ inside: 0, host: 0 }] } }, 'sandbox.ports.publish.inside: expected a'],
  [{ ports: { publish: [{ inside: 1, host: 1.5 }] } }, 'from 0 to 65535, got 1.5'],
  [{ ports: { reach: [7], publish: [7] } }, 'expected each port inside once, got 7 twice'],
  [{ ports: { dangerous: 'yes' } }, 'sandbox.ports.dangerous: expected true or false, got "yes"'],
  [
    { ports: { reach: [2375] } },
    "port 2375 is Docker's: whoever connects to it may run programs; a policy allows that by `dangerous: true`",
  ],
  [{ ports: { reach: [{ inside: 1, host: 9229 }] } }, "port 9229 is a debugger's"],
  [{ ports: { publish: [9222] } }, "port 9222 is a browser's debugger"],
  [{ ports: { publish: 'auto' }, network: 'full' }, "expected nothing with network 'full'"],
  [{ ports: {}, mode: 'danger-full-access' }, "expected nothing with network 'full'"],
  [{ ports: {}, require: 'landlock' }, "expected nothing with require 'landlock'"],
  [{ ports: { reach: [3128] }, ...PROXY }, "other than 3128, which is the proxy's"],
])('of the ports in %j it is said what is wrong', async (policy, said) => {
  const refusal = await refusalOf(policy);
  expect(refusal).toMatch(/^InputError: /);
  expect(refusal).toContain(said);
});

test('dangerous ports are allowed by name', async () => {
  const ports = { reach: [2375], publish: [9229], dangerous: true };
  expect(await run('true', { sandbox: { ports } })).toMatchObject({
    outcome: { kind: 'exited', exitCode: 0 },
  });
});
