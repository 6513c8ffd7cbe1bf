import type { ServerHttp2Stream } from 'node:http2';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { loopbackGate, tryModule } from '../../../test/module-trial.ts';
import { environmentOf, moduleOf, planOf, runTrial } from '../../engine/fixtures/graph-trial.ts';
import { runGraph } from '../../engine/run.ts';
import { checkMetadata } from '../plugin-metadata.ts';
import {
  entryOf,
  framed,
  json,
  type PluginBehavior,
  PluginServer,
  startResponse,
  usualMetadata,
} from './fixtures/plugin-server.ts';
import { grpcModule, unavailableMetadata } from './grpc-module.ts';
import type { GrpcEntry } from './module-client.ts';

const metadata = checkMetadata({
  ...usualMetadata,
  options: { depth: { Type: 'int', Description: 'How deep.', Default: 3 } },
});
const limits = { output: 1024 * 1024 };

function portsOf(hosts: number, portsEach = 1): { host: string; port: number; protocol: string }[] {
  return Array.from({ length: hosts * portsEach }, (_, index) => ({
    host: `127.0.0.${1 + Math.floor(index / portsEach)}`,
    port: 1000 + (index % portsEach),
    protocol: 'tcp',
  }));
}

function noteOn(ports: unknown[]): unknown[] {
  return ports.map((one) => ({ id: 'note', ...(one as object) }));
}

const echo: PluginBehavior['execute'] = ({ context }) => ({
  context: { vulnerabilities: json(noteOn(context['open_ports'] ?? [])) },
});

async function run(
  server: PluginServer,
  options: {
    ports?: unknown[];
    entry?: Partial<GrpcEntry>;
    published?: Map<string, unknown[]>;
    signal?: AbortSignal;
    config?: Record<string, unknown>;
  } = {},
) {
  const { ports = portsOf(1), entry, ...more } = options;
  return tryModule(grpcModule(server.entry(entry), metadata, limits), {
    inputs: { open_ports: ports },
    ...more,
  });
}

describe('a plugin over gRPC', () => {
  it('gets the inputs in batches of hosts and publishes what it responds', async () => {
    await using server = await PluginServer.start({ execute: echo });
    const ports = portsOf(150);
    const { published } = await run(server, { ports, config: { depth: 5 } });
    expect(server.calls.map(({ context }) => context['open_ports']?.length)).toEqual([64, 64, 22]);
    expect(server.calls.flatMap(({ context }) => context['open_ports'])).toEqual(ports);
    expect(server.calls[0]?.config).toEqual({ depth: 5 });
    expect(published.get('vulnerabilities')).toHaveLength(150);
    await expect.poll(() => server.connections).toBe(0);
  });

  it('gets everything in one call with batch_size 0', async () => {
    await using server = await PluginServer.start({ execute: echo });
    await run(server, { ports: portsOf(200), entry: { batch_size: 0 } });
    expect(server.calls.map(({ context }) => context['open_ports']?.length)).toEqual([200]);
  });

  it('gets a large batch in requests that gRPC servers accept', async () => {
    await using server = await PluginServer.start({ execute: () => ({}) });
    const ports = portsOf(8).map((port) => ({ ...port, reason: 'x'.repeat(1_000_000) }));
    await run(server, { ports });
    expect(server.calls.map(({ context }) => context['open_ports']?.length)).toEqual([3, 3, 2]);
  });

  it('is called once when it needs no input', async () => {
    await using server = await PluginServer.start({
      execute: () => ({ context: { notes: json([{ text: 'seen' }]) } }),
    });
    const module = grpcModule(server.entry(), { ...metadata, requires: [] }, limits);
    const { published } = await tryModule(module, {});
    expect(server.calls).toEqual([{ context: {}, config: { depth: 3 } }]);
    expect(published.get('notes')).toEqual([{ text: 'seen' }]);
  });

  it('has no more than four calls under way', async () => {
    let running = 0;
    let most = 0;
    await using server = await PluginServer.start({
      execute: async () => {
        most = Math.max(most, ++running);
        await sleep(20);
        running--;
        return {};
      },
    });
    await run(server, { ports: portsOf(40), entry: { batch_size: 1 } });
    expect(server.calls).toHaveLength(40);
    expect(most).toBe(4);
  });

  it('is found under the path without a package, which is tried once', async () => {
    await using server = await PluginServer.start({ execute: echo, packaged: false });
    const { published } = await run(server, { ports: portsOf(3), entry: { batch_size: 3 } });
    expect(published.get('vulnerabilities')).toHaveLength(3);
    expect(server.paths).toEqual(['/service.module.v1.ModuleService/Execute', '/ModuleService/Execute']);
  });

  it('names itself in its records by a hash of its metadata', () => {
    const { producer } = grpcModule(entryOf(1), metadata, limits);
    expect(producer).toMatchObject({ name: 'port_notes', version: '1.0.0' });
    expect(producer?.sha256).toMatch(/^[0-9a-f]{64}$/);
    const other = grpcModule(entryOf(1), { ...metadata, description: 'Others.' }, limits);
    expect(other.producer?.sha256).not.toBe(producer?.sha256);
  });

  it('that comes up late is reached', async () => {
    const first = await PluginServer.start({});
    const { port } = first;
    await first[Symbol.asyncDispose]();
    const patient = { ...entryOf(port), timeout: 180_000 };
    const trial = tryModule(grpcModule(patient, metadata, limits), {
      inputs: { open_ports: portsOf(1) },
    });
    await sleep(300);
    await using server = await PluginServer.start({ port, execute: echo });
    expect((await trial).published.get('vulnerabilities')).toHaveLength(1);
    expect(server.calls).toHaveLength(1);
  });
});

describe('a node fails with its cause when the plugin', () => {
  const escape = String.fromCharCode(27);

  it.each<[string, PluginBehavior['execute'], RegExp]>([
    ['has another service', undefined, /has no ModuleService \(Unimplemented: no such method\)/],
    [
      'reports an error with escape sequences',
      () => ({ error: `no ${escape}[31mdatabase` }),
      /^no \\x1b\[31mdatabase$/,
    ],
    ['reports a long error', () => ({ error: 'x'.repeat(5_000_000 / 5) }), /^x{500}\.\.\.$/],
    [
      'writes an undeclared key',
      () => ({ context: { targets: json([]) } }),
      /has the key "targets", which it does not provide/,
    ],
    ['writes a key with escape sequences', () => ({ context: { [escape]: json([]) } }), /the key "\\u001b"/],
    [
      'writes something other than a list',
      () => ({ context: { notes: json('text') } }),
      /no JSON list under "notes"/,
    ],
    [
      'writes something other than JSON',
      () => ({ context: { notes: Uint8Array.of(255) } }),
      /no JSON list under "notes"/,
    ],
    ['closes the stream', (_call, stream) => void stream.close(8), /127\.0\.0\.1:\d+: /],
    ['closes the connection', (_call, stream) => void stream.session?.destroy(), /127\.0\.0\.1:\d+: /],
    [
      'ends without a message',
      (_call, stream) => void (startResponse(stream), stream.end()),
      /127\.0\.0\.1:\d+: /,
    ],
    [
      'sends bytes that are no message',
      (_call, stream) => void (startResponse(stream), stream.end(framed(Buffer.alloc(99, 255)))),
      /127\.0\.0\.1:\d+: /,
    ],
    [
      'announces 1 GiB',
      (_call, stream) => void (startResponse(stream), stream.write(framed(Buffer.alloc(9), 2 ** 30))),
      /larger than plugins\.limits\.output \(1MiB\)/,
    ],
  ])('%s', async (_name, execute, reason) => {
    await using server = await PluginServer.start({ ...(execute && { execute }) });
    const published = new Map<string, unknown[]>();
    const failure = await run(server, { published }).then(
      () => null,
      (error: Error) => error,
    );
    expect(failure?.message).toMatch(reason);
    expect(published.size).toBe(0);
  });

  it('never responds', async () => {
    await using server = await PluginServer.start({ execute: () => undefined });
    await expect(run(server, { entry: { timeout: 200 } })).rejects.toThrow(/no response within 200ms/);
    await expect.poll(() => server.canceled, { timeout: 10_000 }).toBe(1);
  });

  it('is down', async () => {
    const server = await PluginServer.start({});
    const entry = server.entry({ timeout: 300 });
    await server[Symbol.asyncDispose]();
    const trial = tryModule(grpcModule(entry, metadata, limits), { inputs: { open_ports: portsOf(1) } });
    await expect(trial).rejects.toThrow(/cannot connect: Unavailable: .*ECONNREFUSED/);
  });

  it.each([
    ['one message of 1 GiB', framed(Buffer.alloc(0), 2 ** 30), /larger than plugins\.limits\.output/],
    ['messages without end', Buffer.alloc(0), /127\.0\.0\.1:\d+: /],
  ])('sends %s, of which little leaves it', async (_name, head, reason) => {
    let sent = 0;
    await using server = await PluginServer.start({
      execute: (_call, stream) => void flood(stream, head, (bytes) => (sent += bytes)),
    });
    await expect(run(server)).rejects.toThrow(reason);
    await expect.poll(() => server.connections).toBe(0);
    expect(sent).toBeLessThan(4 * limits.output);
  });

  it('sends a bomb of compressed bytes', async () => {
    const { gzipSync } = await import('node:zlib');
    const bomb = framed(gzipSync(Buffer.alloc(64 * limits.output)));
    bomb[0] = 1;
    await using server = await PluginServer.start({
      execute: (_call, stream) => {
        stream.respond({ ':status': 200, 'content-type': 'application/grpc+proto', 'grpc-encoding': 'gzip' });
        stream.end(bomb);
        return undefined;
      },
    });
    await expect(run(server)).rejects.toThrow(/larger than plugins\.limits\.output/);
  });

  it('fails one batch; what it wrote beside the error is kept, and no further batch is sent', async () => {
    await using server = await PluginServer.start({
      execute: ({ context }) => ({
        context: { vulnerabilities: json(noteOn(context['open_ports'] ?? [])) },
        error: 'disk full',
      }),
    });
    const published = new Map<string, unknown[]>();
    async function* endless() {
      yield* portsOf(1);
      await new Promise(() => undefined);
    }
    const module = grpcModule(server.entry({ batch_size: 1 }), metadata, limits);
    const trial = tryModule(module, { inputs: { open_ports: endless() }, published });
    await expect(trial).rejects.toThrow('disk full');
    expect(published.get('vulnerabilities')).toHaveLength(1);
    expect(server.calls).toHaveLength(1);
  });
});

describe('in a scan', () => {
  const finding = { id: 'note', title: 'A note', severity: 'low', host: '127.0.0.9', port: 80 };

  async function scanWith(server: PluginServer) {
    const reads: unknown[] = [];
    const { states, stages, taps, warnings } = await runTrial({
      modules: [
        grpcModule(server.entry(), { ...metadata, requires: ['targets'] }, limits),
        moduleOf('reader', 'evaluation', { requires: ['vulnerabilities'] }, async (_ctx, data) => {
          for await (const item of data.stream('vulnerabilities')) reads.push(item);
        }),
      ],
      graph: `nodes:
  - {instance_id: remote, module_type: port_notes}
  - {instance_id: reader, module_type: reader, depends_on: [remote]}
`,
      environment: { net: loopbackGate(['127.0.0.9']) },
    });
    return { states, error: stages[0]?.error, taps, reads, warnings };
  }

  it('results about hosts that are not scanned are dropped with a warning', async () => {
    const outside = { ...finding, host: '192.0.2.7' };
    await using server = await PluginServer.start({
      execute: () => ({ context: { vulnerabilities: json([outside, finding]) } }),
    });
    const { states, reads, warnings } = await scanWith(server);
    expect(states).toEqual({ remote: 'completed', reader: 'completed' });
    expect(reads).toEqual([expect.objectContaining(finding)]);
    expect(warnings.join()).toContain('192.0.2.7');
  });

  it.each<[string, object]>([
    ['a field of a wrong type', { ...finding, severity: 7 }],
    ['no identity', { title: 'A note' }],
  ])('an item with %s fails the node and reaches no other', async (_name, item) => {
    await using server = await PluginServer.start({
      execute: () => ({ context: { vulnerabilities: json([item]) } }),
    });
    const { states, error, reads, taps } = await scanWith(server);
    expect(states['remote']).toBe('failed');
    expect(error).toContain('item 0 of "vulnerabilities"');
    expect([...reads, ...taps]).toEqual([]);
  });
});

describe('a scan that needs a plugin that was never reached', () => {
  const graph = `nodes:
  - {instance_id: finder, module_type: finder}
  - {instance_id: remote, module_type: port_notes, depends_on: [finder], config: {depth: 3}}
  - {instance_id: reader, module_type: reader, depends_on: [finder]}
  - {instance_id: heir, module_type: heir, depends_on: [remote]}
`;
  const nothing = async () => undefined;
  const others = [
    moduleOf('finder', 'discovery', { provides: ['discovered_hosts'] }, nothing),
    moduleOf('reader', 'scanner', { requires: ['discovered_hosts'] }, nothing),
    moduleOf('heir', 'scanner', { requires: ['vulnerabilities'] }, nothing),
  ];

  async function stagesWith(entry: GrpcEntry) {
    const remote = grpcModule(entry, unavailableMetadata(entry, 'connection refused'), limits);
    const run = runGraph(planOf({ modules: [...others, remote], graph }), environmentOf({}));
    await run.finished;
    return Object.fromEntries(run.stages.map((stage) => [stage.instance_id, stage]));
  }

  it('fails its node with the cause, and no other', async () => {
    const server = await PluginServer.start({});
    const entry = server.entry();
    await server[Symbol.asyncDispose]();
    const stages = await stagesWith(entry);
    expect(stages['remote']).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('ECONNREFUSED'),
    });
    expect(stages['reader']).toMatchObject({ status: 'completed' });
    expect(stages['heir']).toMatchObject({
      status: 'skipped',
      error: 'no running node provides vulnerabilities',
    });
  });

  it('fails its node also if the plugin came up meanwhile: its inputs were not planned', async () => {
    await using server = await PluginServer.start({});
    const { remote } = await stagesWith(server.entry({ name: 'port-notes' }));
    expect(remote).toMatchObject({ status: 'failed', error: expect.stringContaining('run the scan again') });
  });
});

describe('a cancel', () => {
  it('ends the calls under way with its reason', async () => {
    await using server = await PluginServer.start({ execute: () => undefined });
    const abort = new AbortController();
    const trial = run(server, { ports: portsOf(3), entry: { batch_size: 1 }, signal: abort.signal });
    const ended = expect(trial).rejects.toThrow('canceled by a client');
    await expect.poll(() => server.calls.length, { timeout: 10_000 }).toBe(3);
    abort.abort(new Error('canceled by a client'));
    await ended;
    await expect.poll(() => server.canceled, { timeout: 10_000 }).toBe(3);
    await expect.poll(() => server.connections).toBe(0);
  });
});

/** Writes 1 GiB as fast as the client reads it, or empty messages (each 5 zeros) where no other head comes first. */
function flood(stream: ServerHttp2Stream, head: Buffer, onWritten: (bytes: number) => void): void {
  const chunk = Buffer.alloc(64 * 1024);
  startResponse(stream);
  stream.write(head);
  let left = 2 ** 30;
  const more = () => {
    if (stream.destroyed || stream.closed || left <= 0) return;
    left -= chunk.length;
    onWritten(chunk.length);
    stream.write(chunk, more);
  };
  more();
}
