import { beforeAll, expect, test } from 'vitest';
import { faultsOfFace } from '../../scripts/reference/faults.mjs';
import { readFace } from '../../scripts/reference/model.mjs';

let face: Awaited<ReturnType<typeof readFace>>;
beforeAll(async () => {
  face = await readFace();
}, 300_000);

test('the public items are found', () => {
  const names = face.project.children?.flatMap(({ children = [] }) =>
    children.map(({ name }) => name),
  );
  expect(names).toEqual(
    expect.arrayContaining(['run', 'ExecuteOptions', 'toMcpTool', 'serveHttp']),
  );
});

test('every public item has a docstring, with units, defaults and what it throws', () => {
  expect(faultsOfFace(face.project)).toEqual([]);
});

test('every link in a docstring leads to something', () => {
  face.application.validate(face.project);
  expect(face.application.logger.warningCount).toBe(0);
});
