import { afterEach, expect, test, vi } from 'vitest';
import { loadBinding } from '../../src/engine/addon/binding.js';

const { platform } = process;
const pretend = (name: string) => Object.defineProperty(process, 'platform', { value: name });

afterEach(() => {
  pretend(platform);
  vi.unstubAllEnvs();
});

test.each(['win32', 'darwin'])('%s is refused with one line', (name) => {
  pretend(name);
  expect(loadBinding).toThrow(
    expect.objectContaining({
      code: 'FORKLINE_UNSUPPORTED_PLATFORM',
      message: `forkline runs on Linux; ${name} is not supported`,
    }),
  );
});

test('the addon built in this checkout is loaded, once', () => {
  expect(loadBinding()).toBe(loadBinding());
});

test('an override that names no file is an error, not a reason to look elsewhere', () => {
  vi.stubEnv('FORKLINE_BINDING', '/nowhere/forkline.node');
  expect(loadBinding).toThrow(
    expect.objectContaining({
      code: 'FORKLINE_NO_BINDING',
      message: 'FORKLINE_BINDING names a file that does not exist: /nowhere/forkline.node',
    }),
  );
});
