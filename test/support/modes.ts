import { afterEach } from 'vitest';
import { createBashTool, type ModesOptions, type ModesTool } from '../../src/index.js';

/** Makes `modes` tools that are disposed of after the test that asked for them. */
export function useModesTools(folder: {
  readonly path: string;
}): (options?: Partial<ModesOptions>) => ModesTool {
  const tools: ModesTool[] = [];
  afterEach(async () => {
    await Promise.all(tools.splice(0).map((tool) => tool.dispose()));
  });
  return (options) => {
    const tool = createBashTool({ contract: 'modes', cwd: folder.path, ...options });
    tools.push(tool);
    return tool;
  };
}
