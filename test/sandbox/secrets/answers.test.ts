import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { leavesNothingBehind } from '../../support/leftovers.js';
import { makeScene, people, runAs, useScenes } from '../../support/sandbox.js';
import { saying } from './say.js';
import { useServer } from './server.js';

leavesNothingBehind();
const scenes = useScenes();

const VALUE = 'ghp_0123456789abcdefABCDEF0123456789abcd';
/** An answer in these bytes, which ends its connection. */
const answers = new Map<string, Buffer>();
const server = useServer(scenes, ({ url }, answer) => {
  answer.socket?.end(answers.get(url) ?? Buffer.from('HTTP/1.1 404 No\r\n\r\n'));
});

const packed = (name: string, pack: (text: string) => Buffer, status = '200 OK') => {
  const body = pack(`of ${VALUE} all`);
  const head = `HTTP/1.1 ${status}\r\nContent-Encoding: ${name}\r\nContent-Length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
};
const urlOf = (text: string) => text.replace(/./g, (char) => `%${char.charCodeAt(0).toString(16)}`);

// The proxy is the host's: whoever asks is the same to it.
describe.each(people.slice(-1))('of an answer, %s', (person) => {
  const say = async (bytes: string) => {
    const scene = makeScene(scenes.path, person);
    const secrets = { TOKEN: { value: VALUE, domains: ['localhost'] } };
    const options = { cwd: scene.work, sandbox: { secrets } };
    const trust = { NODE_EXTRA_CA_CERTS: server.trust };
    const { text } = await runAs(person, scene, saying(server.host, bytes), options, trust);
    for (const form of [VALUE, urlOf(VALUE), VALUE.slice(4)]) expect(text).not.toContain(form);
    return text;
  };
  const ask = (answer: Buffer | string, more = 'Connection: close', method = 'GET') => {
    answers.set('/', Buffer.from(answer));
    return say(`${method} / HTTP/1.1\r\nHost: a\r\nAuthorization: $TOKEN\r\n${more}\r\n\r\n`);
  };
  const standIn = /ghp_StandIn[A-Za-z\d]{29}/;

  test.each<[string, Buffer | string]>([
    ['reason', `HTTP/1.1 200 Hello ${VALUE}\r\nContent-Length: 0\r\n\r\n`],
    ['reason where there is an error', `HTTP/1.1 401 no ${VALUE}\r\nContent-Length: 0\r\n\r\n`],
    ['header', `HTTP/1.1 200 OK\r\nX-A: ${VALUE}\r\nContent-Length: 0\r\n\r\n`],
    ['name of a header', `HTTP/1.1 200 OK\r\nX-${VALUE}: a\r\nContent-Length: 0\r\n\r\n`],
    ['cookie', `HTTP/1.1 200 OK\r\nSet-Cookie: a=${VALUE}; Path=/\r\nContent-Length: 0\r\n\r\n`],
    ['Location', `HTTP/1.1 302 OK\r\nLocation: /?a=${VALUE}\r\nContent-Length: 0\r\n\r\n`],
    [
      'Content-Encoding',
      `HTTP/1.1 200 OK\r\nContent-Encoding: ${VALUE}\r\nContent-Length: 0\r\n\r\n`,
    ],
    ['body of an error', `HTTP/1.1 500 No\r\nContent-Length: ${VALUE.length}\r\n\r\n${VALUE}`],
    ['body of HTTP/1.0, which ends with the connection', `HTTP/1.0 200 OK\r\n\r\nof ${VALUE}`],
    [
      'body in parts',
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n14\r\n${VALUE.slice(0, 20)}\r\n14\r\n${VALUE.slice(20)}\r\n0\r\n\r\n`,
    ],
    [
      'part of a body of several',
      `HTTP/1.1 206 Partial\r\nContent-Type: multipart/byteranges; boundary=B\r\n\r\n--B\r\nContent-Range: bytes 0-39/40\r\n\r\n${VALUE}\r\n--B--`,
    ],
    ['body packed by gzip', packed('gzip', gzipSync)],
    ['body of an error packed by gzip', packed('GZIP', gzipSync, '403 No')],
    ['body packed by deflate, unasked', packed('deflate', deflateSync)],
    ['body packed by br, unasked', packed('br', brotliCompressSync)],
    ['body packed twice', packed('br, gzip', (text) => gzipSync(brotliCompressSync(text)))],
  ])('S8: the stand-in is in the %s', async (_, answer) => {
    expect(await ask(answer)).toMatch(standIn);
  });

  test.each([
    [
      'an answer before the answer',
      `HTTP/1.1 103 Early ${VALUE}\r\nLink: ${VALUE}\r\nX-${VALUE}: a\r\n\r\n`,
    ],
    ['another of these', `HTTP/1.1 100 ${VALUE}\r\nX-A: ${VALUE}\r\n\r\n`],
  ])('S8: a value in %s does not reach the command', async (_, first) => {
    const text = await ask(`${first}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nin`);
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n.*in$/s);
    expect(text).not.toMatch(/ghp_/);
  });

  test('S8: so do the headers of parts, and the text after them', async () => {
    const parts = `2;a=${VALUE}\r\nin\r\n0;b=${VALUE}\r\nX-A: ${VALUE}\r\nX-${VALUE}: a\r\n\r\n`;
    const head = 'HTTP/1.1 200 OK\r\nTrailer: X-A\r\nTransfer-Encoding: chunked\r\n\r\n';
    const text = await ask(`${head}${parts}`);
    expect(text).toMatch(/in/);
    expect(text).not.toMatch(/ghp_/);
  });

  test('S8: an answer without a body has its headers without the value', async () => {
    const head = `HTTP/1.1 200 ${VALUE}\r\nX-A: ${VALUE}\r\nContent-Length: 40\r\n\r\n`;
    const text = await ask(head, 'Connection: close', 'HEAD');
    expect(text).toMatch(/Content-Length: 40/);
    expect(text).toMatch(standIn);
  });

  const UPGRADE = 'Connection: Upgrade\r\nUpgrade: websocket';
  test('S8: an answer to a request for another protocol is searched', async () => {
    const text = await ask(
      `HTTP/1.1 101 ${VALUE}\r\nConnection: Upgrade\r\nUpgrade: ${VALUE}\r\nX-A: ${VALUE}\r\nX-${VALUE}: a\r\n\r\n`,
      UPGRADE,
    );
    expect(text.match(new RegExp(standIn, 'g'))?.length).toBe(4);
  });

  test.each([
    ['as it is', `HTTP/1.1 403 ${VALUE}\r\nX-A: ${VALUE}\r\nContent-Length: 40\r\n\r\n${VALUE}`, 3],
    [
      'in parts',
      `HTTP/1.1 403 No\r\nTransfer-Encoding: chunked\r\n\r\n28\r\n${VALUE}\r\n0\r\n\r\n`,
      1,
    ],
    ['packed', packed('gzip', gzipSync, '403 No'), 1],
  ])('S8: so is a refusal of that, with a body, %s', async (_, answer, count) => {
    const text = await ask(answer, UPGRADE);
    expect(text).toMatch(/^HTTP\/1\.1 403 /);
    expect(text.match(new RegExp(standIn, 'g'))?.length).toBe(count);
  });

  test('S8: a value in another encoding is in no answer', async () => {
    const texts = [
      urlOf(VALUE),
      Buffer.from(VALUE).toString('hex'),
      Buffer.from(`a ${VALUE}`).toString('base64').replace(/.{20}/g, '$&\r\n'),
    ];
    const wide = Buffer.from(VALUE, 'utf16le');
    const body = Buffer.concat([Buffer.from(`${texts.join('; ')}; `), wide]);
    const head = `HTTP/1.1 200 ${urlOf(VALUE)}\r\nX-A: ${texts[0]}\r\nX-B: ${texts[1]}\r\nContent-Length: ${body.length}\r\n\r\n`;
    const text = await ask(Buffer.concat([Buffer.from(head), body]));
    const [shown = '', told = ''] = text.split('\r\n\r\n');
    expect(shown).toContain(`Content-Length: ${body.length}`);
    expect(told.length).toBeGreaterThan(body.length - 10);
    for (const form of [...texts, wide.toString('latin1')]) expect(text).not.toContain(form);
  });
});
