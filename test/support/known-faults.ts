// Faults that the layout test knows and does not tell. Each is to be mended, and then to go from here.

/** Modules in circles. */
export const knownCircles: readonly string[] = [];

/** Names that several types of Rust have. */
export const knownRustTypes: readonly string[] = [];

/** Names that several types of TypeScript have. */
export const knownTypeScriptTypes: readonly string[] = [
  ...'Answer Asked CallEnd CallLine Candidate DetachedCommand Encoding End Ends Failure'.split(' '),
  ...'FileMethods Found Kept Known Line Onward OptionsOf Output Overrides Part Piece Place'.split(
    ' ',
  ),
  ...'Reader Report Run Served Shell ShownStreams Start Target TaskMessage TaskSettings'.split(' '),
  ...'Variables'.split(' '),
];
