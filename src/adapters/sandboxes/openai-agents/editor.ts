import type { Editor } from '@openai/agents';
import type { LocalFiles } from '../../local-machine/files/local-files.js';
import { PathError } from '../../local-machine/files/path-error.js';
import { sdk } from './sdk.js';

/** Makes an editor that applies the patches of models to the files of a machine. */
export function editorOf(files: LocalFiles): Editor {
  const { applyDiff } = sdk();
  return {
    async createFile({ path, diff }) {
      await files.write(path, Buffer.from(applyDiff('', diff, 'create')));
      return {};
    },
    async updateFile({ path, diff, moveTo }) {
      if (moveTo === undefined || moveTo === path) {
        await files.edit(path, (text) => applyDiff(text, diff));
        return {};
      }
      const text = String(await files.read(path));
      await files.write(moveTo, Buffer.from(applyDiff(text, diff)));
      await files.remove(path);
      return {};
    },
    async deleteFile({ path }) {
      if (await files.remove(path)) return {};
      throw new PathError('missing', path, 'no such file or directory');
    },
  };
}
