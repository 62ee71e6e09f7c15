import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { countsOf } from '../scripts/house/prose.mjs';
import { CONTRACT_NAMES } from '../src/index.js';
import {
  faceOf,
  filesIn,
  foldersIn,
  fromAbove,
  type Import,
  inCircles,
  innerFaces,
  isWithin,
  read,
  repeated,
  testImports,
  typescript,
  typesOf,
} from './support/house.js';
import { crates, importsOfCrate, rustFiles, rustTypesOf } from './support/rust-house.js';

const show = ({ from, to }: Import) => `${from} -> ${to}`;

describe.each([typescript])('the rooms of $language', (house) => {
  const { files, imports, order, roomOf } = house;
  const usersOf = (file: string) => [
    ...new Set(imports.filter(({ to }) => to === file).map(({ from }) => from)),
  ];

  test('all have their place in the order', () => {
    expect([...new Set(files.map(roomOf))].sort()).toEqual([...order].sort());
  });

  test('none knows one that comes after it, not even its types', () => {
    const upwards = imports.filter(
      ({ from, to }) => order.indexOf(roomOf(to)) > order.indexOf(roomOf(from)),
    );
    expect(upwards.map(show)).toEqual([]);
  });

  test('no file knows itself by way of others', () => {
    expect(inCircles(files, imports)).toEqual([]);
  });

  test('of two folders side by side, one knows the other and not both', () => {
    const pairs = imports
      .map(({ from, to }) => [dirname(from), dirname(to)] as const)
      .filter(([one, other]) => !isWithin(one, other) && !isWithin(other, one));
    const known = new Set(pairs.map((pair) => pair.join(' -> ')));
    const mutual = pairs.filter(([one, other]) => known.has(`${other} -> ${one}`));
    expect(mutual.map((pair) => pair.join(' -> '))).toEqual([]);
  });

  test('a file with one user, and nothing to do with its room, lives with its user', () => {
    const strays = files.filter((file) => {
      const [user, ...others] = usersOf(file);
      if (user === undefined || others.length > 0) return false;
      if (house.isFace(user) || house.isFace(file)) return false;
      const room = dirname(file);
      const isPart = imports.some(({ from, to }) => from === file && dirname(to) === room);
      return !isPart && !isWithin(room, dirname(user));
    });
    expect(strays).toEqual([]);
  });

  test('none has more than 16 files without rooms of its own', () => {
    const folders = [...new Set(files.map((file) => dirname(file)))];
    const sizeOf = (folder: string) => files.filter((file) => dirname(file) === folder).length;
    expect(folders.filter((folder) => sizeOf(folder) > 16)).toEqual([]);
  });

  test('a name stands for one thing', () => {
    const exported = files.flatMap(house.exportsOf);
    expect(exported.filter((name, index) => exported.indexOf(name) !== index)).toEqual([]);
  });

  test('no type has the name of another, not even where both are private', () => {
    const found = repeated(files.flatMap(typesOf));
    expect(found).toEqual([]);
  });

  test('what is exported has a user', () => {
    const used = new Set(
      [...imports, ...testImports].flatMap(({ to, names }) => names.map((name) => `${to} ${name}`)),
    );
    const needless = files
      .filter((file) => !house.isFace(file))
      .flatMap((file) => house.exportsOf(file).map((name) => `${file} ${name}`))
      .filter((each) => !used.has(each));
    expect(needless).toEqual([]);
  });

  test('every import leads to a file', () => {
    expect(imports.filter(({ to }) => !files.includes(to)).map(show)).toEqual([]);
  });
});

describe('the rooms of Rust', () => {
  const rooms = ['os', 'capture', 'command', 'drain', 'keeper', 'request', 'reactor', 'start'];
  const engine = filesIn('native/engine/src').filter((file) => file.endsWith('.rs'));
  const roomOf = (file: string) => file.split('/')[3] ?? '';

  test('a crate knows none that comes after it', () => {
    const upwards = crates.flatMap((crate) => {
      const known = [...read(`native/${crate}/Cargo.toml`).matchAll(/^forkline-(\w+)/gm)];
      return (
        known
          .map(([, name = '']) => name)
          .filter((name) => crates.indexOf(name) >= crates.indexOf(crate))
          // Its tests run commands, which takes a keeper and an engine.
          .filter((name) => `${crate} -> ${name}` !== 'keeper -> engine')
          .map((name) => `${crate} -> ${name}`)
      );
    });
    expect(upwards).toEqual([]);
  });

  test('a room of the engine knows none that comes after it', () => {
    expect([...new Set(engine.map(roomOf))].sort()).toEqual([...rooms, 'lib.rs'].sort());
    const upwards = engine.flatMap((file) => {
      const room = rooms.indexOf(roomOf(file));
      const known = [...read(file).matchAll(/\bcrate::(\w+)/g)].map(([, name = '']) => name);
      return known
        .filter((name) => rooms.indexOf(name) < 0 || rooms.indexOf(name) > room)
        .map((name) => `${file} -> ${name}`);
    });
    expect(upwards).toEqual([]);
  });

  // What counts as knowing: `importsOfCrate`.
  test.each(crates)('no module of %s knows itself by way of others', (crate) => {
    const found = inCircles(rustFiles, importsOfCrate(crate));
    expect(found).toEqual([]);
  });

  test('no type has the name of another, in whatever crate, not even where both are private', () => {
    const found = repeated(rustFiles.flatMap(rustTypesOf));
    expect(found).toEqual([]);
  });

  test('none has more than 16 files without rooms of its own', () => {
    const folders = crates.flatMap((crate) =>
      filesIn(`native/${crate}`).map((file) => dirname(file)),
    );
    const sizeOf = (folder: string) => folders.filter((other) => other === folder).length;
    expect([...new Set(folders.filter((folder) => sizeOf(folder) > 16))]).toEqual([]);
  });
});

describe('walls of TypeScript', () => {
  const { files, imports, roomOf } = typescript;
  const tops = ['adapters', 'mcp', 'cli'];

  test('the MCP server, the adapters and the command line stand on the public face and support', () => {
    const open = ['support', 'index', 'remote', 'fleet', ...tops];
    const hidden = imports.filter(
      ({ from, to }) => tops.includes(roomOf(from)) && !open.includes(roomOf(to)),
    );
    expect(hidden.map(show)).toEqual([]);
  });

  test('others know of the persistent shell itself, its sandbox and its error, and nothing else', () => {
    const room = 'src/persistent-shell/';
    const faces = ['shell', 'shell-sandbox', 'pipes-error'].map((name) => `${room}${name}.ts`);
    const past = imports.filter(
      ({ from, to }) => !from.startsWith(room) && to.startsWith(room) && !faces.includes(to),
    );
    expect(past.map(show)).toEqual([]);
  });

  test('the tasks of a session and its calls in one shell know neither each other nor the tool', () => {
    const session = 'src/contracts/session/';
    const upwards = imports.filter(({ from, to }) => {
      const part = ['tasks', 'persistent'].find((name) => from.startsWith(`${session}${name}/`));
      if (part === undefined || !to.startsWith(session)) return false;
      const isOther = to.slice(session.length).includes('/') && !to.startsWith(session + part);
      return isOther || [`${session}tool.ts`, `${session}run.ts`].includes(to);
    });
    expect(upwards.map(show)).toEqual([]);
  });

  test('no contract knows another', () => {
    const contractOf = (file: string) =>
      CONTRACT_NAMES.find((name) => file.startsWith(`src/contracts/${name}/`));
    const between = imports.filter(({ from, to }) => {
      const [one, other] = [contractOf(from), contractOf(to)];
      return one !== undefined && other !== undefined && one !== other;
    });
    expect(between.map(show)).toEqual([]);
  });

  test('only the engine touches the addon', () => {
    const addon = ['src/engine/addon/binding.ts', 'src/engine/addon/native.ts'];
    const outside = imports.filter(
      ({ from, to }) => addon.includes(to) && roomOf(from) !== 'engine',
    );
    expect(outside.map(show)).toEqual([]);
    const loaders = files.filter((file) => /\.node['"`]|@forkline\//.test(read(file)));
    expect(loaders).toEqual(['src/engine/addon/binding.ts', 'src/engine/addon/places.ts']);
  });
});

describe('each has one home in TypeScript', () => {
  const homes: readonly (readonly [what: string, pattern: RegExp, home: readonly string[]])[] = [
    [
      'timers, which must know the longest time',
      /(?<!\.)\bsetTimeout\b/,
      ['src/support/timing.ts'],
    ],
    ['a timer that only keeps the process alive', /\bsetInterval\b/, ['src/support/timing.ts']],
    ['the table of signals', /\bconstants\.signals\b/, ['src/support/signals.ts']],
    ['the table of errors', /\bconstants\.errno\b/, ['src/engine/system-error.ts']],
    [
      'turning what was thrown into text',
      /instanceof Error \?|isNativeError\(|\bString\((?:error|reason|cause|thrown|why)\)/,
      ['src/support/errors.ts'],
    ],
    ['entries of users', /\b(?:homedir|userInfo)\(/, ['src/support/directories/home.ts']],
    ['warnings of the process', /\bemitWarning\b/, ['src/support/logger.ts']],
  ];

  test.each(homes)('%s', (_, pattern, home) => {
    expect(typescript.files.filter((file) => pattern.test(read(file)))).toEqual(home);
  });
});

const folders = ['src', 'native', 'test', 'bench', 'examples', 'scripts'];
const code = folders.flatMap(filesIn).filter((file) => /\.(ts|mjs|rs|cc|h)$/.test(file));

describe('files', () => {
  test.each(folders)('%s is looked at', (folder) => {
    expect(code.filter((file) => file.startsWith(`${folder}/`))).not.toEqual([]);
  });

  test('none is longer than 300 lines', () => {
    const lines = (file: string) => read(file).trimEnd().split('\n').length;
    expect(code.filter((file) => lines(file) > 300)).toEqual([]);
  });

  test('none in src has a default export', () => {
    expect(typescript.files.filter((file) => /^export default\b/m.test(read(file)))).toEqual([]);
  });
});

describe('comments', () => {
  const counts = countsOf(
    [...filesIn('src'), ...filesIn('native')].filter((file) => code.includes(file)).map(read),
  );

  test('begin with a verb or a noun, nine sentences in ten', () => {
    expect(counts.riddles / counts.sentences).toBeLessThan(0.1);
  });

  test('name who acts', () => {
    expect(counts.persons / counts.words).toBeLessThan(0.004);
  });
});

describe('the table of folders in CONTRIBUTING', () => {
  const rows = [...read('CONTRIBUTING.md').matchAll(/^\| `([^`]+)` \|/gm)].map(([, row]) => row);

  test.each(['src', 'native'])('has the rooms of %s', (folder) => {
    const told = rows.filter((row) => row?.startsWith(`${folder}/`) && !row.includes('*'));
    expect(told.sort()).toEqual(
      foldersIn(folder)
        .map((name) => `${folder}/${name}`)
        .sort(),
    );
  });

  test('has all other folders', () => {
    const others = foldersIn('.').filter((name) => name !== 'src' && name !== 'native');
    expect(rows.filter((row) => row?.endsWith('/')).sort()).toEqual(
      others.map((name) => `${name}/`).sort(),
    );
  });
});

describe('remote, fleet, adapters, MCP and the command line', () => {
  const faces = [...new Set(fromAbove.map(({ to }) => to))];

  test('take what they need of other rooms by faces, twelve in all', () => {
    expect(faces.filter((face) => !typescript.isFace(face))).toEqual([]);
    expect(faces.length).toBeLessThanOrEqual(12);
  });

  test('each takes one face of a room', () => {
    const ways = fromAbove.map(({ from, to }) =>
      [typescript.roomOf(from), faceOf(to), to].join(' '),
    );
    const rooms = [...new Set(ways)].map((way) => way.split(' ').slice(0, 2).join(' -> '));
    expect(rooms.filter((room, index) => rooms.indexOf(room) !== index)).toEqual([]);
  });

  test.each(innerFaces)('$face passes on names of one room, each of which is used', (inner) => {
    expect(inner.rooms).toHaveLength(1);
    expect(inner.unused).toEqual([]);
    expect(inner.rest).toBe('');
  });
});
