import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { InputError } from '../index.js';
import type { Profiles } from '../remote/index.js';

/**
 * Options of tools from a module of the user's.
 *
 * @throws {InputError} It exports no `profiles`.
 */
export async function loadProfiles(file: string | undefined): Promise<Profiles | undefined> {
  if (file === undefined) return undefined;
  const module: { readonly profiles?: unknown } = await import(pathToFileURL(resolve(file)).href);
  const { profiles } = module;
  if (typeof profiles === 'object' && profiles !== null) return profiles as Profiles;
  throw new InputError(`--profiles: expected a module that exports \`profiles\`, got ${file}`);
}
