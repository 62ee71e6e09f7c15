/**
 * Where a shell may be, in the order in which they are tried: bash in its usual place, bash on
 * PATH, sh. Whether one exists is found out by executing it, which no check can foretell.
 */
export function shellCandidates(path: string | undefined = process.env.PATH): string {
  if (path !== known.path) known = { path, shells: candidates(path) };
  return known.shells;
}

function candidates(path = ''): string {
  const onPath = path.split(':').filter((directory) => directory.startsWith('/'));
  const bashes = onPath.map((directory) => `${directory.replace(/\/+$/, '')}/bash`);
  return [...new Set(['/bin/bash', ...bashes, '/bin/sh'])].join('\0');
}

let known: { path: string | undefined; shells: string } = { path: '', shells: candidates() };
