import { createToken } from '../../../src/actions/access/create-token.ts';
import { revokeToken } from '../../../src/actions/access/revoke-token.ts';
import { type SyntheticScan, syntheticPresets } from '../../../src/report/fixtures/synthetic-scan.ts';
import { openStore, type Store } from '../../../src/store/open.ts';
import { openWorkspace } from '../../../src/workspace/workspace.ts';
import { type BigResult, writeBigRecord } from '../../big-result.ts';
import { freePort, Listeners } from '../../cli/listeners.ts';
import { type ScanDetail, ServerProcess } from '../../program.ts';
import { recordScans } from '../../recorded-scan.ts';
import { openTargets, type Targets } from './targets.ts';

export interface UiServiceOptions {
  /** Every request needs a token. */
  auth?: boolean;
  tenants?: readonly string[];
  /** Scans that are in the workspace before the start. */
  recorded?: readonly SyntheticScan[];
  /** A scan with so many rows: `bigScanId`. */
  big?: BigResult;
  /** Further variables of the server's environment. */
  env?: NodeJS.ProcessEnv;
}

/** Of the scan with the many rows. */
export const bigScanId = '20260101-000000-b16b16';

/** A made-up scan under another id and name: all of them are made with the same one. */
export function renamed({ facts, rows }: SyntheticScan, scanId: string, name: string): SyntheticScan {
  const { request } = facts;
  const renamedRequest = request && { ...request, scan_id: scanId, name };
  return { facts: { ...facts, scan_id: scanId, title: name, request: renamedRequest }, rows };
}

/** A real server of this checkout on loopback with a workspace of its own, and services for it to scan. */
export class UiService {
  readonly #server: ServerProcess;
  readonly #listeners = new Listeners();
  #targets: Targets | null = null;
  /** Sent with the requests of the test itself; empty where none is needed. */
  #own = '';

  private constructor(server: ServerProcess) {
    this.#server = server;
  }

  static async start(options: UiServiceOptions = {}): Promise<UiService> {
    const { auth = false, tenants = [], recorded = [], big, env = {} } = options;
    // Fixed, so that a server that starts anew is found by pages that are open.
    const bind = ['--bind', `127.0.0.1:${await freePort()}`];
    const server = new ServerProcess({
      args: bind,
      env: {
        SERVICE_SERVER__API__AUTH: String(auth),
        // Tests are faster than people.
        SERVICE_SERVER__API__RATE_LIMIT: '0',
        ...(tenants.length > 0 && {
          SERVICE_MULTI_TENANT__ENABLED: 'true',
          SERVICE_MULTI_TENANT__TENANTS: tenants.join(','),
        }),
        ...env,
      },
    });
    const service = new UiService(server);
    try {
      await recordScans(server.workspace, recorded);
      if (big) await service.#recordBig(big);
      if (auth) service.#own = await service.token('admin');
      await server.start();
    } catch (error) {
      await service.dispose();
      throw error;
    }
    return service;
  }

  get url(): string {
    return this.#server.url;
  }

  get pid(): number {
    return this.#server.pid;
  }

  get workspace(): string {
    return this.#server.workspace;
  }

  /** Address of a page, `/scans?q=berlin`. */
  page(path: string): string {
    return `${this.url}/ui${path}`;
  }

  /** The services of `openTargets`, open from the first use on. */
  async targets(): Promise<Targets> {
    this.#targets ??= await openTargets(this.#listeners);
    return this.#targets;
  }

  /** Other services; they end with this one. */
  get listeners(): Listeners {
    return this.#listeners;
  }

  /** A token for one hour. */
  async token(...scopes: string[]): Promise<string> {
    return (await this.#createToken({ name: `of a test: ${scopes.join(', ')}`, scopes, tenant: null })).token;
  }

  /** A token that soon ends by itself: `10s`. */
  async shortToken(expiry: string, ...scopes: string[]): Promise<string> {
    return (await this.#createToken({ name: 'of a short time', scopes, tenant: null }, expiry)).token;
  }

  /** A token that sees one tenant. */
  async tenantToken(tenant: string, ...scopes: string[]): Promise<string> {
    return (await this.#createToken({ name: `of ${tenant}`, scopes, tenant })).token;
  }

  /** As if somebody had revoked it on the command line; a server sees it within 2 s. */
  async revoke(token: string): Promise<void> {
    await this.#withStore((store) => revokeToken(store, token.split('_')[1] ?? ''));
  }

  /** Calls the API as the tests' own administrator. @returns `data` */
  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    return await this.#request({}, method, path, body);
  }

  /** The same for a tenant. */
  async callFor<T>(tenant: string, method: string, path: string, body?: unknown): Promise<T> {
    return await this.#request({ 'x-tenant-id': tenant }, method, path, body);
  }

  async #request<T>(
    headers: Record<string, string>,
    method: string,
    path: string,
    body: unknown,
  ): Promise<T> {
    const access = this.#own === '' ? {} : { authorization: `Bearer ${this.#own}` };
    const { status, body: response } = await this.#server.request(path, {
      method,
      headers: { ...access, ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(response)}`);
    return (response as { data: T } | null)?.data as T;
  }

  /** A scan of the services of `targets()`. @returns its id at once */
  async submit(submission: Record<string, unknown> = {}): Promise<string> {
    const ports = Object.values(await this.targets()).join(',');
    const usual = { targets: ['127.0.0.1'], ports, name: 'Berlin office', options: { discover: false } };
    const { scan_id } = await this.call<{ scan_id: string }>('POST', '/api/v1/scans', {
      ...usual,
      ...submission,
    });
    return scan_id;
  }

  /** A finished scan of the services of `targets()`. */
  async scan(submission: Record<string, unknown> = {}): Promise<ScanDetail> {
    return await this.ended(await this.submit(submission));
  }

  async ended(scanId: string): Promise<ScanDetail> {
    for (;;) {
      const scan = await this.call<ScanDetail>('GET', `/api/v1/scans/${scanId}`);
      if (scan.status === 'completed' || scan.status === 'failed') return scan;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** Ends the server; open pages lose it. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    await this.#server.stop(signal);
  }

  /** Starts it again at the same address, with the same workspace. */
  async startAgain(): Promise<void> {
    await this.#server.start();
  }

  async dispose(): Promise<void> {
    this.#listeners.close();
    await this.#server.dispose();
  }

  async #createToken(order: { name: string; scopes: string[]; tenant: string | null }, expiry = '1h') {
    return await this.#withStore((store) => createToken(store, { ...order, expiry }));
  }

  /** The file of the server, as the command line uses it beside a server. */
  async #withStore<T>(use: (store: Store) => Promise<T>): Promise<T> {
    const workspace = await openWorkspace(this.workspace);
    const store = await openStore(workspace.storeFile);
    try {
      return await use(store);
    } finally {
      await store.close();
    }
  }

  /** The facts of a small scan with the rows of a big one. */
  async #recordBig(size: BigResult): Promise<void> {
    const scan = renamed(syntheticPresets.one(), bigScanId, 'Large network');
    const counts = { live_hosts: size.hosts, open_ports: size.hosts * size.portsPerHost };
    const vulnerabilities = counts.open_ports * size.findingsPerPort;
    const summary = { ...scan.facts.summary, ...counts, vulnerabilities };
    await recordScans(this.workspace, [{ ...scan, facts: { ...scan.facts, summary } }]);
    const workspace = await openWorkspace(this.workspace);
    await writeBigRecord(workspace.scan(bigScanId).path, size);
  }
}
