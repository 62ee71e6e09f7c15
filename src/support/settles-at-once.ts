const TURNS = 24;

/**
 * Whether work has nothing to wait for: it settles within a few turns of the microtask queue. Then
 * it needs no timer and no listener, which would cost more than the work itself.
 */
export async function settlesAtOnce(work: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const settle = (): void => {
    settled = true;
  };
  work.then(settle, settle);
  for (let turn = 0; turn < TURNS && !settled; turn += 1) await undefined;
  return settled;
}
