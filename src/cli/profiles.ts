import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { InputError } from '../index.js';
import type { Always, Profiles } from '../remote/index.js';
import { messageOf } from '../support/errors.js';

/** What a module of the user's says of tools and commands of clients. */
export interface ProfilesModule {
  readonly profiles?: Profiles | undefined;
  readonly always?: Always | undefined;
}

/**
 * Loads profiles of tools, and options that all commands have, from a module of the user's.
 *
 * @throws {InputError} The module can't be loaded, or exports neither `profiles` nor `always`.
 */
export async function loadProfiles(file: string | undefined): Promise<ProfilesModule> {
  if (file === undefined) return {};
  const { profiles, always } = await moduleOf(file);
  if (profiles !== undefined || always !== undefined) return { profiles, always };
  throw new InputError(
    `--profiles: expected a module that exports \`profiles\` or \`always\`, got ${file}`,
  );
}

async function moduleOf(file: string): Promise<ProfilesModule> {
  try {
    return await import(pathToFileURL(resolve(file)).href);
  } catch (error) {
    throw new InputError(`--profiles: ${file} can't be loaded: ${messageOf(error)}`);
  }
}
