import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { canRun, looks, type OpenOptions, UiBrowser, type UiPage } from './ui-page.ts';
import { UiService } from './ui-service.ts';

const route = '/jobs/new';
const status400 = /status of 400/;

describe.runIf(canRun('new-job'))('the page of a new job', () => {
  let browser: UiBrowser;
  let service: UiService;
  const pages: UiPage[] = [];
  beforeAll(async () => {
    [browser, service] = await Promise.all([UiBrowser.launch(), UiService.start({ auth: true })]);
  });
  afterEach(async () => {
    for (const page of pages.splice(0)) await page.close();
  });
  afterAll(async () => {
    await browser?.close();
    await service?.dispose();
  });

  async function visit(options: OpenOptions = {}): Promise<UiPage> {
    const token = options.token ?? (await service.token('scan:read', 'scan:write'));
    const ui = await browser.open(service, route, { ...options, token });
    pages.push(ui);
    return ui;
  }
  const nextRuns = (ui: UiPage) => ui.page.getByRole('list', { name: 'Next runs' }).getByRole('listitem');
  const create = (ui: UiPage) => ui.page.getByRole('button', { name: 'Create job' });

  it.each(looks)('shows five runs of the schedule, at $width px, $theme', async (look) => {
    const ui = await visit(look);
    await expect.poll(() => nextRuns(ui).count()).toBe(5);
    await ui.page.getByText('every day at 02:00').waitFor();
    await ui.page.getByText('Name a target first').waitFor();
    await ui.picture('new-job');
    await ui.expectGood();
  });

  it('makes a job by keys alone, and leaves no draft', async () => {
    const ui = await visit();
    ui.keyboardOnly();
    await ui.tabTo(ui.page.getByLabel('Targets'));
    await ui.type('127.0.0.1, 127.0.0.2');
    await ui.page.getByText('2 addresses in each run, 0 excluded or out of scope.').waitFor();
    await ui.tabTo(ui.page.getByLabel('Name'));
    await ui.type('Weekly check');
    await ui.tabTo(ui.page.getByRole('radio', { name: 'Nightly' }));
    await ui.press('ArrowRight', 'ArrowRight');
    await ui.page.getByText('at 04:00 on Sunday').waitFor();
    await ui.choose(create(ui));
    await ui.page.getByRole('heading', { name: 'Weekly check', level: 1 }).waitFor();
    await expect.poll(() => ui.path).toMatch(/^\/jobs\/job-/);
    const job = await service.call<{ schedule: string; params: object }>('GET', `/api/v1${ui.path}`);
    expect(job).toMatchObject({
      schedule: '0 4 * * SUN',
      params: { targets: ['127.0.0.1', '127.0.0.2'], name: 'Weekly check' },
    });
    await ui.page.goBack();
    await expect.poll(() => ui.page.getByLabel('Targets').inputValue()).toBe('');
    await ui.expectClean();
  });

  it('previews while the schedule is typed, in the words of the server', async () => {
    const ui = await visit();
    const field = ui.page.getByLabel('Schedule');
    await expect.poll(() => nextRuns(ui).count()).toBe(5);
    await field.fill('30 22 * *');
    await ui.page.getByText('4 of five fields').waitFor();
    expect(await nextRuns(ui).count()).toBe(0);
    await ui.expectClean();
    await field.fill('30 22 * * 1-5');
    await ui.page.getByText('at 22:30 on Monday to Friday').waitFor();
    await expect
      .poll(() => ui.page.getByRole('radio', { name: 'Weekdays' }).getAttribute('aria-checked'))
      .toBe('true');
    await ui.page.getByLabel('At', { exact: true }).fill('23:05');
    await ui.page.getByText('at 23:05 on Monday to Friday').waitFor();
    expect(await field.inputValue()).toBe('5 23 * * 1-5');
    await field.fill('60 * * * *');
    await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true');
    await ui.page
      .getByRole('alert')
      .filter({ hasText: /minute|60/ })
      .waitFor();
    await ui.picture('new-job-problem');
    await ui.expectGood(status400);
  });

  it("takes the time of the day by the reader's clock or the server's", async () => {
    // Without summer time, so that the difference is the same on each day of a test.
    const ui = await visit({ zone: 'Asia/Kolkata' });
    const own = ui.page
      .getByLabel('At, your time (Asia/Calcutta)')
      .or(ui.page.getByLabel('At, your time (Asia/Kolkata)'));
    await expect.poll(() => own.inputValue()).toBe('07:30');
    await own.fill('02:00');
    await ui.page.getByText('every day at 20:30').waitFor();
    expect(await ui.page.getByLabel('Schedule').inputValue()).toBe('30 20 * * *');
    expect(await ui.page.getByLabel('At, server time (UTC)').inputValue()).toBe('20:30');
    await ui.page.getByText('In UTC that is the day before.').waitFor();
    await expect.poll(() => nextRuns(ui).first().textContent()).toMatch(/20:30 UTC.*02:00 GMT\+5:30/);
    await ui.picture('new-job-zones');
    await ui.expectGood();
  });

  it('shows what is wrong with targets at the field', async () => {
    const ui = await visit();
    await ui.page.getByLabel('Targets').fill('10.0.0.300');
    await ui.page.getByRole('alert').filter({ hasText: '10.0.0.300' }).waitFor();
    await ui.expectGood(status400);
  });

  it('names the scope that is missing', async () => {
    const ui = await visit({ token: await service.token('scan:read') });
    await ui.page.getByText('Needs the scope job:write or scan:write').waitFor();
    await ui.expectGood();
  });
});
