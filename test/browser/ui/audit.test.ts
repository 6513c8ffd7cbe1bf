import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canRun, looks, type OpenOptions, UiBrowser, type UiPage } from './ui-page.ts';
import { UiService } from './ui-service.ts';

const hostileAgent = '<img src=x onerror=alert(1)> hostile';

describe.runIf(canRun('audit'))('the audit log', () => {
  let browser: UiBrowser;
  let service: UiService;
  let reader: string;
  /** Matches two records: requests that the other token was not allowed. */
  let denied: string;
  const pages: UiPage[] = [];
  beforeAll(async () => {
    browser = await UiBrowser.launch();
    service = await UiService.start({ auth: true, env: { SERVICE_LOGGING__AUDIT__ENABLED: 'true' } });
    reader = await service.token('audit:read', 'metrics:read', 'scan:read');
    const other = await service.token('scan:read');
    denied = `/audit?outcome=denied&actor=${other.split('_')[1]}`;
    const headers = { authorization: `Bearer ${other}`, 'user-agent': hostileAgent };
    for (let n = 0; n < 30; n++) await fetch(`${service.url}/api/v1/scans?limit=${n + 1}`, { headers });
    await fetch(`${service.url}/api/v1/tokens`, { headers });
    await fetch(`${service.url}/api/v1/scans/20260101-000000-aaaaaa`, { headers });
  });
  afterAll(async () => {
    await browser?.close();
    await service?.dispose();
  });

  async function visit(path: string, options: OpenOptions = {}): Promise<UiPage> {
    for (const old of pages.splice(0)) await old.close();
    const ui = await browser.open(service, path, { token: reader, ...options });
    pages.push(ui);
    await expect.poll(() => ui.page.locator('h1').first().textContent()).toBe('Audit');
    return ui;
  }
  const rows = (ui: UiPage) => ui.page.getByRole('grid').getByRole('row');

  describe.each(looks)('at $width px, $theme', (look) => {
    it('has no problem, with and without an open record', async () => {
      const ui = await visit('/audit', look);
      await expect.poll(() => rows(ui).count()).toBeGreaterThan(10);
      await ui.picture('audit', { fullPage: false });
      await ui.expectGood();
      await rows(ui).nth(3).click();
      await expect.poll(() => ui.path).toContain('record=');
      await ui.page.getByRole('heading', { name: 'Chain' }).waitFor();
      await ui.picture('audit-record', { fullPage: false });
      await ui.expectGood();
    });
  });

  it('filters, and the filter is in the URL', async () => {
    const ui = await visit(denied);
    await expect.poll(() => rows(ui).count()).toBe(3);
    expect(await rows(ui).nth(1).textContent()).toContain('denied');
    ui.keyboardOnly();
    await ui.tabTo(ui.page.getByRole('searchbox', { name: 'Resource' }));
    await ui.type('scan:20260101-000000-aaaaaa');
    await expect.poll(() => rows(ui).count()).toBe(2);
    await expect.poll(() => ui.path).toContain('resource=scan%3A20260101-000000-aaaaaa');
    await ui.tabTo(ui.page.getByRole('searchbox', { name: 'Actor' }), { backward: true });
    await ui.press('Control+a');
    await ui.type('nobody at all');
    await ui.page.getByText('No record matches this filter').waitFor();
    await ui.choose(ui.page.getByRole('button', { name: 'Clear filter' }));
    await expect.poll(() => ui.path).toBe('/audit');
    await expect.poll(() => rows(ui).count()).toBeGreaterThan(10);
    await ui.tabTo(ui.page.getByRole('combobox', { name: 'Outcome' }), { backward: true });
    await ui.type('denied');
    await expect.poll(() => ui.path).toBe('/audit?outcome=denied');
    await expect.poll(() => rows(ui).count()).toBe(3);
    await ui.expectClean();
  });

  it('opens records by keys, goes through them, and returns to the row', async () => {
    const ui = await visit(denied);
    await expect.poll(() => rows(ui).count()).toBe(3);
    ui.keyboardOnly();
    await ui.tabTo(ui.page.getByRole('grid'));
    await ui.press('ArrowDown', 'Enter');
    const drawer = ui.page.getByRole('complementary').filter({ hasText: 'Chain' });
    await drawer.waitFor();
    await ui.press('k');
    const first = ui.path;
    await ui.press('j');
    await expect.poll(() => ui.path).not.toBe(first);
    await expect.poll(() => drawer.textContent()).toContain('2 of 2');
    expect(await drawer.textContent()).toContain(hostileAgent);
    await ui.press('Escape');
    await drawer.waitFor({ state: 'detached' });
    expect(ui.path).toBe(denied);
    await expect.poll(() => ui.focused()).toMatch(/^(grid|row|gridcell)/);
    await ui.expectClean();
  });

  it('says which scope is missing', async () => {
    const ui = await visit('/audit', { token: await service.token('scan:read') });
    await ui.page.getByText('This token may not read the audit log').waitFor();
    await ui.expectGood(/status of 403/);
  });
});

it.runIf(canRun('audit'))('an audit log says where it is damaged', async () => {
  const service = await UiService.start({ env: { SERVICE_LOGGING__AUDIT__ENABLED: 'true' } });
  const browser = await UiBrowser.launch();
  try {
    writeFileSync(join(service.workspace, 'audit', '2026-01-01.jsonl'), 'hostile <b>line</b>\n');
    const ui = await browser.open(service, '/audit');
    await ui.page.getByText('This log may be incomplete or changed').waitFor();
    await ui.page.getByText('audit log damaged: 2026-01-01.jsonl, byte 0').waitFor();
    await ui.picture('audit-damaged', { fullPage: false });
    await ui.expectGood();
  } finally {
    await browser.close();
    await service.dispose();
  }
});

it.runIf(canRun('audit'))('an audit log that is off says how to turn it on', async () => {
  const service = await UiService.start();
  const browser = await UiBrowser.launch();
  try {
    const ui = await browser.open(service, '/audit');
    await ui.page.getByText('Nothing is recorded yet').waitFor();
    await ui.expectGood();
  } finally {
    await browser.close();
    await service.dispose();
  }
});
