import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isLoopbackHost, parseEndpoint } from '../config/endpoint.ts';
import type { Config } from '../config/schema.ts';
import { PortolanError } from '../domain/errors.ts';
import type { GraphLibrary } from '../engine/graph-library.ts';
import { optionsJsonSchema } from '../engine/options.ts';
import type { Registry } from '../engine/registry.ts';
import { EmbeddedQueue } from '../queue/embedded.ts';
import { openStore } from '../store/open.ts';
import { openWorkspace } from '../workspace/workspace.ts';
import { demandsTokens, isProtected } from './auth.ts';
import type { Catalogues, ServerContext } from './context.ts';
import { GarbageCollector } from './garbage.ts';
import { buildApp } from './http/app.ts';
import type { App } from './http/app-type.ts';
import { createServerLog, type ServerLog } from './log.ts';
import { WorkerPool } from './workers.ts';

export interface StartInput {
  config: Config;
  /** Remarks about the configuration, for the log. */
  warnings: string[];
  version: string;
  /** The program that scan processes run. */
  entryFile: string;
  registry: Registry;
  library: GraphLibrary;
}

export interface RunningServer {
  /** Base URL for clients on this machine, without a slash at its end. */
  url: string;
  /** Takes no more work, lets running scans go, answers what is under way, gives the workspace back. */
  stop(): Promise<void>;
}

/** Long answers get this long to end by themselves once everything else has. */
const lastAnswersMs = 1000;

/**
 * Opens the workspace, takes its lock and serves.
 * @throws PortolanError `configuration`; what the system says when the address cannot be bound
 */
export async function startServer(input: StartInput): Promise<RunningServer> {
  const undo: (() => Promise<unknown>)[] = [];
  const unwind = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    return await assemble(input, undo, unwind);
  } catch (error) {
    await unwind();
    throw error;
  }
}

async function assemble(
  input: StartInput,
  undo: (() => Promise<unknown>)[],
  unwind: () => Promise<void>,
): Promise<RunningServer> {
  const { config } = input;
  const catalogues = cataloguesOf(input);
  checkDefaultProfile(config, catalogues);
  const log = createServerLog(config.logging);
  const workspace = await openWorkspace(await workspaceDir(config, undo));
  const lock = await workspace.lock({ url: '' });
  undo.push(() => lock.release());
  const store = await openStore(workspace.storeFile);
  undo.push(() => store.close());
  const queue = new EmbeddedQueue(store, { leaseMs: config.workers.lease });
  const garbage = new GarbageCollector({ store, workspace, retention: config.workspace.retention }, log);
  undo.push(() => garbage.close());
  const workers = new WorkerPool({
    store,
    queue,
    workspace,
    config,
    entryFile: input.entryFile,
    log,
    onScanEnd: () => garbage.sweep(),
  });
  undo.push(() => workers.close(config.server.shutdown_timeout));

  const closing = new AbortController();
  const context: ServerContext = {
    config,
    store,
    workspace,
    queue,
    workers,
    garbage,
    catalogues,
    version: { version: input.version, commit: null, built_at: null },
    log,
    startedAt: performance.now(),
    phase: 'starting',
    closing: closing.signal,
  };
  const app = await buildApp(context);
  undo.push(() => closeApp(app, closing));
  const url = await listen(app, config);
  await workers.start();
  garbage.start();
  await lock.setUrl(url);
  context.phase = 'serving';
  announce(log, input, url);
  return { url, stop: () => shutDown(context, unwind) };
}

function checkDefaultProfile({ scanner }: Config, catalogues: Catalogues): void {
  const name = scanner.default_profile;
  const profiles = catalogues.profiles();
  if (profiles.some((profile) => profile.name === name || profile.aliases.includes(name))) return;
  const known = profiles.map((profile) => profile.name).join(', ');
  throw new PortolanError(
    'configuration',
    `scanner.default_profile: there is no profile ${JSON.stringify(name)}; valid names: ${known}`,
  );
}

/** With the workspace disabled, scans live in a temporary folder until the process ends. */
async function workspaceDir(config: Config, undo: (() => Promise<unknown>)[]): Promise<string> {
  if (config.workspace.enabled) return config.workspace.dir;
  const folder = await mkdtemp(join(tmpdir(), 'portolan-'));
  undo.push(() => rm(folder, { recursive: true, force: true }));
  return join(folder, 'workspace');
}

function cataloguesOf({ registry, library }: StartInput): Catalogues {
  const described = library.list().map(({ name, description, source, kind, aliases, graph }) => ({
    profile: kind === 'profile' ? { name, description, source, aliases } : null,
    dag: { name, description, source, nodes: graph.nodes.length },
  }));
  const modules = registry.list().map((definition) => ({
    name: definition.name,
    type: definition.type,
    description: definition.description,
    version: definition.version,
    source: definition.source,
    requires: definition.requires,
    provides: definition.provides,
    config_schema: optionsJsonSchema(definition.options),
  }));
  return {
    modules: () => modules,
    profiles: () => described.flatMap(({ profile }) => profile ?? []),
    dags: () => described.map(({ dag }) => dag),
  };
}

async function listen(app: App, config: Config): Promise<string> {
  const { host, port } = parseEndpoint(config.server.bind) ?? { host: '127.0.0.1', port: 8080 };
  await app.listen({ host, port });
  const bound = app.server.address() as AddressInfo;
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${bound.port}`;
}

function announce(log: ServerLog, { config, warnings, version }: StartInput, url: string): void {
  for (const warning of warnings) log.warn(warning);
  if (isProtected(config)) {
    log.warn(
      'PROTECTED MODE: bound to an outside address without tokens, so only clients on this machine are served. ' +
        'Set server.api.auth: true, or server.allow_insecure: true to serve everybody.',
    );
  }
  const outside = !isLoopbackHost(parseEndpoint(config.server.bind)?.host ?? '');
  if (outside && !demandsTokens(config) && config.server.allow_insecure) {
    log.warn('server.allow_insecure is set: everybody who reaches this address may scan with it');
  }
  log.info({ url, version, auth: demandsTokens(config) }, 'portolan serves');
}

async function shutDown(context: ServerContext, unwind: () => Promise<void>): Promise<void> {
  if (context.phase === 'draining') return;
  context.phase = 'draining';
  context.log.info('shutting down');
  await context.workers.close(Math.max(100, context.config.server.shutdown_timeout - 2 * lastAnswersMs));
  await unwind();
  context.log.info('stopped');
}

async function closeApp(app: App, closing: AbortController): Promise<void> {
  closing.abort();
  const late = setTimeout(() => app.server.closeAllConnections(), lastAnswersMs);
  await app.close();
  clearTimeout(late);
}
