import { join } from 'node:path';
import { messageOf } from '../../../support/errors.js';
import type { LocalFiles } from '../../local-machine/files/local-files.js';
import { PathError } from '../../local-machine/files/path-error.js';
import { findLines, findPaths } from '../../local-machine/files/search.js';
import type { ChangeResult, DeepAgentsBackend, FileInfo, TransferError } from './backend.js';
import { shownMediaType, typedContent } from './media-type.js';
import { replaceText, someLines } from './text.js';

type DeepagentsFileMethods = Omit<
  DeepAgentsBackend,
  'id' | 'execute' | 'dispose' | typeof Symbol.asyncDispose
>;

/** The number of results at most. */
const MOST_FOUND = 10_000;

/** Returns the files of a machine in the form of deepagents: failures are told in the result. */
export function backendFiles(files: LocalFiles): DeepagentsFileMethods {
  const infoOf = async (path: string, shown: string): Promise<FileInfo | undefined> => {
    // A link whose target is missing, or outside, is listed as itself.
    const status =
      (await files.status(path).catch(() => undefined)) ?? (await files.status(path, true));
    if (status === undefined) return undefined;
    const { type, size, modified } = status;
    const isDirectory = type === 'directory';
    return { path: shown, is_dir: isDirectory, size, modified_at: modified.toISOString() };
  };
  const infosOf = async (
    paths: readonly { readonly path: string; readonly shown: string }[],
  ): Promise<FileInfo[]> => {
    const infos: FileInfo[] = [];
    for (const { path, shown } of paths) {
      const info = await infoOf(path, shown);
      if (info !== undefined) infos.push(info);
    }
    return infos;
  };
  return {
    ls: (path) =>
      told(async () => {
        const entries = await files.list(below(path));
        const named = entries.map(({ name, type }) => {
          const at = join(files.root, below(path), name);
          return { path: join(below(path), name), shown: type === 'directory' ? `${at}/` : at };
        });
        return { files: await infosOf(named) };
      }),
    read: (path, offset = 0, limit = 500) =>
      told(async () => {
        const { content, mimeType } = typedContent(path, await files.read(path));
        if (typeof content !== 'string') return { content, mimeType };
        return { ...someLines(content, offset, limit), mimeType };
      }),
    readRaw: (path) =>
      told(async () => {
        const [bytes, status] = await Promise.all([files.read(path), files.status(path)]);
        const modified = (status?.modified ?? new Date()).toISOString();
        const created = (status?.created ?? new Date()).toISOString();
        return {
          data: { ...typedContent(path, bytes), created_at: created, modified_at: modified },
        };
      }),
    write: (path, content) =>
      changed(path, () =>
        files.write(path, Buffer.from(content, shownMediaType(path) ? 'base64' : 'utf8')),
      ),
    edit: async (path, from, to, replaceAll = false) => {
      let occurrences = 0;
      const result = await changed(path, () =>
        files.edit(path, (text) => {
          const replaced = replaceText(path, text, from, to, replaceAll);
          occurrences = replaced.occurrences;
          return replaced.text;
        }),
      );
      return result.error === undefined ? { ...result, occurrences } : result;
    },
    delete: (path) =>
      changed(path, async () => {
        if (await files.remove(path, { recursive: true })) return;
        throw new PathError('missing', path, 'no such file or directory');
      }),
    grep: (text, path, glob, maxCount) =>
      told(async () => {
        const directory = below(path ?? '/');
        const limit = Math.min(maxCount ?? MOST_FOUND, MOST_FOUND);
        const { found, cut } = await findLines(files, directory, text, {
          pattern: glob ?? undefined,
          limit,
        });
        const matches = found.map((each) => {
          const at = each.path === '' ? directory : join(directory, each.path);
          return { ...each, path: at.startsWith('/') ? at : join(files.root, at) };
        });
        return cut ? { matches, truncated: true } : { matches };
      }),
    glob: (pattern, path = '/') =>
      told(async () => {
        const directory = below(path);
        const { found, cut } = await findPaths(files, directory, pattern, MOST_FOUND);
        const named = found.map((each) => {
          return { path: join(directory, each.path), shown: each.path };
        });
        const infos = await infosOf(named);
        return cut ? { files: infos, truncated: true } : { files: infos };
      }),
    uploadFiles: (all) =>
      inOrder(all, async ([path, content]) => {
        return { path, error: await transferError(files.write(path, content)) };
      }),
    downloadFiles: (paths) =>
      inOrder(paths, async (path) => {
        let content: Uint8Array | null = null;
        const error = await transferError(
          files.read(path).then((bytes) => {
            content = bytes;
          }),
        );
        return { path, content, error };
      }),
  };
}

/** Models are told that paths begin with a slash, and use a single slash for the root. */
function below(path: string): string {
  return path === '/' ? '.' : path;
}

async function told<Result extends object>(
  work: () => Promise<Result>,
): Promise<Result | { error: string }> {
  try {
    return await work();
  } catch (error) {
    return { error: `Error: ${messageOf(error)}` };
  }
}

function changed(path: string, work: () => Promise<void>): Promise<ChangeResult> {
  return told(async () => {
    await work();
    return { path, filesUpdate: null };
  });
}

async function inOrder<One, Other>(
  all: readonly One[],
  work: (one: One) => Promise<Other>,
): Promise<Other[]> {
  const results: Other[] = [];
  for (const one of all) results.push(await work(one));
  return results;
}

async function transferError(work: Promise<void>): Promise<TransferError | null> {
  try {
    await work;
    return null;
  } catch (error) {
    if (!(error instanceof PathError)) return 'invalid_path';
    if (error.kind === 'missing') return 'file_not_found';
    if (error.kind === 'denied') return 'permission_denied';
    return error.kind === 'isDirectory' ? 'is_directory' : 'invalid_path';
  }
}
