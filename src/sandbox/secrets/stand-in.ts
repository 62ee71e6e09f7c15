import { randomBytes } from '../../support/random.js';

/**
 * Prefixes of common kinds of secrets, longer ones first. They are not secret, and many programs check
 * them.
 */
const BEGINNINGS: readonly string[] = [
  ...['github_pat_', 'ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'glpat-', 'gldt-', 'glrt-'],
  ...['npm_', 'pypi-', 'rubygems_', 'dckr_pat_', 'dckr_oat_', 'hf_', 'lin_api_', 'figd_'],
  ...['sk-ant-api03-', 'sk-ant-', 'sk-proj-', 'sk-svcacct-', 'sk-or-v1-', 'sk-', 'AIza', 'gsk_'],
  ...['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_', 'whsec_', 'AKIA', 'ASIA', 'dop_v1_'],
  ...['xoxb-', 'xoxp-', 'xoxa-', 'xapp-', 'SG.', 'shpat_', 'shpss_', 'ATATT3', 'pul-', 'vcp_'],
];

/** The number of random characters that make a stand-in unpredictable. */
const FEWEST_RANDOM = 20;
/** A mark for people who read a stand-in, where it is long enough. */
const MARK = 'StandIn';
/** Characters that need no escaping in a URL, and that divide secrets. */
const DIVIDER = /[-_.]/;

/**
 * Makes the stand-in of a secret: as long, if that is long enough, of the same kinds of characters, and
 * divided alike, so that a check of its form succeeds. None of its characters needs escaping in URLs,
 * headers, JSON and shells.
 */
export function standInFor(value: string): string {
  const beginning = BEGINNINGS.find((one) => value.startsWith(one)) ?? '';
  const rest = value.slice(beginning.length);
  const alphabet = alphabetOf(rest);
  const isDivided = rest.replace(/[-_.]/g, '').length >= FEWEST_RANDOM;
  const length = Math.max(rest.length, FEWEST_RANDOM);
  const random = randomBytes(2 * length);
  const text = Array.from({ length }, (_, index) => {
    const char = rest[index] ?? '';
    if (isDivided && DIVIDER.test(char)) return char;
    return alphabet[random.readUInt16LE(2 * index) % alphabet.length];
  }).join('');
  return beginning + marked(text, alphabet);
}

/** Marks a text as a stand-in, for its readers. */
function marked(text: string, alphabet: string): string {
  const first = text.slice(0, MARK.length);
  const hasRoom = text.length >= FEWEST_RANDOM + MARK.length && !DIVIDER.test(first);
  const mark = [MARK, MARK.toLowerCase(), MARK.toUpperCase()].find((one) =>
    [...one].every((char) => alphabet.includes(char)),
  );
  return hasRoom && mark !== undefined ? mark + text.slice(MARK.length) : text;
}

const DIGITS = '0123456789';
const SMALL = 'abcdefghijklmnopqrstuvwxyz';

function alphabetOf(text: string): string {
  if (/^\d*$/.test(text)) return text === '' ? DIGITS + SMALL : DIGITS;
  if (/^[-_.\da-f]*$/.test(text)) return `${DIGITS}abcdef`;
  if (/^[-_.\dA-F]*$/.test(text)) return `${DIGITS}ABCDEF`;
  if (!/[A-Z]/.test(text)) return DIGITS + SMALL;
  return /[a-z]/.test(text) ? DIGITS + SMALL + SMALL.toUpperCase() : DIGITS + SMALL.toUpperCase();
}
