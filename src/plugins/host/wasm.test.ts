import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assemble } from './fixtures/assemble.ts';
import type { HostedPlugin, HostWire } from './hosted-plugin.ts';
import type { NetRequest, NodeContext, PulledItems } from './messages.ts';
import { loadWasm } from './wasm.ts';

let folder = '';
let last = 0;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'portolan-wasm-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const said = { name: 'try_it', type: 'evaluation', version: '1.0.0', provides: ['notes'] };
const nothing = '(func (export "execute") (param i32) (result i32) (i32.const 0))';

/** WAT of a data segment that holds a block. */
function block(offset: number, value: unknown): string {
  const json = Buffer.from(JSON.stringify(value));
  const head = Buffer.alloc(4);
  head.writeUInt32LE(json.length);
  return data(offset, Buffer.concat([head, json]));
}

function data(offset: number, bytes: string | Buffer): string {
  const escaped = [...Buffer.from(bytes)].map((byte) => `\\${byte.toString(16).padStart(2, '0')}`).join('');
  return `(data (i32.const ${offset}) "${escaped}")`;
}

const imports = `
  (import "service" "get" (func $get (param i32 i32 i32 i32) (result i32)))
  (import "service" "set" (func $set (param i32 i32 i32 i32) (result i32)))
  (import "service" "append" (func $append (param i32 i32 i32 i32) (result i32)))
  (import "service" "log" (func $log (param i32 i32 i32)))
  (import "service" "error" (func $error (param i32 i32)))
  (import "service" "canceled" (func $canceled (result i32)))
  (import "service" "connect" (func $connect (param i32 i32 i32) (result i32)))
  (import "service" "write" (func $write (param i32 i32 i32) (result i32)))
  (import "service" "read" (func $read (param i32 i32 i32) (result i32)))
  (import "service" "close" (func $close (param i32) (result i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $print (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_open" (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "sock_accept" (func $accept (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))`;

/** A module with all imports, metadata at 0, the text `notes` at 1000, `{"n":1}` at 1010 and `banners` at 1020. */
function source(execute: string, more = '', metadata: object = said): string {
  return `(module ${imports}
    (memory (export "memory") 1)
    ${block(0, metadata)} ${data(1000, 'notes')} ${data(1010, '{"n":1}')} ${data(1020, 'banners')}
    (func (export "metadata") (result i32) (i32.const 0))
    (func $execute (export "execute") (param $context i32) (result i32) (local $i i32) ${execute})
    ${more})`;
}

async function loaded(text: string): Promise<HostedPlugin> {
  last += 1;
  const file = join(folder, `${last}.wasm`);
  writeFileSync(file, await assemble(text));
  return await loadWasm(file, undefined);
}

interface Trial {
  inputs?: Record<string, unknown[]>;
  /** Keys with one value that is no list. */
  singles?: string[];
  config?: Record<string, unknown>;
  net?: (request: NetRequest, bytes: Uint8Array | undefined) => { value: unknown; bytes?: Buffer };
  signal?: AbortSignal;
}

/** Runs one node of a plugin and collects what it asks of the scan. */
async function run(plugin: HostedPlugin, trial: Trial = {}) {
  const published: Record<string, unknown[]> = {};
  const values: Record<string, unknown> = {};
  const logged: string[] = [];
  const requests: NetRequest[] = [];
  const inputs = new Map(Object.entries(trial.inputs ?? {}).map(([key, items]) => [key, [...items]]));
  const wire: HostWire = {
    async pull(key): Promise<PulledItems> {
      const rest = inputs.get(key) ?? [];
      const items = rest.splice(0, 128);
      const single = trial.singles?.includes(key) ?? false;
      return { items, end: rest.length === 0, ...(single && { single }) };
    },
    async append(key, items) {
      (published[key] ??= []).push(...items);
    },
    appendJson: () => Promise.reject(new Error('modules publish values')),
    async set(key, value) {
      values[key] = value;
    },
    async net(request, bytes) {
      requests.push(request);
      const { value, bytes: read } = trial.net?.(request, bytes) ?? { value: null };
      return { value, bytes: read ?? Buffer.alloc(0) };
    },
    log: (level, message) => void logged.push(`${level}: ${message}`),
    progress: () => undefined,
    warn: () => undefined,
  };
  const context: NodeContext = {
    scan_id: 'scan',
    instance_id: 'node',
    deadline_ms: null,
    keys: [...inputs.keys()],
    network: trial.net !== undefined,
  };
  let error: string | null = null;
  await plugin.initialize();
  await plugin.configure('node', trial.config ?? {});
  try {
    await plugin.execute('node', context, wire, trial.signal ?? new AbortController().signal);
  } catch (caught) {
    error = (caught as Error).message;
  }
  await plugin.cleanup();
  return { published, values, logged, requests, error };
}

/** Publishes the note `{"n":1}`. */
const appendNote = '(call $append (i32.const 1000) (i32.const 5) (i32.const 1010) (i32.const 7))';

describe('a module', () => {
  it('publishes items', async () => {
    const result = await run(await loaded(source(appendNote)));
    expect(result).toMatchObject({ error: null, published: { notes: [{ n: 1 }] } });
  });

  it('gets the options and the inputs in one block', async () => {
    const banners = [{ host: '10.0.0.1', port: 22, banner: 'ä' }];
    const copy = `(call $append (i32.const 1000) (i32.const 5) (i32.add (local.get $context) (i32.const 4))
      (i32.load (local.get $context)))`;
    const plugin = await loaded(source(copy, '', { ...said, requires: ['banners'] }));
    const { published } = await run(plugin, { inputs: { banners }, config: { depth: 3 } });
    expect(published['notes']).toEqual([{ config: { depth: 3 }, data: { banners } }]);
  });

  it('gets the block where its own allocator says', async () => {
    const alloc = '(func (export "alloc") (param i32) (result i32) (i32.const 2048))';
    const check = '(i32.sub (local.get $context) (i32.const 2048))';
    expect((await run(await loaded(source(check, alloc)))).error).toBeNull();
  });

  it('reads an input by key, once with its length only', async () => {
    const banners = [{ host: '10.0.0.1' }];
    const read = `
      (drop (call $get (i32.const 1020) (i32.const 7) (i32.const 4096) (i32.const 3)))
      (if (i32.load (i32.const 4096)) (then (unreachable)))
      (local.set $i (call $get (i32.const 1020) (i32.const 7) (i32.const 4096) (i32.const 999)))
      (drop (call $append (i32.const 1000) (i32.const 5) (i32.const 4096) (local.get $i)))
      (i32.add (i32.const 1) (call $get (i32.const 1000) (i32.const 5) (i32.const 0) (i32.const 0)))`;
    const plugin = await loaded(source(read, '', { ...said, requires: ['banners'] }));
    const { published, error } = await run(plugin, { inputs: { banners } });
    expect(error).toBeNull();
    expect(published['notes']).toEqual(banners);
  });

  it('is called once per batch, with a fresh memory', async () => {
    const once = `(if (i32.load (i32.const 8000)) (then (unreachable)))
      (i32.store (i32.const 8000) (i32.const 1)) ${appendNote}`;
    const plugin = await loaded(source(once, '', { ...said, requires: ['banners'] }));
    const banners = Array.from({ length: 300 }, (_, port) => ({ host: '10.0.0.1', port }));
    const { published, error } = await run(plugin, { inputs: { banners } });
    expect(error).toBeNull();
    expect(published['notes']).toHaveLength(3);
  });

  it('gets smaller batches of large items', async () => {
    const plugin = await loaded(source(appendNote, '', { ...said, requires: ['banners'] }));
    const banner = 'x'.repeat(1024 ** 2);
    const banners = Array.from({ length: 9 }, (_, port) => ({ host: '10.0.0.1', port, banner }));
    const { published, error } = await run(plugin, { inputs: { banners } });
    expect(error).toBeNull();
    expect(published['notes']).toHaveLength(3);
  });

  it('is not called where there are no inputs', async () => {
    const plugin = await loaded(source('(unreachable)', '', { ...said, requires: ['banners'] }));
    expect((await run(plugin, { inputs: { banners: [] } })).error).toBeNull();
  });

  it('reads the first of alternatives, and a value that is no list', async () => {
    const copy = `(call $append (i32.const 1000) (i32.const 5) (i32.add (local.get $context) (i32.const 4))
      (i32.load (local.get $context)))`;
    const plugin = await loaded(source(copy, '', { ...said, requires: ['policy|banners'] }));
    const inputs = { banners: [{ host: 'a' }], policy: [{ level: 3 }] };
    const { published } = await run(plugin, { inputs, singles: ['policy'] });
    expect(published['notes']).toEqual([{ config: {}, data: { policy: { level: 3 } } }]);
  });

  it('sets a value that is no list when its node ends', async () => {
    const set = '(call $set (i32.const 1000) (i32.const 5) (i32.const 1010) (i32.const 7))';
    const result = await run(await loaded(source(set)));
    expect(result).toMatchObject({ error: null, values: { notes: { n: 1 } }, published: {} });
  });

  it('logs, at most a thousand lines', async () => {
    const flood = `(loop $again
      (call $log (i32.const 3) (i32.const 1000) (i32.const 5))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $again (i32.lt_u (local.get $i) (i32.const 5000)))) (i32.const 0)`;
    const { logged, error } = await run(await loaded(source(flood)));
    expect(error).toBeNull();
    expect(logged).toHaveLength(1000);
    expect(logged[0]).toBe('warn: notes');
    expect(logged.at(-1)).toContain('dropped');
  });

  it('learns that it was canceled', async () => {
    const abort = new AbortController();
    const waits = '(loop $again (br_if $again (i32.eqz (call $canceled)))) (i32.const 0)';
    const plugin = await loaded(source(waits));
    setImmediate(() => abort.abort());
    expect((await run(plugin, { signal: abort.signal })).error).toBeNull();
  });
});

describe('WASI', () => {
  it('has random bytes and a monotonic clock, no wall clock, files or sockets', async () => {
    const tries = `
      (if (call $random (i32.const 4096) (i32.const 8)) (then (unreachable)))
      (if (i64.eqz (i64.load (i32.const 4096))) (then (unreachable)))
      (if (call $clock (i32.const 1) (i64.const 0) (i32.const 4104)) (then (unreachable)))
      (if (i64.eqz (i64.load (i32.const 4104))) (then (unreachable)))
      (if (i32.ne (call $clock (i32.const 0) (i64.const 0) (i32.const 4104)) (i32.const 28)) (then (unreachable)))
      (if (i32.ne (call $accept (i32.const 3) (i32.const 0) (i32.const 0)) (i32.const 52)) (then (unreachable)))
      (i32.sub (i32.const 8) (call $open (i32.const 3) (i32.const 0) (i32.const 1000) (i32.const 5) (i32.const 0)
        (i64.const 0) (i64.const 0) (i32.const 0) (i32.const 4096)))`;
    expect((await run(await loaded(source(tries)))).error).toBeNull();
  });

  it('logs what is printed, line by line', async () => {
    const print = `(i32.store (i32.const 4096) (i32.const 1020)) (i32.store (i32.const 4100) (i32.const 7))
      (i32.store (i32.const 4104) (i32.const 1040)) (i32.store (i32.const 4108) (i32.const 1))
      (drop (call $print (i32.const 1) (i32.const 4096) (i32.const 2) (i32.const 4112)))
      (i32.sub (i32.load (i32.const 4112)) (i32.const 8))`;
    const { logged, error } = await run(await loaded(source(print, data(1040, '\n'))));
    expect({ logged, error }).toEqual({ logged: ['info: banners'], error: null });
  });

  it('ends the node where the module exits', async () => {
    expect((await run(await loaded(source('(call $exit (i32.const 3)) (i32.const 0)')))).error).toBe(
      'the module called proc_exit(3)',
    );
  });
});

describe('a connection', () => {
  const connect = '(call $connect (i32.const 1000) (i32.const 5) (i32.const 80))';

  it('sends and reads, and is closed where the module forgets it', async () => {
    const session = `(local.set $i ${connect})
      (if (i32.ne (call $write (local.get $i) (i32.const 1020) (i32.const 7)) (i32.const 7)) (then (unreachable)))
      (if (i32.ne (call $read (local.get $i) (i32.const 4096) (i32.const 100)) (i32.const 7)) (then (unreachable)))
      (drop (call $append (i32.const 1000) (i32.const 5) (i32.const 4096) (i32.const 7)))
      (call $read (local.get $i) (i32.const 4096) (i32.const 100))`;
    let reads = 0;
    const sent: string[] = [];
    const { published, requests, error } = await run(await loaded(source(session)), {
      net: (request, bytes) => {
        if (request.method === 'connect') return { value: { connection: 5 } };
        if (request.method === 'write') sent.push(Buffer.from(bytes ?? []).toString());
        if (request.method === 'write') return { value: true };
        if (request.method === 'read') reads += 1;
        if (request.method === 'read' && reads === 1)
          return { value: { end: 'closed' }, bytes: Buffer.from('{"a":2}') };
        return { value: { end: 'closed' } };
      },
    });
    expect(error).toBeNull();
    expect(sent).toEqual(['banners']);
    expect(published['notes']).toEqual([{ a: 2 }]);
    expect(requests[0]).toMatchObject({ method: 'connect', host: 'notes', port: 80 });
    expect(requests[2]).toMatchObject({ method: 'read', length: 100, some: true });
    expect(requests.map(({ method }) => method)).toEqual(['connect', 'write', 'read', 'read', 'close']);
  });

  it('is not made without the permission', async () => {
    const { requests, error } = await run(await loaded(source(connect)));
    expect(error).toMatch(/^this plugin may not use the network/);
    expect(requests).toEqual([]);
  });

  it('tells a failure from an address that is none of the scan', async () => {
    const plugin = await loaded(source(connect));
    const failed = (state: string) => () => ({ value: { failure: { state } } });
    expect((await run(plugin, { net: failed('closed') })).error).toBe('execute returned -1');
    expect((await run(plugin, { net: failed('not_tried') })).error).toBe('execute returned -2');
  });

  it('of another instance is none', async () => {
    const write = '(call $write (i32.const 5) (i32.const 0) (i32.const 1))';
    const { requests, error } = await run(await loaded(source(write)), { net: () => ({ value: true }) });
    expect(error).toBe('execute returned -1');
    expect(requests).toEqual([]);
  });

  it('is one of sixteen at most', async () => {
    let made = 0;
    const { error } = await run(
      await loaded(source(`(loop $again (drop ${connect}) (br $again)) (i32.const 0)`)),
      {
        net: () => ({ value: { connection: ++made } }),
      },
    );
    expect(error).toBe('connect: more than 16 open connections');
    expect(made).toBe(32);
  });
});

describe('a hostile module fails its node', () => {
  const outside = 'are outside the memory';
  it.each<[string, string, string]>([
    ['a trap', '(unreachable)', 'trap: unreachable'],
    ['a result', '(i32.const 7)', 'execute returned 7'],
    ['a division by zero', '(i32.div_u (i32.const 1) (i32.const 0))', 'trap: divide by zero'],
    ['deep recursion', '(call $execute (call $execute (i32.const 1)))', 'trap: recursion is too deep'],
    ['an access outside', '(i32.load (i32.const -4))', 'trap: memory access out of bounds'],
    ['a key outside', '(call $get (i32.const 65533) (i32.const 4) (i32.const 0) (i32.const 0))', outside],
    ['a key at -1', '(call $get (i32.const -1) (i32.const 2) (i32.const 0) (i32.const 0))', outside],
    ['a negative length', '(call $get (i32.const 0) (i32.const -1) (i32.const 0) (i32.const 0))', outside],
    [
      'a long key',
      '(call $get (i32.const 0) (i32.const 300) (i32.const 0) (i32.const 0))',
      'above the limit of 256',
    ],
    [
      'a buffer outside',
      '(call $get (i32.const 1020) (i32.const 7) (i32.const 4096) (i32.const -1))',
      `get of "banners": 4294967295 bytes at 4096 ${outside}`,
    ],
    [
      'a value outside',
      '(call $append (i32.const 1000) (i32.const 5) (i32.const 1010) (i32.const 0x7fffffff))',
      outside,
    ],
    [
      'a set value outside',
      '(call $set (i32.const 1000) (i32.const 5) (i32.const -1) (i32.const -1))',
      outside,
    ],
    ['a log line outside', '(call $log (i32.const 9) (i32.const 0) (i32.const -1)) (i32.const 0)', outside],
    ['an error outside', '(call $error (i32.const -1) (i32.const 1)) (i32.const 0)', outside],
    ['a host outside', '(call $connect (i32.const 65535) (i32.const 2) (i32.const 1))', outside],
    ['bytes outside', '(call $write (i32.const 1) (i32.const 65535) (i32.const 2))', outside],
    ['a read outside', '(call $read (i32.const 1) (i32.const 65535) (i32.const 2))', outside],
    ['random bytes outside', '(call $random (i32.const 1) (i32.const -1))', outside],
    ['a clock outside', '(call $clock (i32.const 1) (i64.const 0) (i32.const 65530))', outside],
    ['prints outside', '(call $print (i32.const 1) (i32.const 65530) (i32.const 1) (i32.const 0))', outside],
    [
      'many prints',
      '(call $print (i32.const 1) (i32.const 0) (i32.const -1) (i32.const 0))',
      'above the limit of 1024',
    ],
    [
      'an undeclared key',
      '(call $append (i32.const 1020) (i32.const 7) (i32.const 1010) (i32.const 7))',
      'append: this module does not declare "banners" in the keys it provides',
    ],
    [
      'JSON that is none',
      '(call $append (i32.const 1000) (i32.const 5) (i32.const 1010) (i32.const 6))',
      'append of "notes": ',
    ],
    [
      'text that is no UTF-8',
      '(i32.store8 (i32.const 1011) (i32.const 255)) (call $append (i32.const 1000) (i32.const 5) (i32.const 1010) (i32.const 7))',
      'append of "notes" is not UTF-8',
    ],
  ])('with %s', async (_name, execute, reason) => {
    // The memory stays one page.
    const alloc = '(func (export "alloc") (param i32) (result i32) (i32.const 2048))';
    const plugin = await loaded(source(execute, alloc, { ...said, requires: ['banners'] }));
    const result = await run(plugin, { inputs: { banners: [{ host: 'a' }] } });
    expect(result.error).toContain(reason);
    expect(result.published).toEqual({});
  });

  it('with the text that it gives, which is cut', async () => {
    const fails = (length: number) => `(call $error (i32.const 1020) (i32.const ${length})) (i32.const 1)`;
    expect((await run(await loaded(source(fails(7))))).error).toBe('banners (execute returned 1)');
    const { error } = await run(await loaded(source(fails(60_000))));
    expect(error?.length).toBeLessThan(1100);
  });

  it('also where it catches what the host throws', async () => {
    const caught = `(try (do (drop (call $get (i32.const -1) (i32.const 9) (i32.const 0) (i32.const 0)))) (catch_all))
      (i32.const 0)`;
    expect((await run(await loaded(source(caught)))).error).toContain(outside);
  });

  it('with an allocator that gives no room', async () => {
    const alloc = (result: number) =>
      `(func (export "alloc") (param i32) (result i32) (i32.const ${result}))`;
    expect((await run(await loaded(source('(i32.const 0)', alloc(-1))))).error).toContain(outside);
    expect((await run(await loaded(source('(i32.const 0)', alloc(0))))).error).toContain('alloc returned 0');
  });

  it('with a memory that cannot grow', async () => {
    const text = source('(i32.const 0)').replace(
      '(memory (export "memory") 1)',
      '(memory (export "memory") 1 1)',
    );
    expect((await run(await loaded(text))).error).toContain('no room for');
  });

  it('and stops its other instances', async () => {
    let asked = 0;
    const connects = `(if (call $connect (i32.const 1000) (i32.const 5) (i32.const 80)) (then (unreachable))) (i32.const 0)`;
    const plugin = await loaded(source(connects, '', { ...said, requires: ['banners'] }));
    const banners = Array.from({ length: 1000 }, (_, port) => ({ host: 'a', port }));
    const { error } = await run(plugin, {
      inputs: { banners },
      net: () => {
        asked += 1;
        return { value: { failure: { state: 'closed' } } };
      },
    });
    expect(error).toBe('trap: unreachable');
    expect(asked).toBeLessThan(200);
  });
});

describe('metadata', () => {
  it('is what the module exports', async () => {
    const schema = { depth: { Type: 'int', Description: '' } };
    const metadata = { ...said, config_schema: JSON.stringify(schema) };
    expect((await loaded(source('(i32.const 0)', '', metadata))).metadata).toEqual({
      ...said,
      options: schema,
    });
  });

  it('stands in a custom section', async () => {
    const json = JSON.stringify(said);
    const bytes = await assemble(`(module (memory (export "memory") 1) ${nothing})`);
    const name = Buffer.from('service.metadata');
    const content = Buffer.concat([Buffer.from([name.length]), name, Buffer.from(json)]);
    const section = Buffer.concat([
      Buffer.from([0, 0x80 | (content.length & 0x7f), content.length >> 7]),
      content,
    ]);
    const file = join(folder, 'section.wasm');
    writeFileSync(file, Buffer.concat([bytes, section]));
    expect((await loadWasm(file, undefined)).metadata).toEqual(said);
  });

  it('stands in a file beside the module', async () => {
    const file = join(folder, 'beside.wasm');
    writeFileSync(file, await assemble(`(module (memory (export "memory") 1) ${nothing})`));
    writeFileSync(`${file}.yaml`, 'name: try_it\ntype: evaluation\n');
    expect((await loadWasm(file, undefined)).metadata).toEqual({ name: 'try_it', type: 'evaluation' });
    writeFileSync(`${file}.yaml`, 'a: &a [1]\nb: *a\n');
    await expect(loadWasm(file, undefined)).rejects.toThrow('the metadata file');
  });

  it.each([
    ['nowhere', `(module (memory (export "memory") 1) ${nothing})`, 'no metadata'],
    [
      'outside the memory',
      `(module (memory (export "memory") 1) ${nothing}
      (func (export "metadata") (result i32) (i32.const -2)))`,
      'are outside the memory',
    ],
    [
      'too long',
      `(module (memory (export "memory") 1) ${nothing} ${data(0, Buffer.from([0xff, 0xff, 0xff, 0x7f]))}
      (func (export "metadata") (result i32) (i32.const 0)))`,
      'outside the memory',
    ],
    [
      'no JSON',
      `(module (memory (export "memory") 1) ${nothing} ${data(0, Buffer.from([2, 0, 0, 0, 0x7b, 0x7b]))}
      (func (export "metadata") (result i32) (i32.const 0)))`,
      'the metadata that the module exports',
    ],
  ])('is rejected where it is %s', async (_name, text, reason) => {
    await expect(loaded(text)).rejects.toThrow(reason);
  });
});

describe('a file is rejected', () => {
  const memory = '(memory (export "memory") 1)';
  it.each([
    ['without execute', `(module ${memory})`, 'the module does not export "execute"'],
    ['without memory', `(module ${nothing})`, 'the module does not export "memory"'],
    [
      'with an execute that is no function',
      '(module (memory (export "memory") 1) (global (export "execute") i32 (i32.const 0)))',
      'the export "execute" is a global, not a function',
    ],
    [
      'with another signature',
      `(module ${memory} (func (export "execute") (param i64) (result i32) (i32.const 0)))`,
      'the export "execute" is not (i32) -> i32',
    ],
    [
      'with another signature of alloc',
      `(module ${memory} ${nothing} (func (export "alloc") (result i32) (i32.const 0)))`,
      'the export "alloc" is not (i32) -> i32',
    ],
    [
      'with unknown imports',
      `(module (import "env" "system" (func)) (import "service" "set" (memory 1)) ${memory} ${nothing})`,
      'the module imports what no host has: env.system, service.set (memory)',
    ],
    [
      'with a shared memory',
      `(module (memory (export "memory") 1 1 shared) ${nothing})`,
      'the memory is shared',
    ],
    [
      'with a 64-bit memory',
      `(module (memory (export "memory") i64 1) ${nothing})`,
      'the memory has 64-bit addresses',
    ],
    [
      'with a start that traps',
      `(module ${memory} ${nothing} (func $s unreachable) (start $s))`,
      'trap: unreachable',
    ],
  ])('%s', async (_name, text, reason) => {
    await expect(loaded(text)).rejects.toThrow(reason);
  });

  it.each([
    ['that is none', Buffer.from('#!/bin/sh'), 'not a WebAssembly file'],
    ['that is empty', Buffer.alloc(0), 'not a WebAssembly file'],
    [
      'that is a component',
      Buffer.from([0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0]),
      'not a core WebAssembly module',
    ],
    ['that is damaged', Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 99]), 'invalid WebAssembly: '],
    ['that is too large', Buffer.alloc(16 * 1024 ** 2 + 1), 'above the limit of 16777216'],
  ])('%s', async (_name, bytes, reason) => {
    const file = join(folder, 'bad.wasm');
    writeFileSync(file, bytes);
    await expect(loadWasm(file, undefined)).rejects.toThrow(reason);
  });
});
