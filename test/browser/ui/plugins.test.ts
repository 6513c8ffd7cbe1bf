import { afterAll, beforeAll, describe, it } from 'vitest';
import { canRun, looks, type OpenOptions, UiBrowser, type UiPage } from './ui-page.ts';
import { UiService } from './ui-service.ts';

describe.runIf(canRun('plugins'))('the page of plugins', () => {
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

  it.each(looks)('says how to install one at $width px, $theme', async (look) => {
    const ui = await visit('/plugins', look);
    await ui.page.getByText('No plugins').waitFor();
    await ui.picture('plugins-empty');
    await ui.expectGood();
  });
});
