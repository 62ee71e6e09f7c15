// A far side: one that is connected all the time, and new ones.
/** @import { Room } from '../kind.d.ts' */
import { strict as assert } from 'node:assert';
import { fileURLToPath } from 'node:url';

/** @type {typeof import('../../../../src/remote/index.js')} */
const { connect } = await import(new URL('../../../../dist/remote/index.js', import.meta.url).href);

const program = fileURLToPath(new URL('../../../../dist/cli.js', import.meta.url));
const command = [process.execPath, program, 'serve', '--stdio'];

/** @returns {Promise<Room>} */
export async function farKinds() {
  const far = await connect({ command });
  const tool = await far.createBashTool({ contract: 'plain', cwd: '/' });
  /** @type {Room['kinds']} */
  const kinds = [
    {
      name: 'at a far side',
      every: 200,
      work: async (index) => {
        const { output } = await far.run(`echo ${index}`);
        assert.equal(output.kind === 'complete' && output.text, `${index}\n`);
      },
    },
    {
      name: 'tool at a far side',
      every: 500,
      work: async (index) => {
        const { content } = await tool.execute({ command: `echo ${index}` });
        assert.match(content[0]?.text ?? '', new RegExp(`${index}`));
      },
    },
    {
      name: 'far side, connected and given up',
      every: 10_000,
      work: async () => {
        const other = await connect({ command });
        const made = await other.createBashTool({ contract: 'workspace', cwd: '/' });
        assert.match((await made.execute({ command: 'echo yes' })).content[0]?.text ?? '', /^yes/);
        await other.dispose();
      },
    },
  ];
  return { kinds, dispose: () => far.dispose() };
}
