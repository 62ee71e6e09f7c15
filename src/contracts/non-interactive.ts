import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * An editor that fails with a message. One that succeeds (`true`) would accept the text as it is: a commit
 * message, or the plan of a rebase.
 *
 * Programs append the file's name and run the line in a shell. The last word becomes `$0`, so that the name
 * is an argument without effect. A program that splits the line at blanks itself gets an unterminated quote,
 * which fails as well.
 */
const NO_EDITOR =
  'sh -c \'echo "No editor is available here: give the text as an argument or in a file' +
  ' (git: -m, -F, --no-edit)." >&2; exit 1\' no-editor';

const DEFAULTS: Readonly<Record<string, string>> = {
  // A pager would wait for a key.
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  MANPAGER: 'cat',
  SYSTEMD_PAGER: 'cat',
  BAT_PAGER: 'cat',
  DELTA_PAGER: 'cat',
  GH_PAGER: 'cat',
  GLAB_PAGER: 'cat',
  PSQL_PAGER: 'cat',
  MYSQL_PAGER: 'cat',
  HOMEBREW_PAGER: 'cat',
  AWS_PAGER: '',
  LESS: 'FRX',

  // Plain text, at once.
  TERM: 'dumb',
  NO_COLOR: '1',
  PYTHONUNBUFFERED: '1',

  // A question would get no answer.
  GIT_EDITOR: NO_EDITOR,
  EDITOR: NO_EDITOR,
  VISUAL: NO_EDITOR,
  GIT_TERMINAL_PROMPT: '0',
  DEBIAN_FRONTEND: 'noninteractive',
  PIP_NO_INPUT: '1',
  TF_INPUT: '0',
  TF_IN_AUTOMATION: '1',
  GH_PROMPT_DISABLED: '1',
  COMPOSER_NO_INTERACTION: '1',
  CLOUDSDK_CORE_DISABLE_PROMPTS: '1',
  npm_config_yes: 'true',

  // Advertisements, notifications and progress bars.
  npm_config_update_notifier: 'false',
  npm_config_fund: 'false',
  npm_config_audit: 'false',
  npm_config_progress: 'false',
  PNPM_DISABLE_SELF_UPDATE_CHECK: 'true',
  YARN_ENABLE_TELEMETRY: '0',
  YARN_ENABLE_PROGRESS_BARS: '0',
  CARGO_TERM_PROGRESS_WHEN: 'never',
  PIP_DISABLE_PIP_VERSION_CHECK: '1',
};

/** The variables for each value of `ci`. Environments are cached by the identity of such objects. */
const made = new Map<boolean, Readonly<Record<string, string>>>();

/**
 * Returns variables that keep programs from waiting for a person, for commands without a terminal. They
 * override the inherited variables, and the caller's override them.
 *
 * @param ci Adds `CI=true`, by which many programs know that no person is watching.
 */
export function nonInteractiveDefaults(ci: boolean): Readonly<Record<string, string>> {
  let defaults = made.get(ci);
  if (defaults === undefined) {
    const askpass = findFalse();
    defaults = {
      ...DEFAULTS,
      // `true` and not `1`: some programs parse it as a boolean of their language.
      ...(ci ? { CI: 'true' } : {}),
      ...(askpass === undefined ? {} : { SSH_ASKPASS: askpass }),
    };
    made.set(ci, defaults);
  }
  return defaults;
}

/** Finds the program `false`, since ssh needs a path, which differs between systems. */
function findFalse(): string | undefined {
  const folders = ['/bin', '/usr/bin', ...(process.env.PATH ?? '').split(delimiter)];
  return folders.map((folder) => join(folder, 'false')).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
