const UNITS = ['KB', 'MB', 'GB', 'TB'] as const;

/** A size for people: `512B`, `12.3KB`, `1.0MB`; 1,024-based, one decimal. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes}B`;
  let size = bytes;
  let shown = '';
  for (const unit of UNITS) {
    size /= 1024;
    shown = `${size.toFixed(1)}${unit}`;
    // By the rounded figure: 1,048,575 bytes are 1.0MB, not 1024.0KB.
    if (Number(size.toFixed(1)) < 1024) break;
  }
  return shown;
}

/** A count with its thousands set apart: `1,234`. */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}
