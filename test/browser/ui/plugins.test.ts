import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Home } from '../../cli/command.ts';
import { root } from '../../program.ts';
import { canRun, looks, type OpenOptions, UiBrowser, type UiPage } from './ui-page.ts';
import { UiService } from './ui-service.ts';

/** Plugins of `sdk/` and one whose text ends too early, as `portolan plugin install` installs them. */
async function installPlugins(dir: string): Promise<void> {
  const home = new Home();
  const broken = home.file('broken_check.mjs');
  writeFileSync(broken, 'export const Plugin = { name: "broken_check",');
  const files = [join(root, 'sdk/script/pop3_apop.ts'), join(root, 'sdk/rules/ssh-old-openssh.yaml'), broken];
  try {
    for (const file of files) {
      const { code, stderr } = await home.run(['plugin', 'install', file], {
        env: { SERVICE_PLUGINS__DIR: dir },
      });
      expect([code, stderr]).toEqual([0, expect.any(String)]);
    }
  } finally {
    home.remove();
  }
}

describe.runIf(canRun('plugins'))('the page of plugins', () => {
  let browser: UiBrowser;
  let service: UiService;
  let empty: UiService;
  let dir: string;
  const pages: UiPage[] = [];
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'portolan-plugins-'));
    await installPlugins(dir);
    browser = await UiBrowser.launch();
    service = await UiService.start({ env: { SERVICE_PLUGINS__DIR: dir } });
    empty = await UiService.start({ env: { SERVICE_PLUGINS__DIR: join(dir, 'none') } });
  });
  afterAll(async () => {
    await browser?.close();
    await Promise.all([service?.dispose(), empty?.dispose()]);
    rmSync(dir, { recursive: true, force: true });
  });

  async function visit(of: UiService, path: string, options: OpenOptions = {}): Promise<UiPage> {
    for (const old of pages.splice(0)) await old.close();
    const ui = await browser.open(of, path, options);
    pages.push(ui);
    return ui;
  }
  const rowOf = (ui: UiPage, name: string) => ui.page.getByRole('row').filter({ hasText: name });

  it('uploads a plugin, says where it runs and what it may, switches it off and removes it', async () => {
    const ui = await visit(empty, '/plugins');
    await ui.page.getByRole('button', { name: 'Upload plugin' }).click();
    const dialog = ui.page.getByRole('dialog', { name: 'Upload plugin' });
    await dialog.waitFor();
    await dialog.getByLabel('File').setInputFiles(join(root, 'sdk/script/pop3_apop.ts'));
    await ui.picture('plugins-upload', { fullPage: false });
    await ui.expectAccessible();
    await dialog.getByRole('button', { name: 'Install' }).click();
    await rowOf(ui, 'pop3_apop').click();
    await ui.page.getByText('read results, add results', { exact: true }).waitFor();
    await ui.page.getByText('no graph names it', { exact: true }).last().waitFor();
    await ui.page.getByRole('button', { name: 'Disable' }).click();
    await ui.page.getByText('no scan: it is switched off').last().waitFor();
    await ui.picture('plugins-changed', { fullPage: false });
    await ui.expectAccessible();
    await ui.page.getByRole('button', { name: 'Enable' }).click();
    await ui.page.getByRole('button', { name: 'Disable' }).waitFor();
    await ui.page.getByRole('button', { name: 'Remove…' }).click();
    await ui.page.getByRole('alertdialog').getByRole('button', { name: 'Remove plugin' }).click();
    await ui.page.getByText('No plugins').waitFor();
    await ui.expectClean();
  });

  describe.each(looks)('at $width px, $theme', (look) => {
    it('says how to install one', async () => {
      const ui = await visit(empty, '/plugins', look);
      await ui.page.getByText('No plugins').waitFor();
      await ui.picture('plugins-empty');
      await ui.expectGood();
    });

    it('shows what is installed, and why one is not loaded', async () => {
      const ui = await visit(service, '/plugins', look);
      await ui.page.getByText('3 plugins, 2 loaded, 1 with an error.').waitFor();
      await expect.poll(() => rowOf(ui, 'broken_check').textContent()).toContain('Not loaded');
      await ui.picture('plugins');
      await ui.expectGood();
      await rowOf(ui, 'broken_check').click();
      await ui.page.getByText('This plugin is not loaded').waitFor();
      await ui.page
        .getByText(/SyntaxError/)
        .last()
        .waitFor();
      await ui.picture('plugins-broken', { fullPage: false });
      await ui.expectGood();
    });
  });

  it('goes by keys from a plugin to the module that it adds', async () => {
    const ui = await visit(service, '/plugins');
    await rowOf(ui, 'pop3_apop').waitFor();
    ui.keyboardOnly();
    await ui.tabTo(ui.page.getByRole('grid'));
    await ui.press('ArrowDown', 'Enter');
    const drawer = ui.page.getByRole('complementary').filter({ hasText: '2 of 3' });
    await drawer.waitFor();
    expect(await drawer.textContent()).toMatch(/pop3_apop.*Loaded.*unsigned/);
    await ui.press('j');
    await ui.page.getByText('rules to scans that evaluate vulnerabilities').waitFor();
    await ui.press('k');
    await ui.choose(drawer.getByRole('link', { name: 'pop3_apop' }));
    await expect.poll(() => ui.path).toBe('/modules?module=pop3_apop');
    await ui.page.getByRole('heading', { name: 'pop3_apop' }).waitFor();
    await ui.expectGood();
  });
});
