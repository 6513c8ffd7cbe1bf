import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canRun, looks, type OpenOptions, UiBrowser, type UiPage } from './ui-page.ts';
import { UiService } from './ui-service.ts';

/** The routes of a scan as the table of pages names them, and what each shows of the scan of `targets()`. */
const tabs = [
  { route: '/scans/$scanId', path: '', shows: 'Fix first' },
  { route: '/scans/$scanId/', path: '/', shows: 'Coverage' },
  { route: '/scans/$scanId/hosts', path: '/hosts', shows: '127.0.0.1' },
  { route: '/scans/$scanId/services', path: '/services', shows: 'OpenSSH' },
  { route: '/scans/$scanId/findings', path: '/findings', shows: 'CVE-2021-41773' },
  { route: '/scans/$scanId/fixes', path: '/fixes', shows: 'Exploited' },
  { route: '/scans/$scanId/coverage', path: '/coverage', shows: 'Addresses requested' },
  { route: '/scans/$scanId/stages', path: '/stages', shows: 'banners' },
  { route: '/scans/$scanId/events', path: '/events', shows: 'Record' },
  { route: '/scans/$scanId/raw', path: '/raw', shows: '"scan_id"' },
] as const;

describe.runIf(canRun('scan'))('a scan', () => {
  let browser: UiBrowser;
  let service: UiService;
  let scanId: string;
  /** Open ports of the scan. */
  let services: number;
  const pages: UiPage[] = [];
  beforeAll(async () => {
    browser = await UiBrowser.launch();
    service = await UiService.start();
    scanId = (await service.scan({ vuln: true })).scan_id;
    services = Object.keys(await service.targets()).length;
  });
  afterAll(async () => {
    await browser?.close();
    await service?.dispose();
  });

  async function visit(path: string, options: OpenOptions = {}): Promise<UiPage> {
    for (const old of pages.splice(0)) await old.close();
    const ui = await browser.open(service, `/scans/${scanId}${path}`, options);
    pages.push(ui);
    return ui;
  }
  const rows = (ui: UiPage) => ui.page.locator('[role=grid] [role=row], [role=treegrid] [role=row]');

  describe.each(looks)('at $width px, $theme', (look) => {
    it('has all its parts', async () => {
      const ui = await visit('', look);
      for (const { path, shows } of tabs) {
        await ui.goto(`/scans/${scanId}${path}`);
        await ui.page.getByText(shows).first().waitFor();
        await ui.picture(`scan${path.replaceAll('/', '-')}`);
        await ui.expectGood();
      }
    });
  });

  it('shows its tree, its evidence and its filter by keys alone', async () => {
    const ui = await visit('/hosts');
    ui.keyboardOnly();
    // A row that is still to be loaded has nothing to unfold.
    await rows(ui).filter({ hasText: '127.0.0.1' }).first().waitFor();
    await ui.tabTo(ui.page.getByRole('treegrid'));
    await ui.press('ArrowDown', 'ArrowRight');
    // The ports are random: which services are in the window is chance.
    await rows(ui).filter({ hasText: '/tcp' }).first().waitFor();
    await ui.press('ArrowDown', 'Enter');
    const drawer = ui.page.getByRole('complementary').filter({ hasText: /Why it (is called|has no name)/ });
    await drawer.waitFor();
    expect(decodeURIComponent(ui.path)).toContain('open=port');
    await ui.expectGood();
    await ui.press('Escape');
    await drawer.waitFor({ state: 'detached' });
    await ui.press('/');
    await ui.type('port:443 severity:>=sevre');
    await ui.press('Enter');
    await ui.page
      .getByText(/column/)
      .first()
      .waitFor();
    await ui.expectClean();
  });

  describe('is filtered by its values', () => {
    const facet = (ui: UiPage, text: string) =>
      ui.page.getByRole('group', { name: 'Values to filter by' }).getByRole('button', { name: text });
    const values = (ui: UiPage) => ui.page.getByRole('button', { name: 'Filter by value' });
    const query = (ui: UiPage) => new URLSearchParams(ui.path.split('?')[1]).get('q');
    /** Rows with the head. */
    const shows = (ui: UiPage, q: string | null, services: number) =>
      expect.poll(async () => [query(ui), await rows(ui).count()]).toEqual([q, services + 1]);

    it('of facets: a click includes, Alt-click excludes, and both take it back', async () => {
      const ui = await visit('/services');
      await shows(ui, null, services);
      expect(await facet(ui, 'OpenSSH').count()).toBe(0);
      await values(ui).click();
      await facet(ui, 'OpenSSH').click();
      await shows(ui, 'product:OpenSSH', 1);
      await facet(ui, 'nginx').click();
      await shows(ui, 'product:OpenSSH,nginx', 2);
      expect(await facet(ui, 'nginx').getAttribute('aria-pressed')).toBe('true');
      await facet(ui, 'OpenSSH').click();
      await shows(ui, 'product:nginx', 1);
      await ui.page.goBack();
      await shows(ui, 'product:OpenSSH,nginx', 2);
      await ui.page.goForward();
      await facet(ui, 'nginx').click();
      await shows(ui, null, services);
      ui.keyboardOnly();
      await ui.tabTo(facet(ui, 'OpenSSH'));
      await ui.press('Alt+Enter');
      await shows(ui, 'not product:OpenSSH', services - 1);
      expect(await facet(ui, 'OpenSSH').textContent()).toContain('excluded');
      expect(await ui.focused()).toContain('OpenSSH');
      await ui.expectGood();
      await ui.press('Alt+Enter');
      await shows(ui, null, services);
      await ui.press('Enter');
      await shows(ui, 'product:OpenSSH', 1);
      await ui.expectClean();
    });

    it('and counts the values of a filter when its rows are there', async () => {
      const ui = await visit('/services');
      await shows(ui, null, services);
      await values(ui).click();
      await facet(ui, 'OpenSSH').waitFor();
      const rowsMayCome = Promise.withResolvers<void>();
      await ui.page.route(/\/records\?/, async (route) => {
        await rowsMayCome.promise;
        await route.continue();
      });
      const counts: string[] = [];
      ui.page.on('request', (request) => {
        const { pathname, searchParams } = new URL(request.url());
        if (pathname.endsWith('/facets')) counts.push(searchParams.get('q') ?? '');
      });
      await facet(ui, 'OpenSSH').click();
      await ui.page.locator('[role=grid][aria-busy]').waitFor();
      await ui.page.evaluate(
        'new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))',
      );
      expect(counts).toEqual([]);
      rowsMayCome.resolve();
      await shows(ui, 'product:OpenSSH', 1);
      await expect.poll(() => counts).toEqual(['product:OpenSSH']);
      await ui.expectClean();
    });

    it('of cells: the menu of each value in the tree of hosts, by keys', async () => {
      const ui = await visit('/hosts');
      ui.keyboardOnly();
      await rows(ui).nth(1).waitFor();
      await ui.tabTo(ui.page.locator('[data-row="0"]'));
      await ui.press('ArrowRight');
      await rows(ui).nth(services).waitFor();
      // The row's own button unfolds it, the next one belongs to its first value.
      await ui.press('ArrowDown', 'F2', 'ArrowRight');
      const [, port] = /Filter by port (\d+)/.exec(await ui.focused()) ?? [];
      await ui.expectFocusShown();
      await ui.press('Enter');
      await ui.menuItem('Only this value');
      await ui.picture('scan-value-menu', { fullPage: false });
      await ui.expectGood();
      await ui.press('ArrowDown', 'Enter');
      await expect.poll(() => query(ui)).toBe(`port:${port}`);
      await ui.page.getByText('1 of 1 hosts').waitFor();
      // Its row went with the old tree: the focus stays in the table.
      await expect.poll(() => ui.focused()).toMatch(/^row/);
      await ui.press('ArrowRight');
      await ui.page.getByText(`${services - 1} more services do not match`).waitFor();
      await ui.expectGood();
    });

    it('and shows the columns that are chosen, by keys', async () => {
      const ui = await visit('/hosts');
      ui.keyboardOnly();
      await rows(ui).nth(1).waitFor();
      await ui.choose(ui.page.getByRole('button', { name: 'Columns' }));
      await ui.page.getByRole('menuitemcheckbox', { name: 'Hardware address' }).waitFor();
      await ui.expectGood();
      await ui.press('End', 'ArrowUp', 'Space', 'Home', 'ArrowDown', 'Space', 'Escape');
      const heads = () => ui.page.getByRole('columnheader').allTextContents();
      await expect.poll(heads).toContain('RTT');
      expect(await heads()).not.toContain('Name, product, title');
      expect(ui.path).toContain('columns=');
      await ui.page.reload();
      await expect.poll(heads).toContain('RTT');
      await ui.picture('scan-columns');
      await ui.expectGood();
    });
  });

  it('keeps filter, order and open row in the URL', async () => {
    const q = encodeURIComponent('product:openssh');
    const ui = await visit(`/services?q=${q}&sort=-port`);
    await ui.page.getByText('1 of').first().waitFor();
    await expect.poll(() => rows(ui).count()).toBe(2);
    // In the middle of the row is the menu of a value.
    await rows(ui).last().getByText('OpenSSH').first().click();
    await ui.page.getByText('Why it is called').waitFor();
    await ui.page.reload();
    await ui.page.getByText('Why it is called').waitFor();
    await ui.page.goBack();
    await ui.page.getByText('Why it is called').waitFor({ state: 'detached' });
    expect(ui.path).toContain('q=product');
    await ui.expectClean();
  });

  it('goes from one finding to the next in the drawer, and says why each is reported', async () => {
    const ui = await visit('/findings');
    await ui.page.locator('[data-row="0"]').getByText('CVE-').first().click();
    await ui.page.getByRole('heading', { name: 'Why it is reported' }).waitFor();
    await ui.page.getByRole('heading', { name: 'How to fix it' }).waitFor();
    const place = (at: number) => ui.page.getByText(new RegExp(`^${at} of \\d+$`));
    await place(1).waitFor();
    const first = ui.path;
    await ui.press('j');
    await place(2).waitFor();
    expect(ui.path).not.toBe(first);
    await ui.page.reload();
    await place(2).waitFor();
    await ui.press('k');
    await place(1).waitFor();
    expect(ui.path).toBe(first);
    await ui.expectGood();
    await ui.page.getByRole('link', { name: 'Why it is called so' }).click();
    await ui.page.getByText('First bytes').first().waitFor();
    await ui.expectGood();
  });

  it('shows texts of a target as texts', async () => {
    const ui = await visit(`/services?q=${encodeURIComponent('hostile')}`);
    await expect.poll(() => rows(ui).count()).toBe(2);
    expect(await ui.page.locator('[role=grid] img, [role=grid] script').count()).toBe(0);
    await rows(ui).last().click();
    await ui.page.getByText('First bytes').first().waitFor();
    await ui.expectGood();
  });

  it('is paused, resumed and canceled, and says so', async () => {
    const slow = await service.submit({ ports: '1-65535', rate: 200, name: 'Slow one' });
    for (const old of pages.splice(0)) await old.close();
    const ui = await browser.open(service, `/scans/${slow}`);
    pages.push(ui);
    ui.keyboardOnly();
    await ui.choose(ui.page.getByRole('button', { name: 'Pause', exact: true }));
    await ui.page.getByText('Paused').first().waitFor();
    await ui.expectGood();
    await ui.choose(ui.page.getByRole('button', { name: 'Resume' }));
    await ui.page.getByText('not tried yet').waitFor();
    await ui.picture('scan-running');
    await ui.goto(`/scans/${slow}/events`);
    const events = ui.page
      .getByRole('main')
      .getByRole('button', { name: /^(Pause|Go on)$/ })
      .last();
    await ui.choose(events);
    await expect.poll(() => events.textContent()).toBe('Go on');
    await ui.press('Enter');
    await expect.poll(() => events.textContent()).toBe('Pause');
    await ui.goto(`/scans/${slow}`);
    await ui.choose(ui.page.getByRole('button', { name: 'Cancel scan…' }));
    const dialog = ui.page.getByRole('alertdialog').or(ui.page.getByRole('dialog'));
    await dialog.waitFor();
    await ui.expectAccessible();
    await ui.choose(dialog.getByRole('button', { name: 'Cancel scan' }));
    await ui.page.getByText('Canceled').first().waitFor();
    await ui.expectClean();
  });

  it('stays where its reader scrolled to while it changes', async () => {
    const slow = await service.submit({ ports: '1-65535', rate: 200, name: 'Long one' });
    const ui = await browser.open(service, `/scans/${slow}`, { width: 390 });
    pages.push(ui);
    const tried = ui.page.getByText(/ tried · /);
    await tried.waitFor();
    await ui.page.getByRole('navigation', { name: 'Parts of this scan' }).waitFor();
    for (const top of [0, 40]) {
      await ui.page.evaluate(`document.scrollingElement.scrollTop = ${top}`);
      const before = await tried.textContent();
      await expect.poll(() => tried.textContent()).not.toBe(before);
      expect(await ui.page.evaluate('document.scrollingElement.scrollTop')).toBe(top);
    }
    await service.call('POST', `/api/v1/scans/${slow}/cancel`);
    await service.ended(slow);
  });

  it('lists its events as they come, until it is paused', async () => {
    const slow = await service.submit({ targets: ['127.8.0.0/22'], ports: '9', rate: 40, options: {} });
    const ui = await browser.open(service, `/scans/${slow}/events`);
    pages.push(ui);
    const newest = ui.page.getByRole('list', { name: 'Events, newest first' }).getByRole('listitem').first();
    // The first one may be the state of the scan.
    await expect.poll(() => newest.textContent()).toContain('host');
    const first = await newest.textContent();
    await expect.poll(() => newest.textContent()).not.toBe(first);
    await ui.page.getByRole('main').getByRole('button', { name: 'Pause', exact: true }).last().click();
    await ui.page.getByRole('button', { name: 'Go on' }).waitFor();
    await ui.expectClean();
    await service.call('POST', `/api/v1/scans/${slow}/cancel`);
    await service.ended(slow);
  });

  it('is exported, copied and deleted by keys', async () => {
    const { scan_id } = await service.scan({ name: 'To delete', vuln: true });
    for (const old of pages.splice(0)) await old.close();
    const ui = await browser.open(service, `/scans/${scan_id}`);
    pages.push(ui);
    await ui.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    ui.keyboardOnly();
    await ui.choose(ui.page.getByRole('button', { name: 'Export' }));
    await ui.menuItem('JSON');
    const saved = ui.page.waitForEvent('download');
    await ui.press('j', 'Enter');
    expect((await saved).suggestedFilename()).toMatch(/\.json$/);
    await ui.choose(ui.page.getByRole('button', { name: 'More actions' }));
    await ui.menuItem('Copy scan ID');
    for (let k = 0; k < 12 && !(await ui.focused()).includes('Copy scan ID'); k++)
      await ui.press('ArrowDown');
    await ui.press('Enter');
    await ui.page.getByText('Scan ID copied').waitFor();
    expect(await ui.page.evaluate('navigator.clipboard.readText()')).toBe(scan_id);
    const tabsOf = ui.page.getByRole('navigation', { name: 'Parts of this scan' });
    await ui.choose(tabsOf.getByRole('link', { name: 'Fix list' }));
    const first = ui.page.getByRole('main').locator('ol > li').first();
    await ui.choose(first.locator('button[aria-expanded]'));
    await ui.choose(first.getByRole('button', { name: 'Copy as ticket' }));
    await ui.page.getByText('Ticket copied as Markdown').waitFor();
    await ui.choose(first.getByRole('link', { name: 'Show these findings' }));
    await expect.poll(() => ui.path).toMatch(/\/findings\?q=action/);
    await ui.choose(ui.page.getByRole('button', { name: 'Run again' }));
    await expect.poll(() => ui.path).toMatch(/^\/scans\/new/);
    await ui.goto(`/scans/${scan_id}/raw`);
    const results = ui.page.waitForEvent('download');
    await ui.choose(ui.page.getByRole('button', { name: 'JSON Lines' }));
    expect((await results).suggestedFilename()).toMatch(/\.jsonl$/);
    await ui.choose(ui.page.getByRole('button', { name: 'More actions' }));
    await ui.menuItem('Delete scan…');
    await ui.press('End', 'Enter');
    const dialog = ui.page.getByRole('alertdialog', { name: 'Delete this scan?' });
    await dialog.waitFor();
    await expect.poll(() => ui.focused()).toBe('button "Keep"');
    await ui.choose(dialog.getByRole('button', { name: 'Delete scan' }));
    await expect.poll(() => ui.path).toBe('/scans');
    await ui.expectClean();
  });

  it('that does not exist says so', async () => {
    for (const old of pages.splice(0)) await old.close();
    const ui = await browser.open(service, '/scans/20260101-000000-ffffff');
    pages.push(ui);
    await ui.page.getByText('The scan does not exist').waitFor();
    await ui.page.getByRole('link', { name: 'All scans' }).waitFor();
    await ui.expectGood(/status of 404/);
  });
});
