import { readFileSync } from 'node:fs';

/** Returns where file systems are mounted in this process's view of the file system. */
export function mountPoints(): readonly string[] {
  // Number, parent, device, root, mount point, …; blanks and similar characters are octal numbers.
  const lines = textOfTable().matchAll(/^\d+ \d+ \S+ \S+ (\S+)/gm);
  const points = [...lines].map(([, path = '']) =>
    path.replaceAll(/\\([0-7]{3})/g, (_, digits: string) =>
      String.fromCharCode(Number.parseInt(digits, 8)),
    ),
  );
  return [...new Set(points)];
}

function textOfTable(): string {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8');
  } catch {
    return '';
  }
}
