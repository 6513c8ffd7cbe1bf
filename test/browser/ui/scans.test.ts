import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { syntheticPresets } from '../../../src/report/fixtures/synthetic-scan.ts';
import { canRun, looks, type OpenOptions, UiBrowser, type UiPage } from './ui-page.ts';
import { renamed, UiService } from './ui-service.ts';

/** Made-up scans, the oldest first; ids say when they began. */
const recorded = [
  ['20261101-050000-a00001', 'Plant floor', syntheticPresets.empty],
  ['20261120-170000-a00002', 'Lab sweep', syntheticPresets.canceled],
  ['20261120-180000-a00003', 'Berlin office', syntheticPresets.one],
  ['20261121-180000-a00004', 'Berlin office', syntheticPresets.one],
  ['20261121-190000-a00005', 'Public addresses', syntheticPresets.fifty],
  ['20261122-010000-a00006', 'Hostile names', syntheticPresets.hostile],
] as const;

describe.runIf(canRun('scans'))('the scans', () => {
  let browser: UiBrowser;
  let service: UiService;
  let admin: string;
  const pages: UiPage[] = [];
  beforeAll(async () => {
    browser = await UiBrowser.launch();
    service = await UiService.start({
      auth: true,
      recorded: recorded.map(([id, name, make]) => renamed(make(), id, name)),
    });
    admin = await service.token('admin');
    const slow = { ports: '1-20000', rate: 20, options: { discover: false, scan_type: 'connect' } };
    await service.submit({ name: 'Core network', ...slow });
  });
  afterAll(async () => {
    await browser?.close();
    await service?.dispose();
  });

  async function visit(path: string, options: OpenOptions = {}): Promise<UiPage> {
    for (const old of pages.splice(0)) await old.close();
    const ui = await browser.open(service, path, { token: admin, ...options });
    pages.push(ui);
    await row(ui, '').first().waitFor();
    return ui;
  }
  const row = (ui: UiPage, name: string) =>
    ui.page.getByRole('grid', { name: 'Scans' }).locator('[data-row]').filter({ hasText: name });
  const bar = (ui: UiPage) => ui.page.getByRole('region', { name: 'Selected scans' });
  const idsLeft = async () => {
    const { scans } = await service.call<{ scans: { scan_id: string }[] }>('GET', '/api/v1/scans');
    return scans.map(({ scan_id }) => scan_id);
  };

  it.each(looks)('are listed at $width px, $theme', async (look) => {
    const ui = await visit('/scans', look);
    await row(ui, 'Core network').getByText('Running').waitFor();
    await ui.page.getByText('7 scans', { exact: true }).waitFor();
    if (look.width >= 1280) {
      const heads = await ui.page.getByRole('columnheader').allTextContents();
      expect(heads.map((head) => head.trim()).filter((head) => head !== '')).toEqual([
        'Selected',
        'State',
        'Name, targets',
        'Started',
        'Took',
        'Hosts',
        'Services',
        'Findings',
      ]);
    }
    await ui.picture('scans');
    await ui.expectGood();
    for (const name of ['Lab sweep', 'Plant floor']) await row(ui, name).getByRole('checkbox').click();
    await bar(ui).getByText('2 scans selected').waitFor();
    await ui.picture('scans-selected', { fullPage: false });
    await ui.expectGood();
  });

  it.each([-3600, 3600])(
    'say when and for how long by a clock that is wrong by %i s',
    async (clockOffset) => {
      const ui = await visit('/scans', { clockOffset });
      const cells = await row(ui, 'Core network').getByRole('gridcell').allTextContents();
      // Started seconds or a few minutes ago, and runs since then: no hours in either.
      const [, , , started = '', took = ''] = cells;
      expect(started).toMatch(/ UTC(just now|\d+ (s|min) ago)$/);
      expect(took).toMatch(/^([\d.]+ s|\d+ min( \d+ s)?|\d+ ms)$/);
      await ui.expectClean();
    },
  );

  it('are filtered by what the URL says, and the URL by the filter', async () => {
    const ui = await visit('/scans?q=berlin');
    await expect.poll(() => row(ui, '').count()).toBe(2);
    ui.keyboardOnly();
    await ui.press('/');
    await ui.press('Control+a');
    await ui.type('no such scan');
    await ui.page.getByText('No scan matches').waitFor();
    expect(ui.path).toBe('/scans?q=no+such+scan');
    await ui.expectGood();
    await ui.choose(ui.page.getByRole('button', { name: 'Clear the filter' }));
    await expect.poll(() => row(ui, '').count()).toBe(7);
    expect(ui.path).toBe('/scans');
    await ui.tabTo(ui.page.getByRole('combobox', { name: 'State' }));
    await ui.type('Failed');
    await expect.poll(() => ui.path).toBe('/scans?status=failed');
    await expect.poll(() => row(ui, '').count()).toBe(1);
    await row(ui, 'Lab sweep').getByText('Canceled', { exact: true }).waitFor();
    await ui.tabTo(ui.page.getByRole('columnheader', { name: 'Started' }).getByRole('button'));
    await ui.press('ArrowLeft', 'Enter');
    await expect.poll(() => ui.path).toBe('/scans?status=failed&sort=name');
    await ui.page.goBack();
    await ui.page.goBack();
    await expect.poll(() => row(ui, '').count()).toBe(7);
    await ui.expectClean();
  });

  it('are opened and compared by keys', async () => {
    const ui = await visit('/scans?q=berlin');
    await expect.poll(() => row(ui, '').count()).toBe(2);
    ui.keyboardOnly();
    await ui.tabTo(row(ui, '').first());
    await ui.press('Enter');
    await expect.poll(() => ui.path).toBe('/scans/20261121-180000-a00004');
    await ui.page.goBack();
    await row(ui, '').nth(1).waitFor();
    await ui.tabTo(row(ui, '').first());
    await ui.press('Space', 'ArrowDown', 'Space');
    await bar(ui).getByText('2 scans selected').waitFor();
    await ui.press('Escape');
    await bar(ui).waitFor({ state: 'detached' });
    await expect.poll(() => ui.focused()).toMatch(/^row/);
    await ui.press('Space', 'ArrowUp', 'Space');
    await ui.choose(bar(ui).getByRole('button', { name: 'Compare' }));
    await expect
      .poll(() => ui.path)
      .toBe('/compare?scan=20261121-180000-a00004&against=20261120-180000-a00003');
    await ui.expectClean();
  });

  it('are deleted only after the question, and only with the scope for it', async () => {
    const reader = await visit('/scans?q=berlin', { token: await service.token('scan:read') });
    await row(reader, 'Berlin').first().getByRole('checkbox').click();
    const button = bar(reader).getByRole('button', { name: /^Delete/ });
    expect(await button.getAttribute('aria-disabled')).toBe('true');
    await reader.expectClean();

    const ui = await visit('/scans?q=berlin');
    await expect.poll(() => row(ui, '').count()).toBe(2);
    ui.keyboardOnly();
    await ui.tabTo(row(ui, '').first());
    await ui.press('Space', 'ArrowDown', 'Space');
    await ui.choose(bar(ui).getByRole('button', { name: /^Delete/ }));
    const dialog = ui.page.getByRole('alertdialog', { name: 'Delete 2 scans?' });
    await dialog.waitFor();
    await expect.poll(() => ui.focused()).toBe('button "Keep"');
    await ui.picture('scans-delete', { fullPage: false });
    await ui.expectGood();
    await ui.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    expect(await idsLeft()).toHaveLength(7);
    await ui.choose(bar(ui).getByRole('button', { name: /^Delete/ }));
    await ui.choose(dialog.getByRole('button', { name: 'Delete 2 scans' }));
    await ui.page.getByText('2 scans deleted').waitFor();
    await ui.page.getByText('No scan matches').waitFor();
    expect(await idsLeft()).toHaveLength(5);
    await ui.expectClean();
  });
});
