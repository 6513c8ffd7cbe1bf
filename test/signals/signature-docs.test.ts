/** The programs in docs/notifications.md that check a signature, run with messages that a webhook really got. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { deliver } from '../../src/notify/deliver.ts';
import { testNotice } from '../../src/notify/test-notice.ts';
import { root } from '../program.ts';
import { HttpReceiver } from '../receivers.ts';

const page = readFileSync(join(root, 'docs/notifications.md'), 'utf8');
const secret = 'hunter2 with ü';

function codeOf(language: string): string {
  const found = [...page.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))];
  expect(found).toHaveLength(1);
  return found[0]?.[1] ?? '';
}

interface Message {
  headers: Record<string, string>;
  body: string;
}

const receiver = new HttpReceiver();
let url: string;
let dir: string;
beforeAll(async () => {
  url = await receiver.listen();
  dir = mkdtempSync(join(tmpdir(), 'portolan-signature-'));
});
afterEach(() => vi.useRealTimers());
afterAll(async () => {
  await receiver.close();
  rmSync(dir, { recursive: true });
});

/** A message that was sent so many seconds ago. */
async function sent(secondsAgo = 0): Promise<Message> {
  const now = Date.now() - secondsAgo * 1000;
  vi.useFakeTimers({ toFake: ['Date'], now });
  const settings = {
    default_channels: [],
    rules: [],
    slack: { webhook_url: null, channel: null },
    email: {
      smtp_server: null,
      smtp_port: 25,
      from: null,
      to: [],
      username: null,
      password: null,
      tls: 'auto' as const,
    },
    webhooks: [{ name: 'siem', url, events: [], headers: {}, secret }],
  };
  const message = { id: 'd-1', channel: 'webhook://siem', notice: testNotice(new Date(now)) };
  const tried = await deliver(settings, message, new AbortController().signal);
  vi.useRealTimers();
  expect(tried.status).toBe('delivered');
  const { headers, body } = receiver.received.at(-1) ?? { headers: {}, body: '' };
  return { headers: Object.fromEntries(Object.entries(headers).map(([k, v]) => [k, String(v)])), body };
}

/** Programs that print `true` or `false`; input as JSON on stdin. */
const programs: Record<string, { command: string; prepare(): string[] }> = {
  Python: {
    command: 'python3',
    prepare: () => {
      const main =
        'import json, sys\nmessage = json.load(sys.stdin)\n' +
        'good = is_genuine(message["headers"], message["body"].encode(), message["secret"])\n' +
        'print("true" if good else "false")\n';
      writeFileSync(join(dir, 'check.py'), `${codeOf('python')}\n${main}`);
      return [join(dir, 'check.py')];
    },
  },
  'Node.js': {
    command: process.execPath,
    prepare: () => {
      const main =
        "const { headers, body, secret } = JSON.parse((await import('node:fs')).readFileSync(0, 'utf8'));\n" +
        'console.log(isGenuine(headers, Buffer.from(body), secret));\n';
      writeFileSync(join(dir, 'check.mjs'), `${codeOf('js')}\n${main}`);
      return [join(dir, 'check.mjs')];
    },
  },
};

function judge(name: string, { headers, body }: Message): string {
  if (name === 'Shell') {
    const args = [headers['x-service-timestamp'] ?? '', headers['x-service-signature-v2'] ?? ''];
    const ran = spawnSync('sh', ['-c', codeOf('sh'), 'is-genuine', ...args], {
      input: body,
      env: { ...process.env, HOOK_SECRET: secret },
    });
    return String(ran.status === 0);
  }
  const { command, prepare } = programs[name] as { command: string; prepare(): string[] };
  const input = JSON.stringify({ headers, body, secret });
  const { stdout, stderr } = spawnSync(command, prepare(), { input, encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.trim();
}

const exists = (command: string) => spawnSync(command, ['--version']).error === undefined;
const runnable = { Python: exists('python3'), 'Node.js': true, Shell: exists('openssl') };

describe.each(Object.entries(runnable))('the check in %s', (name, isThere) => {
  it.skipIf(!isThere)(
    'takes what was sent just now, and nothing else',
    async () => {
      const good = await sent();
      expect(judge(name, good)).toBe('true');
      expect(judge(name, await sent(200))).toBe('true');
      expect(judge(name, await sent(400))).toBe('false');
      expect(judge(name, await sent(-400))).toBe('false');
      expect(judge(name, { ...good, body: `${good.body} ` })).toBe('false');
      const { 'x-service-timestamp': time = '', ...rest } = good.headers;
      expect(judge(name, { ...good, headers: rest })).toBe('false');
      for (const other of [String(Number(time) + 1), `${time} `, '', '-1', 'now'])
        expect(judge(name, { ...good, headers: { ...rest, 'x-service-timestamp': other } })).toBe('false');
      const { 'x-service-signature-v2': _v2, ...unsigned } = good.headers;
      expect(judge(name, { ...good, headers: unsigned })).toBe('false');
      // The signature of the body alone does not do.
      const old = good.headers['x-service-signature'] ?? '';
      expect(judge(name, { ...good, headers: { ...good.headers, 'x-service-signature-v2': old } })).toBe(
        'false',
      );
    },
    60_000,
  );
});
