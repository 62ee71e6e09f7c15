/** A name that a program has printed beside an error of the system. */
interface PrintedName {
  readonly name: string;
  /**
   * Whether the line says that the error is about exactly this name: then it may be of a file to be
   * created. Otherwise it may be words of a sentence, and counts only if the file exists.
   */
  readonly isExact: boolean;
}

/** Errors of the system that a sandbox causes for files, as programs print them. */
const FILE_ERROR =
  /read-only file system|permission denied|device or resource busy|no such file or directory/i;
/** The distance from the error in which names are searched: no path is longer. */
const MOST_CHARACTERS = 4200;

/** Returns the names in a line with an error of the system, the most likely ones first. */
export function namesIn(line: string): readonly PrintedName[] {
  const error = FILE_ERROR.exec(line);
  if (error === null) return [];
  const before = line.slice(0, error.index).slice(-MOST_CHARACTERS);
  const after = line.slice(error.index + error[0].length).slice(0, MOST_CHARACTERS);
  const quoted = [...quotedBefore(before), ...quotedAfter(after)];
  if (quoted.length > 0) return quoted;
  const names = [...shellNames(before, after), ...endOf(before), ...rubyNames(after)];
  return names.filter(({ name }) => !NO_NAME.test(name));
}

// An apostrophe within a word (`can't`) is no quote.
const QUOTED = /(?<!\w)['"‘“`]([^'"’”`\n]{1,4096})['"’”`](?!\w)/g;

/** `cannot touch 'x': `, `could not open 'x' for writing: `, `cannot move 'x' to 'y': `. */
function quotedBefore(before: string): PrintedName[] {
  return quotedIn(before, (match) => {
    const rest = before.slice(match.index + match[0].length);
    return /^(?: failed| for \w+)?[\s:;,(]*$/.test(withoutQuoted(rest));
  });
}

/** `: 'x'`, `, open 'x'`, `, rename 'x' -> 'y'`, ` (os error 30) at path "x"`. */
function quotedAfter(after: string): PrintedName[] {
  return quotedIn(after, (match) => {
    const between = withoutQuoted(after.slice(0, match.index)).trimEnd();
    return /^(?: \(os error \d+\))?(?:[:,@](?: \w+)?(?: -)?| at path)$/.test(between);
  });
}

function quotedIn(text: string, isNext: (match: RegExpMatchArray & { index: number }) => boolean) {
  return [...text.matchAll(QUOTED)].map((match): PrintedName => {
    const [, name = ''] = match;
    return { name, isExact: name.includes('/') || isNext(match) };
  });
}

/** Removes a quoted name with its link word, so that one of two names does not hide the other. */
function withoutQuoted(text: string): string {
  return text.replace(QUOTED, '').replace(/^ (?:to|and|->) +|(?: (?:to|and|->))? *$/g, '');
}

/** Finds names printed by shells, which do not quote them. */
function shellNames(before: string, after: string): PrintedName[] {
  const said = /^(?:\S*\/)?\w*sh: (?:line \d+: |\d+: )?(?:cannot (?:create|open) )?(.+): $/;
  const first = /^(?:\S*\/)?\w*zsh(?::\d+)?: $/.test(before) ? /^: (.+)$/.exec(after) : undefined;
  const [, name] = first ?? said.exec(before) ?? [];
  return name === undefined ? [] : [{ name, isExact: true }];
}

/** `Read-only file system @ rb_sysopen - x (Errno::EROFS)`. */
function rubyNames(after: string): PrintedName[] {
  const [, name] = /^ @ \w+ - (\S+)/.exec(after) ?? [];
  return name === undefined ? [] : [{ name, isExact: true }];
}

/** The words between a name and its error, besides punctuation. */
const LINK = /(?:,\s*(?:error|reason|cause|caused by)|\s+failed)?[\s:;,(-]*$/i;
/** A part of a line that names the failed action, after the part that names the file. */
const COMPLAINT = /^(?:cannot|can't|could not|couldn't|failed|unable)\b/i;
const DONE_TO = /\b(?:open|create|mkdir|remove|unlink|rename|link|chmod|touch|file|dir|directory)$/;
/** Error codes, names of error classes, and positions in a script. */
const NO_NAME = /^E[A-Z]{2,}$|(?:Exception|Error)$|^(?:error|warning|fatal|line \d+|\d+)$/i;

/** `tee: x: `, `cannot open output file x: `, `tar: x: Cannot open: `, `failed to write, path: x, error: `. */
function endOf(before: string): PrintedName[] {
  const all = before.replace(LINK, '').split(': ');
  // The first part is the program's name, unless it is alone.
  const parts = all.length > 1 ? all.slice(1) : all.filter((part) => /[/ ]/.test(part));
  const [last = '', previous = ''] = parts.reverse();
  const names = nameAtEnd(last);
  const isAbove = names.length === 0 && COMPLAINT.test(last) && previous !== '';
  return isAbove ? [{ name: previous, isExact: true }] : names;
}

/** Returns the whole part, or its last word. */
function nameAtEnd(part: string): PrintedName[] {
  const at = part.lastIndexOf(' ');
  if (at < 0) return part === '' ? [] : [{ name: part, isExact: true }];
  const whole = COMPLAINT.test(part) ? [] : [{ name: part, isExact: false }];
  const word = part.slice(at + 1);
  const isName = word.includes('/') || DONE_TO.test(part.slice(0, at));
  return isName ? [...whole, { name: word, isExact: true }] : whole;
}
