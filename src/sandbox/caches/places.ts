import { readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';

/** A cache of a tool. */
export interface ToolCache {
  /** A name of small letters, digits and hyphens. */
  readonly name: string;
  /** The absolute path at which the tool looks for it; links are not followed yet. */
  readonly path: string;
  /** A variable that names it, which commands get. */
  readonly variable?: string;
}

/** Variables of the host that decide where caches are. */
const VARIABLES = [
  'XDG_CACHE_HOME',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  ...bothSpellings('npm_config_userconfig'),
  ...bothSpellings('npm_config_cache'),
  ...bothSpellings('pnpm_config_store_dir'),
  'PNPM_HOME',
  'YARN_GLOBAL_FOLDER',
  'BUN_INSTALL',
  'BUN_INSTALL_CACHE_DIR',
  'CARGO_HOME',
  'GOPATH',
  'GRADLE_USER_HOME',
] as const;

/** Variables that name the cache of one tool, which is below another one otherwise. */
const ONE_BY_ONE = [
  'UV_CACHE_DIR',
  'PIP_CACHE_DIR',
  'YARN_CACHE_FOLDER',
  'GOCACHE',
  'GOMODCACHE',
  'PLAYWRIGHT_BROWSERS_PATH',
  'PRE_COMMIT_HOME',
  'HF_HOME',
  'HF_HUB_CACHE',
  'DENO_DIR',
] as const;

/** Returns the variables of the host on which {@link toolCaches} depends. */
export function cacheVariables(): Readonly<Record<string, string | undefined>> {
  const names = [...VARIABLES, ...ONE_BY_ONE];
  return Object.fromEntries(names.map((name) => [name, process.env[name]]));
}

/**
 * Finds where a user's tools have their caches, as the tools do: by variables, by a few lines of the
 * user's own settings, and else by their defaults. Reads no file of a project.
 *
 * @param home The home directory, absolute.
 */
export function toolCaches(
  home: string,
  variables: Readonly<Record<string, string | undefined>>,
): readonly ToolCache[] {
  const given = (name: string): string | undefined => absolute(variables[name]);
  const config = given('XDG_CONFIG_HOME') ?? join(home, '.config');
  const data = given('XDG_DATA_HOME') ?? join(home, '.local/share');
  const setting = (name: string) => given(name) ?? given(name.toUpperCase());
  const environment = { ...process.env, ...variables, HOME: home };
  const npm = npmSettings(setting('npm_config_userconfig') ?? join(home, '.npmrc'), environment);
  const go = goSettings(join(config, 'go/env'));
  const cargo = given('CARGO_HOME') ?? join(home, '.cargo');
  const gopath = absolute((variables.GOPATH ?? go.get('GOPATH'))?.split(':')[0]);
  const bun = given('BUN_INSTALL') ?? join(home, '.bun');
  const pnpm = given('PNPM_HOME') ?? join(data, 'pnpm');
  const maven = join(home, '.m2');
  const oneByOne = ONE_BY_ONE.flatMap((name): ToolCache[] => {
    const path = given(name) ?? absolute(go.get(name));
    return path === undefined ? [] : [{ name: name.toLowerCase().replaceAll('_', '-'), path }];
  });
  const npmCache = setting('npm_config_cache') ?? npm.get('cache');
  const store = setting('pnpm_config_store_dir') ?? npm.get('store-dir');
  const berry = given('YARN_GLOBAL_FOLDER') ?? join(home, '.yarn/berry');
  return [
    // Of pip, uv, yarn 1, Go's builds, Playwright, pre-commit, Hugging Face and many more.
    {
      name: 'cache',
      path: given('XDG_CACHE_HOME') ?? join(home, '.cache'),
      // Yarn 1 of root looks elsewhere by default.
      variable: 'XDG_CACHE_HOME',
    },
    { name: 'npm', path: npmCache ?? join(home, '.npm'), variable: 'npm_config_cache' },
    { name: 'pnpm', path: store ?? join(pnpm, 'store'), variable: 'pnpm_config_store_dir' },
    { name: 'yarn', path: berry },
    { name: 'bun', path: given('BUN_INSTALL_CACHE_DIR') ?? join(bun, 'install/cache') },
    { name: 'cargo-registry', path: join(cargo, 'registry') },
    { name: 'cargo-git', path: join(cargo, 'git') },
    // Modules, and beside them what is known of their checksums.
    { name: 'go', path: join(gopath ?? join(home, 'go'), 'pkg') },
    { name: 'maven', path: mavenRepository(maven, home) ?? join(maven, 'repository') },
    { name: 'maven-wrapper', path: join(maven, 'wrapper') },
    { name: 'gradle', path: given('GRADLE_USER_HOME') ?? join(home, '.gradle') },
    ...oneByOne,
  ];
}

function absolute(path: string | undefined): string | undefined {
  return path !== undefined && isAbsolute(path) ? path : undefined;
}

/** npm and pnpm read both. */
function bothSpellings<Name extends string>(name: Name): [Name, Uppercase<Name>] {
  return [name, name.toUpperCase() as Uppercase<Name>];
}

/** Reads the paths in npm's settings, which pnpm reads too. */
function npmSettings(
  path: string,
  environment: Readonly<Record<string, string | undefined>>,
): ReadonlyMap<string, string> {
  const lines = textOf(path).matchAll(/^[ \t]*(cache|store-dir)[ \t]*=[ \t]*(.+?)[ \t]*\r?$/gm);
  const found = new Map<string, string>();
  for (const [, name = '', value = ''] of lines) {
    const plain = value
      .replace(/^(["'])(.*)\1$/, '$2')
      .replace(/^~(?=\/)/, () => environment.HOME ?? '~');
    // Without a value it stays as it is written, and is no path; with a question mark it is empty then.
    const whole = plain.replaceAll(/\$\{(\w+)(\??)\}/g, (text, variable: string, mark: string) => {
      return environment[variable] ?? (mark === '' ? text : '');
    });
    if (isAbsolute(whole)) found.set(name, whole);
  }
  return found;
}

/** Reads the file that `go env -w` writes. */
function goSettings(path: string): ReadonlyMap<string, string> {
  const lines = textOf(path).matchAll(/^(GOPATH|GOCACHE|GOMODCACHE)=(.+)$/gm);
  return new Map([...lines].map(([, name = '', value = '']) => [name, value]));
}

function mavenRepository(directory: string, home: string): string | undefined {
  const text = textOf(join(directory, 'settings.xml')).replaceAll(/<!--[\s\S]*?-->/g, '');
  const [, value] = /<localRepository>\s*([^<]+?)\s*<\/localRepository>/.exec(text) ?? [];
  return value === undefined ? undefined : absolute(inPlaceOfHome(value, home));
}

/** Puts in the home directory, as the settings of Maven spell it. */
function inPlaceOfHome(path: string, home: string): string {
  return path.replace(/^\$\{(?:env\.HOME|user\.home)\}/, () => home);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
