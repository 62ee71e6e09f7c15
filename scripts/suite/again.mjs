/** The most failing files, or Rust tests, that are run once more by themselves: more are no accident. */
export const MOST_AGAIN = 12;
