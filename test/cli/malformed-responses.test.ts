import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { rounds } from '../rounds.ts';
import { Home } from './command.ts';
import { InProcessServer } from './in-process-server.ts';
import { Listeners } from './listeners.ts';

/**
 * Every command that reads from a server, against one that sends what a real server did with one member changed: it
 * ends with a result or one clear error, and writes no control character of the server.
 */

interface Recorded {
  status: number;
  type: string;
  body: string;
}

const home = new Home();
const listeners = new Listeners();
const real = new InProcessServer({ workers: 1, env: { SERVICE_LOGGING__AUDIT__ENABLED: 'true' } });
let fake: Server;
let url = '';
let scan = '';
let job = '';
let port = 0;

/** Responses by method and path; empty = ask the real server. */
const recorded = new Map<string, Recorded>();
let isRecording = true;
/** Requests of the current command: a list without an end must end. */
let requests = 0;
const maxRequests = 20;

beforeAll(async () => {
  port = await listeners.greet('SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u2\r\n');
  await real.start();
  const submission = {
    targets: ['127.0.0.1'],
    ports: String(port),
    options: { discover: false, timeout: '1s' },
  };
  const baseline = await real.submit(submission);
  await real.waitForEnd(baseline);
  scan = await real.submit(submission);
  await real.waitForEnd(scan);
  const { body } = await real.request('/api/v1/jobs', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'scan', params: { targets: ['127.0.0.1'] }, schedule: '0 2 * * *' }),
  });
  job = (body as { data: { job_id: string } }).data.job_id;
  fake = createServer((request, response) => {
    void (async () => {
      requests += 1;
      const key = `${request.method} ${request.url}`;
      let found = recorded.get(key);
      if (!found && isRecording) {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk as Buffer);
        const sent = await fetch(real.url + request.url, {
          method: request.method ?? 'GET',
          headers: chunks.length > 0 ? { 'content-type': 'application/json' } : {},
          ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
        });
        found = {
          status: sent.status,
          type: sent.headers.get('content-type') ?? '',
          body: await sent.text(),
        };
        recorded.set(key, found);
      }
      if (!found || requests > maxRequests)
        found = {
          status: 404,
          type: 'application/json',
          body: '{"error":{"code":"not_found","message":"no more"}}',
        };
      response.writeHead(found.status, { 'content-type': found.type }).end(found.body);
    })();
  });
  await new Promise<void>((resolve) => fake.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(fake.address() as AddressInfo).port}`;
});
afterAll(async () => {
  fake?.closeAllConnections();
  fake?.close();
  await real.dispose();
  listeners.close();
  home.remove();
});

/** Of the changes of a response one in so many is tried. */
const every = rounds(1, 7);
const hostile = 'x\x1b]0;t\x07\x9b\u202e\u3164';
const wrongs: readonly unknown[] = [null, -7.5, hostile, [], {}, [null], 1e308, { toString: 1 }, true];

type Path = readonly (string | number)[];

/** Paths of all members; of a list the first item. */
function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const members: [string | number, unknown][] = Array.isArray(value)
    ? value.slice(0, 1).map((item, at) => [at, item])
    : Object.entries(value);
  return [path, ...members.flatMap(([name, member]) => pathsOf(member, [...path, name]))];
}

function changed(value: unknown, [name, ...rest]: Path, wrong: unknown): unknown {
  if (name === undefined) return wrong;
  if (Array.isArray(value)) return value.map((item, at) => (at === name ? changed(item, rest, wrong) : item));
  const members = value as Record<string, unknown>;
  return { ...members, [name]: changed(members[name as string], rest, wrong) };
}

/** The JSON texts of a response and how it is put together of them. */
function partsOf({ type, body }: Recorded): { texts: string[]; join(texts: string[]): string } {
  if (type.startsWith('text/event-stream')) {
    const pieces = body.split(/(?<=^data: )(.*)$/m);
    const texts = pieces.filter((_piece, at) => at % 2 === 1);
    return {
      texts,
      join: (given) => pieces.map((piece, at) => (at % 2 === 1 ? given[(at - 1) / 2] : piece)).join(''),
    };
  }
  if (type.includes('ndjson') || type.includes('jsonl'))
    return { texts: body.trimEnd().split('\n'), join: (texts) => `${texts.join('\n')}\n` };
  return { texts: type.includes('json') ? [body] : [], join: ([text = '']) => text };
}

/** Each member changed once, in turn to each wrong value; the outermost ones to all of them. */
function* changesOf(response: Recorded): Generator<{ what: string; body: string }> {
  const { texts, join } = partsOf(response);
  let turn = 0;
  for (const [number, text] of texts.entries()) {
    const value: unknown = JSON.parse(text);
    for (const path of pathsOf(value)) {
      const chosen = path.length < 2 ? wrongs : [wrongs[turn++ % wrongs.length], hostile];
      for (const wrong of chosen) {
        const body = join(texts.with(number, JSON.stringify(changed(value, path, wrong))));
        yield { what: `${number} ${path.join('.')} = ${JSON.stringify(wrong)}`, body };
      }
    }
  }
}

const commands: [name: string, args: () => string[]][] = [
  ['scan status', () => ['scan', 'status', scan]],
  ['scan watch', () => ['scan', 'watch', scan]],
  ['scan watch -v', () => ['scan', 'watch', scan, '-v', '--progress']],
  ['scan diff', () => ['scan', 'diff', scan]],
  ['scan --dry-run', () => ['scan', '127.0.0.1', '--ports', String(port), '--dry-run', '-v']],
  ['explain', () => ['explain', `127.0.0.1:${port}`]],
  ['workspace list', () => ['workspace', 'list']],
  ['workspace show', () => ['workspace', 'show', scan, '--show-results']],
  ['workspace show --query', () => ['workspace', 'show', scan, '--query', 'port > 0']],
  ['workspace info', () => ['workspace', 'info']],
  ['workspace gc', () => ['workspace', 'gc', '--older-than', '1d', '--dry-run']],
  ...['grepable', 'hostport', 'list', 'jsonl', 'json', 'yaml', 'sarif'].map(
    (format): (typeof commands)[number] => [
      `workspace export as ${format}`,
      () => ['workspace', 'export', scan, '--format', format],
    ],
  ),
  ['job list', () => ['job', 'list']],
  ['job show', () => ['job', 'show', job]],
  ['schedule list', () => ['schedule', 'list']],
  ['alert list', () => ['alert', 'list']],
  ['audit list', () => ['audit', 'list']],
];

it.each(commands)(
  '%s ends with a result or one clear error whatever a server changes',
  async (_name, args) => {
    const run = async () => {
      requests = 0;
      return await home.run([...args(), '--server', url]);
    };
    recorded.clear();
    isRecording = true;
    const first = await run();
    expect(first.stderr).not.toContain('portolan:');
    isRecording = false;
    const problems: string[] = [];
    let tries = 0;
    for (const [key, response] of Array.from(recorded)) {
      for (const [at, { what, body }] of Array.from(changesOf(response)).entries()) {
        if (at % every !== every - 1) continue;
        recorded.set(key, { ...response, body });
        const { stdout, stderr, code } = await run();
        tries += 1;
        const errors = stderr.split('\n').filter((line) => line.startsWith('portolan: '));
        const isRaw = /[^\P{Cc}\n\t]|[\p{Cf}\u3164]/u.test(stdout + stderr);
        if (isRaw || stderr.includes('internal error') || errors.length > 1 || (code !== 0 && stderr === ''))
          problems.push(`${key}: ${what}: ${code} ${(isRaw ? stdout : '') + stderr.slice(0, 400)}`);
      }
      recorded.set(key, response);
    }
    expect(tries).toBeGreaterThan(1);
    expect(problems).toEqual([]);
  },
  120_000,
);

it('an error of a server is one message, whatever its members are', async () => {
  const error = {
    code: 'configuration',
    message: 'Refused.',
    details: {
      fields: [{ field: 'ports', reason: 'is wrong' }],
      targets: [{ index: 0, value: 'x', reason: 'is wrong' }],
      problems: ['a.yaml:1:2: is wrong'],
      warnings: ['a.yaml:1:2: is odd'],
      try: 'again',
    },
  };
  const body = JSON.stringify({ error });
  const problems: string[] = [];
  recorded.clear();
  isRecording = false;
  for (const status of [400, 401, 404, 503]) {
    const response = { status, type: 'application/json', body };
    for (const changed of changesOf(response)) {
      recorded.set(`GET /api/v1/scans/${scan}`, { ...response, body: changed.body });
      for (const format of ['text', 'json']) {
        const { stdout, stderr, code } = await home.run([
          'scan',
          'status',
          scan,
          '--server',
          url,
          '--format',
          format,
        ]);
        const isRaw = /[^\P{Cc}\n]|[\p{Cf}\u3164]/u.test(stdout + stderr);
        if (code === 0 || isRaw || /internal error:|TypeError/.test(stderr))
          problems.push(`${changed.what}: ${stderr}`);
      }
    }
  }
  expect(problems).toEqual([]);
}, 120_000);
