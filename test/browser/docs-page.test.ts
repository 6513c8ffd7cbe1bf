import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openService, type Service } from '../../src/server/fixtures/service.ts';

const executablePath = '/usr/bin/chromium';

let service: Service;
let base = '';
let browser: Browser;
beforeAll(async () => {
  if (!existsSync(executablePath)) return;
  service = await openService({ 'server.api.auth': true });
  base = await service.listen();
  // Its own sandbox cannot be built by root.
  browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
});
afterAll(async () => {
  await browser?.close();
  await service?.close();
});

describe.runIf(existsSync(executablePath))('the page about the API in Chromium', () => {
  it('asks for a token, shows every route, sends the token along, and breaks none of its own rules', async () => {
    const page = await browser.newPage();
    const complaints: string[] = [];
    const elsewhere: string[] = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      if (/content security policy/i.test(message.text())) complaints.push(message.text());
    });
    page.on('request', (request) => {
      if (!request.url().startsWith(base) && !request.url().startsWith('data:'))
        elsewhere.push(request.url());
    });
    await page.goto(`${base}/api/v1/docs`);
    await page.waitForSelector('#login:not([hidden])');
    await page.fill('#token', `svc_zzzzzz_${'A'.repeat(43)}`);
    await page.click('#login button');
    await expect.poll(() => page.textContent('#problem')).toMatch(/valid API token/);
    await page.fill('#token', await service.token('scan:read'));
    await page.click('#login button');
    await page.waitForSelector('.opblock');
    expect(await page.isVisible('#login')).toBe(false);
    const shown = await page.$$eval('.opblock-summary-path', (found) =>
      found.map((element) => element.getAttribute('data-path')),
    );
    expect(shown).toContain('/api/v1/scans');
    expect(shown).not.toContain('/api/v1/docs');

    const version = page.locator('.opblock', { has: page.locator('[data-path="/api/v1/version"]') });
    await version.locator('.opblock-summary').click();
    await version.getByText('Try it out').click();
    await version.getByText('Execute').click();
    const answer = version.locator('.live-responses-table');
    await expect.poll(() => answer.textContent()).toMatch(/200.*"version": "0\.0\.0"/s);
    expect([complaints, elsewhere]).toEqual([[], []]);
    await page.close();
  }, 60_000);
});
