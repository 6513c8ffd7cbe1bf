import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { closeServers, listen, loopbackGate } from '../../../test/module-trial.ts';
import { rounds } from '../../../test/rounds.ts';
import { removePlugins, runPlugin, trialLimits, writePlugin } from '../fixtures/plugin-trial.ts';
import { assemble } from '../host/fixtures/assemble.ts';
import { describePlugin } from '../plugin-module.ts';

afterEach(() => {
  removePlugins();
  closeServers();
});

const port = (number: number, host = '127.0.0.1') => ({
  host,
  port: number,
  protocol: 'tcp',
  state: 'open',
  reason: 'syn-ack',
});

const declares = 'wasm_trial';

/** Publishes what it was given as the items of `wasm_trial.seen`. */
const source = (execute: string, more = '') => `(module
  (@custom "service.metadata" "{\\"name\\":\\"wasm_trial\\",\\"type\\":\\"evaluation\\",\\"version\\":\\"1.0.0\\","
    "\\"requires\\":[\\"open_ports\\"],\\"provides\\":[\\"wasm_trial.seen\\"]}")
  (import "service" "get" (func $get (param i32 i32 i32 i32) (result i32)))
  (import "service" "append" (func $append (param i32 i32 i32 i32) (result i32)))
  (import "service" "error" (func $error (param i32 i32)))
  (import "service" "canceled" (func $canceled (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "wasm_trial.seen") (data (i32.const 32) "open_ports") (data (i32.const 64) "{\\"pages\\":1}")
  (data (i32.const 96) "no \\1b[31mluck") (data (i32.const 128) "[1]")
  (func $copy (result i32) (local $length i32)
    (local.set $length (call $get (i32.const 32) (i32.const 10) (i32.const 1024) (i32.const 64000)))
    (call $append (i32.const 0) (i32.const 15) (i32.const 1024) (local.get $length)))
  ${more}
  (func $execute (export "execute") (param i32) (result i32) (local $i i32) ${execute}))`;

async function plugin(execute: string, more = '') {
  return writePlugin('trial.wasm', await assemble(source(execute, more)), 'wasm');
}

describe('a WebAssembly plugin', () => {
  it('reads and publishes in batches', async () => {
    const open_ports = Array.from({ length: 1000 }, (_, index) => port(index + 1));
    const { published, error } = await runPlugin(await plugin('(call $copy)'), {
      declares,
      inputs: { open_ports },
      environment: { net: loopbackGate(['127.0.0.1']) },
    });
    expect(error).toBe(null);
    expect(published.map(([, item]) => item)).toEqual(open_ports);
  });

  it('has 64 MiB at most, which return', async () => {
    // So many batches of 64 MiB would be twice the limit of the process, or more.
    const batches = rounds(60, 8);
    const grow = `(if (i32.ge_s (memory.grow (i32.const 65535)) (i32.const 0)) (then (unreachable)))
      (if (i32.lt_s (memory.grow (i32.sub (i32.const 1024) (memory.size))) (i32.const 0)) (then (unreachable)))
      (if (i32.ne (memory.grow (i32.const 1)) (i32.const -1)) (then (unreachable)))
      (memory.fill (i32.const 65536) (i32.const 7) (i32.const 67043328))
      (call $append (i32.const 0) (i32.const 15) (i32.const 64) (i32.const 11))`;
    const open_ports = Array.from({ length: batches * 128 }, (_, index) => port(index + 1));
    const { published, error } = await runPlugin(await plugin(grow), {
      declares,
      inputs: { open_ports },
      limits: { memory: 256 * 1024 ** 2, timeout: 240_000 },
    });
    expect(error).toBe(null);
    expect(published.length).toBeGreaterThanOrEqual(batches);
  });

  it.each<[string, string, string | RegExp]>([
    ['traps', '(unreachable)', 'trap: unreachable'],
    [
      'recurses without an end',
      '(call $execute (call $execute (i32.const 1)))',
      'trap: recursion is too deep',
    ],
    [
      'gives a reason',
      '(call $error (i32.const 96) (i32.const 12)) (i32.const 1)',
      'no \\x1b[31mluck (execute returned 1)',
    ],
    [
      'publishes wrong items',
      '(call $append (i32.const 0) (i32.const 15) (i32.const 64) (i32.const 5))',
      /append of "wasm_trial.seen": /,
    ],
    [
      'reads outside its memory',
      '(call $get (i32.const -1) (i32.const 10) (i32.const 0) (i32.const 0))',
      /outside the memory/,
    ],
  ])('that %s fails its node with the reason', async (_, execute, reason) => {
    const { error, published } = await runPlugin(await plugin(execute), {
      declares,
      inputs: { open_ports: [port(1)] },
    });
    if (typeof reason === 'string') expect(error).toBe(reason);
    else expect(error).toMatch(reason);
    expect(published).toEqual([]);
  });

  it('that fails keeps what it published before', async () => {
    const execute =
      '(drop (call $append (i32.const 0) (i32.const 15) (i32.const 64) (i32.const 11))) (unreachable)';
    const { error, published } = await runPlugin(await plugin(execute), {
      declares,
      inputs: { open_ports: [port(1)] },
    });
    expect(error).toBe('trap: unreachable');
    expect(published).toEqual([['wasm_trial.seen', { pages: 1 }]]);
  });

  it('that loops is ended at its deadline; other nodes keep their results', async () => {
    const { error, stages } = await runPlugin(await plugin('(loop $again (br $again)) (i32.const 0)'), {
      declares,
      inputs: { open_ports: [port(1)] },
      limits: { timeout: 1000 },
    });
    expect(error).toBe('it ran longer than 1s (plugins.limits.timeout)');
    expect(stages['s']?.status).toBe('completed');
  });

  it('that takes all memory is ended with the limit as reason', async () => {
    const tables = Array.from({ length: 40 }, (_, index) => `(table $t${index} 0 funcref)`).join(' ');
    const grows = Array.from(
      { length: 40 },
      (_, index) => `(drop (table.grow $t${index} (ref.null func) (i32.const 9000000)))`,
    ).join(' ');
    const { error } = await runPlugin(await plugin(`${grows} (i32.const 0)`, tables), {
      declares,
      inputs: { open_ports: [port(1)] },
    });
    expect(error).toMatch(/^the plugin host reached its memory limit of 128 MiB/);
  });

  it('that is none is rejected before a scan', async () => {
    const described = describePlugin(writePlugin('a.wasm', 'no module', 'wasm'), trialLimits);
    await expect(described).rejects.toMatchObject({ code: 'configuration' });
    await expect(described).rejects.toThrow('not a WebAssembly file');
  });

  it('has its metadata in a file beside it', async () => {
    const text = source('(i32.const 0)').replace(/\(@custom.*?"\)/s, '');
    const file = writePlugin('trial.wasm', await assemble(text), 'wasm');
    writeFileSync(
      join(file.folder, 'trial.wasm.yaml'),
      'name: wasm_trial\ntype: evaluation\nversion: 2.0.0\n',
    );
    expect(await describePlugin(file, trialLimits)).toMatchObject({ name: 'wasm_trial', version: '2.0.0' });
  });
});

describe('the example of the SDK', () => {
  const text = readFileSync(join(import.meta.dirname, '../../../sdk/wasm/http-trace.wat'), 'utf8');

  async function scan(ports: ReturnType<typeof port>[], permissions: 'network'[] = ['network']) {
    const file = { ...writePlugin('http-trace.wasm', await assemble(text), 'wasm'), permissions };
    const net = loopbackGate(['127.0.0.1']);
    return await runPlugin(file, { inputs: { open_ports: ports }, environment: { net } });
  }

  /** @param traces the server responds to TRACE with the request */
  const web = (traces: boolean) =>
    listen((socket) => {
      socket.on('data', (request) => {
        const type = traces ? 'message/http' : 'text/html';
        socket.end(`HTTP/1.1 ${traces ? 200 : 405} It\r\nContent-Type: ${type}\r\n\r\n${request}`);
      });
    });

  it('finds web servers with TRACE enabled, and no others', async () => {
    const [on, off, alsoOn] = [await web(true), await web(false), await web(true)];
    const { published, error } = await scan([port(on), port(off), port(alsoOn), port(1)]);
    expect(error).toBe(null);
    expect(published.map(([key, item]) => [key, (item as { port: number }).port]).toSorted()).toEqual(
      [on, alsoOn].map((number) => ['vulnerabilities', number]).toSorted(),
    );
    expect(published[0]?.[1]).toMatchObject({ id: 'http-trace', host: '127.0.0.1', plugin: 'http_trace' });
  });

  it('reaches addresses of the scan only', async () => {
    let connections = 0;
    const other = await listen(() => (connections += 1), '127.0.0.2');
    const { published, error } = await scan([port(other, '127.0.0.2')]);
    expect({ published, error, connections }).toEqual({ published: [], error: null, connections: 0 });
  });

  it('reaches nothing without the permission', async () => {
    const { published, error } = await scan([port(await web(true))], []);
    expect(error).toMatch(/^this plugin may not use the network/);
    expect(published).toEqual([]);
  });
});
