import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { longScan } from './long-values.ts';
import { canRun, UiBrowser, type UiPage } from './ui-page.ts';
import { UiService } from './ui-service.ts';

/** Ten runs over the same targets, none of them named. */
const ids = Array.from({ length: 10 }, (_, at) => `2026111${at}-14141${at}-a0000${at}`);
const [older = '', newer = ''] = [ids[8], ids[9]];

const tables = [
  { name: 'scans', path: '/scans', shows: '192.168.178.0/24' },
  { name: 'hosts', path: `/scans/${newer}/hosts`, shows: 'hv-frankfurt' },
  { name: 'services', path: `/scans/${newer}/services`, shows: 'Coyote' },
  { name: 'findings', path: `/scans/${newer}/findings`, shows: 'Ghostcat' },
  { name: 'events', path: `/scans/${newer}/events`, shows: 'Record' },
  { name: 'compare', path: `/compare?scan=${newer}&against=${older}`, shows: 'regreSSHion' },
  { name: 'audit', path: '/audit', shows: 'GET /api/v1' },
  { name: 'dashboard', path: '/', shows: 'Update it' },
] as const;

describe.runIf(canRun('table-room'))('tables with the long values of real networks, at 1280 px', () => {
  let browser: UiBrowser;
  let service: UiService;
  let token: string;
  const pages: UiPage[] = [];
  beforeAll(async () => {
    browser = await UiBrowser.launch();
    service = await UiService.start({
      auth: true,
      recorded: ids.map((id, at) =>
        longScan(id, { version: at === 9 ? '9.2p1' : '8.9p1', hosts: at === 9 ? 5 : 4 }),
      ),
      env: { SERVICE_LOGGING__AUDIT__ENABLED: 'true', SERVICE_LOGGING__AUDIT__READS: 'true' },
    });
    token = await service.token('admin');
  });
  afterAll(async () => {
    await browser?.close();
    await service?.dispose();
  });

  async function visit(path: string): Promise<UiPage> {
    for (const old of pages.splice(0)) await old.close();
    const ui = await browser.open(service, path, { token, width: 1280, theme: 'light' });
    pages.push(ui);
    return ui;
  }

  it.each(tables)('show most of every text: $name', async ({ name, path, shows }) => {
    const ui = await visit(path);
    await ui.page.getByText(shows).first().waitFor();
    const folded = ui.page.getByRole('button', { name: 'Unfold' });
    for (let left = (await folded.count()) - 1; left >= 0; left--) {
      await folded.last().click();
      await expect.poll(() => folded.count()).toBe(left);
    }
    await ui.picture(`room-${name}`, { fullPage: false });
    await ui.expectGood();
  });

  it('hosts have columns for name, system and kind, blank where one is not known', async () => {
    const ui = await visit(`/scans/${newer}/hosts`);
    const row = (host: string) => ui.page.getByRole('row').filter({ hasText: host });
    await row('192.168.178.103').waitFor();
    const cells = async (host: string) => (await row(host).getByRole('gridcell').allInnerTexts()).slice(1, 4);
    expect(await cells('192.168.178.101')).toEqual([
      'hv-frankfurt-03.infrastructure.example.net',
      'Windows server 2022',
      'server',
    ]);
    expect(await cells('192.168.178.103')).toEqual(['', '', 'router']);
    expect(await cells('192.168.178.104')).toEqual(['', '', '']);
  });

  it('hosts without open ports leave by a switch, by keys', async () => {
    const ui = await visit(`/scans/${newer}/hosts`);
    ui.keyboardOnly();
    const hosts = ui.page.locator('[data-row]');
    await expect.poll(() => hosts.count()).toBe(5);
    await ui.choose(ui.page.getByRole('switch', { name: 'With open ports' }), 'Space');
    await expect.poll(() => hosts.count()).toBe(4);
    await ui.page.getByText('4 of 5 hosts').waitFor();
    expect(ui.path).toContain('state%3Aopen');
    await ui.expectGood();
    await ui.press('Space');
    await expect.poll(() => hosts.count()).toBe(5);
    expect(ui.path).not.toContain('q=');
  });

  it('a host says in its drawer what it is and why, its worst finding, its sites and why ports are not open', async () => {
    const ui = await visit(`/scans/${newer}/hosts?open=host%20192.168.178.103`);
    const drawer = ui.page.getByRole('complementary').filter({ hasText: 'Worst finding' });
    const value = (label: string) => drawer.locator('dt', { hasText: label }).locator('xpath=../dd');
    expect(await value('Name').innerText()).toBe('none known');
    expect(await value('MAC').innerText()).toBe(
      '2c:91:ab:7f:10:88 AVM Audiovisuelles Marketing und Computersysteme GmbH',
    );
    expect(await value('Kind').innerText()).toBe('router\n80/tcp: http.title: FRITZ!Box');
    expect(await value('Worst finding').innerText()).toContain('regreSSHion');
    expect(await value('Not open').innerText()).toBe(
      '3 filtered: admin-prohibited from 192.168.178.1 (25, 445, 3389)\n900 closed: rst',
    );
    await ui.picture('room-host-drawer', { fullPage: false });
    await ui.expectGood();
    await value('Worst finding').getByRole('button').click();
    await ui.page.getByRole('heading', { name: 'Why it is reported' }).waitFor();
    await ui.goto(`/scans/${newer}/hosts?open=host%20192.168.178.101`);
    const sites = ui.page.getByRole('list', { name: 'Sites on port 443' }).getByRole('listitem');
    await expect
      .poll(() => sites.allInnerTexts())
      .toEqual([
        'shop.infrastructure.example.net "Site shop.infrastructure.example.net"',
        'wiki.infrastructure.example.net "Site wiki.infrastructure.example.net"',
      ]);
    await ui.expectGood();
  });

  it.each([
    ['hv-fra', 'hv-frankfurt-03.infrastructure.example.net', 'hosts', 'q=name%3Ahv-frankfurt'],
    ['178.103', '192.168.178.103', 'hosts', 'open=host+192.168.178.103'],
    ['coyote', 'Apache Tomcat/Coyote JSP engine', 'services', 'q=product%3A'],
    ['cve-2024-63', 'CVE-2024-6387', 'findings', 'q=id%3ACVE-2024-6387'],
  ])('Ctrl K finds %s in the newest scan that has it: %s', async (text, label, tab, query) => {
    const ui = await visit('/settings');
    ui.keyboardOnly();
    const asked: string[] = [];
    ui.page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (pathname.endsWith('/facets')) asked.push(pathname);
    });
    await ui.press('Control+k');
    await ui.page
      .getByRole('combobox', { name: /search/i })
      .and(ui.page.locator(':focus'))
      .waitFor();
    await ui.type(text);
    const option = ui.page.getByRole('option', { name: label });
    await option.waitFor();
    expect(await option.count()).toBe(1);
    expect(new Set(asked).size).toBe(4);
    await ui.picture('room-palette', { fullPage: false });
    await ui.expectGood();
    await ui.press('ArrowUp');
    for (let k = 0; k < 8 && (await option.getAttribute('aria-selected')) !== 'true'; k++)
      await ui.press('ArrowUp');
    await ui.press('Enter');
    await expect.poll(() => ui.path).toContain(`/scans/${newer}/${tab}?`);
    expect(ui.path).toContain(query);
    await ui.page.getByText(label).first().waitFor();
    await ui.expectClean();
  });
});
