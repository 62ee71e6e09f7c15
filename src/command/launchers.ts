/**
 * Removes variables that the program which started the host (its launcher) has set for the host alone:
 * a package manager for its script, an editor for its own processes, an AppImage for the programs in it.
 * Commands must not see them: `npm` would use the configuration of another project, `node` would wait
 * for a debugger, and programs of this system would load libraries of another one.
 */

/** Entries (`NAME=value`) by name. */
type Entries = Map<string, string>;

/** Removes the launchers' variables from an environment, as if the host had been started without them. */
export function removeLaunchers(entries: Entries): void {
  if (PACKAGE_MANAGER.some((name) => entries.has(name))) removePackageManager(entries);
  removeEditor(entries);
  removeAppImage(entries);
  rewrite(entries, 'NODE_OPTIONS', withoutPreloaded);
}

/** Variables of which at least one is set when a package manager has started the host. */
const PACKAGE_MANAGER = [
  'npm_execpath',
  'npm_command',
  'npm_lifecycle_event',
  'npm_config_user_agent',
  'BERRY_BIN_FOLDER',
];

/**
 * Variables of npm, pnpm, Yarn and Bun, besides `npm_*`. The user's own settings are spelt
 * `NPM_CONFIG_*`, or are in an `.npmrc`.
 */
const MANAGERS_OWN = [
  'INIT_CWD',
  'COLOR',
  'PNPM_PACKAGE_NAME',
  'PNPM_SCRIPT_SRC_DIR',
  'pnpm_config_verify_deps_before_run',
  'BERRY_BIN_FOLDER',
  'PROJECT_CWD',
  'YARN_IGNORE_PATH',
  'COREPACK_ROOT',
  'BUN_WHICH_IGNORE_CWD',
];

function removePackageManager(entries: Entries): void {
  const node = readValue(entries, 'npm_node_execpath');
  if (node !== undefined && readValue(entries, 'NODE') === node) entries.delete('NODE');
  // npm sets `vi` if EDITOR is not set; programs use `vi` without it too.
  if (readValue(entries, 'EDITOR') === 'vi') entries.delete('EDITOR');
  for (const name of MANAGERS_OWN) entries.delete(name);
  for (const name of entries.keys()) if (name.startsWith('npm_')) entries.delete(name);
  rewrite(entries, 'PATH', withoutScriptFolders);
  // The wrapper scripts of pnpm add these folders.
  rewrite(entries, 'NODE_PATH', (path) =>
    keepEntries(path, (folder) => !folder.includes('/node_modules/.pnpm/')),
  );
}

/** Matches the end of folders whose programs replace others while a script of a package manager runs. */
const SCRIPT_FOLDER =
  /(?:^|\/)(?:node_modules\/\.bin|node-gyp-bin|yarn--\d[^/]*|xfs-[0-9a-f]{6,}|bun-node-[^/]*)\/?$/;

/** Removes script folders from the beginning of PATH. Those further back are the user's, and stay. */
function withoutScriptFolders(path: string): string {
  const folders = path.split(':');
  const first = folders.findIndex((folder) => !SCRIPT_FOLDER.test(folder));
  return first === -1 ? '' : folders.slice(first).join(':');
}

const EDITORS_OWN: ReadonlySet<string> = new Set([
  'ELECTRON_RUN_AS_NODE',
  'ELECTRON_NO_ATTACH_CONSOLE',
  'ELECTRON_NO_ASAR',
  'APPLICATION_INSIGHTS_NO_DIAGNOSTIC_CHANNEL',
]);
/**
 * Matches variables of editors, except those by which `git` asks the editor for a password and `code`
 * finds its window.
 */
const EDITORS_PREFIX = /^(?:VSCODE_(?!GIT_|IPC_HOOK_CLI$|PORTABLE$|ENV_)|JB_IDE_)/;

function removeEditor(entries: Entries): void {
  for (const name of entries.keys()) {
    if (EDITORS_OWN.has(name) || EDITORS_PREFIX.test(name)) entries.delete(name);
  }
}

/** Matches modules of package managers and of editors' debuggers that Node preloads. */
const PRELOADED =
  /\/(?:\.pnp\.c?js|\.pnp\.loader\.mjs|[^/]*js-debug[^/]*\/.*bootloader\.js|debugConnector\.js)$/;

/** Removes such modules from Node's options. Other options stay as they are, with the blanks between them. */
function withoutPreloaded(options: string): string {
  const option = /(?<!\S)(?:--require|-r|--import|--experimental-loader|--loader)(?:=|\s+)/g;
  let kept = '';
  let from = 0;
  for (let found = option.exec(options); found !== null; found = option.exec(options)) {
    const [module, end] = readWord(options, option.lastIndex);
    if (!PRELOADED.test(module)) continue;
    kept += options.slice(from, found.index);
    from = end;
    option.lastIndex = end;
  }
  if (from === 0) return options;
  return (kept + options.slice(from)).trim();
}

/** Returns the word at an index, without its quotes if it has any, and the index where it ends. */
function readWord(text: string, start: number): [word: string, end: number] {
  const word = /"((?:[^"\\]|\\.)*)"|\S*/y;
  word.lastIndex = start;
  const [whole = '', quoted] = word.exec(text) ?? [];
  return [quoted ?? whole, start + whole.length];
}

function removeAppImage(entries: Entries): void {
  const mount = readValue(entries, 'APPDIR');
  const isAppImage = entries.has('APPIMAGE') || entries.has('OWD') || mount?.includes('/.mount_');
  if (!isAppImage || !mount?.startsWith('/') || mount === '/') return;
  for (const name of ['APPDIR', 'APPIMAGE', 'ARGV0', 'OWD']) entries.delete(name);
  const inside = mount.endsWith('/') ? mount : `${mount}/`;
  for (const [name, entry] of entries) {
    if (!entry.includes(inside.slice(0, -1))) continue;
    rewrite(entries, name, (value) => keepEntries(value, (path) => !`${path}/`.startsWith(inside)));
  }
}

function keepEntries(list: string, stays: (entry: string) => boolean): string {
  return list.split(':').filter(stays).join(':');
}

function readValue(entries: Entries, name: string): string | undefined {
  return entries.get(name)?.slice(name.length + 1);
}

/** Changes the value of a variable; removes the variable if the value becomes empty. */
function rewrite(entries: Entries, name: string, change: (value: string) => string): void {
  const value = readValue(entries, name);
  if (value === undefined) return;
  const changed = change(value);
  if (changed === value) return;
  if (changed === '') entries.delete(name);
  else entries.set(name, `${name}=${changed}`);
}
