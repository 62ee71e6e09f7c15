/** How often one is used. */
const USES = 50;

/**
 * Tools that are made anew after some uses, as conversations end and others begin.
 * @template {{ dispose(): Promise<void> }} Tool
 * @param {() => Tool} make
 */
export function renewed(make) {
  const begin = () => ({ tool: make(), uses: 0, running: 0 });
  let now = begin();
  return {
    /** @param {(tool: Tool) => Promise<unknown>} work */
    async use(work) {
      const mine = now;
      mine.uses += 1;
      mine.running += 1;
      if (mine.uses === USES) now = begin();
      try {
        await work(mine.tool);
      } finally {
        mine.running -= 1;
        if (mine !== now && mine.running === 0) await mine.tool.dispose();
      }
    },
    /** To be called while none is in use. */
    async renew() {
      await now.tool.dispose();
      now = begin();
    },
    dispose: () => now.tool.dispose(),
  };
}
