import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { InputError } from '../index.js';
import type { Profiles } from '../remote/index.js';
import { messageOf } from '../support/errors.js';

/**
 * Loads profiles of tools from a module of the user's.
 *
 * @throws {InputError} The module can't be loaded, or exports no `profiles`.
 */
export async function loadProfiles(file: string | undefined): Promise<Profiles | undefined> {
  if (file === undefined) return undefined;
  const { profiles } = await moduleOf(file);
  if (typeof profiles === 'object' && profiles !== null) return profiles as Profiles;
  throw new InputError(`--profiles: expected a module that exports \`profiles\`, got ${file}`);
}

async function moduleOf(file: string): Promise<{ readonly profiles?: unknown }> {
  try {
    return await import(pathToFileURL(resolve(file)).href);
  } catch (error) {
    throw new InputError(`--profiles: ${file} can't be loaded: ${messageOf(error)}`);
  }
}
