/** The pipes of a shell could not be made. The message says why; nothing was run. */
export class PipesError extends Error {
  override readonly name = 'PipesError';
}
