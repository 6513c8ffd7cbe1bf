import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { runStatements, storeDatabase } from '../postgres.ts';
import type { ServerProcess } from '../program.ts';
import { Lab, until } from './cluster.ts';
import { WorkerProcess } from './worker-process.ts';

/** Reads the events of a scan, from behind an id, until `enough` says so or the scan has ended. @returns ids of ports */
export async function portIds(
  server: ServerProcess,
  scanId: string,
  behind: number,
  enough: (ids: number[]) => boolean,
): Promise<number[]> {
  const leaving = new AbortController();
  const response = await fetch(`${server.url}/api/v1/scans/${scanId}/events`, {
    headers: { 'last-event-id': String(behind) },
    signal: leaving.signal,
  });
  let text = '';
  const ids = () =>
    [...text.matchAll(/^event: port\nid: (\d+)$|^id: (\d+)\nevent: port$/gm)].map((found) =>
      Number(found[1] ?? found[2]),
    );
  try {
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += piece;
      if (enough(ids()) || /^event: end$/m.test(text)) break;
    }
  } finally {
    leaving.abort();
  }
  return ids();
}

/** Two servers and a worker on one database, begun anew for each test: the owner of the scans, and the one that takes them over. */
export class TwoServers {
  readonly #address: string;
  #lab: Lab | undefined;
  url = '';
  #owner: ServerProcess | undefined;
  #other: ServerProcess | undefined;
  #worker: WorkerProcess | undefined;

  /** @param address of the listeners. Call it in a describe block: it registers the hooks of its tests. */
  constructor(address: string, portCount: number) {
    this.#address = address;
    beforeAll(async () => {
      this.#lab = await Lab.open([address], portCount);
    });
    afterAll(() => this.#lab?.dispose());
    beforeEach(() => this.#begin());
    afterEach(async () => {
      await this.#worker?.dispose();
      await this.#lab?.clear();
    });
  }

  get lab(): Lab {
    return this.#lab as Lab;
  }

  get owner(): ServerProcess {
    return this.#owner as ServerProcess;
  }

  get other(): ServerProcess {
    return this.#other as ServerProcess;
  }

  env(): NodeJS.ProcessEnv {
    return { SERVICE_QUEUE__URL: this.url, SERVICE_WORKERS__LEASE: '5s', SERVICE_WORKERS__HEARTBEAT: '1s' };
  }

  async #begin(): Promise<void> {
    this.url = await storeDatabase();
    const worker = new WorkerProcess(['--pool', 'lab', '--queue', this.url], this.env());
    this.#worker = worker;
    [this.#owner, this.#other] = await Promise.all([
      this.lab.server(this.env()),
      this.lab.server(this.env()),
      worker.start(),
    ]);
  }

  /** Kills the owner. Its last heartbeat ages at once, so that the test need not wait until it has. */
  async kill(): Promise<void> {
    await this.owner.stop('SIGKILL');
    await this.age();
  }

  /** Ages the last heartbeat of the owner beyond its lease. */
  async age(): Promise<void> {
    await runStatements(this.url, [
      `update portolan.servers set last_seen = last_seen - 15000 where url = '${this.owner.url}'`,
    ]);
  }

  /** Resolves when more connections than these have come since a moment. */
  async begun(from: number, count: number): Promise<void> {
    await until(`${count} connections`, () => this.lab.count(from, this.#address) > count);
  }
}
