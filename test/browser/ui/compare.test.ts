import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { canRun, looks, type OpenOptions, UiBrowser, type UiPage } from './ui-page.ts';
import { UiService } from './ui-service.ts';

const route = '/compare';

describe.runIf(canRun('compare'))('the page that compares scans', () => {
  let browser: UiBrowser;
  let service: UiService;
  let empty: UiService;
  let pair = '';
  let reverse = '';
  const pages: UiPage[] = [];
  beforeAll(async () => {
    [browser, service, empty] = await Promise.all([
      UiBrowser.launch(),
      UiService.start(),
      UiService.start({ auth: true }),
    ]);
    let version = '9.8p1';
    let server = 'Apache/2.4.49 (Unix)';
    const ssh = await service.listeners.serve((socket) => socket.write(`SSH-2.0-OpenSSH_${version}\r\n`));
    const web = await service.listeners.serve((socket) =>
      socket.once('data', () =>
        socket.end(
          `HTTP/1.1 200 OK\r\nServer: ${server}\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok`,
        ),
      ),
    );
    const order = { name: 'Berlin office', ports: `${ssh},${web}`, vuln: true };
    const before = await service.scan({ ...order, targets: ['127.0.0.1', '127.0.0.2'] });
    version = '8.9p1';
    server = 'Apache/2.4.62 (Unix)';
    const after = await service.scan({ ...order, targets: ['127.0.0.1', '127.0.0.3'] });
    pair = `${route}?scan=${after.scan_id}&against=${before.scan_id}`;
    reverse = `${route}?scan=${before.scan_id}&against=${after.scan_id}`;
  });
  afterEach(async () => {
    for (const page of pages.splice(0)) await page.close();
  });
  afterAll(async () => {
    await browser?.close();
    await Promise.all([service?.dispose(), empty?.dispose()]);
  });

  async function visit(of: UiService, path: string, options: OpenOptions = {}): Promise<UiPage> {
    const ui = await browser.open(of, path, options);
    pages.push(ui);
    return ui;
  }
  const grid = (ui: UiPage) => ui.page.getByRole('grid', { name: 'Changes' });
  const filter = (ui: UiPage, name: string) =>
    ui.page.getByRole('group', { name: 'Numbers of changes' }).getByRole('button', { name });

  it.each(looks)('shows what is new, fixed and not comparable, at $width px, $theme', async (look) => {
    const ui = await visit(service, pair, look);
    await grid(ui).getByText('New findings').waitFor();
    await ui.picture('compare');
    await ui.expectGood();
  });

  it('compares with the run before by itself', async () => {
    const ui = await visit(service, route);
    await expect.poll(() => ui.path).toBe(pair);
    await grid(ui).getByText('New findings').waitFor();
    await ui.expectClean();
  });

  it('shows a group alone, its values before and after, and its reason, by keys', async () => {
    const ui = await visit(service, pair);
    await grid(ui).getByText('New findings').waitFor();
    ui.keyboardOnly();
    await ui.choose(filter(ui, 'Services changed'), 'Space');
    await expect.poll(() => grid(ui).getByRole('row').count()).toBe(4);
    const changed = grid(ui).getByRole('row').filter({ hasText: '9.8p1' });
    expect(await changed.textContent()).toMatch(/OpenSSH.*9\.8p1.*became.*8\.9p1/);
    await ui.choose(filter(ui, 'Not comparable'), 'Space');
    await grid(ui).getByText('found before, not among the targets after: says nothing about it').waitFor();
    await ui.choose(filter(ui, 'Not comparable'), 'Space');
    await grid(ui).getByText('New findings').waitFor();
    await ui.expectGood();
  });

  it('filters both sides by text', async () => {
    const ui = await visit(service, pair);
    await grid(ui).getByText('New findings').waitFor();
    ui.keyboardOnly();
    await ui.press('/');
    await ui.type('apache httpd');
    await expect.poll(() => grid(ui).getByText('New findings').count()).toBe(0);
    await grid(ui).getByText('Fixed findings').waitFor();
    await ui.type(' nowhere');
    await ui.page.getByText('No change matches').waitFor();
    await ui.choose(ui.page.getByRole('button', { name: 'Clear filter' }));
    await grid(ui).getByText('New findings').waitFor();
    await ui.expectGood();
  });

  it('swaps both sides', async () => {
    const ui = await visit(service, pair);
    ui.keyboardOnly();
    const number = async (name: string) => Number((await filter(ui, name).textContent())?.replace(/\D/g, ''));
    await grid(ui).getByText('New findings').waitFor();
    const [added, fixed] = [await number('New findings'), await number('Fixed findings')];
    expect(Math.min(added, fixed)).toBeGreaterThan(0);
    await ui.choose(ui.page.getByRole('button', { name: 'Swap before and after' }));
    await expect.poll(() => ui.path).toBe(reverse);
    await expect.poll(() => number('New findings')).toBe(fixed);
    expect(await number('Fixed findings')).toBe(added);
    await ui.expectClean();
  });

  it('copies the changes as Markdown', async () => {
    const ui = await visit(service, pair);
    await ui.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await grid(ui).getByText('New findings').waitFor();
    await ui.choose(ui.page.getByRole('button', { name: 'Copy as Markdown' }));
    await ui.page.getByText(/changes copied as Markdown$/).waitFor();
    const text = (await ui.page.evaluate('navigator.clipboard.readText()')) as string;
    expect(text).toMatch(/^# Changes\n\nBefore: Berlin office, /);
    expect(text).toContain('## Fixed findings (');
    expect(text).toContain('OpenSSH `9.8p1` → `8.9p1`');
    await ui.expectClean();
  });

  it('opens the scan that has the row', async () => {
    const ui = await visit(service, pair);
    await grid(ui).getByText('New findings').waitFor();
    ui.keyboardOnly();
    await ui.tabTo(grid(ui).getByRole('row').nth(1));
    await ui.press('ArrowDown', 'Enter');
    await expect.poll(() => ui.path).toMatch(/^\/scans\/[\w-]+\/findings\?open=finding/);
  });

  it('says what it needs, and what is missing', async () => {
    const ui = await visit(empty, route, { token: await empty.token('scan:read') });
    await ui.page.getByText('Nothing to compare yet').waitFor();
    await ui.picture('compare-empty');
    await ui.expectGood();
    const ids = 'scan=20260101-000000-aaaaaa&against=20260101-000000-bbbbbb';
    const blind = await visit(empty, `${route}?${ids}`, { token: await empty.token('metrics:read') });
    await blind.page.getByText('This token may not compare scans').waitFor();
    await blind.expectGood(/status of 403/);
    const lost = await visit(empty, `${route}?${ids}`, { token: await empty.token('scan:read') });
    await lost.page.getByText('The comparison could not be loaded').waitFor();
    await lost.expectGood(/status of 404/);
  });
});
