import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Cable } from './cable.ts';
import { canRun, looks, type OpenOptions, UiBrowser, type UiPage, usualLook } from './ui-page.ts';
import { UiService } from './ui-service.ts';

/** Chromium says so of every response of this status, whatever the page does with it. */
const status401 = /status of 401/;
const lostServer = /ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE_CHUNKED/;

describe.runIf(canRun('shell'))('the frame of the UI', () => {
  let browser: UiBrowser;
  let open: UiService;
  let closed: UiService;
  const pages: UiPage[] = [];
  beforeAll(async () => {
    browser = await UiBrowser.launch();
    [open, closed] = await Promise.all([UiService.start(), UiService.start({ auth: true })]);
  });
  afterAll(async () => {
    await browser?.close();
    await Promise.all([open?.dispose(), closed?.dispose()]);
  });

  async function visit(service: UiService | Cable, path: string, options: OpenOptions = {}): Promise<UiPage> {
    for (const old of pages.splice(0)) await old.close();
    const ui = await browser.open(service, path, options);
    pages.push(ui);
    return ui;
  }
  const heading = (ui: UiPage) => ui.page.locator('h1').first();
  const state = (ui: UiPage) => ui.page.locator('header, [role=banner]').first();

  describe.each(looks)('at $width px, $theme', (look) => {
    it('shows a page that does not exist', async () => {
      const ui = await visit(open, '/no-such-page', look);
      await expect.poll(() => heading(ui).textContent()).toBe('Page not found');
      await expect.poll(() => ui.page.title()).toBe('Page not found · Portolan');
      await ui.picture('frame');
      await ui.expectGood();
    });

    it('asks for a token', async () => {
      const ui = await visit(closed, '/scans?q=berlin', look);
      await expect.poll(() => heading(ui).textContent()).toBe('Sign in');
      await ui.picture('login');
      await ui.expectGood(status401);
      await ui.page.getByLabel('Token').fill('svc_zzzzzz_wrong');
      await ui.press('Enter');
      await ui.page.getByText('Check for missing characters').waitFor();
      await ui.picture('login-wrong');
      await ui.expectGood(status401);
    });

    it('opens the palette and the list of keys', async () => {
      const ui = await visit(open, '/no-such-page', look);
      await ui.press('Control+k');
      await ui.page.getByRole('combobox', { name: /search/i }).waitFor();
      await ui.picture('palette', { fullPage: false });
      await ui.expectGood();
      await ui.press('Escape');
      await ui.page.getByRole('combobox', { name: /search/i }).waitFor({ state: 'hidden' });
      await ui.press('?');
      await ui.page.getByRole('dialog', { name: 'Keys' }).waitFor();
      await ui.picture('keys', { fullPage: false });
      await ui.expectGood();
    });
  });

  describe('a reader who signs in', () => {
    it('comes to the page that was asked for, by keys alone, and the token stays in the tab', async () => {
      const token = await closed.token('scan:read', 'metrics:read');
      const ui = await visit(closed, '/scans?q=berlin');
      const urls: string[] = [];
      ui.page.on('request', (request) => urls.push(request.url()));
      ui.keyboardOnly();
      await ui.tabTo(ui.page.getByLabel('Token'));
      await ui.type(token);
      await ui.press('Enter');
      await ui.page.getByRole('navigation', { name: 'Pages' }).waitFor();
      await expect.poll(() => ui.path).toBe('/scans?q=berlin');
      await ui.expectClean(status401);
      const left = await ui.page.evaluate(
        'JSON.stringify({ ...localStorage }) + document.cookie + location.href',
      );
      expect(left).not.toContain(token);
      expect(urls.filter((url) => url.includes(token))).toEqual([]);
      // Another tab does not know it.
      const beside = await browser.open(closed, '/scans', { besides: ui });
      pages.push(beside);
      expect(await heading(beside).textContent()).toBe('Sign in');
      await beside.expectClean(status401);
    });

    it('returns to the same page after the token was revoked', async () => {
      const [first, second] = [await closed.token('scan:read'), await closed.token('scan:read')];
      const ui = await visit(closed, '/scans?q=berlin', { token: first });
      await ui.page.getByRole('navigation', { name: 'Pages' }).waitFor();
      await ui.expectClean();
      await closed.revoke(first);
      await ui.page.getByText('This token has expired or was revoked.').waitFor();
      expect(ui.path).toBe('/scans?q=berlin');
      await ui.picture('login-revoked');
      await ui.expectAccessible();
      await ui.page.getByLabel('Token').fill(second);
      await ui.press('Enter');
      await ui.page.getByRole('navigation', { name: 'Pages' }).waitFor();
      expect(ui.path).toBe('/scans?q=berlin');
      await ui.expectClean(status401);
    });

    it('returns to the same page after the token expired', async () => {
      const ui = await visit(closed, '/scans?q=berlin', {
        token: await closed.shortToken('8s', 'scan:read'),
      });
      await ui.page.getByRole('navigation', { name: 'Pages' }).waitFor();
      await ui.page.getByText('This token has expired or was revoked.').waitFor();
      expect(ui.path).toBe('/scans?q=berlin');
      ui.keyboardOnly();
      await ui.tabTo(ui.page.getByLabel('Token'));
      await ui.type(await closed.token('scan:read'));
      await ui.press('Enter');
      await ui.page.getByRole('navigation', { name: 'Pages' }).waitFor();
      await expect.poll(() => heading(ui).textContent()).toBe('Scans');
      expect(ui.path).toBe('/scans?q=berlin');
      await ui.expectClean(status401);
    });

    it('sees one tenant in each tab of a browser', async () => {
      const service = await UiService.start({ auth: true, tenants: ['acme', 'globex'] });
      try {
        const tokens = {
          acme: await service.tenantToken('acme', 'scan:read', 'scan:write'),
          globex: await service.tenantToken('globex', 'scan:read', 'scan:write'),
        };
        const acme = await visit(service, '/scans', { token: tokens.acme });
        const globex = await browser.open(service, '/scans', { token: tokens.globex, besides: acme });
        pages.push(globex);
        for (const ui of [acme, globex]) {
          await expect.poll(() => state(ui).textContent()).toContain('Live');
          await ui.page.getByText('No scans yet').waitFor();
        }
        // Each scan comes into the tab of its tenant by the stream, and into no other.
        const { web } = await service.targets();
        for (const tenant of ['acme', 'globex']) {
          const body = { targets: ['127.0.0.1'], ports: String(web), name: `Office of ${tenant}` };
          await service.callFor(tenant, 'POST', '/api/v1/scans', { ...body, options: { discover: false } });
        }
        await acme.page.getByText('Office of acme').first().waitFor();
        await globex.page.getByText('Office of globex').first().waitFor();
        expect(await acme.page.content()).not.toContain('Office of globex');
        expect(await globex.page.content()).not.toContain('Office of acme');
        for (const ui of [acme, globex]) {
          await ui.page.reload();
          await ui.page
            .getByText(ui === acme ? 'Office of acme' : 'Office of globex')
            .first()
            .waitFor();
          await ui.expectClean();
        }
        // Who signs out in one tab stays signed in in the other.
        acme.keyboardOnly();
        await acme.choose(acme.page.getByRole('button', { name: 'Sign out' }));
        await expect.poll(() => heading(acme).textContent()).toBe('Sign in');
        await globex.page.reload();
        await globex.page.getByText('Office of globex').first().waitFor();
        await globex.expectClean();
      } finally {
        for (const old of pages.splice(0)) await old.close();
        await service.dispose();
      }
    });

    it('leaves nothing behind when signing out', async () => {
      const token = await closed.token('scan:read');
      const ui = await visit(closed, '/scans', { token });
      ui.keyboardOnly();
      await ui.choose(ui.page.getByRole('button', { name: 'Sign out' }));
      await expect.poll(() => heading(ui).textContent()).toBe('Sign in');
      const left = await ui.page.evaluate('JSON.stringify([{ ...sessionStorage }, { ...localStorage }])');
      expect(left).not.toContain(token);
      await ui.page.reload();
      await expect.poll(() => heading(ui).textContent()).toBe('Sign in');
      await ui.expectClean(status401);
    });
  });

  describe('the keys', () => {
    it('reach pages through the palette, and the focus returns to where it was', async () => {
      const ui = await visit(open, '/');
      ui.keyboardOnly();
      const before = await ui.focused();
      await ui.press('Control+k');
      const field = ui.page.getByRole('combobox', { name: /search/i });
      await field.waitFor();
      await expect.poll(() => ui.focused()).toMatch(/combobox/);
      await ui.press('Escape');
      await field.waitFor({ state: 'hidden' });
      await expect.poll(() => ui.focused()).toBe(before);
      await ui.press('Control+k');
      await field.waitFor();
      await ui.type('new scan');
      await ui.page
        .getByRole('option', { name: /New scan/ })
        .first()
        .waitFor();
      await ui.press('Enter');
      await expect.poll(() => ui.path).toMatch(/^\/scans\/new/);
      await ui.expectClean();
    });

    it('stay in the palette when the page arrives after it', async () => {
      const ui = await visit(open, '/no-such-page');
      let arrive = () => {};
      const held = new Promise<void>((resolve) => {
        arrive = resolve;
      });
      await ui.page.route('**/api/v1/**', async (route) => {
        await held;
        await route.continue();
      });
      await ui.press('g', 'd');
      await expect.poll(() => ui.path).toBe('/');
      await ui.press('Control+k');
      const field = ui.page.getByRole('combobox', { name: /search/i });
      await field.and(ui.page.locator(':focus')).waitFor();
      arrive();
      await ui.page.getByPlaceholder('192.168.20.0/24').waitFor();
      expect(await ui.focused()).toMatch(/combobox/);
      await ui.expectClean();
    });

    it('reach every page, tab and action of the open page through the palette', async () => {
      const ui = await visit(open, '/jobs/new');
      ui.keyboardOnly();
      const field = ui.page.getByRole('combobox', { name: /search/i });
      const matches = async (text: string) => {
        // What is typed before the field has the focus goes to the page.
        await field.waitFor({ state: 'hidden' });
        await ui.press('Control+k');
        await field.and(ui.page.locator(':focus')).waitFor();
        await ui.type(text);
        return ui.page.getByRole('option', { name: new RegExp(text, 'i') }).first();
      };
      for (const text of [
        'Settings: Tokens',
        'Alerts: Notification channels',
        'Workspace',
        'Audit',
        'New job',
      ]) {
        await (await matches(text)).waitFor();
        await ui.press('Escape');
      }
      await (await matches('Settings: License')).waitFor();
      await ui.press('Enter');
      await expect.poll(() => ui.path).toBe('/settings/license');
      await (await matches('Workspace')).waitFor();
      await ui.press('Enter');
      await ui.page.getByRole('link', { name: 'All scans' }).waitFor();
      await (await matches('All scans')).waitFor();
      await ui.press('Enter');
      await expect.poll(() => ui.path).toBe('/scans');
      await (await matches('Keys')).waitFor();
      await ui.press('Enter');
      await ui.page.getByRole('dialog', { name: 'Keys' }).waitFor();
      await ui.expectClean();
    });

    it('act outside of fields only, and not when they are turned off', async () => {
      const ui = await visit(open, '/no-such-page');
      ui.keyboardOnly();
      await ui.press('?');
      const help = ui.page.getByRole('dialog', { name: 'Keys' });
      await help.waitFor();
      await ui.choose(help.getByRole('checkbox'), 'Space');
      await ui.press('Escape');
      await help.waitFor({ state: 'hidden' });
      await ui.press('g', 's');
      await ui.press('?');
      await ui.press('Control+k');
      const field = ui.page.getByRole('combobox', { name: /search/i });
      await field.waitFor();
      await ui.type('?gs');
      expect(await field.inputValue()).toBe('?gs');
      expect(ui.path).toBe('/no-such-page');
      expect(await help.isVisible()).toBe(false);
      await ui.expectClean();
    });

    it('skip to the page', async () => {
      const ui = await visit(open, '/no-such-page');
      ui.keyboardOnly();
      await ui.press('Tab');
      expect(await ui.focused()).toContain('Skip to the page');
      await ui.expectFocusShown();
      await ui.press('Enter');
      await ui.choose(ui.page.getByRole('main').getByRole('link').first());
      await expect.poll(() => ui.path).toBe('/');
      await ui.expectClean();
    });
  });

  describe('the sidebar', () => {
    it('is a menu on phones', async () => {
      const ui = await visit(open, '/no-such-page', { width: 390 });
      ui.keyboardOnly();
      const list = ui.page.getByRole('navigation', { name: 'Pages' });
      expect(await list.isVisible()).toBe(false);
      await ui.choose(ui.page.getByRole('button', { name: 'Menu' }));
      await list.waitFor();
      await ui.picture('menu');
      await ui.expectGood();
      await ui.choose(list.getByRole('link').first());
      await expect.poll(() => ui.path).not.toBe('/no-such-page');
      await list.waitFor({ state: 'hidden' });
      await ui.expectClean();
    });

    it('changes the colors, which stay after a reload', async () => {
      const ui = await visit(open, '/no-such-page');
      ui.keyboardOnly();
      const ground = () => ui.page.evaluate('getComputedStyle(document.body).backgroundColor');
      const light = await ground();
      const button = ui.page.getByRole('button', { name: /^Colors/ });
      await ui.choose(button);
      expect(await ground()).toBe(light);
      await ui.press('Enter');
      await expect.poll(ground).not.toBe(light);
      const dark = await ground();
      await ui.page.reload();
      await heading(ui).waitFor();
      expect(await ground()).toBe(dark);
      await ui.choose(button);
      await expect.poll(ground).toBe(light);
      await ui.expectClean();
    });
  });

  describe('the connection', () => {
    it('is shown as lost while the server is away, and heals', async () => {
      const service = await UiService.start();
      try {
        const ui = await visit(service, '/no-such-page', usualLook);
        await expect.poll(() => state(ui).textContent()).toContain('Live');
        await service.stop('SIGKILL');
        await ui.page.getByText(/^No connection for \d+ s/).waitFor();
        await expect.poll(() => state(ui).textContent()).toMatch(/Offline since|Reconnecting/);
        expect(await heading(ui).textContent()).toBe('Page not found');
        await ui.picture('offline', { fullPage: false });
        await ui.expectGood(lostServer);
        await service.startAgain();
        await expect.poll(() => state(ui).textContent()).toContain('Live');
        await ui.page.getByText(/^No connection for \d+ s/).waitFor({ state: 'hidden' });
        await ui.expectClean(lostServer);
      } finally {
        for (const old of pages.splice(0)) await old.close();
        await service.dispose();
      }
    });

    it('that is cut brings what was missed, without a reload', async () => {
      const cable = await Cable.to(open.url);
      try {
        const ui = await visit(cable, '/scans');
        await expect.poll(() => state(ui).textContent()).toContain('Live');
        await cable.cut();
        await ui.page.getByText(/^No connection for \d+ s/).waitFor();
        const { web } = await open.targets();
        const { scan_id } = await open.scan({ ports: String(web), name: 'While nobody listened' });
        expect(await ui.page.getByText('While nobody listened').count()).toBe(0);
        await cable.mend();
        await ui.page
          .getByText(/^Connected again\. \d+ events? (was|were) missed and (is|are) in now\.$/)
          .waitFor();
        await ui.page.getByText('While nobody listened').first().waitFor();
        await expect.poll(() => state(ui).textContent()).toContain('Live');
        await ui.expectClean(lostServer);
        await open.call('DELETE', `/api/v1/scans/${scan_id}`);
      } finally {
        for (const old of pages.splice(0)) await old.close();
        await cable.cut();
      }
    });

    it('of a server that stands still counts as lost, and heals when it goes on', async () => {
      const service = await UiService.start();
      try {
        const ui = await visit(service, '/no-such-page');
        await expect.poll(() => state(ui).textContent()).toContain('Live');
        process.kill(service.pid, 'SIGSTOP');
        await ui.page
          .getByText(/^No connection for \d+ s\. You see the state of \d\d:\d\d:\d\d UTC\.$/)
          .waitFor();
        await expect.poll(() => state(ui).textContent()).toMatch(/Reconnecting|Offline since/);
        process.kill(service.pid, 'SIGCONT');
        await expect.poll(() => state(ui).textContent()).toContain('Live');
        await ui.page.getByText(/^No connection for/).waitFor({ state: 'hidden' });
        await ui.expectClean(lostServer);
      } finally {
        process.kill(service.pid, 'SIGCONT');
        for (const old of pages.splice(0)) await old.close();
        await service.dispose();
      }
    });

    it('is paused and resumed by keys', async () => {
      const ui = await visit(open, '/no-such-page');
      ui.keyboardOnly();
      const button = state(ui).getByRole('button', { name: /Live|Paused/ });
      await ui.choose(button);
      await expect.poll(() => button.textContent()).toContain('Paused by you');
      await ui.press('Enter');
      await expect.poll(() => button.textContent()).toContain('Live');
      await ui.expectClean();
    });

    it('of a server that cannot be reached at the first visit is said with a way to try again', async () => {
      const service = await UiService.start();
      try {
        const ui = await visit(service, '/no-such-page');
        // The page is in the browser; the API is not there.
        await ui.page.route('**/api/**', (route) => route.abort('connectionrefused'));
        await ui.page.reload();
        await heading(ui).waitFor();
        await ui.expectGood(lostServer);
        await ui.picture('unreachable');
        await ui.page.unroute('**/api/**');
        ui.keyboardOnly();
        await ui.choose(ui.page.getByRole('button').first());
        await expect.poll(() => heading(ui).textContent()).toBe('Page not found');
        await ui.expectClean(lostServer);
      } finally {
        for (const old of pages.splice(0)) await old.close();
        await service.dispose();
      }
    });

    it('counts by the clock of the server', async () => {
      for (const clockOffset of [-3600, 3600]) {
        const ui = await visit(open, '/no-such-page', { clockOffset });
        await expect.poll(() => state(ui).textContent()).toMatch(/Live/);
        await expect.poll(() => state(ui).textContent()).not.toMatch(/\d{3,} s ago|-\d/);
        await ui.expectClean();
      }
    });
  });
});

describe.runIf(canRun('shell'))('without a UI to show', () => {
  it.each([['the API', { SERVICE_SERVER__API__ENABLED: 'false' }, 'The Web UI needs the REST API']])(
    'a page says that %s is missing',
    async (_what, env, title) => {
      const service = await UiService.start({ env });
      const browser = await UiBrowser.launch();
      try {
        const ui = await browser.open(service, '/scans');
        expect(await ui.page.locator('h1').textContent()).toBe(title);
        await ui.picture('without-api');
        await ui.expectGood(/status of 503/);
      } finally {
        await browser.close();
        await service.dispose();
      }
    },
  );
});
