import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canRun, looks, type OpenOptions, UiBrowser, type UiPage } from './ui-page.ts';
import { UiService } from './ui-service.ts';

/** The steps, as the table of pages has them; `/scans/new/` is the first one within `/scans/new`. */
const steps = [
  ['/scans/new', 'Targets'],
  ['/scans/new/profile', 'Profile'],
  ['/scans/new/options', 'Options'],
  ['/scans/new/notifications', 'Notifications'],
] as const;
const review = '/scans/new/review';
const refused = /status of 400/;

describe.runIf(canRun('new-scan'))('a new scan', () => {
  let browser: UiBrowser;
  let service: UiService;
  let admin: string;
  const pages: UiPage[] = [];
  beforeAll(async () => {
    browser = await UiBrowser.launch();
    service = await UiService.start({
      auth: true,
      env: {
        SERVICE_SCANNER__SCOPE__ALLOW: '127.0.0.0/8,192.168.20.0/24,10.20.0.0/24',
        SERVICE_SCANNER__SCOPE__DENY: '10.20.0.16/30',
      },
    });
    admin = await service.token('admin');
  });
  afterAll(async () => {
    await browser?.close();
    await service?.dispose();
  });

  async function visit(path: string, options: OpenOptions = {}): Promise<UiPage> {
    for (const old of pages.splice(0)) await old.close();
    const ui = await browser.open(service, path, { token: admin, ...options });
    pages.push(ui);
    await ui.page.getByRole('navigation', { name: 'Steps' }).waitFor();
    return ui;
  }
  const field = (ui: UiPage, name: string) => ui.page.getByRole('textbox', { name });
  const next = (ui: UiPage, name: string) => ui.page.getByRole('link', { name: `Next: ${name}` });
  const total = async () => (await service.call<{ total: number }>('GET', '/api/v1/scans')).total;

  describe.each(looks)('at $width px, $theme', (look) => {
    it('has a page per step', async () => {
      const ui = await visit(
        '/scans/new/?targets=192.168.20.0/24+10.20.0.10-10.20.0.40+web-1.example.net',
        look,
      );
      await ui.page.getByText('281 addresses and 1 name to scan').waitFor();
      for (const [index, [path, label]] of steps.entries()) {
        await ui.page.getByRole('navigation', { name: 'Steps' }).getByRole('link', { name: label }).click();
        await expect.poll(() => ui.path.replace(/\/$/, '')).toBe(path);
        await next(ui, steps[index + 1]?.[1] ?? 'Review').waitFor();
        await ui.picture(`new-scan-${label.toLowerCase()}`);
        await ui.expectGood();
      }
      await next(ui, 'Review').click();
      await expect.poll(() => ui.path).toBe(review);
      await ui.page.getByText('10.20.0.16-10.20.0.19').waitFor();
      await ui.page
        .getByRole('list', { name: 'Graph of this scan' })
        .or(ui.page.getByText('report').first())
        .first()
        .waitFor();
      await ui.picture('new-scan-review');
      await ui.expectGood();
    });
  });

  it('goes through all steps by keys, with the reasons at their fields', async () => {
    const { web } = await service.targets();
    const ui = await visit('/scans/new');
    ui.keyboardOnly();
    await expect.poll(() => ui.focused()).toMatch(/textarea/);
    await ui.type('127.0.0.1, http://127.0.0.1');
    await ui.page.getByText(/a URL; give its host alone/).waitFor();
    expect(await field(ui, 'Targets').getAttribute('aria-invalid')).toBe('true');
    await ui.picture('new-scan-targets-refused');
    await ui.expectAccessible();
    await ui.press('Control+a');
    await ui.type('127.0.0.1');
    await ui.page.getByText('1 address to scan').waitFor();
    await ui.tabTo(field(ui, 'Exclude'));
    await ui.type('10.0.0.300');
    await ui.page
      .getByText(/10\.0\.0\.300/)
      .first()
      .waitFor();
    await expect.poll(() => field(ui, 'Exclude').getAttribute('aria-invalid')).toBe('true');
    await ui.press('Control+a', 'Delete');
    await ui.tabTo(field(ui, 'Name'));
    await ui.type('Berlin office');
    await ui.choose(next(ui, 'Profile'));
    await ui.page.getByRole('radio', { name: /quick/ }).waitFor();
    await expect.poll(() => ui.focused()).toMatch(/^group "Profile"?/);
    await ui.tabTo(ui.page.getByRole('radio', { name: /standard/ }));
    await ui.press('ArrowDown');
    await ui.choose(next(ui, 'Options'));
    await ui.tabTo(field(ui, 'Ports'));
    await ui.type('99999');
    await expect.poll(() => field(ui, 'Ports').getAttribute('aria-invalid')).toBe('true');
    // The review names what is wrong and leads back to it.
    await ui.choose(ui.page.getByRole('navigation', { name: 'Steps' }).getByRole('link', { name: 'Review' }));
    await ui.page.getByText('The server refuses this scan').waitFor();
    await ui.picture('new-scan-refused');
    await ui.expectAccessible();
    await ui.choose(ui.page.getByRole('alert').getByRole('link', { name: 'Ports' }));
    await ui.tabTo(field(ui, 'Ports'));
    await ui.press('Control+a');
    await ui.type(String(web));
    await ui.choose(next(ui, 'Notifications'));
    await ui.tabTo(field(ui, 'Channels'));
    await ui.type('pigeon://loft');
    await expect.poll(() => field(ui, 'Channels').getAttribute('aria-invalid')).toBe('true');
    await ui.press('Control+a', 'Delete');
    await ui.choose(next(ui, 'Review'));
    await ui.page.getByText('Nothing has been sent yet.').waitFor();
    expect(await total()).toBe(0);
    // What was typed survives a reload.
    await ui.page.reload();
    await ui.page.getByText('Berlin office').first().waitFor();
    await ui.press('Control+Enter');
    await expect.poll(() => ui.page.locator('h1').first().textContent()).toBe('Berlin office');
    expect(ui.path).toMatch(/^\/scans\/\d{8}-/);
    expect(await total()).toBe(1);
    await ui.expectClean(refused);
    await service.ended(ui.path.split('/')[2] as string);
  });

  it('starts from another one, says how long that took, and leads to a job', async () => {
    const { scan_id } = await service.scan({
      name: 'DMZ',
      tags: ['dmz'],
      ports: undefined,
      profile: 'quick',
    });
    const ui = await visit(`/scans/new?from=${scan_id}`);
    await expect.poll(() => field(ui, 'Name').inputValue()).toBe('DMZ');
    expect(await field(ui, 'Tags').inputValue()).toBe('dmz');
    ui.keyboardOnly();
    await ui.choose(ui.page.getByRole('navigation', { name: 'Steps' }).getByRole('link', { name: 'Review' }));
    await ui.page.getByText('Duration, probably').waitFor();
    await ui.choose(ui.page.getByRole('link', { name: 'Schedule…' }));
    await expect.poll(() => ui.path).toBe('/jobs/new');
    await expect.poll(() => field(ui, 'Targets').inputValue()).toBe('127.0.0.1');
    await ui.expectClean();
  });

  it('runs again as it was, with every option', async () => {
    const first = await service.scan({
      name: 'again',
      exclude: ['127.0.0.9'],
      rate: 400,
      options: { scan_type: 'connect', retries: 0, timeout: '700ms', min_severity: 'low' },
    });
    const ui = await browser.open(service, `/scans/${first.scan_id}`, { token: admin });
    pages.push(ui);
    ui.keyboardOnly();
    await ui.choose(ui.page.getByRole('button', { name: 'Run again' }));
    await expect.poll(() => ui.path).toBe(review);
    await ui.page.getByText('timeout 700ms, retries 0').waitFor();
    await ui.page.getByText('as in the last run').waitFor();
    await ui.picture('new-scan-again');
    await ui.expectAccessible();
    await ui.choose(ui.page.getByRole('button', { name: /Start scan/ }));
    await expect.poll(() => ui.path).toMatch(/^\/scans\/\d{8}-/);
    const second = ui.path.split('/')[2] as string;
    const requestOf = (id: string) => service.call('GET', `/api/v1/scans/${id}/request`);
    expect(second).not.toBe(first.scan_id);
    expect(await requestOf(second)).toEqual(await requestOf(first.scan_id));
    await service.ended(second);
    await ui.expectClean();
  });

  it('becomes a job from the menu of a scan', async () => {
    const { scan_id } = await service.scan({ name: 'nightly to be', rate: 300 });
    const ui = await browser.open(service, `/scans/${scan_id}`, { token: admin });
    pages.push(ui);
    ui.keyboardOnly();
    await ui.choose(ui.page.getByRole('button', { name: 'More actions' }));
    await ui.menuItem('Schedule…');
    await ui.press('Enter');
    await expect.poll(() => ui.path).toBe('/jobs/new');
    await expect.poll(() => field(ui, 'Name').inputValue()).toBe('nightly to be');
    await ui.page.getByText('Further: 300 packets per second').waitFor();
    await ui.expectClean();
  });

  it('is not started without the scope for it', async () => {
    const token = await service.token('scan:read');
    const ui = await visit('/scans/new?targets=127.0.0.1', { token });
    await ui.page.getByText('This token may not start scans').waitFor();
    await ui.expectGood(/status of 403/);
  });
});
