import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canRun, looks, type OpenOptions, UiBrowser, type UiPage } from './ui-page.ts';
import { UiService } from './ui-service.ts';

describe.runIf(canRun('tenants'))('a service with tenants', () => {
  let browser: UiBrowser;
  let service: UiService;
  /** Of the whole service. */
  let operator: string;
  let acme: string;
  const pages: UiPage[] = [];
  beforeAll(async () => {
    browser = await UiBrowser.launch();
    service = await UiService.start({ auth: true, tenants: ['acme', 'globex'] });
    operator = await service.token('admin');
    acme = await service.tenantToken('acme', 'admin');
    for (const tenant of ['acme', 'globex']) await submit(tenant);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.dispose();
  });

  async function submit(tenant: string): Promise<void> {
    const scan = {
      targets: ['127.0.0.1'],
      ports: '9',
      name: `Scan of ${tenant}`,
      options: { discover: false },
    };
    const { status } = await fetch(`${service.url}/api/v1/scans`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${operator}`,
        'x-tenant-id': tenant,
        'content-type': 'application/json',
      },
      body: JSON.stringify(scan),
    });
    expect(status).toBe(201);
  }

  async function visit(path: string, options: OpenOptions = {}): Promise<UiPage> {
    for (const old of pages.splice(0)) await old.close();
    const ui = await browser.open(service, path, options);
    pages.push(ui);
    return ui;
  }
  const scanOf = (ui: UiPage, tenant: string) =>
    ui.page.getByRole('row').filter({ hasText: `Scan of ${tenant}` });

  it('shows one tenant at a time to a token of the whole service, and the other after a choice', async () => {
    const ui = await visit('/scans', { token: operator });
    await scanOf(ui, 'acme').waitFor();
    expect(await scanOf(ui, 'globex').count()).toBe(0);
    await ui.page.getByRole('button', { name: /^Live/ }).waitFor();
    await ui.page.getByRole('combobox', { name: 'Tenant' }).selectOption('globex');
    await scanOf(ui, 'globex').waitFor();
    expect(await scanOf(ui, 'acme').count()).toBe(0);
    await ui.page.getByRole('button', { name: /^Live/ }).waitFor();
    await ui.expectGood();
  });

  it.each(looks)('shows a token of one tenant that tenant alone, at $width px, $theme', async (look) => {
    const ui = await visit('/scans', { token: acme, ...look });
    await scanOf(ui, 'acme').waitFor();
    expect(await scanOf(ui, 'globex').count()).toBe(0);
    expect(await ui.page.getByRole('combobox', { name: 'Tenant' }).count()).toBe(0);
    await ui.page.getByRole('button', { name: /^Live/ }).waitFor();
    const names = ui.page.getByRole('complementary', { name: 'Sidebar' });
    expect(await names.textContent()).toContain('of acme · acme');
    await ui.picture('tenant-scans', { fullPage: false });
    await ui.expectGood();
  });

  it('says that the configuration is of no tenant', async () => {
    const ui = await visit('/settings/configuration', { token: acme });
    await ui.page.getByText('This token is of one tenant').waitFor();
    await ui.expectGood(/status of 403/);
  });

  it('offers the tenants to a new token', async () => {
    const ui = await visit('/settings/tokens', { token: operator });
    await ui.page.getByRole('row').filter({ hasText: 'of acme' }).waitFor();
    await ui.page.getByRole('button', { name: 'New token' }).click();
    const tenant = ui.page
      .getByRole('dialog', { name: 'New token' })
      .getByRole('combobox', { name: 'Tenant' });
    await expect.poll(() => tenant.textContent()).toContain('globex');
    await ui.picture('tenant-new-token', { fullPage: false });
    await ui.expectGood();
  });
});
