import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canRun, looks, type OpenOptions, UiBrowser, type UiPage } from './ui-page.ts';
import { UiService } from './ui-service.ts';

describe.runIf(canRun('workers'))('the workers', () => {
  let browser: UiBrowser;
  let service: UiService;
  let reader: string;
  const pages: UiPage[] = [];
  beforeAll(async () => {
    browser = await UiBrowser.launch();
    service = await UiService.start({ auth: true, env: { SERVICE_SERVER__WORKERS: '3' } });
    reader = await service.token('metrics:read', 'scan:read');
  });
  afterAll(async () => {
    await browser?.close();
    await service?.dispose();
  });

  async function visit(path: string, options: OpenOptions = {}): Promise<UiPage> {
    for (const old of pages.splice(0)) await old.close();
    const ui = await browser.open(service, path, { token: reader, ...options });
    pages.push(ui);
    await expect.poll(() => ui.page.locator('h1').first().textContent()).toBe('Workers');
    return ui;
  }
  const row = (ui: UiPage) => ui.page.getByRole('grid').getByRole('row').last();

  describe.each(looks)('at $width px, $theme', (look) => {
    it('are listed with what they do', async () => {
      const ui = await visit('/workers', look);
      await expect.poll(() => row(ui).textContent()).toMatch(/Idle.*0 of 3/s);
      await ui.page.getByText('1 worker, 0 of 3 slots busy.').waitFor();
      await ui.picture('workers');
      await ui.expectGood();
      await row(ui).click();
      await ui.page.getByText('Heartbeat').last().waitFor();
      await ui.picture('workers-open', { fullPage: false });
      await ui.expectGood();
    });
  });

  it('open by keys and close again', async () => {
    const ui = await visit('/workers');
    await row(ui).waitFor();
    ui.keyboardOnly();
    await ui.tabTo(ui.page.getByRole('grid'));
    await ui.press('ArrowDown', 'Enter');
    const drawer = ui.page.getByRole('complementary').filter({ hasText: '1 of 1' });
    await drawer.waitFor();
    expect(ui.path).toBe('/workers?worker=server');
    await ui.press('Escape');
    await drawer.waitFor({ state: 'detached' });
    expect(ui.path).toBe('/workers');
    await ui.expectClean();
  });

  it('need a scope', async () => {
    const ui = await visit('/workers', { token: await service.token('scan:read') });
    await ui.page.getByText('This token may not see workers').waitFor();
    await ui.expectGood(/status of 403/);
  });
});
