import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withoutReferences } from '../../src/server/fixtures/api-document.ts';
import { ServerProcess } from '../program.ts';
import {
  type ApiDocument,
  anyRequest,
  type GeneratedRequest,
  type Operation,
  type Vocabulary,
} from './requests.ts';

/** The same requests in every run, so that a failure is a failure of the change; another seed explores further. */
const seed = Number(process.env['PORTOLAN_FUZZ_SEED'] ?? 20_261_121);

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

const server = new ServerProcess({
  args: ['--workers', '1'],
  env: { SERVICE_QUEUE__MAX_JOBS: '100000' },
});
const agent = new Agent({ keepAlive: true, maxSockets: 8 });
let document: ApiDocument;
let words: Vocabulary;

/** Scans that have ended, so that every route has something to answer with. */
async function vocabulary(): Promise<Vocabulary> {
  const ended: string[] = [];
  for (const ports of ['9', '1,7']) {
    const id = await server.submit({ targets: ['127.0.0.9'], ports, options: { discover: false } });
    await server.waitForEnd(id);
    ended.push(id);
  }
  const waiting = await server.submit({ targets: ['127.0.0.10'], ports: '9', options: { discover: false } });
  return {
    job_id: { good: await jobIds(), bad: ['job-ffffffff', 'job-', 'JOB-1'] },
    schedule: { good: ['0 2 * * *', '@daily', '*/5 * * * MON'], bad: ['60 * * * *', '@reboot', ''] },
    scan_id: { good: [...ended, waiting], bad: ['20200101-000000-000000', '20200101-000000-zzzz'] },
    against: { good: ended, bad: ['x'] },
    targets: {
      good: ['127.0.0.9', '127.0.0.8/30', '127.0.0.1-4', 'localhost'],
      bad: ['10.0.0.300', '-oN /tmp/x', '$(touch /tmp/x)', '::ffff:1', ''],
    },
    exclude: { good: ['127.0.0.10', '127.0.0.11'], bad: ['x y'] },
    ports: { good: ['9', '7,9', 'top-3', 'ssh', [9], [9, 7]], bad: ['0', '70000', [0], []] },
    profile: { good: ['quick', 'standard'], bad: ['nosuch', '../x'] },
    dag: { good: ['port-scan'], bad: ['nosuch', '/etc/passwd'] },
    pool: { good: ['default', 'dmz'], bad: ['Big Pool', 'Ä', '../x'] },
    notifications: { good: ['slack://security', 'email://default'], bad: ['nosuch://x', 'slack'] },
    rate: { good: [1000, 100_000], bad: [0, 1e9] },
    timeout: { good: ['1s', '200ms'], bad: ['1', 'x'] },
    max_duration: { good: ['1s', '1h30m'], bad: ['-1s'] },
    scan_type: { good: ['syn', 'connect', 'udp', 'auto'], bad: ['x'] },
    concurrency: { good: [10, 100] },
    status: { good: ['pending', 'queued', 'running', 'completed', 'failed'], bad: ['done'] },
    since: { good: ['2026-01-01', '2026-10-06T14:30:22.118Z'], bad: ['yesterday', '275761-01-01'] },
    cursor: { good: ['MjAyNg'], bad: ['', '!'] },
    format: { good: ['json', 'jsonl', 'csv', 'html', 'tar.gz', 'sarif', 'nmap'], bad: ['exe'] },
    limit: { good: [1, 50, 1000, 100_000], bad: [0] },
    older_than: { good: ['30d', '1mo'], bad: ['90', '-1d', '1m', '1e9d'] },
    keep_last: { good: [100_000], bad: [-1, '1'] },
    'idempotency-key': { good: ['a', 'b', 'c'] },
    'last-event-id': { good: ['0', '1', '99999'], bad: ['-1', 'x'] },
  };
}

/** One that waits for its time, and one that runs at once. */
async function jobIds(): Promise<string[]> {
  const params = { targets: ['127.0.0.9'], ports: '9', options: { discover: false } };
  const bodies = [{ params, schedule: '0 2 * * *' }, { params }];
  const answers = bodies.map((body) =>
    server.request('/api/v1/jobs', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'scan', ...body }),
    }),
  );
  return (await Promise.all(answers)).map(({ body }) => (body as { data: { job_id: string } }).data.job_id);
}

/** @param leastRequests over all routes, routes that take much being asked more */
export function testContract(leastRequests: number): void {
  beforeAll(async () => {
    await server.start();
    document = withoutReferences((await server.request('/api/v1/openapi.json')).body as ApiDocument);
    words = await vocabulary();
  });

  afterAll(async () => {
    agent.destroy();
    await server.dispose();
  });

  describe('the API and its description', () => {
    it('answers every generated request as the description says, and never with a fault', async () => {
      const operations = operationsOf(document);
      const whole = operations.reduce((sum, one) => sum + weightOf(one.operation), 0);
      const validators = new Validators(document);
      const statuses = new Map<string, number>();
      let sent = 0;
      for (const { route, method, operation } of operations) {
        const requests = anyRequest(route, method, operation, words);
        const property = fc.asyncProperty(requests, async (one) => {
          const answer = await send(one);
          sent += 1;
          count(statuses, `${method} ${route} ${answer.status}`);
          check(one, operation, answer, validators);
        });
        await fc.assert(property, {
          numRuns: Math.ceil((leastRequests * weightOf(operation)) / whole),
          seed,
          endOnFailure: true,
          interruptAfterTimeLimit: 200_000,
        });
      }
      report(statuses, sent);
      expect(sent).toBeGreaterThanOrEqual(leastRequests);
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
      // The service is as well as before.
      expect((await server.request('/health')).status).toBe(200);
      expect(server.log).not.toMatch(/internal_error|Internal error/);
    });

    it('describes every route with a success, an id and the errors that it can have', () => {
      for (const { route, operation } of operationsOf(document)) {
        const codes = Object.keys(operation.responses);
        expect([route, codes.some((code) => code.startsWith('2'))]).toEqual([route, true]);
        expect([route, codes.includes('400') && codes.includes('default')]).toEqual([route, true]);
      }
    });
  });
}

/** Routes that take much are asked more. */
function weightOf({ parameters, requestBody }: Operation): number {
  return 1 + Math.min(3, parameters?.length ?? 0) + (requestBody ? 5 : 0);
}

/** What deletes comes last: the other routes need something to answer with. */
function operationsOf({ paths }: ApiDocument) {
  const all = Object.entries(paths).flatMap(([route, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      route,
      method: method.toUpperCase(),
      operation,
    })),
  );
  return all.toSorted((a, b) => Number(a.method === 'DELETE') - Number(b.method === 'DELETE'));
}

/** A stream of events of a scan that waits does not end: its head is enough. */
function send({ method, url, headers, body }: GeneratedRequest): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const target = new URL(server.url);
    const length = body === null ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const options = { host: target.hostname, port: target.port, path: url, agent, method };
    const outgoing = httpRequest({ ...options, headers: { ...headers, ...length } }, (response) => {
      const answer = { status: response.statusCode ?? 0, headers: response.headers };
      if (answer.headers['content-type']?.startsWith('text/event-stream')) {
        response.destroy();
        return resolve({ ...answer, body: '' });
      }
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve({ ...answer, body: Buffer.concat(chunks).toString('utf8') }));
      response.on('error', reject);
    });
    outgoing.setTimeout(20_000, () => outgoing.destroy(new Error(`no answer to ${method} ${url}`)));
    outgoing.on('error', reject);
    outgoing.end(body ?? undefined);
  });
}

class Validators {
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true });
  readonly #known = new Map<string, ValidateFunction>();

  constructor(root: ApiDocument) {
    addFormats.default(this.#ajv);
    this.#ajv.addSchema({ $id: 'api', ...(root as object) });
  }

  of(route: string, method: string, status: string, type: string): ValidateFunction {
    const escape = (part: string) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));
    const parts = ['paths', route, method.toLowerCase(), 'responses', status, 'content', type, 'schema'];
    const reference = `api#/${parts.map(escape).join('/')}`;
    const known = this.#known.get(reference) ?? this.#ajv.compile({ $ref: reference });
    this.#known.set(reference, known);
    return known;
  }
}

function check(one: GeneratedRequest, operation: Operation, answer: Answer, validators: Validators): void {
  const told = `${one.method} ${one.url.slice(0, 300)} ${JSON.stringify(one.headers).slice(0, 500)} ${one.body?.slice(0, 500) ?? ''}
    -> ${answer.status} ${answer.body.slice(0, 500)}`;
  const fault = answer.status >= 500 && answer.status !== 501;
  if (fault) throw new Error(`a fault: ${told}`);
  expect(answer.headers['x-request-id'], told).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
  expect(answer.headers['x-content-type-options'], told).toBe('nosniff');
  const type = answer.headers['content-type']?.split(';')[0] ?? '';
  // The path may have led elsewhere: an id with a slash in it is another path.
  const key = Object.hasOwn(operation.responses, answer.status) ? String(answer.status) : 'default';
  const other =
    answer.status === 404 ? undefined : isCommonError(operation, answer) ? operation.responses[key] : null;
  const described = key === 'default' ? other : operation.responses[key];
  if (described === null) throw new Error(`status not described: ${told}`);
  if (type === 'application/problem+json') return checkProblem(answer, told);
  if (described === undefined) return checkError(answer, told);
  const types = Object.keys(described.content ?? {}).map((one) => one.split(';')[0]);
  if (!types.includes(type)) throw new Error(`type ${type} not described (${types.join(', ')}): ${told}`);
  if (type !== 'application/json') return;
  const validate = validators.of(one.route, one.method, key, 'application/json');
  if (!validate(JSON.parse(answer.body))) {
    throw new Error(`not as described: ${JSON.stringify(validate.errors).slice(0, 1000)}: ${told}`);
  }
  if (answer.status >= 400) checkError(answer, told);
}

/** Whether the error is one that the default response names. */
function isCommonError({ responses }: Operation, { status, body }: Answer): boolean {
  const code = /"code":"(\w+)"/.exec(body)?.[1];
  return responses['default']?.description?.includes(`${status} \`${code}\``) ?? false;
}

function checkError({ body, headers }: Answer, told: string): void {
  const { error } = JSON.parse(body) as {
    error: { code: string; message: string; details: { request_id: string } };
  };
  expect(error.code, told).toMatch(/^[a-z_]+$/);
  expect(error.message.length, told).toBeGreaterThan(0);
  expect(error.details.request_id, told).toBe(headers['x-request-id']);
  expect(body, told).not.toMatch(/\bat .*\.ts:|node_modules|node:internal|SQLITE|select .* from /i);
}

function checkProblem(answer: Answer, told: string): void {
  const problem = JSON.parse(answer.body) as { status: number; title: string };
  expect(problem.status, told).toBe(answer.status);
  expect(problem.title.length, told).toBeGreaterThan(0);
  checkError(answer, told);
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function report(statuses: Map<string, number>, sent: number): void {
  if (process.env['PORTOLAN_FUZZ_REPORT'] === undefined) return;
  const lines = [...statuses].toSorted().map(([name, times]) => `${String(times).padStart(6)} ${name}`);
  process.stderr.write(`${lines.join('\n')}\n${sent} requests\n`);
}
