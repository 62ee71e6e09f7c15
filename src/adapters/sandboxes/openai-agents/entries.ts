import { join, resolve } from 'node:path';
import type { Entry, Manifest } from '@openai/agents/sandbox';
import { LocalFiles } from '../../local-machine/files/local-files.js';
import { sdk } from './sdk.js';

/** @throws {SandboxUnsupportedFeatureError} It asks for what a directory of this machine has not. */
export function checkManifest(manifest: Manifest): void {
  for (const name of ['users', 'groups', 'extraPathGrants'] as const) {
    if (manifest[name].length > 0) refuse(`manifest.${name}`, manifest[name]);
  }
  for (const [path, entry] of Object.entries(manifest.entries)) checkEntry(path, entry);
}

/**
 * Checks an entry.
 *
 * @throws {SandboxUnsupportedFeatureError} As {@link checkManifest}.
 */
export function checkEntry(path: string, entry: Entry): void {
  if (entry.group !== undefined) refuse(`group of ${path}`, entry.group);
  if (entry.type === 'dir') {
    for (const [name, child] of Object.entries(entry.children ?? {})) {
      checkEntry(join(path, name), child);
    }
    return;
  }
  if (!['file', 'local_file', 'local_dir'].includes(entry.type)) refuse(path, entry.type);
}

function refuse(feature: string, value: unknown): never {
  const known = 'dir, file, local_file and local_dir entries';
  const got = JSON.stringify(value);
  throw new (sdk().SandboxUnsupportedFeatureError)(
    `${feature}: the local machine takes ${known}, but no mounts, repositories, users and grants; got ${got}`,
  );
}

/**
 * Writes an entry of a manifest to its place. Local sources are in the host's working directory.
 */
export async function placeEntry(files: LocalFiles, path: string, entry: Entry): Promise<void> {
  const mode = entry.permissions === undefined ? undefined : modeOf(entry.permissions);
  switch (entry.type) {
    case 'dir':
      await files.makeDirectory(path);
      for (const [name, child] of Object.entries(entry.children ?? {})) {
        await placeEntry(files, join(path, name), child);
      }
      return;
    case 'file':
      await files.write(path, Buffer.from(entry.content), { mode });
      return;
    case 'local_file': {
      const sources = await LocalFiles.open(process.cwd());
      await files.write(path, await sources.read(entry.src), { mode });
      return;
    }
    case 'local_dir':
      await copyDirectory(files, path, entry.src);
      return;
    default:
      refuse(path, entry.type);
  }
}

function modeOf(permissions: NonNullable<Entry['permissions']>): number {
  const { Permissions } = sdk();
  const made = permissions instanceof Permissions ? permissions : new Permissions(permissions);
  return made.toMode() & 0o777;
}

/** Symlinks, pipes and devices are left out. */
async function copyDirectory(files: LocalFiles, path: string, source: string): Promise<void> {
  const sources = await LocalFiles.open(process.cwd());
  const from = await sources.directory(source);
  await files.makeDirectory(path);
  await sources.walk(from, async ({ path: name, type }) => {
    const to = join(path, name);
    if (type === 'directory') await files.makeDirectory(to);
    if (type === 'file') await files.write(to, await sources.read(resolve(from, name)));
    return true;
  });
}
