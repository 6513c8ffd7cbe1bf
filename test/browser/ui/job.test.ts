import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { canRun, looks, type OpenOptions, UiBrowser, type UiPage } from './ui-page.ts';
import { UiService } from './ui-service.ts';

const route = '/jobs/$jobId';
const pathOf = (jobId: string) => route.replace('$jobId', jobId);

/** Nothing is sent to them: no run of these jobs names one that is tested. */
const channels = {
  SERVICE_NOTIFICATIONS__DEFAULT_CHANNELS: 'email://ops@example.org',
  SERVICE_NOTIFICATIONS__WEBHOOKS: '[{"name": "siem", "url": "http://127.0.0.1:9/in"}]',
};

interface Job {
  job_id: string;
  status: string;
}

describe.runIf(canRun('job'))('the page of a job', () => {
  let browser: UiBrowser;
  let service: UiService;
  let nightly = '';
  let once = '';
  const pages: UiPage[] = [];
  const submit = async (body: object): Promise<string> => {
    const params = { targets: ['127.0.0.1', '127.0.0.2'], ports: '9', options: { discover: false } };
    return (await service.call<Job>('POST', '/api/v1/jobs', { type: 'scan', params, ...body })).job_id;
  };
  beforeAll(async () => {
    [browser, service] = await Promise.all([
      UiBrowser.launch(),
      UiService.start({ auth: true, env: channels }),
    ]);
    nightly = await submit({ name: 'DMZ nightly', schedule: '0 2 * * *', pool: 'dmz' });
    once = await submit({ name: 'Core network' });
    for (;;) {
      const { status } = await service.call<Job>('GET', `/api/v1/jobs/${once}`);
      if (status === 'completed' || status === 'failed') break;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  });
  afterEach(async () => {
    for (const page of pages.splice(0)) await page.close();
  });
  afterAll(async () => {
    await browser?.close();
    await service?.dispose();
  });

  async function visit(jobId: string, options: OpenOptions = {}): Promise<UiPage> {
    const token = options.token ?? (await service.token('job:read', 'job:write', 'scan:read'));
    const ui = await browser.open(service, pathOf(jobId), { ...options, token });
    pages.push(ui);
    return ui;
  }

  it.each(looks)('shows what it scans and its next runs, at $width px, $theme', async (look) => {
    const ui = await visit(nightly, look);
    await ui.page.getByRole('heading', { name: 'DMZ nightly', level: 1 }).waitFor();
    await ui.page.getByText('Every day at 02:00, UTC').waitFor();
    // Five runs and the default channel.
    await expect.poll(() => ui.page.getByRole('main').getByRole('listitem').count()).toBe(6);
    await ui.page.getByText('127.0.0.2').waitFor();
    await ui.picture('job');
    await ui.expectGood();
  });

  it('opens the scan of a run by keys', async () => {
    const ui = await visit(once);
    const runs = ui.page.getByRole('grid', { name: 'Last runs' });
    await runs.getByText('Completed').waitFor();
    await ui.expectGood();
    ui.keyboardOnly();
    await ui.tabTo(runs.getByRole('row').nth(1));
    await ui.press('Enter');
    await expect.poll(() => ui.path).toMatch(/^\/scans\/\d{8}-/);
  });

  it('asks once before it cancels, and keeps by default', async () => {
    const jobId = await submit({ name: 'To cancel', schedule: '0 3 * * *' });
    const ui = await visit(jobId);
    ui.keyboardOnly();
    const button = ui.page.getByRole('button', { name: 'Cancel job…' });
    await expect.poll(() => button.getAttribute('aria-disabled')).toBe(null);
    await ui.choose(button);
    const dialog = ui.page.getByRole('alertdialog', { name: 'Cancel this job?' });
    await dialog.waitFor();
    await ui.picture('job-cancel', { fullPage: false });
    await ui.expectAccessible();
    expect(await ui.focused()).toContain('Keep');
    await ui.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    expect((await service.call<Job>('GET', `/api/v1/jobs/${jobId}`)).status).toBe('pending');
    await ui.choose(button);
    await ui.choose(dialog.getByRole('button', { name: 'Cancel job' }));
    await ui.page.getByText('None: the job was canceled.').waitFor();
    expect((await service.call<Job>('GET', `/api/v1/jobs/${jobId}`)).status).toBe('canceled');
    expect(await button.count()).toBe(0);
    await ui.expectClean();
  });

  it('runs now and is edited, with the channels that exist, each with a test', async () => {
    const jobId = await submit({ name: 'To edit', schedule: '0 3 * * *' });
    const ui = await visit(jobId, { token: await service.token('admin') });
    ui.keyboardOnly();
    await ui.page.getByRole('heading', { name: 'Notifies' }).waitFor();
    expect(await ui.page.getByRole('button', { name: 'Test', exact: true }).count()).toBe(1);
    await ui.choose(ui.page.getByRole('button', { name: 'Run now' }));
    await expect
      .poll(async () => (await service.call<{ run_count: number }>('GET', `/api/v1/jobs/${jobId}`)).run_count)
      .toBe(1);
    await ui.choose(ui.page.getByRole('link', { name: 'Edit' }));
    await ui.page.getByRole('heading', { name: 'Edit job', level: 1 }).waitFor();
    await expect.poll(() => ui.page.getByLabel('Name').inputValue()).toBe('To edit');
    await expect.poll(() => ui.page.getByLabel('Schedule').inputValue()).toBe('0 3 * * *');
    await ui.page.getByRole('checkbox', { name: /webhook:\/\/siem/ }).waitFor();
    await ui.page.getByRole('radio', { name: 'Nightly' }).waitFor();
    expect(await ui.page.getByRole('radio', { name: 'Once, now' }).count()).toBe(0);
    await ui.picture('job-edit');
    await ui.expectAccessible();
    await ui.tabTo(ui.page.getByRole('checkbox', { name: /webhook:\/\/siem/ }));
    await ui.press('Space');
    await ui.choose(ui.page.getByRole('button', { name: 'Save job' }));
    await expect.poll(() => ui.path).toBe(`/jobs/${jobId}`);
    const changed = await service.call<{ params: object; schedule: string }>('GET', `/api/v1/jobs/${jobId}`);
    expect(changed).toMatchObject({ params: { notifications: ['webhook://siem'] }, schedule: '0 3 * * *' });
    await ui.page.getByRole('listitem').filter({ hasText: 'webhook://siem' }).waitFor();
    await ui.expectClean();
  });

  it('names the scope that canceling needs', async () => {
    const ui = await visit(nightly, { token: await service.token('job:read', 'scan:read') });
    const button = ui.page.getByRole('button', { name: 'Cancel job…' });
    await expect.poll(() => button.getAttribute('aria-disabled')).toBe('true');
    const described = await button.getAttribute('aria-describedby');
    expect(await ui.page.locator(`[id="${described}"]`).textContent()).toBe(
      'Needs the scope job:write or scan:write',
    );
    await ui.expectGood();
  });

  it('says that a job does not exist', async () => {
    const ui = await visit('job-ffffffff');
    await ui.page.getByText('The job job-ffffffff does not exist').waitFor();
    await ui.page.getByRole('link', { name: 'All jobs' }).waitFor();
    await ui.expectGood(/status of 404/);
  });
});
