import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer as createTcp, type Socket, type Server as TcpServer } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Behavior, endedScan, HttpReceiver, MailReceiver } from '../../test/receivers.ts';
import type { Scan } from '../domain/scan.ts';
import { deliver, type NotificationSettings } from './deliver.ts';
import { maxMessageBytes } from './fitting.ts';
import { scanReport } from './scan-report.ts';

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

type Partly<T> = { [K in keyof T]?: T[K] extends unknown[] ? T[K] : Partly<T[K]> };

function settingsOf({ slack, email, webhooks }: Partly<NotificationSettings>): NotificationSettings {
  return {
    default_channels: [],
    rules: [],
    slack: { webhook_url: null, channel: null, ...slack },
    email: {
      smtp_server: null,
      smtp_port: 587,
      from: 'scanner@example.org',
      to: [],
      username: null,
      password: null,
      tls: 'auto',
      ...email,
    },
    webhooks: webhooks ?? [],
  };
}

async function http(behaviour?: Behavior) {
  const receiver = new HttpReceiver(behaviour);
  open.push(receiver);
  return { receiver, url: await receiver.listen() };
}

async function mail(options?: ConstructorParameters<typeof MailReceiver>[0]) {
  const receiver = new MailReceiver(options);
  open.push(receiver);
  return { receiver, smtp: { smtp_server: '127.0.0.1', smtp_port: await receiver.listen() } };
}

/** A server that accepts connections and runs `behaviour` on each. */
async function tcp(behaviour: (socket: Socket) => void): Promise<number> {
  const server: TcpServer = createTcp((socket) => {
    socket.on('error', () => undefined);
    behaviour(socket);
  });
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  });
  return (server.address() as { port: number }).port;
}

async function attempt(
  settings: Partly<NotificationSettings>,
  channel: string,
  scan: Partial<Scan> = {},
  timeoutMs = 5000,
  page: string | null = null,
) {
  const delivery = { id: 'd-1', channel, notice: scanReport(endedScan(scan), page) };
  return await deliver(settingsOf(settings), delivery, new AbortController().signal, timeoutMs);
}

/** A timeout that no attempt reaches, longer than a test may take, milliseconds. */
const patient = 60_000;
const delivered = { status: 'delivered', remark: null };
/** Text that must be escaped everywhere. */
const hostile = '<!channel> @here & <script>"x"</script>';
const manyTargets = Array.from({ length: 10_000 }, (_, n) => `${'h.'.repeat(120)}${n}.example`);

describe('webhook://', () => {
  const entry = { name: 'siem', events: [], headers: {}, secret: 'hunter2' };

  it('sends the documented JSON, signed, with its event and delivery', async () => {
    const { receiver, url } = await http();
    const webhooks = [{ ...entry, url: `${url}/in`, headers: { 'X-Team': 'a', 'x-service-EVENT': 'no' } }];
    expect(await attempt({ webhooks }, 'webhook://siem')).toEqual(delivered);
    const [{ headers, body } = { headers: {}, body: '' }] = receiver.received;
    expect(JSON.parse(body)).toEqual({
      event: 'scan.completed',
      scan_id: '20261006-143022-a1b2c3',
      status: 'completed',
      targets: ['192.168.1.0/24'],
      started_at: '2026-10-06T14:30:23.004Z',
      completed_at: '2026-10-06T14:31:40.520Z',
      results: { live_hosts: 12, open_ports: 48, vulnerabilities: 7 },
      severity_counts: { critical: 1, high: 2, medium: 3, low: 1, info: 0 },
      max_severity: 'critical',
    });
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-service-event': 'scan.completed',
      'x-service-delivery': 'd-1',
      'x-service-signature': `sha256=${createHmac('sha256', 'hunter2').update(body).digest('hex')}`,
      'x-team': 'a',
    });
  });

  it('signs the time of each attempt, and no configured header replaces it', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_790_000_000_900 });
    try {
      const { receiver, url } = await http();
      const headers = { 'X-Service-Timestamp': '1', 'x-service-SIGNATURE-v2': 'no' };
      for (const seconds of [1_790_000_000, 1_790_000_008]) {
        await attempt({ webhooks: [{ ...entry, url, headers }] }, 'webhook://siem');
        const { headers: sent, body } = receiver.received.at(-1) ?? { headers: {}, body: '' };
        const hmac = createHmac('sha256', 'hunter2').update(`${seconds}.${body}`).digest('hex');
        expect(sent).toMatchObject({
          'x-service-timestamp': String(seconds),
          'x-service-signature-v2': `sha256=${hmac}`,
        });
        vi.setSystemTime(1_790_000_008_000);
      }
    } finally {
      vi.useRealTimers();
    }
  });

  it('tells why a scan failed, and that nothing was found', async () => {
    const { receiver, url } = await http();
    await attempt({ webhooks: [{ ...entry, url, secret: null }] }, 'webhook://siem', {
      status: 'failed',
      error: { code: 'timeout', message: 'in /home/secret/place' },
      severity_counts: { critical: 0, high: 0, medium: 0, low: 0, info: 0 },
    });
    const [{ headers, body } = { headers: {} as IncomingHttpHeaders, body: '{}' }] = receiver.received;
    expect(JSON.parse(body)).toMatchObject({
      event: 'scan.failed',
      max_severity: null,
      error: { code: 'timeout', message: expect.stringContaining('longer than') },
    });
    expect(body).not.toContain('secret');
    expect(headers['x-service-signature']).toBeUndefined();
    expect(headers['x-service-signature-v2']).toBeUndefined();
  });

  it('stays small with 10,000 targets, and says how many there are', async () => {
    const { receiver, url } = await http();
    await attempt({ webhooks: [{ ...entry, url }] }, 'webhook://siem', { targets: manyTargets });
    const { body } = receiver.received[0] ?? { body: '{}' };
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(maxMessageBytes);
    const { targets, targets_total } = JSON.parse(body) as { targets: string[]; targets_total: number };
    expect([targets.length, targets_total]).toEqual([20, 10_000]);
  });

  it('takes a name and a password from the URL', async () => {
    const { receiver, url } = await http();
    const webhooks = [{ ...entry, url: url.replace('//', '//me:p%40ss@') }];
    expect(await attempt({ webhooks }, 'webhook://siem')).toEqual(delivered);
    expect(receiver.received[0]?.headers.authorization).toBe(`Basic ${btoa('me:p@ss')}`);
  });

  it.each([
    ['webhook://other', 'no webhook of this name in notifications.webhooks'],
    ['webhook://siem', 'the webhook is not subscribed to scan.completed'],
  ])('%s that is not configured for it is skipped', async (channel, reason) => {
    const { receiver, url } = await http();
    const webhooks = [{ ...entry, url, events: ['scan.failed' as const] }];
    expect(await attempt({ webhooks }, channel)).toEqual({ status: 'skipped', reason });
    expect(receiver.received).toEqual([]);
  });

  it.each([
    ['500', () => ({ status: 500 }), 'HTTP 500', patient],
    ['204', () => ({ status: 204 }), null, patient],
    ['a cut connection', () => 'drop', 'connection closed', patient],
    ['silence', () => 'hang', 'timed out', 400],
  ] as [string, Behavior, string | null, number][])('%s', async (_what, behaviour, reason, limitMs) => {
    const { url } = await http(behaviour);
    const webhooks = [{ ...entry, url: `${url}/hook-of-secret` }];
    const tried = await attempt({ webhooks }, 'webhook://siem', {}, limitMs);
    expect(tried).toEqual(reason === null ? delivered : { status: 'fault', reason });
  });

  it('an answer whose body never ends is an answer', async () => {
    const port = await tcp((socket) => {
      socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\nx'));
    });
    const webhooks = [{ ...entry, url: `http://127.0.0.1:${port}/` }];
    expect(await attempt({ webhooks }, 'webhook://siem', {}, 2000)).toEqual(delivered);
  });

  it('a redirect is not followed', async () => {
    const elsewhere = await http();
    const { receiver, url } = await http(() => ({ status: 307, headers: { location: elsewhere.url } }));
    const tried = await attempt({ webhooks: [{ ...entry, url }] }, 'webhook://siem');
    expect(tried).toEqual({
      status: 'fault',
      reason: 'HTTP 307: redirects are not followed',
    });
    expect([receiver.received.length, elsewhere.receiver.received.length]).toEqual([1, 0]);
  });

  it('a refused connection is told without the URL', async () => {
    const { receiver, url } = await http();
    await receiver.close();
    const tried = await attempt({ webhooks: [{ ...entry, url: `${url}/hook-of-secret` }] }, 'webhook://siem');
    expect(tried).toEqual({ status: 'fault', reason: 'connection refused' });
  });

  it('a port that HTTP clients refuse is told without the URL', async () => {
    const webhooks = [{ ...entry, url: 'http://127.0.0.1:6000/hook-of-secret' }];
    const tried = await attempt({ webhooks }, 'webhook://siem');
    expect(tried).toEqual({ status: 'fault', reason: 'HTTP clients refuse to use this port' });
  });
});

describe('a link to the scan', () => {
  const page = 'https://scanner.example/portolan/ui/scans/20261006-143022-a1b2c3';

  it('is the url of a webhook', async () => {
    const { receiver, url } = await http();
    const webhooks = [{ name: 'siem', events: [], headers: {}, secret: null, url }];
    await attempt({ webhooks }, 'webhook://siem', {}, 5000, page);
    expect(JSON.parse(receiver.received[0]?.body ?? '{}')).toMatchObject({ url: page });
  });

  it('is a link in Slack', async () => {
    const { receiver, url } = await http();
    await attempt({ slack: { webhook_url: url } }, 'slack://x', { name: hostile }, 5000, page);
    const { blocks } = JSON.parse(receiver.received[0]?.body ?? '{}') as { blocks: object[] };
    const text = `<${page}|Scan 20261006-143022-a1b2c3>`;
    expect(blocks.at(-1)).toEqual({ type: 'section', text: { type: 'mrkdwn', text, verbatim: true } });
    expect(JSON.stringify(blocks.slice(0, -1))).not.toMatch(/[<>]|mrkdwn/);
  });

  it('is a link in both parts of a mail', async () => {
    const { receiver, smtp } = await mail();
    await attempt({ email: smtp }, 'email://a@b.example', {}, 5000, page);
    const text = (receiver.received[0]?.text ?? '').replaceAll('=\r\n', '');
    expect(text).toContain(`\r\n${page}\r\n`);
    expect(text).toContain(`<p><a href=3D"${page}">${page}</a></p>`);
  });
});

describe('slack://', () => {
  it('sends text and blocks to the channel, and nothing in them is a mention or markup', async () => {
    const { receiver, url } = await http();
    const scan = { name: hostile, targets: ['<!here>.example', 'a&b'] };
    expect(await attempt({ slack: { webhook_url: url } }, 'slack://sec-alerts', scan)).toEqual(delivered);
    const { body } = receiver.received[0] ?? { body: '{}' };
    const message = JSON.parse(body) as { channel: string; text: string; blocks: object[] };
    expect(message.channel).toBe('#sec-alerts');
    expect(message.text).toBe(
      'Scan 20261006-143022-a1b2c3 completed: 12 live hosts, 48 open ports, 7 findings, highest severity critical',
    );
    const types = [...body.matchAll(/"type":"([a-z_]+)"/g)].map(([, type]) => type);
    expect(new Set(types)).toEqual(new Set(['header', 'section', 'plain_text']));
    expect(body).not.toMatch(/[<>]|@here|@channel/);
    expect(body).toContain('Name: &lt;!channel&gt; @\u200Bhere &amp; &lt;script&gt;');
    for (const fact of [
      'Status: completed',
      'Open ports: 48',
      'critical 1, high 2',
      'Highest severity: critical',
    ]) {
      expect(body).toContain(fact);
    }
  });

  it.each([
    ['slack://default', '#security', '#security'],
    ['slack://default', 'security', '#security'],
    ['slack://default', null, undefined],
    ['slack://#own', '#security', '#own'],
    ['slack://<!channel>\u202E', null, '#&lt;!channel&gt;\\u{202e}'],
  ])('%s with the default channel %s goes to %s', async (channel, byDefault, receiverName) => {
    const { receiver, url } = await http();
    await attempt({ slack: { webhook_url: url, channel: byDefault } }, channel);
    const { body } = receiver.received[0] ?? { body: '{}' };
    expect((JSON.parse(body) as { channel?: string }).channel).toBe(receiverName);
  });

  it('caps a title of a mebibyte and 10,000 targets, and still delivers', async () => {
    const { receiver, url } = await http();
    const scan = { name: '<&@>'.repeat(262_144), targets: manyTargets };
    expect(await attempt({ slack: { webhook_url: url } }, 'slack://x', scan)).toEqual(delivered);
    const { body } = receiver.received[0] ?? { body: '' };
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(maxMessageBytes);
    const { blocks } = JSON.parse(body) as {
      blocks: { text?: { text: string }; fields?: { text: string }[] }[];
    };
    const texts = blocks.flatMap(({ text, fields = [] }) => [
      ...(text ? [text.text] : []),
      ...fields.map((f) => f.text),
    ]);
    expect(Math.max(...texts.map((text) => text.length))).toBeLessThanOrEqual(2000);
    expect(Math.max(...blocks.map(({ fields }) => fields?.length ?? 0))).toBeLessThanOrEqual(10);
  });

  it('without a webhook URL is skipped', async () => {
    const reason = 'notifications.slack.webhook_url is not set';
    expect(await attempt({}, 'slack://x')).toEqual({ status: 'skipped', reason });
    expect(await attempt({ slack: { webhook_url: '' } }, 'slack://x')).toEqual({ status: 'skipped', reason });
  });
});

describe('email://', () => {
  it('sends text and HTML to one address', async () => {
    const { receiver, smtp } = await mail();
    expect(await attempt({ email: smtp }, 'email://a+b@example.org')).toEqual(delivered);
    const [{ from, to, text, user } = { from: '', to: [], text: '', user: '' }] = receiver.received;
    expect([from, to, user]).toEqual(['scanner@example.org', ['a+b@example.org'], undefined]);
    expect(text).toMatch(/^Subject: Scan 20261006-143022-a1b2c3 completed: /m);
    expect(text).toMatch(/^Message-ID: <d-1@example\.org>/m);
    expect(text).toContain('multipart/alternative');
    expect(text).toContain('Highest severity: critical');
    expect(text.replaceAll('=\r\n', '')).toContain('Open ports</th><td>48</td>');
  });

  it('default means the configured recipients; who is refused is told of', async () => {
    const { receiver, smtp } = await mail({
      onRcptTo: ({ address }, _session, done) => done(address.startsWith('no') ? new Error('no') : null),
    });
    const to = ['Sec Team <sec@example.org>', 'no@example.org'];
    expect(await attempt({ email: { ...smtp, to } }, 'email://default')).toEqual({
      status: 'delivered',
      remark: '1 recipients were rejected',
    });
    expect(receiver.received[0]?.to).toEqual(['sec@example.org']);
  });

  it('a name with line breaks and markup adds no header and no element; a mebibyte is cut', async () => {
    const { receiver, smtp } = await mail();
    const name = `x\r\nBcc: evil@example.org\r\n\r\n${hostile}`;
    await attempt(
      { email: { ...smtp, from: 'Portolan\r\nX-Evil: 1 <scanner@example.org>' } },
      'email://a@b.example',
    );
    for (const scan of [{ name }, { name: '\r\nBcc: e@example.org'.repeat(50_000), targets: manyTargets }]) {
      expect(await attempt({ email: smtp }, 'email://a@b.example', scan)).toEqual(delivered);
    }
    const heads = receiver.received.map(({ text }) => text.slice(0, text.indexOf('\r\n\r\n')));
    const names = heads.map((head) =>
      head
        .replace(/\r\n[ \t]+/g, ' ')
        .split('\r\n')
        .map((line) => line.split(':')[0]),
    );
    expect(names).toHaveLength(3);
    for (const one of names) {
      expect(one.toSorted()).toEqual(
        [
          'Auto-Submitted',
          'Content-Type',
          'Date',
          'From',
          'MIME-Version',
          'Message-ID',
          'Subject',
          'To',
        ].toSorted(),
      );
    }
    for (const { text, to } of receiver.received) {
      const html = text.slice(text.indexOf('text/html')).replaceAll('=\r\n', '');
      expect(html).not.toContain('<script');
      expect(text.length).toBeLessThanOrEqual(maxMessageBytes);
      expect(to).toEqual(['a@b.example']);
    }
  });

  it.each([
    ['email://a@b.example,c@d.example', 'not a mail address'],
    ['email://"a b"@c.example', 'not a mail address'],
    ['email://a@b.example>', 'not a mail address'],
    ['email://nobody', 'not a mail address'],
    ['email://default', 'notifications.email.to is empty'],
  ])('%s is skipped', async (channel, reason) => {
    const { receiver, smtp } = await mail();
    expect(await attempt({ email: smtp }, channel)).toEqual({ status: 'skipped', reason });
    expect(receiver.received).toEqual([]);
  });

  it('without a server or a sender is skipped', async () => {
    expect(await attempt({}, 'email://a@b.example')).toEqual({
      status: 'skipped',
      reason: 'notifications.email.smtp_server is not set',
    });
    expect(await attempt({ email: { smtp_server: 'x', from: null } }, 'email://a@b.example')).toEqual({
      status: 'skipped',
      reason: 'notifications.email.from is not set',
    });
  });

  it('encrypts where the server offers it, or where that is demanded', async () => {
    const offering = await mail({ disabledCommands: [] });
    expect(await attempt({ email: offering.smtp }, 'email://a@b.example')).toEqual(delivered);
    expect(await attempt({ email: { ...offering.smtp, tls: 'none' } }, 'email://a@b.example')).toEqual(
      delivered,
    );
    expect(offering.receiver.received.map(({ secure }) => secure)).toEqual([true, false]);
    // TLS is required, so its self-signed certificate is rejected.
    const demanded = await attempt({ email: { ...offering.smtp, tls: 'required' } }, 'email://a@b.example');
    expect(demanded).toMatchObject({ status: 'fault' });
    const plain = await mail();
    expect(await attempt({ email: { ...plain.smtp, tls: 'required' } }, 'email://a@b.example')).toEqual({
      status: 'fault',
      reason: expect.stringContaining('TLS handshake failed'),
    });
    expect([offering.receiver.received.length, plain.receiver.received.length]).toEqual([2, 0]);
  });

  it('logs in, and tells of a wrong password without saying it', async () => {
    const { receiver, smtp } = await mail({
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _session, done) =>
        password === 'hunter2' ? done(null, { user: username }) : done(new Error(`not ${password}`)),
    });
    const account = { ...smtp, username: 'me', password: 'hunter2' };
    expect(await attempt({ email: account }, 'email://a@b.example')).toEqual(delivered);
    expect(receiver.received[0]?.user).toBe('me');
    expect(await attempt({ email: { ...account, password: 'hunter3' } }, 'email://a@b.example')).toEqual({
      status: 'fault',
      reason: 'the mail server rejected the user name or password (535)',
    });
  });

  it.each([
    ['says nothing', () => undefined, 'timed out', 700],
    ['drips its greeting', drip, 'timed out', 700],
    ['hangs up', (socket: Socket) => socket.destroy(), 'connection closed', patient],
    ['speaks HTTP', (socket: Socket) => socket.end('HTTP/1.1 400\r\n\r\n'), 'ended the session', patient],
    ['floods', (socket: Socket) => flood(socket), '', 700],
  ])('a mail server that %s fails in time', async (_what, behaviour, reason, limitMs) => {
    const smtp_port = await tcp(behaviour);
    const tried = await attempt(
      { email: { smtp_server: '127.0.0.1', smtp_port } },
      'email://a@b.example',
      {},
      limitMs,
    );
    expect(tried).toEqual({ status: 'fault', reason: expect.stringContaining(reason) });
  });

  it('a mail server that refuses', async () => {
    const { receiver, smtp } = await mail();
    await receiver.close();
    expect(await attempt({ email: smtp }, 'email://a@b.example')).toEqual({
      status: 'fault',
      reason: 'connection refused',
    });
    const strict = await mail({ onMailFrom: (_address, _session, done) => done(new Error('secret words')) });
    expect(await attempt({ email: strict.smtp }, 'email://a@b.example')).toEqual({
      status: 'fault',
      reason: 'the mail server rejected the sender or the recipients (550)',
    });
  });
});

function drip(socket: Socket): void {
  const timer = setInterval(() => socket.write('2'), 50);
  socket.on('close', () => clearInterval(timer));
}

function flood(socket: Socket): void {
  const line = `220-${'x'.repeat(4000)}\r\n`;
  const timer = setInterval(() => socket.write(line.repeat(16)), 5);
  socket.on('close', () => clearInterval(timer));
}
