import {
  namesOf,
  ROADS,
  type RoadName,
  TREATMENTS,
  type Treatment,
} from '../../src/options/roads.js';
import { OPTIONS, type OptionName, type OptionRow } from '../../src/options/table.js';

const names = Object.keys(OPTIONS) as readonly OptionName[];

/** The rows of the options of `run()`, as docs/api.md has them. */
export function optionRows(): string {
  const rows = names.map((name) => {
    const { default: value, unit, says }: OptionRow = OPTIONS[name];
    return `| \`${name}\` | ${unit && /\d/.test(value) ? `${value} ${unit}` : value} | ${says} |`;
  });
  return ['| option | default | |', '| --- | --- | --- |', ...rows, '']
    .join('\n')
    .replaceAll('|  |', '| |');
}

/** The columns of docs/options.md. */
const COLUMNS: Readonly<Record<RoadName, string>> = {
  run: '`run()`',
  spawn: '`spawn()`',
  task: '`TaskManager`',
  detach: '`detach()`',
  console: '`runInConsole()`',
  tool: 'a tool',
  persistent: '`persistent`',
  detachedTask: 'detached tasks',
  modesBackground: '`background`',
  portable: 'portable engine',
  remote: 'far side',
  fleet: 'fleet',
  staticFar: 'far side without Node',
  commandLine: '`forkline run`',
  localMachine: 'local machine',
};
const SIGNS: Readonly<Record<Treatment, string>> = { carried: '✓', refused: '✗', 'n/a': '' };

/** The table of docs/options.md. */
export function roadRows(): string {
  const roads = Object.keys(ROADS) as readonly RoadName[];
  const row = (name: OptionName) =>
    `| \`${name}\` | ${roads.map((road) => SIGNS[TREATMENTS[name][ROADS[road]]]).join(' | ')} |`;
  const head = `| option | ${roads.map((road) => COLUMNS[road]).join(' | ')} |`;
  const line = `| --- |${roads.map(() => ' :-: |').join('')}`;
  return `${[head, line, ...names.map(row), ''].join('\n').replaceAll('|  |', '| |').replaceAll('|  |', '| |')}`;
}

/** What the far side without Node does with each option that goes over the line. */
export function farTreatments(): string {
  const { signal, onOutput, onExec, input, ...sent } = namesOf('remote');
  const treated = (Object.keys(sent) as (keyof typeof sent)[]).map(
    (name) => [name, TREATMENTS[name][ROADS.staticFar]] as const,
  );
  return `${JSON.stringify(Object.fromEntries(treated), null, 2)}\n`;
}

/** A page with another text in place of the table that begins with this row. */
export function withTable(page: string, firstRow: string, table: string): string {
  const start = page.indexOf(firstRow);
  const end = page.indexOf('\n\n', start) + 1;
  return page.slice(0, start) + table + page.slice(end);
}
