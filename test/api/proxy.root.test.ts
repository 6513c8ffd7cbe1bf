import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../postgres.ts';
import { ServerProcess } from '../program.ts';

/** nginx removes the prefix, as docs/api.md describes; installed by `npm run setup:test`. */
describe('behind nginx at /portolan/', () => {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-nginx-'));
  let server: ServerProcess;
  let nginx: ChildProcess | null = null;
  let base = '';

  beforeAll(async () => {
    const port = await freePort();
    base = `http://127.0.0.1:${port}/portolan`;
    server = new ServerProcess({ env: { SERVICE_SERVER__PUBLIC_URL: base } });
    await server.start();
    writeFileSync(join(folder, 'nginx.conf'), configOf(port, server.url));
    nginx = spawn('nginx', ['-p', folder, '-e', 'stderr', '-c', 'nginx.conf', '-g', 'daemon off;'], {
      env: { PATH: `${process.env['PATH']}:/usr/sbin` },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    await untilServing();
  });
  afterAll(async () => {
    if (nginx?.exitCode === null) {
      nginx.kill('SIGTERM');
      await once(nginx, 'exit');
    }
    await server?.dispose();
    rmSync(folder, { recursive: true, force: true });
  });

  async function untilServing(): Promise<void> {
    for (let tries = 0; tries < 600; tries++) {
      const response = await fetch(`${base}/readyz`).catch(() => null);
      if (response?.ok) return;
      await sleep(100);
    }
    throw new Error('nginx does not serve');
  }

  function configOf(port: number, upstream: string): string {
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      .map((name) => `${name}_temp_path ${folder};`)
      .join(' ');
    return `pid nginx.pid; events {} http { access_log off; ${temporary} server { listen 127.0.0.1:${port};
      location /portolan/ { proxy_pass ${upstream}/; proxy_set_header Host $host:$server_port; proxy_buffering off; } } }`;
  }

  async function submit(): Promise<Response> {
    return await fetch(`${base}/api/v1/scans`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ targets: ['127.0.0.1'], ports: '9', profile: 'quick' }),
    });
  }

  it('a client follows Location and Link', async () => {
    const made = await submit();
    const location = made.headers.get('location') ?? '';
    expect([made.status, location]).toEqual([201, expect.stringMatching(`^${base}/api/v1/scans/[0-9]`)]);
    const { data } = (await (await fetch(location)).json()) as { data: { scan_id: string } };
    expect(location.endsWith(`/${data.scan_id}`)).toBe(true);
    await submit();
    const first = await fetch(`${base}/api/v1/scans?limit=1`);
    const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    expect(next.startsWith(`${base}/api/v1/scans?`)).toBe(true);
    const second = (await (await fetch(next)).json()) as { data: { scans: { scan_id: string }[] } };
    expect(second.data.scans.map(({ scan_id }) => scan_id)).toEqual([data.scan_id]);
  });

  it('the page of the API, all that it loads, and its requests', async () => {
    const page = await fetch(`${base}/api/v1/docs`);
    expect(page.status).toBe(200);
    const parts = [...(await page.text()).matchAll(/(?:src|href)="(docs\/[^"]+)"/g)].map((match) => match[1]);
    expect(parts.length).toBeGreaterThan(2);
    for (const part of parts)
      expect([part, (await fetch(new URL(part ?? '', page.url))).status]).toEqual([part, 200]);
    const description = (await (await fetch(`${base}/api/v1/openapi.json`)).json()) as {
      servers: { url: string }[];
      paths: Record<string, unknown>;
    };
    // "Try it" sends to the server of the description, path by path.
    const path = Object.keys(description.paths).find((each) => each.endsWith('/health')) ?? '';
    expect((await fetch(`${description.servers[0]?.url}${path}`)).status).toBe(200);
  });

  it('the Web UI, from its address without a path on', async () => {
    const page = await fetch(`${base}/`);
    expect([page.status, page.url]).toEqual([200, expect.stringMatching(`^${base}/ui/?$`)]);
    const assets = [...(await page.text()).matchAll(/(?:src|href)="([^"]*assets[^"]+)"/g)].map(
      (match) => match[1],
    );
    expect(assets.length).toBeGreaterThan(1);
    for (const asset of assets)
      expect([asset, (await fetch(new URL(asset ?? '', page.url))).status]).toEqual([asset, 200]);
  });

  it('events come as they happen', async () => {
    const leave = new AbortController();
    const events = await fetch(`${base}/api/v1/events`, { signal: leave.signal });
    const reader = events.body?.pipeThrough(new TextDecoderStream()).getReader();
    await submit();
    let text = '';
    while (!/^event: scan$/m.test(text)) text += (await reader?.read())?.value ?? '';
    expect(text).toMatch(/^data: \{.*"scan_id"/m);
    leave.abort();
  });
});
