import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TargetField } from '../faults/target-field.ts';
import { freePort, postgresObstacle, startPostgres, type TestPostgres } from '../postgres.ts';
import { ServerProcess } from '../program.ts';
import { rowsOf, sweep, until } from '../workers/cluster.ts';
import { WorkerProcess } from '../workers/worker-process.ts';

const hosts = ['127.86.31.1', '127.86.31.2'];
const portCount = 200;
const rate = 40;

describe.skipIf(postgresObstacle() !== null)('a database that fails over to its standby', () => {
  let primary: TestPostgres;
  let address: Address;
  let field: TargetField;
  let server: ServerProcess;
  const workers: WorkerProcess[] = [];

  beforeAll(async () => {
    primary = await startPostgres();
    address = await Address.open(primary.port);
    field = await TargetField.open(hosts, portCount);
    const url = (await primary.database()).replace(`:${primary.port}`, `:${address.port}`);
    const env = {
      SERVICE_QUEUE__URL: url,
      SERVICE_WORKERS__SHARD_SIZE: '1',
      SERVICE_WORKERS__LEASE: '20s',
    };
    server = new ServerProcess({ env });
    await server.start();
    for (let count = 0; count < 2; count++)
      workers.push(await new WorkerProcess(['--pool', 'lab', '--queue', url], env).start());
  });
  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.dispose()));
    await server?.dispose();
    address?.close();
    field?.close();
    await primary?.remove();
  });

  it('loses no row, and no shard its worker: what was acknowledged is on the standby', async () => {
    const standby = await primary.standby();
    const from = performance.now();
    const scanId = await sweep(server, field, hosts, rate);
    await until('a third of it', () => field.connects(from).length > (hosts.length * portCount) / 3);
    await primary.stop('SIGQUIT');
    await standby.promote();
    address.moveTo(standby.port);
    expect(await server.waitForEnd(scanId)).toMatchObject({ status: 'completed', warnings: [] });
    const ports = (await rowsOf(server, scanId)).filter(({ type }) => type === 'port');
    const pairs = hosts.flatMap((host) => field.ports.map((port) => `${host}:${port}`));
    expect(ports.map(({ host, port }) => `${host}:${port}`).toSorted()).toEqual(pairs.toSorted());
    // Both shards went on where they were.
    expect(field.connects(from).length).toBe(pairs.length);
  });
});

/** Where clients find the database: an address that moves to another server. */
class Address {
  readonly port: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #to: number;

  static async open(to: number): Promise<Address> {
    const address = new Address(await freePort(), to);
    await new Promise<void>((resolve) => address.#server.listen(address.port, '127.0.0.1', resolve));
    return address;
  }

  private constructor(port: number, to: number) {
    this.port = port;
    this.#to = to;
    this.#server = createServer((client) => {
      const upstream = connect(this.#to, '127.0.0.1');
      for (const [socket, other] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        this.#sockets.add(socket);
        socket.on('error', () => undefined).on('close', () => other.destroy());
        socket.pipe(other);
      }
    });
  }

  moveTo(port: number): void {
    this.#to = port;
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  close(): void {
    this.moveTo(0);
    this.#server.close();
  }
}
