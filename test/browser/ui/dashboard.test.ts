import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canRun, looks, UiBrowser, type UiPage } from './ui-page.ts';
import { UiService } from './ui-service.ts';

describe.runIf(canRun('dashboard'))('the dashboard', () => {
  let browser: UiBrowser;
  let service: UiService;
  const pages: UiPage[] = [];
  beforeAll(async () => {
    browser = await UiBrowser.launch();
    service = await UiService.start({ env: { SERVICE_SCANNER__SCOPE__DENY: '192.0.2.0/24' } });
  });
  afterAll(async () => {
    await browser?.close();
    await service?.dispose();
  });

  async function visit(look = {}): Promise<UiPage> {
    for (const old of pages.splice(0)) await old.close();
    const ui = await browser.open(service, '/', look);
    pages.push(ui);
    return ui;
  }
  const heading = (ui: UiPage) => ui.page.locator('h1').first().textContent();

  describe('of an empty workspace', () => {
    it.each(looks)('leads to a first scan at $width px, $theme', async (look) => {
      const ui = await visit(look);
      await expect.poll(() => heading(ui)).toBe('Start a first scan');
      await ui.page.getByRole('heading', { name: 'What this machine allows' }).waitFor();
      await ui.page.getByText('built in only').waitFor();
      await ui.page.getByText('portolan vulndb sync').waitFor();
      await ui.picture('first-scan');
      await ui.expectGood();
    });

    it('starts it by keys alone, with the reason at the field while it is typed', async () => {
      const ui = await visit();
      ui.keyboardOnly();
      const field = ui.page.getByRole('textbox', { name: 'Targets' });
      await expect.poll(() => ui.focused()).toMatch(/input/);
      await ui.type('192.0.2.7');
      await ui.page.getByText(/192\.0\.2\.7 is out of scope/).waitFor();
      expect(await field.getAttribute('aria-invalid')).toBe('true');
      await ui.picture('first-scan-refused');
      await ui.expectAccessible();
      await ui.press('Control+a');
      await ui.type('127.0.0.1');
      await ui.page.getByText('1 address to scan, in scope').waitFor();
      await ui.press('Enter');
      await expect.poll(() => ui.path).toBe('/scans/new/review');
      await ui.page.getByText('Nothing has been sent yet.').waitFor();
      expect((await service.call<{ total: number }>('GET', '/api/v1/scans')).total).toBe(0);
      await ui.choose(ui.page.getByRole('button', { name: /^Start scan/ }));
      await expect.poll(() => ui.path).toMatch(/^\/scans\/\d{8}-\d{6}-/);
      await expect.poll(() => heading(ui)).toBe('127.0.0.1');
      await ui.expectClean(/status of 400/);
    });
  });

  describe('of scans that have ended', () => {
    beforeAll(async () => {
      const { scans } = await service.call<{ scans: { scan_id: string }[] }>('GET', '/api/v1/scans');
      for (const { scan_id } of scans) await service.call('DELETE', `/api/v1/scans/${scan_id}`);
      const { ssh, web, exploited } = await service.targets();
      await service.scan({ vuln: true, ports: `${ssh},${web}` });
      await service.scan({ vuln: true, ports: `${ssh},${web},${exploited}` });
      await service.scan({ name: 'Branch Leipzig', ports: String(ssh) });
      await service.call('POST', '/api/v1/jobs', {
        type: 'scan',
        name: 'DMZ nightly',
        schedule: '0 2 * * *',
        params: { targets: ['127.0.0.1'] },
      });
      await service.submit({
        name: 'Core network',
        ports: '1-20000',
        rate: 20,
        options: { discover: false, scan_type: 'connect' },
      });
    });

    it.each(looks)('says what is open, new, and to do at $width px, $theme', async (look) => {
      const ui = await visit(look);
      await ui.page.getByText('each counted once by its newest evaluated run').waitFor();
      await ui.page.getByRole('link', { name: /DMZ nightly/ }).waitFor();
      await ui.page.getByRole('progressbar').waitFor();
      await ui.page.getByText('One day is known so far').waitFor();
      await ui.page.getByRole('button', { name: 'Fetch the data' }).waitFor();
      await ui.picture('dashboard');
      await ui.expectGood();
    });

    it('opens comparisons, fixes and jobs by keys', async () => {
      const ui = await visit();
      ui.keyboardOnly();
      const row = ui.page.getByRole('row').filter({ hasText: 'Berlin office' });
      await row.getByText('new').first().waitFor();
      await ui.choose(row.getByRole('link').nth(1));
      await expect.poll(() => ui.path).toMatch(/^\/compare\?scan=.+&against=/);
      await ui.page.goBack();
      await ui.choose(ui.page.getByRole('link', { name: /^(Whole fix|Fix) list/ }));
      await expect.poll(() => ui.path).toMatch(/\/fixes$/);
      await ui.page.goBack();
      await ui.choose(ui.page.getByRole('link', { name: 'Core network' }));
      await expect.poll(() => heading(ui)).toBe('Core network');
      await ui.expectClean();
    });
  });
});
