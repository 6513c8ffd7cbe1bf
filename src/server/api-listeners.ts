import type { Server as HttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { parseEndpoint } from '../config/endpoint.ts';
import type { Config } from '../config/schema.ts';
import type { Listener } from '../net/local-listeners.ts';
import type { Component } from './components.ts';
import type { ServerContext } from './context.ts';
import type { GrpcListener } from './grpc/listener.ts';
import { buildApp } from './http/app.ts';
import type { App } from './http/app-type.ts';
import { OpenResponses } from './http/open-responses.ts';
import type { ReloadStep } from './settings.ts';
import type { ShutdownDeadline } from './shutdown-deadline.ts';
import { prepareTlsReload, type TlsMaterial } from './tls.ts';

/** Listeners of the REST API and, if enabled, of the gRPC API. */
export class ApiListeners implements Component {
  readonly #context: ServerContext;
  readonly #tls: TlsMaterial | null;
  readonly #closing: AbortController;
  #app: App | null = null;
  #responses: OpenResponses | null = null;
  #grpc: GrpcListener | null = null;
  #url = '';

  /** @param closing ends long responses, such as event streams */
  constructor(context: ServerContext, tls: TlsMaterial | null, closing: AbortController) {
    this.#context = context;
    this.#tls = tls;
    this.#closing = closing;
  }

  /** Base URL for clients on this machine, without a trailing slash. */
  get url(): string {
    return this.#url;
  }

  /** Base URL for workers on other hosts; if bound to all addresses, it has the first that is not loopback. */
  get remoteUrl(): string {
    return remoteUrl(this.#url, this.#context.config);
  }

  get endpoints(): Listener[] {
    const bound = this.#app?.addresses() ?? [];
    return [...bound.flatMap((address) => endpointOf(address)), ...(this.#grpc?.listeners ?? [])];
  }

  /** @throws the system error if an address cannot be bound */
  async start(): Promise<void> {
    const { config, log } = this.#context;
    for (const warning of this.#tls?.warnings ?? []) log.warn(warning);
    this.#app = await buildApp(this.#context, this.#tls);
    this.#responses = new OpenResponses(this.#app.server);
    if (config.server.grpc.enabled) this.#grpc = await openGrpc(this.#context, this.#tls);
    this.#url = await listen(this.#app, config);
    await this.#grpc?.listen();
  }

  /**
   * Ends event streams at once; pending responses, including long downloads, may use the remaining time. Until then,
   * new requests are rejected because of the shutdown.
   */
  async drain({ responsesMs }: ShutdownDeadline): Promise<void> {
    this.#closing.abort();
    await Promise.all([this.#responses?.ended(responsesMs), this.#grpc?.close(responsesMs)]);
    const closed = this.#app?.close();
    this.#app?.server.closeAllConnections();
    await closed;
  }

  readonly reload: Record<string, ReloadStep> = {
    'server.tls': ({ server }) => {
      if (this.#tls === null) return undefined;
      const rest = this.#app?.server as HttpsServer;
      const listeners = this.#grpc ? [rest, this.#grpc] : [rest];
      return prepareTlsReload(listeners, server.tls, this.#context.log, this.#tls);
    },
  };
}

/** Loads the gRPC libraries only if gRPC is enabled. */
async function openGrpc(context: ServerContext, tls: TlsMaterial | null): Promise<GrpcListener> {
  const { GrpcListener } = await import('./grpc/listener.ts');
  return new GrpcListener(context, tls);
}

async function listen(app: App, config: Config): Promise<string> {
  const { host, port } = parseEndpoint(config.server.bind) ?? { host: '127.0.0.1', port: 8080 };
  await app.listen({ host, port });
  const bound = app.server.address() as AddressInfo;
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  const scheme = config.server.tls.enabled ? 'https' : 'http';
  return `${scheme}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${bound.port}`;
}

/** Scans cannot reach Unix sockets. */
function endpointOf(bound: string | AddressInfo | null): Listener[] {
  return bound === null || typeof bound === 'string' ? [] : [{ host: bound.address, port: bound.port }];
}

function remoteUrl(url: string, { server }: Config): string {
  const host = parseEndpoint(server.bind)?.host;
  if (host !== '0.0.0.0' && host !== '::') return url;
  const addresses = Object.values(networkInterfaces()).flatMap((some) => some ?? []);
  const outside = addresses.filter(({ internal, address }) => !internal && !address.startsWith('fe80'));
  const chosen = outside.find(({ family }) => family === 'IPv4') ?? outside[0];
  if (!chosen) return url;
  const remote = new URL(url);
  remote.hostname = chosen.family === 'IPv6' ? `[${chosen.address}]` : chosen.address;
  return remote.origin;
}
