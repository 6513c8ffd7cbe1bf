import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startSwift, swiftObstacle, type TestSwift } from '../../../test/swift.ts';
import type { ObjectContent } from './object-store.ts';
import { S3Store } from './s3-store.ts';
import { textContent } from './stored-files.ts';

const impatient = { idleMs: 300, requestMs: 1000, pausesMs: [10, 10], triesMs: 2000 };

async function textOf(store: S3Store, name: string): Promise<string | null> {
  const bytes = await store.read(name, 0);
  return bytes && Buffer.concat(await Array.fromAsync(bytes)).toString();
}

describe.skipIf(swiftObstacle() !== null)('a result store in a real S3-compatible service', () => {
  let swift: TestSwift;
  const place = (more: object = {}) => ({
    endpoint: swift.endpoint,
    region: 'us-east-1',
    bucket: 'results',
    prefix: 'portolan/lab',
    accessKey: swift.accessKey,
    secretKey: swift.secretKey,
    ...more,
  });

  beforeAll(async () => {
    swift = await startSwift();
    await swift.bucket('results');
  });

  afterAll(() => swift?.remove());

  it('gives back what it took, replaces it, and removes it', async () => {
    const store = new S3Store(place());
    const names = [
      '_/one/a.txt',
      "_/one/b c+d%20'(!*)é.txt",
      '_/one/10.0.0.1-22-tcp.txt',
      '_/one/fe80__1%25eth0',
    ];
    for (const name of names) await store.put(name, textContent(name));
    for (const name of names) expect(await textOf(store, name)).toBe(name);
    await store.put('_/one/a.txt', textContent('again'));
    expect(await textOf(store, '_/one/a.txt')).toBe('again');
    for (const name of [...names, '_/one/a.txt', '_/never']) await store.remove(name);
    for (const name of names) expect(await textOf(store, name)).toBeNull();
  });

  it('carries megabytes and nothing at all', async () => {
    const store = new S3Store(place());
    const large = 'portolan\n'.repeat(1_000_000);
    await store.put('_/one/large', textContent(large));
    await store.put('_/one/empty', textContent(''));
    expect((await textOf(store, '_/one/large')) === large).toBe(true);
    expect(await textOf(store, '_/one/empty')).toBe('');
  });

  it('refuses content that is not what was signed', async () => {
    const store = new S3Store(place(), impatient);
    const other: ObjectContent = { ...textContent('right'), bytes: () => textContent('wrong').bytes() };
    await expect(store.put('_/one/other', other)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await textOf(store, '_/one/other')).toBeNull();
  });

  it('says what is wrong: the key, its id, the bucket', async () => {
    const wrong = new S3Store(place({ secretKey: 'guess' }), impatient);
    await expect(wrong.put('_/a', textContent('x'))).rejects.toThrow(
      'The result store responded 403 (SignatureDoesNotMatch).',
    );
    await expect(wrong.read('_/a', 0)).rejects.toMatchObject({ code: 'unavailable' });
    const unknown = new S3Store(place({ accessKey: 'test:nobody' }), impatient);
    await expect(unknown.read('_/a', 0)).rejects.toThrow('responded 403');
    const bucket = new S3Store(place({ bucket: 'nowhere' }), impatient);
    await expect(bucket.put('_/a', textContent('x'))).rejects.toThrow('NoSuchBucket');
    await expect(bucket.read('_/a', 0)).rejects.toThrow('NoSuchBucket');
  });

  it('is away while nobody listens, and there again afterwards', async () => {
    const store = new S3Store(place(), impatient);
    await store.put('_/one/kept', textContent('kept'));
    await swift.stop();
    await expect(store.read('_/one/kept', 0)).rejects.toMatchObject({ code: 'unavailable' });
    await expect(store.put('_/one/new', textContent('x'))).rejects.toThrow('is not reachable');
    await swift.start();
    expect(await textOf(store, '_/one/kept')).toBe('kept');
  });
});

describe('a result store behind a service that misbehaves', () => {
  const servers: Server[] = [];

  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  const storeAt = async (respond: RequestListener): Promise<S3Store> => {
    // Ignores what the scan of another test sends to the port.
    const opened = createServer((request, response) => {
      if (request.url?.startsWith('/s3/')) respond(request, response);
      else response.writeHead(404).end();
    });
    servers.push(opened);
    await new Promise<void>((resolve) => opened.listen(0, '127.0.0.1', resolve));
    const { port } = opened.address() as AddressInfo;
    const endpoint = `http://127.0.0.1:${port}/s3/`;
    const keys = { accessKey: 'id', secretKey: 'key' };
    return new S3Store({ endpoint, region: 'eu-1', bucket: 'b', prefix: '', ...keys }, impatient);
  };
  const large: ObjectContent = {
    size: 50_000_000,
    sha256: '0'.repeat(64),
    async *bytes() {
      for (let at = 0; at < 500; at++) yield Buffer.alloc(100_000);
    },
  };

  it('tries again after 503 and a connection that is cut, and then goes through', async () => {
    const seen: string[] = [];
    const store = await storeAt((request, response) => {
      seen.push(`${request.method} ${request.url}`);
      if (seen.length === 1) return void response.writeHead(503).end('<Code>SlowDown</Code>');
      if (seen.length === 2) return void request.socket.destroy();
      request.resume().on('end', () => response.writeHead(200).end());
    });
    await store.put('_/one/a.txt', textContent('x'));
    expect(seen).toEqual(Array(3).fill('PUT /s3/b/_/one/a.txt'));
  });

  it('gives up after three tries', async () => {
    let tries = 0;
    const store = await storeAt((_request, response) => {
      tries++;
      response.writeHead(500).end('<Error><Code>InternalError</Code></Error>');
    });
    await expect(store.read('a', 0)).rejects.toMatchObject({
      code: 'unavailable',
      message: 'The result store responded 500 (InternalError).',
    });
    expect(tries).toBe(3);
  });

  it('stops sending when it is refused in the middle', async () => {
    const store = await storeAt((_request, response) => {
      response.writeHead(403).end('<Code>QuotaExceeded</Code>');
    });
    await expect(store.put('a', large)).rejects.toThrow('403');
  });

  it.each([
    ['never answers', () => undefined],
    [
      'falls silent in the middle of an object',
      (_request, response) => void response.writeHead(200, { 'content-length': '10' }).write('abc'),
    ],
    [
      'cuts the connection in the middle of an object',
      (_request, response) => {
        response.writeHead(200, { 'content-length': '10' }).write('abc', () => response.destroy());
      },
    ],
  ] satisfies [string, RequestListener][])(
    'is away when it %s',
    async (_what, response) => {
      const store = await storeAt(response);
      await expect(textOf(store, 'a')).rejects.toMatchObject({ code: 'unavailable' });
    },
    10_000,
  );

  it('is away when it drips: a byte now and then does not hold up anybody for ever', async () => {
    const store = await storeAt((_request, response) => {
      response.writeHead(200, { 'content-length': '1000000' });
      const drip = setInterval(() => response.write('x'), 100);
      response.once('close', () => clearInterval(drip));
    });
    await expect(textOf(store, 'a')).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('takes only its word for it that an object is not there', async () => {
    const page = await storeAt((_request, response) => response.writeHead(404).end('<h1>Not Found</h1>'));
    await expect(page.read('a', 0)).rejects.toThrow('The result store responded 404.');
    const service = await storeAt((_request, response) =>
      response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>'),
    );
    expect(await service.read('a', 0)).toBeNull();
    await service.remove('a');
    await expect(service.put('a', textContent('x'))).rejects.toThrow('404');
  });

  it('follows no redirect, and repeats nothing of an answer but its code', async () => {
    let requested = 0;
    const store = await storeAt((_request, response) => {
      requested++;
      response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end('<Code>a\u001b[31m</Code>secret');
    });
    await expect(store.read('a', 0)).rejects.toThrow(/^The result store responded 307\.$/);
    expect(requested).toBe(1);
  });

  it('ends when it is told to', async () => {
    const store = await storeAt(() => undefined);
    const stop = new AbortController();
    const reading = store.read('a', 0, stop.signal);
    await sleep(50);
    stop.abort(new Error('the server stops'));
    await expect(reading).rejects.toThrow('the server stops');
  });

  it('a file that cannot be read to its end is never taken for whole', async () => {
    const bodies: number[] = [];
    const store = await storeAt((request, response) => {
      let bytes = 0;
      request.on('data', (piece: Buffer) => {
        bytes += piece.length;
      });
      request.on('error', () => bodies.push(bytes));
      request.on('end', () => {
        bodies.push(-1);
        response.writeHead(200).end();
      });
    });
    const torn: ObjectContent = {
      ...textContent('whole'),
      async *bytes() {
        yield Buffer.from('wh');
        throw new Error('EIO');
      },
    };
    await expect(store.put('a', torn)).rejects.toThrow('EIO');
    await sleep(50);
    expect(bodies).not.toContain(-1);
  });
});
