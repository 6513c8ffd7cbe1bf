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

  it('open one by keys, and lead to a scan with it', async () => {
    const ui = await visit('/profiles');
    await ui.page.getByRole('row', { name: /quick/ }).waitFor();
    ui.keyboardOnly();
    await ui.tabTo(ui.page.getByRole('grid', { name: 'Profiles' }));
    await ui.press('ArrowDown', 'Enter');
    const drawer = ui.page.getByRole('complementary').filter({ hasText: 'Profile' }).last();
    await drawer.getByRole('link', { name: 'New scan with it' }).waitFor();
    const first = ui.path;
    const place = (await drawer.getByText(/^\d+ of \d+$/).textContent()) ?? '';
    await ui.press(place.startsWith('1 of') ? 'j' : 'k');
    await expect.poll(() => ui.path).not.toBe(first);
    const name = ui.path.split('=')[1];
    await ui.choose(drawer.getByRole('link', { name: 'New scan with it' }));
    await expect.poll(() => ui.path).toBe(`/scans/new?profile=${name}`);
    await ui.expectClean();
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

  it('delete one by keys after one question that names the jobs, and the server keeps one that is used', async () => {
    const text = 'name: weekly\ndescription: Once a week\ndag: standard\n';
    await service.call('PUT', '/api/v1/profiles/weekly', { text });
    const { job_id } = await service.call<{ job_id: string }>('POST', '/api/v1/jobs', {
      type: 'scan',
      name: 'Every Sunday',
      schedule: '0 4 * * SUN',
      params: { targets: ['127.0.0.1'], profile: 'weekly' },
    });
    const ui = await visit('/profiles/weekly');
    ui.keyboardOnly();
    const button = ui.page.getByRole('button', { name: 'Delete profile…' });
    await ui.choose(button);
    const dialog = ui.page.getByRole('alertdialog', { name: 'Delete the profile weekly?' });
    await dialog.getByText('It is used by 1 job (Every Sunday)').waitFor();
    await expect.poll(() => ui.focused()).toBe('button "Keep"');
    await ui.picture('profile-delete', { fullPage: false });
    await ui.expectAccessible();
    await ui.choose(dialog.getByRole('button', { name: 'Delete profile' }));
    await dialog.getByText(/in use|jobs? that name/).waitFor();
    await ui.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => ui.focused()).toContain('Delete profile');
    await ui.expectClean(/status of 409/);
    await service.call('POST', `/api/v1/jobs/${job_id}/cancel`, {});
    await ui.page.reload();
    await ui.choose(button);
    await dialog.getByText('Its file is deleted. No job uses it.').waitFor();
    await ui.choose(dialog.getByRole('button', { name: 'Delete profile' }));
    await ui.page.getByText('Profile weekly deleted').waitFor();
    await expect.poll(() => ui.path).toBe('/profiles');
    const { profiles } = await service.call<{ profiles: { name: string }[] }>('GET', '/api/v1/profiles');
    expect(profiles.map(({ name }) => name)).not.toContain('weekly');
    await ui.expectClean();
  });

  it('name the scope that writing needs', async () => {
    const ui = await visit('/profiles', { token: reader });
    await ui.tabTo(ui.page.getByRole('button', { name: 'New profile' }));
    await ui.page.getByText('Needs the scope admin').first().waitFor({ state: 'attached' });
    await ui.expectGood();
  });
});
