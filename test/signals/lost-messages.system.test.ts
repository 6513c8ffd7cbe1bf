import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { ServerProcess } from '../program.ts';
import { HttpReceiver } from '../receivers.ts';
import { rounds } from '../rounds.ts';

const hooks = 10;
const messages = rounds(1000, 150);
const kills = rounds(5, 2);
const scans = messages / hooks;
const tries = 3;
/** The receiver fails this share of the requests. */
const failing = 0.3;

/** Numbers that look random and are the same in each run (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = Math.trunc(state + 0x6d2b79f5);
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A receiver that fails some of the requests, and kills the server in the middle of others. */
class FailingReceiver {
  readonly #statuses: number[] = [];
  readonly #killAt: number[];
  readonly #http: HttpReceiver;

  /** @param kill is called at once, before the response; false = not now, but at a later request */
  constructor(kill: () => boolean) {
    const random = randomNumbers(7);
    this.#killAt = Array.from({ length: kills }, (_, n) => Math.round(((n + 1) * messages) / (kills + 1)));
    this.#http = new HttpReceiver((index) => {
      const status = random() < failing ? 500 : 200;
      this.#statuses[index] = status;
      if (index >= (this.#killAt[0] ?? Number.POSITIVE_INFINITY) && kill()) this.#killAt.shift();
      return { status };
    });
  }

  listen = () => this.#http.listen();
  close = () => this.#http.close();

  /** Requests by id of the message, and by the scan and the webhook that it is about. */
  get requests(): { id: string; message: string; status: number }[] {
    return this.#http.received.map(({ headers, body }, index) => ({
      id: String(headers['x-service-delivery']),
      message: `${(JSON.parse(body) as { scan_id: string }).scan_id} webhook://hook-${String(headers['x-hook'])}`,
      status: this.#statuses[index] ?? 0,
    }));
  }
}

/** The server, which is killed now and then and started again. */
class KilledServer {
  readonly server: ServerProcess;
  /** Tries of each message that a kill cut off: received, and not recorded. */
  readonly cut = new Map<string, number>();
  killed = 0;
  #starting = false;
  #restarted: Promise<void> = Promise.resolve();
  readonly #receiver: FailingReceiver;

  constructor(receiver: FailingReceiver, env: NodeJS.ProcessEnv) {
    this.#receiver = receiver;
    this.server = new ServerProcess({ env });
  }

  /** @returns false while the server starts: it sends messages before it serves */
  kill(): boolean {
    if (this.#starting) return false;
    this.#starting = true;
    process.kill(this.server.pid, 'SIGKILL');
    this.#restarted = this.#restarted.then(() => this.#restart());
    this.#restarted.catch(() => undefined);
    return true;
  }

  /** Calls a server that may be down just now, until it responds. */
  async persistently<T>(call: (server: ServerProcess) => Promise<T>): Promise<T> {
    for (let left = 400; ; left--) {
      await this.#restarted;
      try {
        return await call(this.server);
      } catch (error) {
        if (left === 0) throw error;
        await sleep(50);
      }
    }
  }

  async #restart(): Promise<void> {
    await this.server.stop('SIGKILL');
    // What is on its way still arrives.
    await sleep(300);
    const received = countOf(this.#receiver.requests.map(({ id }) => id));
    for (const [id, attempts] of recordedTries(join(this.server.workspace, 'service.db')))
      this.cut.set(id, (received.get(id) ?? 0) - attempts);
    this.killed++;
    await this.server.start();
    this.#starting = false;
  }
}

/** Tries that the store of a killed server has recorded, of the messages that are still pending. */
function recordedTries(file: string): [id: string, attempts: number][] {
  const store = new DatabaseSync(file);
  try {
    const rows = store.prepare('select id, attempts from outbox').all();
    return rows.map(({ id, attempts }) => [String(id), Number(attempts)]);
  } finally {
    store.close();
  }
}

function countOf(values: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

const open: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of open.reverse()) await close();
});

interface Sent {
  message: string;
  status: string;
  attempts: number;
}

/** What the server says of the messages about a scan. */
async function messagesOf(server: ServerProcess, scanId: string): Promise<Sent[]> {
  const { notifications } = (await server.detail(scanId)) as unknown as {
    notifications: { channel: string; status: string; attempts: number }[];
  };
  return notifications.map(({ channel, ...state }) => ({ message: `${scanId} ${channel}`, ...state }));
}

it(`of ${messages} messages to a receiver that fails 30 % of the requests, with ${kills} kills of the server, each arrives or is given up, and no more are sent twice than tries were cut off`, async () => {
  const receiver = new FailingReceiver(() => killed.kill());
  open.push(() => receiver.close());
  const url = await receiver.listen();
  const names = Array.from({ length: hooks }, (_, n) => `hook-${n}`);
  const webhooks = names.map((name, n) => ({ name, url, headers: { 'x-hook': String(n) } }));
  const killed = new KilledServer(receiver, {
    SERVICE_NOTIFICATIONS__WEBHOOKS: JSON.stringify(webhooks),
    SERVICE_SERVER__API__RATE_LIMIT: '0',
    SERVICE_SERVER__WORKERS: '1',
  });
  open.push(() => killed.server.dispose());
  await killed.server.start();
  // It holds the only worker, so that the others wait until they are canceled: a scan that ends at no cost.
  await killed.server.submit({ targets: ['127.81.0.0/24'], rate: 20, ports: 'top-1000' });
  const notifications = names.map((name) => `webhook://${name}`);
  const scanIds: string[] = [];
  for (let i = 0; i < scans; i++)
    scanIds.push(await killed.server.submit({ targets: ['127.0.0.1'], ports: [9], notifications }));
  for (const scanId of scanIds)
    await killed.persistently((server) =>
      server.request(`/api/v1/scans/${scanId}/cancel`, { method: 'POST' }),
    );

  const sent: Sent[] = [];
  for (const scanId of scanIds)
    await expect
      .poll(
        async () => {
          const states = await killed.persistently((server) => messagesOf(server, scanId));
          const isOver = states.length === hooks && states.every(({ status }) => status !== 'pending');
          if (isOver) sent.push(...states);
          return isOver;
        },
        { timeout: 300_000, interval: 200 },
      )
      .toBe(true);

  expect(killed.killed).toBe(kills);
  const { requests } = receiver;
  const taken = requests.filter(({ status }) => status === 200);
  const arrived = new Set(taken.map(({ message }) => message));
  const givenUp = sent.filter(({ status }) => status === 'failed');
  const cut = [...killed.cut.values()].reduce((sum, one) => sum + one, 0);
  const twice = [...countOf(taken.map(({ id }) => id))].filter(([, count]) => count > 1);
  console.log(
    `${messages} messages: ${arrived.size} arrived, ${givenUp.length} given up, ${requests.length} requests, ` +
      `${killed.killed} kills, ${cut} tries cut off, ${twice.length} messages taken twice`,
  );
  expect(sent).toHaveLength(messages);
  // Each is named as delivered and arrived, or it is named as given up after all tries.
  expect(sent.filter(({ message, status }) => status === 'delivered' && !arrived.has(message))).toEqual([]);
  expect(sent.filter(({ status }) => !['delivered', 'failed'].includes(status))).toEqual([]);
  expect(givenUp.filter(({ attempts }) => attempts !== tries)).toEqual([]);
  // One id for each message, in every try.
  const pairs = new Set(requests.map(({ id, message }) => `${id} ${message}`));
  expect([pairs.size, new Set(requests.map(({ id }) => id)).size]).toEqual([messages, messages]);
  // Only a try that was cut off is made again.
  expect(cut).toBeGreaterThanOrEqual(kills);
  expect(twice.length).toBeLessThanOrEqual(cut);
  for (const [id, count] of countOf(requests.map((request) => request.id)))
    expect(count - (killed.cut.get(id) ?? 0)).toBeLessThanOrEqual(tries);
}, 900_000);
