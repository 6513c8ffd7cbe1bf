import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { PortCounts, PortCoverage } from '../src/domain/host.ts';
import { compileScope } from '../src/domain/targets/scope.ts';
import { parseTargets } from '../src/domain/targets/target.ts';
import { type Banner, describeBytes } from '../src/domain/text/banner.ts';
import type { DataContext, ExecContext, ModuleDefinition, ResultSource } from '../src/engine/module.ts';
import { RuleSet } from '../src/knowledge/evaluation-rules/rule-set.ts';
import { isControlPort } from '../src/knowledge/probes/control-system.ts';
import { builtinRules } from '../src/knowledge/rules/rule-catalog.ts';
import { withRulesFile } from '../src/knowledge/rules/signature-file.ts';
import { builtinCves } from '../src/knowledge/vulndb/builtin.ts';
import type { CveSource } from '../src/knowledge/vulndb/cve-record.ts';
import type { NetworkGate } from '../src/net/gate/gate.ts';
import { PacketRateLimiter } from '../src/net/gate/rate.ts';
import { createGate } from '../src/net/gate/scoped-gate.ts';

/** One module run on loopback with inputs from arrays, and what it published. */
export interface Trial {
  published: Map<string, unknown[]>;
  warnings: string[];
  /** How it said that it works. */
  methods: string[];
  /** Pairs of host and port that are done. */
  coverage: PortCoverage;
  gate: NetworkGate;
}

export function loopbackGate(targets: string[], maxConnections = 4096): NetworkGate {
  return createGate({
    addresses: parseTargets(targets).addresses,
    scope: compileScope({ allow: ['127.0.0.0/8', '::1/128'], deny: [] }),
    rate: new PacketRateLimiter({ rate: 100_000 }),
    closesInOrder: isControlPort,
    maxConnections,
  });
}

export async function tryModule(
  definition: ModuleDefinition,
  options: {
    config?: Record<string, unknown>;
    inputs?: Inputs;
    results?: ResultSource;
    restored?: unknown;
    /** Gets what asks the module for its state, as soon as the module offers it. */
    checkpoint?: (state: () => unknown) => void;
    gate?: NetworkGate;
    published?: Map<string, unknown[]>;
    recorded?: ExecContext['recorded'];
    /** How hosts ended in an earlier run, as the record has it. */
    recordedCounts?: readonly PortCounts[];
    /** Changed as the module covers pairs; begins as an earlier run left it. */
    coverage?: PortCoverage;
    /** Options of the modules that ran before. */
    upstream?: Record<string, Record<string, unknown>>;
    targets?: string[];
    signal?: AbortSignal;
    vulnerabilities?: CveSource;
    evaluationRules?: RuleSet;
    maxConnections?: number;
  },
): Promise<Trial> {
  const gate = options.gate ?? loopbackGate(options.targets ?? ['127.0.0.1'], options.maxConnections);
  const coverage = options.coverage ?? { open: 0, closed: 0, filtered: 0, not_tried: 0 };
  const published = options.published ?? new Map<string, unknown[]>();
  const trial: Trial = { published, warnings: [], methods: [], coverage, gate };
  const module = definition.create();
  await module.initialize();
  await module.configure(options.config ?? {});
  const silent = () => undefined;
  const ctx = {
    signal: options.signal ?? new AbortController().signal,
    deadline: null,
    instanceId: definition.name,
    scanId: 'trial',
    options: {},
    net: gate,
    log: { debug: silent, info: silent, warn: silent, error: silent },
    results: options.results,
    fingerprints: async (file: string) => (file === '' ? builtinRules : withRulesFile(builtinRules, file)),
    evaluationRules: async () => options.evaluationRules ?? new RuleSet([]),
    vulnerabilities: async () => options.vulnerabilities ?? builtinCves,
    restored: options.restored ?? null,
    checkpoint: options.checkpoint ?? silent,
    recorded: options.recorded ?? (() => false),
    upstream: () => new Map(Object.entries(options.upstream ?? {})),
    progress: silent,
    method: (text: string) => trial.methods.push(text),
    recordedCounts: (protocol: string) =>
      new Map(
        (options.recordedCounts ?? []).flatMap((counts) =>
          counts.protocol === protocol ? [[counts.host, counts]] : [],
        ),
      ),
    cover: (counts: PortCoverage) => {
      for (const name of Object.keys(coverage) as (keyof PortCoverage)[]) coverage[name] += counts[name];
    },
    recount: (counts: PortCoverage) => Object.assign(coverage, counts),
    warn: (code: string, message: string) => trial.warnings.push(`${code}: ${message}`),
  } as unknown as ExecContext;
  await module.execute(ctx, dataOf(options.inputs ?? {}, trial.published));
  await module.cleanup();
  return trial;
}

type Inputs = Readonly<Record<string, readonly unknown[] | AsyncIterable<unknown>>>;

function dataOf(inputs: Inputs, published: Map<string, unknown[]>): DataContext {
  const data = {
    has: (key: string) => key in inputs,
    keys: () => Object.keys(inputs),
    async *stream(key: string) {
      yield* inputs[key] ?? [];
    },
    async append(key: string, ...items: unknown[]) {
      const list = published.get(key) ?? [];
      published.set(key, list);
      list.push(...items);
    },
  };
  return data as unknown as DataContext;
}

/** What a module that publishes one key makes of complete input streams. */
export async function runModule<T>(
  definition: ModuleDefinition,
  inputs: Inputs,
  config: Record<string, unknown> = {},
): Promise<T[]> {
  const { published } = await tryModule(definition, { inputs, config });
  return [...published.values()].flat() as T[];
}

/** The banner of a service that answered these bytes (latin1). */
export function bannerOf(port: number, answer: string, more: Partial<Banner> = {}): Banner {
  const endpoint = { host: '192.0.2.1', port, protocol: 'tcp' } as const;
  const bytes = Buffer.from(answer, 'latin1');
  return { ...endpoint, ...describeBytes(bytes), probe: 'null', truncated: false, partial: false, ...more };
}

const servers = new Set<Server>();
const sockets = new Set<Socket>();

/** A TCP server on a free port of a loopback address; `closeServers` ends it. */
export async function listen(serve: (socket: Socket) => void, host = '127.0.0.1', port = 0): Promise<number> {
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    serve(socket);
  });
  servers.add(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return (server.address() as AddressInfo).port;
}

export function closeServers(): void {
  for (const socket of sockets) socket.destroy();
  for (const server of servers) server.close();
  servers.clear();
}

/** Connections that the servers of this test hold now. */
export function openConnections(): number {
  return sockets.size;
}
