import { describe, expect, test } from 'vitest';
import { createLineFilter, type Omission, type OutputFilter } from '../../src/index.js';
import { make, noise, omitting } from '../support/minimizer.js';

describe('a filter of a third party', () => {
  const text = [...noise(5), 'error: disk full', ...noise(5), ''].join('\n');

  test('that points at an error is undone, and reported once', async () => {
    const { shorten, warnings } = make({ filters: [omitting({ start: 0, end: 11, what: 'all' })] });
    expect((await shorten(text)).text).toBe(text);
    await shorten(text);
    expect(warnings).toEqual([
      'Output filter mine was not applied: it would have left out a line about an error: "error: disk full" (word "error")',
    ]);
  });

  test('B26: that is made of patterns gets one warning about a line that stays, and why', async () => {
    const gradle = createLineFilter({
      name: 'gradle',
      noise: [{ what: 'tasks', pattern: /^(?:> Task |warning: )/ }],
    });
    const { shorten, warnings } = make({ filters: [gradle] });
    const tasks = Array.from({ length: 9 }, (_, index) => `> Task :core:part${index} UP-TO-DATE`);
    const whole = [...tasks, 'warning: old', ...tasks, ''].join('\n');
    const { text: shown } = await shorten(whole);
    expect(shown).toBe(
      `[… 8 lines left out: tasks …]\n${tasks.at(-1)}\nwarning: old\n[… 9 lines left out: tasks …]\n`,
    );
    await shorten(whole);
    expect(warnings).toEqual([
      'Output filter gradle could not leave out a line about an error: "warning: old" (word "warning")',
    ]);
  });

  test('B26: that is built in gets no warning about lines that stay', async () => {
    const { shorten, warnings } = make();
    await shorten('npm warn deprecated a@1: use b\nnpm http fetch GET 404 error\n', 'npm i');
    expect(warnings).toEqual([]);
  });

  test('that throws does no harm to the others', async () => {
    const throwing: OutputFilter = {
      name: 'broken',
      filter() {
        throw new Error('no idea');
      },
    };
    const filters = [throwing, omitting({ start: 0, end: 5, what: 'noise' })];
    const { shorten, warnings } = make({ filters });
    expect((await shorten(text)).text).toMatch(
      /^\[… 4 lines left out: noise …\]\nsome noise .*\nerror: disk full\n/,
    );
    expect(warnings).toEqual(['Output filter broken was not applied: no idea']);
  });

  test('may throw half-way, or in applies()', async () => {
    const halfway: OutputFilter = {
      name: 'halfway',
      *filter() {
        yield { start: 0, end: 5, what: 'noise' };
        throw new Error('no more');
      },
    };
    const unsure: OutputFilter = {
      name: 'unsure',
      applies() {
        throw new Error('who knows');
      },
      filter: () => [],
    };
    const { shorten, warnings } = make({ filters: [halfway, unsure] });
    expect((await shorten(text)).text).toBe(text);
    expect(warnings).toHaveLength(2);
  });

  test.each([
    ['out of range', { start: 0, end: 99, what: 'x' }],
    ['backwards', { start: 3, end: 1, what: 'x' }],
    ['between lines', { start: 0.5, end: 2, what: 'x' }],
    ['not numbers', { start: Number.NaN, end: 2, what: 'x' }],
    ['without words', { start: 0, end: 2 } as Omission],
  ])('that points at lines %s is undone', async (_, omission) => {
    const { shorten, warnings } = make({ filters: [omitting(omission)] });
    expect((await shorten(text)).text).toBe(text);
    expect(warnings).toHaveLength(1);
  });

  test('that points at the same lines twice is undone', async () => {
    const filters = [
      omitting({ start: 0, end: 3, what: 'noise' }, { start: 2, end: 5, what: 'noise' }),
    ];
    expect((await make({ filters }).shorten(text)).text).toBe(text);
  });

  test('cannot put lines of its own into the output', async () => {
    const filters = [
      omitting({ start: 0, end: 5, what: `\nerror: fake\x1b[31m${'x'.repeat(99)}` }),
    ];
    const [first] = (await make({ filters }).shorten(text)).text.split('\n');
    expect(first).toBe(`[… 4 lines left out: error: fake [31m${'x'.repeat(43)}… …]`);
  });

  test('cannot change the lines that it gets', async () => {
    const changing: OutputFilter = {
      name: 'changing',
      filter(lines) {
        (lines as string[]).fill('gone');
        return [];
      },
    };
    expect((await make({ filters: [changing] }).shorten(text)).text).toBe(text);
  });

  test('gets the command, and a function that tells which lines must stay', async () => {
    const asked: string[] = [];
    const stay: number[] = [];
    const filter: OutputFilter = {
      name: 'asking',
      applies: (command) => asked.push(command) === 1,
      filter(lines, mustStay) {
        stay.push(...[...lines.keys()].filter(mustStay));
        return [];
      },
    };
    const { shorten } = make({ filters: [filter] });
    await shorten(text, 'one');
    await shorten(text, 'two');
    expect(asked).toEqual(['one', 'two']);
    // The line before it stays as well.
    expect(stay).toEqual([4, 5]);
  });

  test('is tried however long the filters before it took (Q1)', async () => {
    const slow: OutputFilter = {
      name: 'slow',
      filter() {
        const until = performance.now() + 400;
        while (performance.now() < until);
        return [];
      },
    };
    const noise = omitting({ start: 0, end: 5, what: 'noise' });
    const quick = await make({ filters: [noise] }).shorten(text);
    expect(quick.text).not.toBe(text);
    expect(await make({ filters: [slow, noise] }).shorten(text)).toEqual(quick);
  });
});
