import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openService, type Service } from '../../src/server/fixtures/service.ts';
import { isLongRun } from '../rounds.ts';
import { browserFile, browserObstacle } from './chromium.ts';

const obstacle = browserObstacle();
if (obstacle !== null) console.log(`skipped: test/browser/docs-page.test.ts: ${obstacle}`);
if (obstacle !== null && process.env['CI'] === 'true') throw new Error(obstacle);

const axeFile = fileURLToPath(import.meta.resolve('axe-core/axe.min.js'));

let service: Service;
let base = '';
let browser: Browser;
beforeAll(async () => {
  if (obstacle !== null) return;
  service = await openService({ 'server.api.auth': true });
  base = await service.listen();
  // Its own sandbox cannot be built by root.
  browser = await chromium.launch({ executablePath: browserFile, args: ['--no-sandbox', '--disable-gpu'] });
});
afterAll(async () => {
  await browser?.close();
  await service?.close();
});

async function login(page: Page): Promise<void> {
  await page.fill('#token', await service.token('scan:read'));
  await page.click('#login button');
  await page.waitForSelector('.opblock');
}

const operation = (page: Page, path: string) =>
  page.locator('.opblock', { has: page.locator(`[data-path="${path}"]`) }).first();

describe.runIf(obstacle === null)('the page about the API in Chromium', () => {
  it('asks for a token, shows every route, sends the token along, and breaks none of its own rules', async () => {
    const page = await browser.newPage();
    const complaints: string[] = [];
    const foreign: string[] = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      if (/content security policy/i.test(message.text())) complaints.push(message.text());
    });
    page.on('request', (request) => {
      if (!request.url().startsWith(base) && !request.url().startsWith('data:')) foreign.push(request.url());
    });
    await page.goto(`${base}/api/v1/docs`);
    await page.waitForSelector('#login:not([hidden])');
    await page.fill('#token', `svc_zzzzzz_${'A'.repeat(43)}`);
    await page.click('#login button');
    await expect.poll(() => page.textContent('#problem')).toMatch(/valid API token/);
    await login(page);
    expect(await page.isVisible('#login')).toBe(false);
    const shown = await page.$$eval('.opblock-summary-path', (found) =>
      found.map((element) => element.getAttribute('data-path')),
    );
    expect(shown).toContain('/api/v1/scans');
    expect(shown).not.toContain('/api/v1/docs');

    const version = operation(page, '/api/v1/version');
    await version.locator('.opblock-summary').click();
    await version.getByText('Try it out').click();
    await version.getByText('Execute').click();
    const response = version.locator('.live-responses-table');
    await expect.poll(() => response.textContent()).toMatch(/200.*"version": "0\.0\.0"/s);
    expect([complaints, foreign]).toEqual([[], []]);
    await page.close();
  }, 60_000);

  // A width changes places, a scheme colors: each once finds what all pairs find, which the long run tries.
  const looks = (['light', 'dark'] as const)
    .flatMap((scheme) => [400, 1280].map((width) => ({ scheme, width })))
    .filter(({ scheme, width }) => isLongRun || (scheme === 'dark') === (width === 400));

  it.each(looks)(
    'at $width px, $scheme: no violations of axe, no horizontal scrolling',
    async ({ scheme, width }) => {
      const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme: scheme });
      await page.goto(`${base}/api/v1/docs`);
      await page.waitForSelector('#login:not([hidden])');
      await expectAccessible(page, width);
      await login(page);
      await expectAccessible(page, width);
      for (const path of ['/api/v1/scans', '/api/v1/scans/{scan_id}']) {
        await operation(page, path).locator('.opblock-summary-control').click();
        await operation(page, path).locator('.opblock-body .responses-table').waitFor();
      }
      await operation(page, '/api/v1/scans').getByText('Try it out').click();
      await page
        .locator('.models .json-schema-2020-12-accordion, .models .model-box-control')
        .first()
        .click();
      await expectAccessible(page, width);
      await page.close();
    },
    60_000,
  );
});

async function expectAccessible(page: Page, width: number): Promise<void> {
  // The protocol of the debugger runs scripts that the policy of the page forbids.
  await page.evaluate(readFileSync(axeFile, 'utf8'));
  expect(await page.evaluate(runAxe)).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
}

const runAxe = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ' ' + nodes.length + ': ' + nodes.slice(0, 5).map(({ html, any }) => html.slice(0, 160) + ' ' + (any[0]?.message ?? '').slice(0, 160)).join(' | ')))`;
