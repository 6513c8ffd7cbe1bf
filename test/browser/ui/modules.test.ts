import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canRun, looks, type OpenOptions, UiBrowser, type UiPage } from './ui-page.ts';
import { UiService } from './ui-service.ts';

describe.runIf(canRun('modules'))('the page of modules', () => {
  let browser: UiBrowser;
  let service: UiService;
  const pages: UiPage[] = [];
  beforeAll(async () => {
    browser = await UiBrowser.launch();
    service = await UiService.start();
  });
  afterAll(async () => {
    await browser?.close();
    await service?.dispose();
  });

  async function visit(path: string, options: OpenOptions = {}): Promise<UiPage> {
    for (const old of pages.splice(0)) await old.close();
    const ui = await browser.open(service, path, options);
    pages.push(ui);
    return ui;
  }

  describe.each(looks)('at $width px, $theme', (look) => {
    it('lists them', async () => {
      const ui = await visit('/modules', look);
      await ui.page.getByRole('row', { name: /banner_grabber/ }).waitFor();
      await ui.picture('modules');
      await ui.expectGood();
    });

    it('shows options and where a module fits', async () => {
      const ui = await visit('/modules?module=connect_scanner', look);
      await ui.page.getByRole('rowheader', { name: 'rate' }).waitFor();
      await ui.picture('module', { fullPage: false });
      await ui.expectGood();
    });
  });

  it('filters, opens and goes on by keys alone', async () => {
    const ui = await visit('/modules');
    ui.keyboardOnly();
    await ui.page.getByRole('row').nth(1).waitFor();
    await ui.press('/');
    await ui.type('_parser');
    await expect.poll(() => ui.path).toBe('/modules?q=_parser');
    await ui.tabTo(ui.page.getByRole('row').nth(1));
    await ui.press('ArrowDown', 'Enter');
    const drawer = ui.page.getByRole('complementary').or(ui.page.getByRole('dialog')).first();
    await drawer.waitFor();
    const first = ui.path;
    await ui.press('j');
    await expect.poll(() => ui.path).not.toBe(first);
    await ui.press('Escape');
    await expect.poll(() => ui.path).toBe('/modules?q=_parser');
    await ui.expectClean();
  });

  it('says what a filter hides', async () => {
    const ui = await visit('/modules?q=nothing-like-this');
    await ui.page.getByText('No module matches this filter').waitFor();
    await ui.picture('modules-empty');
    await ui.expectGood();
    await ui.choose(ui.page.getByRole('button', { name: 'Show all modules' }));
    await expect.poll(() => ui.path).toBe('/modules');
    await ui.expectClean();
  });
});
