import { readFile, stat } from 'node:fs/promises';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import {
  type CallOptions,
  type Client,
  Code,
  ConnectError,
  createClient,
  type Interceptor,
} from '@connectrpc/connect';
import { compressionGzip, createGrpcTransport, Http2SessionManager } from '@connectrpc/connect-node';
import { parseEndpoint } from '../../config/endpoint.ts';
import type { Config } from '../../config/schema.ts';
import { formatByteSize } from '../../domain/text/byte-size.ts';
import { visibleText } from '../../domain/text/visible.ts';
import { formatDuration } from '../../domain/time/duration.ts';
import { pause, untilAborted } from '../../net/abort.ts';
import { Health, HealthCheckResponse_ServingStatus as Serving } from './gen/grpc/health/v1/health_pb.ts';
import {
  EmptySchema,
  type ExecuteRequestSchema,
  type ExecuteResponse,
  type Metadata,
  ModuleService,
} from './gen/module_pb.ts';

/** An entry of `plugins.list`. */
export type GrpcEntry = Config['plugins']['list'][number];

/** Maximum length of an error that a plugin responds with, characters. */
const maxErrorText = 500;
/** Maximum size of a certificate or key file. */
const maxTlsFileBytes = 1024 * 1024;
/** Delay before connecting again, doubled up to the longest; milliseconds. */
const firstDelayMs = 100;
/** The longest such delay, milliseconds. */
const longestDelayMs = 5000;

export interface ClientOptions {
  /** Maximum size of a response. */
  outputBytes: number;
  /** Connects again and again until the timeout of a call, instead of once. */
  persistent: boolean;
}

/** Calls the module service of one plugin over one connection, which is opened when it is needed and again when it is lost. */
export class ModuleClient {
  readonly #entry: GrpcEntry;
  readonly #outputBytes: number;
  readonly #persistent: boolean;
  readonly #sessions: Http2SessionManager;
  readonly #health: Client<typeof Health>;
  /** The service with its package name and without it; the one that worked stands first. */
  #services: Client<typeof ModuleService>[];

  private constructor(entry: GrpcEntry, { outputBytes, persistent }: ClientOptions, secure: TlsFiles | null) {
    this.#entry = entry;
    this.#outputBytes = outputBytes;
    this.#persistent = persistent;
    const baseUrl = urlOf(entry.endpoint, secure !== null);
    this.#sessions = new Http2SessionManager(baseUrl, {}, { settings: { enablePush: false }, ...secure });
    const transport = (interceptors: Interceptor[]) =>
      createGrpcTransport({
        baseUrl,
        interceptors,
        sessionManager: this.#sessions,
        readMaxBytes: outputBytes,
        acceptCompression: [compressionGzip],
      });
    const packaged = transport([]);
    this.#services = [packaged, transport([withoutPackage])].map((one) => createClient(ModuleService, one));
    this.#health = createClient(Health, packaged);
  }

  /**
   * Connects to nothing yet.
   * @throws Error if a certificate or key file cannot be read
   */
  static async open(entry: GrpcEntry, options: ClientOptions): Promise<ModuleClient> {
    return new ModuleClient(entry, options, await readTlsFiles(entry.tls));
  }

  /** @throws Error with the cause; the reason of the signal if that aborts */
  metadata(signal: AbortSignal): Promise<Metadata> {
    return this.#call(signal, (options) =>
      this.#onEitherPath((service) => service.getMetadata(create(EmptySchema), options)),
    );
  }

  /** @throws Error with the cause; the reason of the signal if that aborts */
  execute(
    request: MessageInitShape<typeof ExecuteRequestSchema>,
    signal: AbortSignal,
  ): Promise<ExecuteResponse> {
    return this.#call(signal, (options) =>
      this.#onEitherPath((service) => service.execute(request, options)),
    );
  }

  /**
   * Asks for the health of the service, and where it is not listed, of the server.
   * @throws Error if the server says that it does not serve; one that has no health service passes
   */
  checkHealth(signal: AbortSignal): Promise<void> {
    return this.#call(signal, async (options) => {
      for (const service of [ModuleService.typeName, '']) {
        const status = await this.#servingStatus(service, options);
        if (status === Serving.SERVING) return;
        if (status !== null) throw new Error('its health check says that it does not serve');
      }
    });
  }

  /** Ends the connection and the calls on it. */
  close(): void {
    this.#sessions.abort();
  }

  /** @returns null if the service is not listed or there are no health checks */
  async #servingStatus(service: string, options: CallOptions): Promise<Serving | null> {
    try {
      return (await this.#health.check({ service }, options)).status;
    } catch (error) {
      if (hasCode(error, Code.Unimplemented) || hasCode(error, Code.NotFound)) return null;
      throw error;
    }
  }

  /** Some servers are made from a proto file without its package line: their service has another path. */
  async #onEitherPath<T>(run: (service: Client<typeof ModuleService>) => Promise<T>): Promise<T> {
    const [first, second] = this.#services as [Client<typeof ModuleService>, Client<typeof ModuleService>];
    try {
      return await run(first);
    } catch (error) {
      if (!hasCode(error, Code.Unimplemented)) throw error;
      const result = await run(second).catch((other: unknown) => {
        throw hasCode(other, Code.Unimplemented) ? error : other;
      });
      this.#services = [second, first];
      return result;
    }
  }

  async #call<T>(signal: AbortSignal, run: (options: CallOptions) => Promise<T>): Promise<T> {
    const { timeout } = this.#entry;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeout)]);
    const begun = performance.now();
    try {
      await this.#connect(limit);
      // Connecting has taken a part of the time; the plugin gets to know what is left.
      const timeoutMs = Math.max(1, Math.ceil(timeout - (performance.now() - begun)));
      return await untilAborted(run({ signal: limit, timeoutMs }), limit);
    } catch (error) {
      signal.throwIfAborted();
      throw this.#failure(error);
    }
  }

  /** Nothing was sent yet, so nothing is sent twice. */
  async #connect(limit: AbortSignal): Promise<void> {
    for (let delay = firstDelayMs; ; delay = Math.min(2 * delay, longestDelayMs)) {
      if ((await untilAborted(this.#sessions.connect(), limit)) !== 'error') return;
      const cause = this.#sessions.error();
      if (this.#persistent) await pause(delay, limit);
      if (limit.aborted || !this.#persistent) throw new Error(`cannot connect: ${reasonOf(cause)}`);
    }
  }

  /** The library's own errors name buffers and options that the reader does not know. */
  #failure(error: unknown): Error {
    return new Error(`${this.#entry.endpoint}: ${this.#explain(error)}`);
  }

  #explain(error: unknown): string {
    if (isTimeout(error)) return `no response within ${formatDuration(this.#entry.timeout)}`;
    if (hasCode(error, Code.Unimplemented)) return `has no ModuleService (${reasonOf(error)})`;
    if (error instanceof ConnectError && error.rawMessage.includes('readMaxBytes')) {
      return `its response is larger than plugins.limits.output (${formatByteSize(this.#outputBytes)})`;
    }
    return reasonOf(error);
  }
}

/** Text of a plugin, in one line and cut. */
export function shownError(text: string): string {
  const shown = visibleText(text.slice(0, maxErrorText));
  return text.length > maxErrorText ? `${shown}...` : shown;
}

/** Of the signal, or of the library. */
function isTimeout(error: unknown): boolean {
  return (
    hasCode(error, Code.DeadlineExceeded) || (error instanceof DOMException && error.name === 'TimeoutError')
  );
}

function hasCode(error: unknown, code: Code): boolean {
  return error instanceof ConnectError && error.code === code;
}

function reasonOf(error: unknown): string {
  if (error instanceof ConnectError) return shownError(`${Code[error.code]}: ${error.rawMessage}`);
  return shownError(error instanceof Error ? error.message : String(error));
}

/** `/service.module.v1.ModuleService/Execute` becomes `/ModuleService/Execute`. */
const withoutPackage: Interceptor = (next) => (request) => {
  const { typeName, name } = request.service;
  return next({ ...request, url: request.url.replace(`/${typeName}/`, `/${name}/`) } as typeof request);
};

function urlOf(endpoint: string, isSecure: boolean): string {
  const { host, port } = parseEndpoint(endpoint) ?? { host: endpoint, port: 0 };
  return `${isSecure ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

interface TlsFiles {
  ca?: Buffer;
  cert?: Buffer;
  key?: Buffer;
}

/** @returns null if no file is named: the connection is not encrypted */
async function readTlsFiles(tls: GrpcEntry['tls']): Promise<TlsFiles | null> {
  const { ca_file, cert_file, key_file } = tls;
  if (!ca_file && !cert_file && !key_file) return null;
  return {
    ...(ca_file && { ca: await readTlsFile('ca_file', ca_file) }),
    ...(cert_file && { cert: await readTlsFile('cert_file', cert_file) }),
    ...(key_file && { key: await readTlsFile('key_file', key_file) }),
  };
}

async function readTlsFile(member: string, file: string): Promise<Buffer> {
  const { size } = await stat(file).catch(rejected(member, file));
  if (size > maxTlsFileBytes)
    throw new Error(`tls.${member}: ${file} is larger than ${maxTlsFileBytes} bytes`);
  return readFile(file).catch(rejected(member, file));
}

function rejected(member: string, file: string): (error: NodeJS.ErrnoException) => never {
  return ({ code, message }) => {
    throw new Error(`tls.${member}: ${file}: ${code ?? message}`);
  };
}
