import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canRun, looks, type OpenOptions, UiBrowser, type UiPage } from './ui-page.ts';
import { UiService } from './ui-service.ts';

const tabs = ['/settings', '/settings/tokens', '/settings/configuration', '/settings/license'] as const;
const secretUrl = 'https://hooks.example.org/services/T000/very-secret';
/** Chromium says so of every response of these statuses. */
const [status401, status403] = [/status of 401/, /status of 403/];

describe.runIf(canRun('settings'))('the settings', () => {
  let browser: UiBrowser;
  let service: UiService;
  let admin: string;
  const pages: UiPage[] = [];
  beforeAll(async () => {
    browser = await UiBrowser.launch();
    service = await UiService.start({
      auth: true,
      env: { SERVICE_NOTIFICATIONS__SLACK__WEBHOOK_URL: secretUrl, SERVICE_SCANNER__RATE: '321' },
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
    return ui;
  }
  const heading = (ui: UiPage) => ui.page.locator('h1').first().textContent();
  const rowOf = (ui: UiPage, name: string) => ui.page.getByRole('row').filter({ hasText: name });

  describe.each(looks)('at $width px, $theme', (look) => {
    it.each(tabs)('%s has no problem', async (path) => {
      const ui = await visit(path, look);
      await ui.page.getByRole('status').filter({ hasText: 'Loading' }).waitFor({ state: 'detached' });
      await expect.poll(() => heading(ui)).toBe('Settings');
      await ui.picture(`settings${path.replace('/settings', '').replace('/', '-')}`);
      await ui.expectGood();
    });

    it('the form of a new token has no problem', async () => {
      const ui = await visit('/settings/tokens', look);
      await ui.page.getByRole('button', { name: 'New token' }).click();
      await ui.page.getByRole('dialog', { name: 'New token' }).waitFor();
      await ui.picture('settings-new-token', { fullPage: false });
      await ui.expectGood();
    });
  });

  it('creates a token by keys alone, shows its secret once, and it works', async () => {
    const ui = await visit('/settings/tokens');
    ui.keyboardOnly();
    const opener = ui.page.getByRole('button', { name: 'New token' });
    await ui.choose(opener);
    const form = ui.page.getByRole('dialog', { name: 'New token' });
    await form.waitFor();
    await expect.poll(() => ui.focused()).toMatch(/^input/);
    await ui.type('nightly <b>import</b>');
    await ui.choose(form.getByRole('checkbox', { name: 'job:write' }), 'Space');
    await expect.poll(() => form.getByText('the scopes chosen below').count()).toBe(1);
    await ui.choose(form.getByRole('button', { name: 'Create token' }));
    const shown = ui.page.getByRole('dialog', { name: 'Token created' });
    await shown.waitFor();
    expect(await shown.textContent()).toContain('This is the only time it is shown.');
    const secret = (await shown.locator('code').textContent()) ?? '';
    expect(secret).toMatch(/^svc_[a-z0-9]+_[\w-]{43}$/);
    await ui.picture('settings-token-created', { fullPage: false });
    await ui.expectGood();
    await ui.choose(shown.getByRole('button', { name: 'Done' }));
    await shown.waitFor({ state: 'hidden' });
    await rowOf(ui, 'nightly <b>import</b>').waitFor();
    expect(await ui.page.content()).not.toContain(secret);
    const headers = { authorization: `Bearer ${secret}` };
    const response = await fetch(`${service.url}/api/v1/session`, { method: 'POST', headers });
    expect(((await response.json()) as { data: { scopes: string[] } }).data.scopes.toSorted()).toEqual([
      'job:read',
      'job:write',
      'metrics:read',
      'plugin:read',
      'scan:read',
      'workspace:read',
    ]);
    await ui.expectClean();
  });

  it('says what is wrong with a new token at the field', async () => {
    const ui = await visit('/settings/tokens');
    await ui.page.getByRole('button', { name: 'New token' }).click();
    await ui.page.getByRole('button', { name: 'Create token' }).click();
    const field = ui.page.getByRole('textbox', { name: 'Name' });
    await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true');
    await ui.picture('settings-new-token-wrong', { fullPage: false });
    await ui.expectGood(/status of 400/);
  });

  it('asks before a token is revoked, with the focus on Keep', async () => {
    const doomed = await service.token('scan:write');
    const id = doomed.split('_')[1] ?? '';
    const ui = await visit('/settings/tokens');
    ui.keyboardOnly();
    const button = rowOf(ui, id).getByRole('button', { name: 'Revoke' });
    await button.waitFor();
    await ui.tabTo(ui.page.locator('[data-row="0"]'));
    for (let row = 0; row < 30 && !(await ui.focused()).includes(id); row++) await ui.press('ArrowDown');
    await ui.press('ArrowRight', 'Enter');
    const dialog = ui.page.getByRole('alertdialog');
    await dialog.waitFor();
    await expect.poll(() => ui.focused()).toBe('button "Keep"');
    await ui.picture('settings-revoke', { fullPage: false });
    await ui.expectGood();
    await ui.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await expect.poll(() => ui.focused()).toContain('Revoke');
    await ui.press('Enter');
    await ui.choose(dialog.getByRole('button', { name: 'Revoke token' }));
    await dialog.waitFor({ state: 'hidden' });
    await rowOf(ui, id).waitFor({ state: 'detached' });
    await ui.page.getByText(/^Token .* revoked\./).waitFor();
    await ui.page.getByRole('checkbox', { name: /expired or were revoked/ }).press('Space');
    await expect.poll(() => rowOf(ui, id).textContent()).toContain('Revoked');
    await ui.expectClean();
  });

  it('signs out who revokes the own token', async () => {
    const own = await service.token('admin');
    const ui = await visit('/settings/tokens', { token: own });
    await rowOf(ui, 'this token').getByRole('button', { name: 'Revoke' }).click();
    await expect.poll(() => ui.page.getByRole('alertdialog').textContent()).toContain('you are signed out');
    await ui.page.getByRole('button', { name: 'Revoke token' }).click();
    await ui.page.getByText('You revoked this token.').waitFor();
    await ui.expectClean(status401);
  });

  it('says that nobody could manage the service without the last token, and revokes it after a second yes', async () => {
    const alone = await UiService.start({ auth: true });
    try {
      const last = await alone.token('admin');
      const { tokens } = await alone.call<{ tokens: { token_id: string }[] }>('GET', '/api/v1/tokens');
      for (const { token_id } of tokens.filter((each) => !last.includes(`_${each.token_id}_`)))
        await alone.call('DELETE', `/api/v1/tokens/${token_id}`);
      for (const old of pages.splice(0)) await old.close();
      const ui = await browser.open(alone, '/settings/tokens', { token: last });
      pages.push(ui);
      await rowOf(ui, 'this token').getByRole('button', { name: 'Revoke' }).click();
      await ui.page.getByRole('button', { name: 'Revoke token' }).click();
      const dialog = ui.page.getByRole('alertdialog');
      await expect.poll(() => dialog.textContent()).toContain('Create another one first');
      await ui.picture('settings-revoke-last', { fullPage: false });
      await ui.expectGood(/status of 409/);
      await dialog.getByRole('button', { name: 'Revoke it all the same' }).click();
      await ui.page.getByText('You revoked this token.').waitFor();
      await ui.expectClean(status401);
    } finally {
      for (const old of pages.splice(0)) await old.close();
      await alone.dispose();
    }
  });

  it('finds settings, with their origin, and never shows a secret', async () => {
    const ui = await visit('/settings/configuration');
    await ui.page.getByText('SERVICE_SCANNER__RATE').waitFor();
    expect(await ui.page.content()).not.toContain('very-secret');
    await ui.press('/');
    await ui.type('webhook_url');
    await expect.poll(() => ui.path).toBe('/settings/configuration?q=webhook_url');
    await expect.poll(() => ui.page.getByRole('main').textContent()).toContain('••••');
    await ui.press('Control+a');
    await ui.type('no such setting');
    await ui.page.getByText('No setting matches this filter').waitFor();
    await ui.choose(ui.page.getByRole('button', { name: 'Clear filter' }));
    await ui.page.getByText('SERVICE_SCANNER__RATE').waitFor();
    await ui.expectClean();
  });

  it.each([
    ['/settings/tokens', 'This token may not see tokens'],
    ['/settings/configuration', 'This token may not read the configuration'],
  ])('%s says which scope is missing', async (path, title) => {
    const ui = await visit(path, { token: await service.token('scan:read') });
    await ui.page.getByText(title).waitFor();
    expect(await ui.page.getByRole('main').textContent()).toMatch(
      /It needs the scope admin\. It has scan:read\./,
    );
    await ui.picture('no-permission');
    await ui.expectGood(status403);
  });

  it('keeps what was chosen for this browser', async () => {
    const ui = await visit('/settings');
    ui.keyboardOnly();
    const keys = ui.page.getByRole('switch', { name: /Single-letter keys/ });
    await ui.choose(keys, 'Space');
    await expect.poll(() => keys.getAttribute('aria-checked')).toBe('false');
    await ui.page.reload();
    await expect.poll(() => keys.getAttribute('aria-checked')).toBe('false');
    await ui.press('g', 's');
    expect(ui.path).toBe('/settings');
    await ui.tabTo(ui.page.getByRole('radiogroup', { name: 'Times in' }));
    await ui.expectClean();
  });
});
