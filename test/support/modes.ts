import { createBashTool, type ModesOptions, type ModesTool } from '../../src/index.js';
import { useDisposal } from './disposal.js';

/** Makes `modes` tools that are disposed of after the test that asked for them. */
export function useModesTools(folder: {
  readonly path: string;
}): (options?: Partial<ModesOptions>) => ModesTool {
  const keep = useDisposal();
  return (options) => keep(createBashTool({ contract: 'modes', cwd: folder.path, ...options }));
}
