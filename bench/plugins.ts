/**
 * What plugins cost beside builtin modules: `npm run bench:plugins [-- --rounds 5]`. Every round runs each kind once, in turns,
 * so that other work slows all of them alike; medians. Kinds whose compiler is missing are left out.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { forEachItem } from '../src/engine/each.ts';
import { environmentOf, moduleOf, planOf } from '../src/engine/fixtures/graph-trial.ts';
import { ModuleLifecycle } from '../src/engine/lifecycle.ts';
import type { ModuleDefinition } from '../src/engine/module.ts';
import { runGraph } from '../src/engine/run.ts';
import { removePlugins, trialLimits, writePlugin } from '../src/plugins/fixtures/plugin-trial.ts';
import { assemble } from '../src/plugins/host/fixtures/assemble.ts';
import { batchItems } from '../src/plugins/host/messages.ts';
import { describePlugin, pluginModule } from '../src/plugins/plugin-module.ts';
import { compilePlugin, pluginFolder } from '../test/c-plugin.ts';
import { isInstalled } from '../test/installed.ts';
import { loopbackGate } from '../test/module-trial.ts';

const { values: flags } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } });
const rounds = Number(flags.rounds);
/** Items that a node gets and publishes again. */
const copies = 100_000;
const banners = 10_000;
const sessions = 3000;
const parallelSessions = 64;
const limits = { ...trialLimits, memory: 512 * 1024 ** 2, output: 64 * 1024 ** 2 };

const script = `export const Plugin = {
  name: 'copy', version: '1.0.0', description: 'Copies.', requires: ['bench_in'], provides: ['copy.out'],
  async execute(ctx, data) { for await (const item of data.stream('bench_in')) await data.append('copy.out', item); },
};`;

const native = `#include <stddef.h>
#include "service_plugin.h"
static int execute(const char *context, size_t length, const service_host *host, char **error) {
  char *json; size_t size;
  (void)context; (void)length; (void)error;
  while (host->next(host->handle, "bench_in", &json, &size) == 0) {
    int failed = host->append(host->handle, "copy.out", json, size);
    host->release(host->handle, json);
    if (failed) return 1;
  }
  return 0;
}
static int nothing(char **error) { (void)error; return 0; }
static int configure(const char *config, size_t length, char **error) {
  (void)config; (void)length; (void)error;
  return 0;
}
static void release(void *pointer) { (void)pointer; }
static const char *const reads[] = {"bench_in", NULL};
static const char *const writes[] = {"copy.out", NULL};
const service_plugin Plugin = {
  .abi_version = SERVICE_PLUGIN_ABI_VERSION, .struct_size = sizeof(service_plugin),
  .name = "copy", .description = "Copies.", .version = "1.0.0", .type = "evaluation",
  .config_schema = "{}", .requires_keys = reads, .provides_keys = writes, .initialize = nothing, .configure = configure, .execute = execute, .cleanup = nothing, .free = release,
};`;

const wasmMetadata = JSON.stringify({
  name: 'copy',
  description: 'Copies.',
  version: '1.0.0',
  type: 'evaluation',
  requires: ['bench_in'],
  provides: ['copy.out'],
});
/** Copies the list of a batch as it is. */
const wasm = `(module
  (import "service" "get" (func $get (param i32 i32 i32 i32) (result i32)))
  (import "service" "append" (func $append (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 8)
  (data (i32.const 0) "bench_in") (data (i32.const 16) "copy.out")
  (data (i32.const 32) "\\${(wasmMetadata.length % 256).toString(16).padStart(2, '0')}\\0${Math.floor(wasmMetadata.length / 256)}\\00\\00${wasmMetadata.replaceAll('"', '\\22')}")
  (func (export "metadata") (result i32) (i32.const 32))
  (func (export "execute") (param i32) (result i32)
    (call $append (i32.const 16) (i32.const 8) (i32.const 65536)
      (call $get (i32.const 0) (i32.const 8) (i32.const 65536) (i32.const 400000)))))`;

const probe = `export const Plugin = {
  name: 'probe', version: '1.0.0', description: 'Probes.', requires: ['bench_in'], provides: ['probe.out'],
  async execute(ctx, data) {
    const items = data.stream('bench_in')[Symbol.asyncIterator]();
    const work = async () => {
      for (;;) {
        const { done, value } = await items.next();
        if (done) return;
        const { connection } = await ctx.net.connect(value.host, value.port, { deadlineMs: 10000 });
        await connection.write('hello\\r\\n');
        const { bytes } = await connection.read({ until: '\\r\\n' });
        connection.close();
        await data.append('probe.out', { host: value.host, length: bytes.length });
      }
    };
    await Promise.all(Array.from({ length: ${parallelSessions} }, work));
  },
};`;

interface Measured {
  ms: number;
  /** Of the largest child, at its most. */
  hostBytes: number;
}

function childBytes(): number {
  const sizes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        const status = readFileSync(`/proc/${pid}/status`, 'utf8');
        const isOwn = new RegExp(`^PPid:\\s+${process.pid}$`, 'm').test(status);
        return isOwn ? Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0) * 1024 : 0;
      } catch {
        return 0;
      }
    });
  return Math.max(0, ...sizes);
}

/** Runs one node from its first item to its last. @throws Error if it fails or publishes less than it gets */
async function measure(definition: ModuleDefinition, items: readonly unknown[]): Promise<Measured> {
  let published = 0;
  let begunAt = 0;
  let hostBytes = 0;
  const source = moduleOf('source', 'scanner', { provides: ['bench_in'] }, async (_, data) => {
    // The host is ready once the first item has come back.
    await data.append('bench_in', items[0]);
    await first.promise;
    begunAt = performance.now();
    for (let at = 1; at < items.length; at += batchItems) {
      await data.append('bench_in', ...items.slice(at, at + batchItems));
    }
  });
  const first = Promise.withResolvers<void>();
  const modules = new ModuleLifecycle().forScan();
  let endedAt = 0;
  const environment = environmentOf({
    modules,
    net: loopbackGate(['127.0.0.1']),
    streamBuffer: 1024,
    tap: (key) => {
      if (key === 'bench_in') return;
      published += 1;
      first.resolve();
      if (published < items.length) return;
      endedAt = performance.now();
      hostBytes = childBytes();
    },
  });
  const graph = `nodes:
  - {instance_id: s, module_type: source}
  - {instance_id: p, module_type: ${definition.name}, depends_on: [s]}
`;
  const run = runGraph(planOf({ modules: [source, definition], graph }), environment);
  await run.finished;
  await modules.end(environment.log);
  const error = run.stages.find(({ error: text }) => text !== null)?.error;
  if (error || published !== items.length)
    throw new Error(error ?? `published ${published} of ${items.length}`);
  return { ms: endedAt - begunAt, hostBytes };
}

async function pluginOf(
  file: ReturnType<typeof writePlugin>,
  permissions: 'network'[] = [],
): Promise<() => ModuleDefinition> {
  const permitted = { ...file, permissions };
  const metadata = await describePlugin(permitted, limits);
  return () => pluginModule({ file: permitted, metadata }, limits);
}

function compiled(): Buffer {
  const folder = pluginFolder();
  try {
    const source = join(folder, 'copy.c');
    writeFileSync(source, native);
    return readFileSync(compilePlugin(folder, source));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Medians by name; the kinds in turns. */
async function compare(kinds: [string, () => ModuleDefinition][], items: readonly unknown[]) {
  const runs = new Map(kinds.map(([name]) => [name, [] as Measured[]]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, definition] of kinds) runs.get(name)?.push(await measure(definition(), items));
  }
  return new Map(
    [...runs].map(([name, measured]) => [
      name,
      {
        ms: median(measured.map(({ ms }) => ms)),
        hostMb: Math.max(...measured.map(({ hostBytes }) => hostBytes)) / 1e6,
      },
    ]),
  );
}

const copyBuiltin = () =>
  moduleOf('copy', 'evaluation', { requires: ['bench_in'], provides: ['copy.out'] }, async (_, data) => {
    for await (const item of data.stream('bench_in')) await data.append('copy.out', item);
  });

const probeBuiltin = () =>
  moduleOf('probe', 'evaluation', { requires: ['bench_in'], provides: ['probe.out'] }, async (ctx, data) => {
    const items = data.stream<{ host: string; port: number }>('bench_in');
    await forEachItem(ctx, items, { concurrency: parallelSessions }, async ({ host, port }) => {
      const { signal } = ctx;
      const result = await ctx.net.connect(host, port, { deadlineMs: 10_000, maxBytes: 1024 ** 2, signal });
      if ('failure' in result) throw new Error(result.failure.reason);
      await result.connection.write(Buffer.from('hello\r\n'));
      const { bytes } = await result.connection.read({ idleMs: 2000, done: (read) => read.includes('\r\n') });
      result.connection.close();
      await data.append('probe.out', { host, length: bytes.length });
    });
  });

const bannerOf = (index: number) => ({
  host: '127.0.0.1',
  port: (index % 65_535) + 1,
  protocol: 'tcp',
  banner: `SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u2 ${index}\r\n`,
});

const kinds: [string, () => ModuleDefinition][] = [
  ['builtin', copyBuiltin],
  ['script', await pluginOf(writePlugin('copy.mjs', script))],
  ['wasm', await pluginOf(writePlugin('copy.wasm', await assemble(wasm), 'wasm'))],
];
if (isInstalled('gcc')) kinds.push(['native', await pluginOf(writePlugin('copy.so', compiled(), 'native'))]);
else console.log('without native plugins: gcc is not installed');

const small = await compare(
  kinds,
  Array.from({ length: copies }, (_, index) => ({ host: '127.0.0.1', n: index })),
);
const real = await compare(
  kinds,
  Array.from({ length: banners }, (_, index) => bannerOf(index)),
);

const listener = createServer((socket) => {
  socket.on('error', () => undefined);
  socket.on('data', () => socket.end('hello back\r\n'));
});
await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
const { port } = listener.address() as { port: number };
const probes = await compare(
  [
    ['builtin', probeBuiltin],
    ['script', await pluginOf(writePlugin('probe.mjs', probe), ['network'])],
  ],
  Array.from({ length: sessions }, () => ({ host: '127.0.0.1', port })),
);
listener.close();

console.log(
  `${new Date().toISOString().slice(0, 10)}, ${cpus().length} processors, Node ${process.versions.node}, ${rounds} rounds.\n`,
);
console.log(
  '| kind | items/s | ms per batch of 128 above a builtin | 10,000 banners, ms | host, MB |\n|---|---|---|---|---|',
);
const builtinMs = small.get('builtin')?.ms ?? Number.NaN;
for (const [name] of kinds) {
  const { ms = 0, hostMb = 0 } = small.get(name) ?? {};
  const above = ((ms - builtinMs) / (copies / batchItems)).toFixed(3);
  const bannersMs = real.get(name)?.ms ?? Number.NaN;
  console.log(
    `| ${name} | ${Math.round((copies / ms) * 1000)} | ${above} | ${bannersMs.toFixed(0)} | ${hostMb.toFixed(0)} |`,
  );
}
const [direct, bridged] = ['builtin', 'script'].map(
  (name) => (sessions / (probes.get(name)?.ms ?? Number.NaN)) * 1000,
);
console.log(
  `\nProbe sessions/s: builtin ${direct?.toFixed(0)}, plugin ${bridged?.toFixed(0)}, ratio ${((bridged ?? 0) / (direct ?? 1)).toFixed(2)}.`,
);
removePlugins();
