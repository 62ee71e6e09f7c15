import { afterEach } from 'vitest';

/** What a test makes goes through this, and is disposed of after that test. */
export function useDisposal(): <Made extends { dispose(graceMs?: number): Promise<void> }>(
  made: Made,
) => Made {
  const all: { dispose(graceMs?: number): Promise<void> }[] = [];
  afterEach(async () => {
    // The grace is for owners; tools have one of their own.
    await Promise.all(all.splice(0).map((made) => made.dispose(500)));
  });
  return (made) => {
    all.push(made);
    return made;
  };
}
