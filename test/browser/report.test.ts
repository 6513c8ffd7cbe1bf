import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openService, type Service } from '../../src/server/fixtures/service.ts';
import { openRecord } from '../../src/workspace/record/record-writer.ts';
import { hostileRows, summary } from '../result-rows.ts';
import { browserFile, browserObstacle } from './chromium.ts';

const obstacle = browserObstacle();
if (obstacle !== null) console.log(`skipped: test/browser/report.test.ts: ${obstacle}`);
if (obstacle !== null && process.env['CI'] === 'true') throw new Error(obstacle);

/** What a target says in its banner, page title, Server header, certificate and name. */
const attacks = [
  '<script>window.ran=1;alert(1)</script>',
  '<svg onload="window.ran=1;alert(1)">',
  '"><img src=x onerror="window.ran=1;alert(1)">',
  `'><img src="http://127.0.0.1:PORT/pixel.png" onerror=alert(1)>`,
  '</style><link rel=stylesheet href=http://127.0.0.1:PORT/x.css><script src=http://127.0.0.1:PORT/x.js></script>',
  '</title><meta http-equiv=refresh content="0;url=http://127.0.0.1:PORT/away">',
  '<iframe srcdoc="<script>parent.alert(1)</script>"></iframe>',
  '<a href="javascript:alert(1)" autofocus onfocus=alert(1)>x</a>',
  '{{constructor.constructor("alert(1)")()}}',
  '\u202e<script>alert(1)</script>',
];

describe.runIf(obstacle === null)('the HTML report in a browser', () => {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-browser-'));
  let service: Service;
  let browser: Browser;
  let bait: Server;
  let baitHits: string[] = [];
  let page: Page;
  let events: string[] = [];

  beforeAll(async () => {
    service = await openService();
    bait = createServer((request, response) => {
      baitHits.push(request.url ?? '');
      response.end();
    });
    await new Promise<void>((resolve) => bait.listen(0, '127.0.0.1', resolve));
    browser = await chromium.launch({ executablePath: browserFile, args: ['--no-sandbox', '--disable-gpu'] });
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    bait?.close();
    await service?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  beforeEach(async () => {
    events = [];
    baitHits = [];
    page = await browser.newPage({ reducedMotion: 'reduce' });
    page.on('dialog', async (dialog) => {
      events.push(`dialog: ${dialog.message()}`);
      await dialog.dismiss();
    });
    page.on('pageerror', (error) => events.push(`error: ${error.message}`));
    page.on('console', (message) => events.push(`console: ${message.text()}`));
    page.on('request', (request) => {
      if (request.resourceType() !== 'document') events.push(`request: ${request.url()}`);
    });
    page.on('framenavigated', (frame) => {
      if (frame !== page.mainFrame()) events.push(`frame: ${frame.url()}`);
    });
  });
  afterEach(() => page.close());

  /** The export of a scan whose target says this everywhere, as the API sends it. */
  async function report(said: string) {
    const scanId = await service.submit(said.replaceAll(/\p{Cf}/gu, '').slice(0, 190));
    const record = await openRecord(service.workspace.scan(scanId));
    for (const row of hostileRows(said)) await record.append(row);
    await record.finish({ ...summary, scan_id: scanId });
    await service.store.scans.update(scanId, { status: 'running' });
    await service.store.scans.update(scanId, { status: 'completed', completed_at: summary.timestamp });
    return await service.app.inject({ url: `/api/v1/workspace/scans/${scanId}/export?format=html` });
  }

  async function expectHarmless(said: string): Promise<void> {
    // Everything that runs late has had its chance.
    await page.waitForTimeout(100);
    await page.evaluate(openAll);
    await page.locator('#findings a').first().click();
    await page.locator('#hosts a').first().click();
    expect(events).toEqual([]);
    expect(baitHits).toEqual([]);
    expect(await page.evaluate(() => 'ran' in globalThis)).toBe(false);
    const visible = said.replaceAll('\u202e', '\\u{202e}');
    const text = await page.evaluate(() => (globalThis as unknown as PageGlobals).document.body.innerText);
    // Host name, banner, page title and Server header, certificate, findings: each time as text.
    expect(text.split(visible).length).toBeGreaterThan(20);
    expect(
      await page.locator('script, img, iframe, link, object, embed, a[href^="javascript"]').count(),
    ).toBe(0);
  }

  const place = (attack: string) =>
    attack.replaceAll('PORT', String((bait.address() as AddressInfo | null)?.port ?? 0));

  it.each(attacks)('shows %j from a file', async (attack) => {
    const said = place(attack);
    const file = join(folder, 'report.html');
    writeFileSync(file, (await report(said)).body);
    await page.goto(pathToFileURL(file).href);
    await expectHarmless(said);
  });

  it.each(attacks)('shows %j as the API sends it', async (attack) => {
    const said = place(attack);
    const answer = await report(said);
    // A browser saves an attachment; somebody may open it in place all the same.
    const { 'content-disposition': disposition, ...headers } = answer.headers;
    expect(disposition).toMatch(/^attachment; /);
    const url = 'http://portolan.test/export';
    await page.route(url, (route) =>
      route.fulfill({ body: answer.body, headers: headers as Record<string, string> }),
    );
    await page.goto(url);
    await expectHarmless(said);
  });

  it('runs nothing even when something slips through: the policy of page and answer forbids it', async () => {
    const answer = await report('x');
    const slipped = answer.body.replace(
      '</main>',
      '<script>window.ran=1;alert(1)</script><img src=x onerror="window.ran=1"></main>',
    );
    const file = join(folder, 'slipped.html');
    writeFileSync(file, slipped);
    await page.goto(pathToFileURL(file).href);
    await page.waitForTimeout(100);
    expect(await page.evaluate(() => 'ran' in globalThis)).toBe(false);
    expect(events.some((event) => event.includes('Content Security Policy'))).toBe(true);
    expect(events.filter((event) => event.startsWith('dialog'))).toEqual([]);
  });
});

/** Opens everything that is folded. */
const openAll = "for (const folded of document.querySelectorAll('details')) folded.open = true";

/** The little of a page that is used here; the types of browsers are not part of this program. */
interface PageGlobals {
  document: { body: { innerText: string } };
}
