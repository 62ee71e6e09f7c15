/** The error when the pipes of a shell could not be made; nothing was run. The message says why. */
export class PipesError extends Error {
  override readonly name = 'PipesError';
}
