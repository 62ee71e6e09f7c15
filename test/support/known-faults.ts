// Faults that the layout test knows and does not tell. Each is to be mended, and then to go from here.

/** Modules in circles. */
export const knownCircles: readonly string[] = [
  'native/keeper/src/command.rs',
  'native/keeper/src/cradle.rs',
  'native/keeper/src/detached.rs',
  'native/keeper/src/detached/crew/seated.rs',
  'native/keeper/src/sandbox/mod.rs',
  'native/keeper/src/sandbox/tree/mod.rs',
  'native/keeper/src/sandbox/tree/names.rs',
  'native/keeper/src/sandbox/tree/overlay.rs',
  'native/keeper/src/sandbox/warden/connecting.rs',
  'native/keeper/src/sandbox/warden/gate/act.rs',
  'native/keeper/src/sandbox/warden/gate/mod.rs',
  'native/keeper/src/sandbox/warden/mod.rs',
  'native/keeper/src/sandbox/watchers/cover.rs',
  'native/keeper/src/sandbox/watchers/mod.rs',
  'native/keeper/src/sandbox/watchers/refresher.rs',
  'native/far/src/command/after.rs',
  'native/far/src/command/told.rs',
  'native/far/src/environment/launchers.rs',
  'native/far/src/environment/mod.rs',
];

/** Names that several types of Rust have. */
export const knownRustTypes: readonly string[] = [
  ...'Answer Attributes Base Call Cause Command Cradle End Ended Ending'.split(' '),
  ...'Failure Form Found Image Input Keeper Launched Line Member Output'.split(' '),
  ...'Place Plumbing Refusal Request Room Shown State Step Turn Way'.split(' '),
];

/** Names that several types of TypeScript have. */
export const knownTypeScriptTypes: readonly string[] = [
  ...'Answer Asked CallEnd CallLine Candidate DetachedCommand Encoding End Ends Failure'.split(' '),
  ...'FileMethods Found Kept Known Line Onward OptionsOf Output Overrides Part Piece Place'.split(
    ' ',
  ),
  ...'Reader Report Run Served Shell ShownStreams Start Target TaskMessage TaskSettings'.split(' '),
  ...'Variables'.split(' '),
];
