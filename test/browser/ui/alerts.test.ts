import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canRun, looks, type OpenOptions, UiBrowser, type UiPage } from './ui-page.ts';
import { UiService } from './ui-service.ts';

const rules = `
- {name: always, condition: queue_length >= 0, action: slack, message: "It <b>always</b> fires"}
- {name: never, condition: queue_length > 1000000, action: slack, for: 5m}
`;

describe.runIf(canRun('alerts'))('the alerts', () => {
  let browser: UiBrowser;
  let service: UiService;
  let receiver: Server;
  let folder: string;
  let admin: string;
  /** Bodies that the channel received. */
  const received: string[] = [];
  const pages: UiPage[] = [];
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'portolan-alerts-'));
    writeFileSync(join(folder, 'alerts.yaml'), rules);
    receiver = createServer((request, response) => {
      request.setEncoding('utf8').on('data', (text: string) => received.push(text));
      request.on('end', () => response.end('ok'));
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    const { port } = receiver.address() as AddressInfo;
    browser = await UiBrowser.launch();
    service = await UiService.start({
      auth: true,
      env: {
        SERVICE_ALERTS: join(folder, 'alerts.yaml'),
        SERVICE_ALERTS__INTERVAL: '1s',
        SERVICE_NOTIFICATIONS__SLACK__WEBHOOK_URL: `http://127.0.0.1:${port}/hook`,
        SERVICE_NOTIFICATIONS__DEFAULT_CHANNELS: 'slack://default',
      },
    });
    admin = await service.token('admin');
  });
  afterAll(async () => {
    await browser?.close();
    await service?.dispose();
    receiver?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function visit(path: string, options: OpenOptions = {}): Promise<UiPage> {
    for (const old of pages.splice(0)) await old.close();
    const ui = await browser.open(service, path, { token: admin, ...options });
    pages.push(ui);
    await expect.poll(() => ui.page.locator('h1').first().textContent()).toBe('Alerts');
    return ui;
  }
  const rowOf = (ui: UiPage, name: string) => ui.page.getByRole('row').filter({ hasText: name });

  describe.each(looks)('at $width px, $theme', (look) => {
    it('show which rules fire', async () => {
      const ui = await visit('/alerts', look);
      await ui.page.getByText('1 of 2 alerts is firing.').waitFor();
      await expect.poll(() => rowOf(ui, 'always').textContent()).toContain('Firing');
      await expect.poll(() => rowOf(ui, 'never').textContent()).toContain('Quiet');
      await ui.picture('alerts');
      await ui.expectGood();
      await rowOf(ui, 'always').click();
      await ui.page.getByText('It <b>always</b> fires').waitFor();
      await ui.page.getByText(`${join(folder, 'alerts.yaml')}:2`, { exact: true }).waitFor();
      await ui.picture('alerts-open', { fullPage: false });
      await ui.expectGood();
    });

    it('show the channels', async () => {
      const ui = await visit('/alerts/channels', look);
      await ui.page.getByText('default of scans').waitFor();
      await ui.picture('alerts-channels');
      await ui.expectGood();
    });
  });

  it('send a test message by keys, and say how it ended', async () => {
    const ui = await visit('/alerts/channels');
    ui.keyboardOnly();
    const before = received.length;
    await ui.choose(ui.page.getByRole('button', { name: 'Test', exact: true }).first());
    const row = ui.page.getByRole('listitem').filter({ hasText: 'slack://default' });
    await expect.poll(() => row.textContent()).toMatch(/Delivered|Failed|Skipped/);
    expect(await row.textContent()).toContain('Delivered');
    expect(received.slice(before).join('')).toContain('Test message');
    await ui.expectGood();
  });

  it('open a rule by keys and close it again', async () => {
    const ui = await visit('/alerts');
    await rowOf(ui, 'always').waitFor();
    ui.keyboardOnly();
    await ui.tabTo(ui.page.getByRole('grid', { name: 'Alerts' }));
    await ui.press('ArrowDown', 'Enter');
    await expect.poll(() => ui.path).toMatch(/^\/alerts\?alert=/);
    const drawer = ui.page.getByRole('complementary').filter({ hasText: / of 2/ });
    const first = ui.path;
    await ui.press(ui.path.endsWith('always') ? 'j' : 'k');
    await expect.poll(() => ui.path).not.toBe(first);
    await ui.press('Escape');
    await drawer.waitFor({ state: 'detached' });
    await expect.poll(() => ui.focused()).toMatch(/^row/);
    await ui.choose(ui.page.getByRole('link', { name: 'Notification channels' }));
    await expect.poll(() => ui.path).toBe('/alerts/channels');
    await ui.expectClean();
  });

  it('say why a test message did not arrive', async () => {
    const ui = await visit('/alerts/channels');
    const field = ui.page.getByRole('textbox', { name: 'Channel' });
    ui.keyboardOnly();
    await ui.tabTo(field);
    await ui.type('webhook://nowhere');
    await ui.press('Enter');
    await ui.page.getByText('Skipped').waitFor();
    await ui.expectClean();
    await ui.tabTo(field, { backward: true });
    await ui.press('Control+a');
    await ui.type('carrier pigeon');
    await ui.press('Enter');
    await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true');
    expect(await ui.page.getByRole('alert').textContent()).toContain('is not of the form');
    await ui.expectGood(/status of 400/);
  });

  it('need a scope', async () => {
    const ui = await visit('/alerts', { token: await service.token('scan:read') });
    await ui.page.getByText('This token may not see alerts').waitFor();
    await ui.expectGood(/status of 403/);
  });
});
