import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  request as requestHttp,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

/** What becomes of a request on its way to the service. */
export interface ProxyFault {
  /** Which requests it befalls; by default all. */
  befalls?: (request: IncomingMessage) => boolean;
  apply: (exchange: Exchange) => Promise<void>;
}

/** One request, read in whole, and ways to respond to it. */
interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  content: Buffer;
  /** Sends this much of the content under its full length, and waits for a response that has come in whole. */
  forward(bytes?: number): Promise<{ status: number; headers: string[]; content: Buffer }>;
  /** Breaks the connection of the client. */
  breakOff(): void;
}

/** An HTTP proxy before one service, which fails as it is set to. */
export class ServiceProxy {
  /** How many requests were befallen by the fault. */
  befallen = 0;
  readonly #target: URL;
  readonly #server: Server;
  #fault: ProxyFault | null = null;

  static async open(endpoint: string): Promise<ServiceProxy> {
    const proxy = new ServiceProxy(endpoint);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  private constructor(endpoint: string) {
    this.#target = new URL(endpoint);
    this.#server = createServer((request, response) => {
      // Whoever sent it may be gone.
      this.#serve(request, response).catch(() => request.socket.destroy());
    });
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** From now on, for requests that are under way too: they are broken off. Null ends it. */
  set fault(fault: ProxyFault | null) {
    this.#fault = fault;
    this.befallen = 0;
    if (fault !== null) this.#server.closeAllConnections();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const content = await buffer(request);
    const exchange: Exchange = {
      request,
      response,
      content,
      forward: (bytes = content.length) => this.#forward(request, content, bytes),
      breakOff: () => request.socket.destroy(),
    };
    const fault = this.#fault;
    if (fault === null || fault.befalls?.(request) === false) return await pass(exchange);
    this.befallen++;
    await fault.apply(exchange);
  }

  #forward(request: IncomingMessage, content: Buffer, bytes: number) {
    return new Promise<Awaited<ReturnType<Exchange['forward']>>>((resolve, reject) => {
      const { hostname, port } = this.#target;
      // The signature is that of the headers as they came, with the host of this proxy.
      const { method, url: path } = request;
      const outgoing = requestHttp({
        hostname,
        port,
        method,
        path,
        headers: request.rawHeaders,
        agent: false,
      });
      outgoing.once('error', reject);
      outgoing.once('response', (incoming) => {
        const { statusCode: status = 0, rawHeaders: headers } = incoming;
        buffer(incoming).then((body) => resolve({ status, headers, content: body }), reject);
      });
      if (bytes === content.length) outgoing.end(content);
      else outgoing.write(content.subarray(0, bytes), () => outgoing.destroy(new Error('broken off')));
    });
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

async function pass({ forward, response }: Exchange): Promise<void> {
  const { status, headers, content } = await forward();
  response.writeHead(status, headers).end(content);
}

const isUpload = ({ method }: IncomingMessage) => method === 'PUT';
const isDownload = ({ method }: IncomingMessage) => method === 'GET';

function rejecting(status: number, code: string): ProxyFault['apply'] {
  return async ({ response }) => {
    response.writeHead(status).end(`<Error><Code>${code}</Code></Error>`);
  };
}

export const proxyFaults = {
  'is away': { apply: async ({ breakOff }) => breakOff() },
  'is silent': { apply: async ({ response }) => void (await once(response, 'close')) },
  /** Below each timeout of a client, however much it is asked for. */
  'is slow': {
    apply: async (exchange) => {
      await sleep(300);
      const { status, headers, content } = await exchange.forward();
      exchange.response.writeHead(status, headers).write(content.subarray(0, 1));
      await sleep(300);
      exchange.response.end(content.subarray(1));
    },
  },
  'is full': { befalls: isUpload, apply: rejecting(507, 'InsufficientStorage') },
  'has no quota left': { befalls: isUpload, apply: rejecting(403, 'QuotaExceeded') },
  'is overloaded': { apply: rejecting(503, 'SlowDown') },
  'breaks in the middle of an upload': {
    befalls: isUpload,
    apply: async ({ forward, content, breakOff }) => {
      await forward(Math.floor(content.length / 2)).catch(() => undefined);
      breakOff();
    },
  },
  'breaks after an upload, before its response': {
    befalls: isUpload,
    apply: async ({ forward, breakOff }) => {
      await forward();
      breakOff();
    },
  },
  'breaks in the middle of a download': {
    befalls: isDownload,
    apply: async ({ forward, response }) => {
      const { status, headers, content } = await forward();
      const half = content.subarray(0, Math.floor(content.length / 2));
      response.writeHead(status, headers).write(half, () => response.destroy());
    },
  },
} satisfies Record<string, ProxyFault>;
