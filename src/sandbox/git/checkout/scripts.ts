// Scripts that run in the sandbox, by `/bin/sh -c SCRIPT sh TOP …`. They write nothing, and run no
// program that a configuration names, except the filters that git needs to compare contents.

/** The options with which the scripts call git, before its subcommand. */
export const OWN_GIT_OPTIONS: readonly string[] = [
  ...['core.fsmonitor=false', 'core.hooksPath=/dev/null', 'core.quotePath=false'],
  'log.showSignature=false',
]
  .flatMap((setting) => ['-c', setting])
  .concat('--no-optional-locks', '--no-pager', '--literal-pathspecs');

/** The subcommands of git that the scripts call. */
export const READING_SUBCOMMANDS: ReadonlySet<string> = new Set([
  ...['symbolic-ref', 'log', 'cat-file', 'diff-index', 'ls-tree', 'hash-object'],
]);

/** The other programs of the scripts. */
export const READING_PROGRAMS: ReadonlySet<string> = new Set([
  ...['tail', 'wc', 'readlink', 'dirname', 'stat'],
]);

const BEGIN = `
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_COMMON_DIR GIT_OBJECT_DIRECTORY GIT_NAMESPACE GIT_PREFIX
export LC_ALL=C GIT_OPTIONAL_LOCKS=0 GIT_NO_LAZY_FETCH=1 GIT_TERMINAL_PROMPT=0
g() {
  git ${OWN_GIT_OPTIONS.join(' ')} "$@"
}
cd -- "$1" || exit 3
shift
`;

/** The most positions of HEAD that are examined. */
const MOST_POSITIONS = 64;

/**
 * Arguments: the log of HEAD and its former length, the former commit, the names. Prints the branch, the
 * number of new moves, all moves, then the objects of HEAD, of each position and of the former commit
 * under each name, and the entries of the index that differ.
 */
export const POSITIONS_SCRIPT = `${BEGIN}
log=$1 bytes=$2 old=$3
shift 3
printf 'branch %s\\n' "$(g symbolic-ref -q HEAD)"
[ "$bytes" -ge 0 ] && [ -f "$log" ] &&
  printf 'new %s\\n' "$(tail -c +$((bytes + 1)) -- "$log" | wc -l)"
moves=$(g log -g -n ${MOST_POSITIONS} --no-decorate --date=unix --format='move %H %gd %gs' HEAD -- 2>/dev/null)
printf '%s\\nobjects\\n' "$moves"
{
  echo HEAD
  for name do printf 'HEAD:%s\\n' "$name"; done
  [ -z "$old" ] || for name do printf '%s:%s\\n' "$old" "$name"; done
  printf '%s\\n' "$moves" | while read -r _ commit _; do
    [ -z "$commit" ] || for name do printf '%s:%s\\n' "$commit" "$name"; done
  done
} | g cat-file --batch-check='%(objecttype) %(objectname)' || exit 4
echo index
g diff-index --cached --raw --no-abbrev --no-renames HEAD -- "$@" 2>/dev/null || echo failed
echo end
`;

/** Arguments: trees. Prints each, and the files in it. */
export const TREES_SCRIPT = `${BEGIN}
for tree do
  printf 'tree %s\\n' "$tree"
  g ls-tree -r --full-tree "$tree" || exit 4
done
echo end
`;

/** Arguments: paths. Prints for each git's object id of its content, and when it was changed. */
export const FILES_SCRIPT = `${BEGIN}
for path do
  content=none
  if [ -L "$path" ]; then content=$(readlink -n -- "$path" | g hash-object --stdin)
  elif [ -f "$path" ]; then content=$(g hash-object -- "$path")
  fi
  place=$path
  while [ ! -e "$place" ] && [ ! -L "$place" ] && [ "$place" != . ]; do place=$(dirname -- "$place"); done
  printf '%s %s\\n' "\${content:-unknown}" "$(stat -c '%Y %y' -- "$place")"
done
echo end
`;
