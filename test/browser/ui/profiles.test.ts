import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canRun, looks, type OpenOptions, UiBrowser, type UiPage } from './ui-page.ts';
import { UiService } from './ui-service.ts';

/** What these tests open, as the table of pages has it. */
const [list, one] = ['/profiles', '/profiles/$name'];

describe.runIf(canRun('profiles'))('the pages of profiles', () => {
  let browser: UiBrowser;
  let service: UiService;
  let reader: string;
  const pages: UiPage[] = [];
  beforeAll(async () => {
    browser = await UiBrowser.launch();
    service = await UiService.start({ auth: true });
    reader = await service.token('scan:read');
  });
  afterAll(async () => {
    await browser?.close();
    await service?.dispose();
  });

  async function visit(path: string, options: OpenOptions = {}): Promise<UiPage> {
    for (const old of pages.splice(0)) await old.close();
    const ui = await browser.open(service, path, { token: await service.token('admin'), ...options });
    pages.push(ui);
    return ui;
  }
  const editor = (ui: UiPage) => ui.page.getByRole('textbox', { name: /^Text of the profile/ });

  describe.each(looks)('at $width px, $theme', (look) => {
    it(`list them: ${list}`, async () => {
      const ui = await visit('/profiles', look);
      await ui.page.getByRole('row', { name: /quick/ }).waitFor();
      await ui.picture('profiles');
      await ui.expectGood();
    });

    it('show what one does and runs', async () => {
      const ui = await visit('/profiles?profile=deep', look);
      await ui.page
        .getByRole('list', { name: /^Stages of/ })
        .getByText('tls_parser')
        .waitFor();
      await ui.picture('profile', { fullPage: false });
      await ui.expectGood();
    });

    it(`show the text of one: ${one}`, async () => {
      const ui = await visit('/profiles/deep', look);
      await expect.poll(() => editor(ui).inputValue()).toContain('name: deep');
      await ui.picture('profile-text');
      await ui.expectGood();
    });
  });

  it('write a new one by keys alone, with the reason where it is wrong', async () => {
    const ui = await visit('/profiles');
    ui.keyboardOnly();
    await ui.choose(ui.page.getByRole('button', { name: 'New profile' }));
    await ui.tabTo(ui.page.getByRole('textbox', { name: 'Name' }));
    await ui.type('Nightly!');
    await ui.press('Enter');
    await ui.page.getByText(/1 to 64 of a-z/).waitFor();
    await ui.press('Control+a');
    await ui.type('nightly');
    await ui.press('Enter');
    await expect.poll(() => editor(ui).inputValue()).toContain('name: nightly');
    await ui.tabTo(editor(ui));
    await ui.press('Control+End');
    await ui.type('dagg: x');
    await ui.press('Control+s');
    await ui.page.getByText(/Your text is still here/).waitFor();
    await ui.press('Shift+Home', 'Delete', 'Control+s');
    await ui.page.getByText('Profile nightly saved').waitFor();
    const { profiles } = await service.call<{ profiles: { name: string }[] }>('GET', '/api/v1/profiles');
    expect(profiles.map(({ name }) => name)).toContain('nightly');
    await ui.expectClean(/status of 400/);
  });

  it('name the scope that writing needs', async () => {
    const ui = await visit('/profiles', { token: reader });
    await ui.tabTo(ui.page.getByRole('button', { name: 'New profile' }));
    await ui.page.getByText('Needs the scope admin').first().waitFor({ state: 'attached' });
    await ui.expectGood();
  });
});
