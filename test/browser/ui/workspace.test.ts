import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { syntheticPresets } from '../../../src/report/fixtures/synthetic-scan.ts';
import { canRun, looks, type OpenOptions, UiBrowser, type UiPage } from './ui-page.ts';
import { renamed, UiService } from './ui-service.ts';

const route = '/workspace';
const recorded = ['one', 'two', 'three'].map((name, index) =>
  renamed(syntheticPresets.one(), `2026010${index + 1}-000000-b16b1${index}`, `Scan ${name}`),
);

describe.runIf(canRun('workspace'))('the page of the workspace', () => {
  let browser: UiBrowser;
  let service: UiService;
  const pages: UiPage[] = [];
  beforeAll(async () => {
    [browser, service] = await Promise.all([UiBrowser.launch(), UiService.start({ auth: true, recorded })]);
  });
  afterEach(async () => {
    for (const page of pages.splice(0)) await page.close();
  });
  afterAll(async () => {
    await browser?.close();
    await service?.dispose();
  });

  async function visit(options: OpenOptions = {}): Promise<UiPage> {
    const token = options.token ?? (await service.token('scan:read', 'workspace:read', 'workspace:write'));
    const ui = await browser.open(service, route, { ...options, token });
    pages.push(ui);
    return ui;
  }
  const going = (ui: UiPage) => ui.page.getByRole('grid', { name: 'Scans that would go' });

  async function preview(ui: UiPage, newest: string): Promise<void> {
    ui.keyboardOnly();
    await ui.tabTo(ui.page.getByLabel('Older than'));
    await ui.press('Control+a', 'Delete');
    await ui.tabTo(ui.page.getByLabel('Keep the newest'));
    await ui.press('Control+a');
    await ui.type(newest);
    const button = ui.page.getByRole('button', { name: 'Preview clean-up' });
    await expect.poll(() => button.getAttribute('aria-disabled')).toBe(null);
    await ui.choose(button);
  }

  it.each(looks)('names what a clean-up would delete, at $width px, $theme', async (look) => {
    const ui = await visit(look);
    await ui.page.getByText('Time covered').waitFor();
    await preview(ui, '1');
    await ui.page.getByText(/^2 scans would go/).waitFor();
    await going(ui).getByText('Scan one').waitFor();
    await ui.picture('workspace');
    await ui.expectGood();
  });

  it('shows the reason of the server at the field', async () => {
    const ui = await visit();
    await ui.page.getByLabel('Older than').fill('yesterday');
    await ui.page.getByLabel('Older than').press('Enter');
    await ui.page
      .getByRole('alert')
      .filter({ hasText: /duration|yesterday/ })
      .waitFor();
    await ui.expectGood(/status of 400/);
  });

  it('names the scope that is missing', async () => {
    const ui = await visit({ token: await service.token('workspace:read') });
    await ui.page.getByText('Needs the scope workspace:write or scan:write').waitFor();
    await ui.expectGood();
    const blind = await visit({ token: await service.token('metrics:read') });
    await blind.page.getByText('This token may not see the workspace').waitFor();
    await blind.expectGood(/status of 403/);
  });

  it('deletes after one question, and only what was shown', async () => {
    const ui = await visit();
    await preview(ui, '1');
    await ui.page.getByText(/^2 scans would go/).waitFor();
    ui.keyboardOnly();
    await ui.choose(ui.page.getByRole('button', { name: 'Delete 2 scans…' }));
    const dialog = ui.page.getByRole('alertdialog', { name: 'Delete 2 scans?' });
    await dialog.waitFor();
    expect(await ui.focused()).toContain('Keep');
    await ui.picture('workspace-ask', { fullPage: false });
    await ui.expectAccessible();
    await ui.choose(dialog.getByRole('button', { name: 'Delete 2 scans' }));
    await ui.page.getByText(/^2 scans deleted, /).waitFor();
    const { scans } = await service.call<{ scans: { name: string }[] }>('GET', '/api/v1/scans');
    expect(scans.map(({ name }) => name)).toEqual(['Scan three']);
    await expect.poll(() => going(ui).count()).toBe(0);
    await ui.expectClean();
  });
});
