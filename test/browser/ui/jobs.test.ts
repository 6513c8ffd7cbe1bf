import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createLicenseKeys, issueLicense } from '../../../src/actions/access/issue-license.ts';
import { hostileTexts } from './targets.ts';
import { canRun, looks, type OpenOptions, UiBrowser, type UiPage } from './ui-page.ts';
import { UiService } from './ui-service.ts';

const route = '/jobs';
const status403 = /status of 403/;
const noAnswer = /ERR_CONNECTION_REFUSED|ERR_FAILED/;

/** Variables of a server whose license has the UI, but no jobs. */
async function licenseWithoutJobs(folder: string): Promise<NodeJS.ProcessEnv> {
  const keys = createLicenseKeys();
  const order = { customer: 'acme', plan: 'team', features: ['ui'], expiry: '90d', licenseId: null };
  const [publicKey, file] = [join(folder, 'public.pem'), join(folder, 'license.key')];
  await writeFile(publicKey, keys.publicKey);
  await writeFile(file, (await issueLicense(order, keys.privateKey)).license);
  return {
    SERVICE_LICENSE__ENFORCE: 'true',
    SERVICE_LICENSE__PUBLIC_KEY: publicKey,
    SERVICE_LICENSE__FILE: file,
  };
}

interface Job {
  job_id: string;
  status: string;
}

describe.runIf(canRun('jobs'))('the page of jobs', () => {
  let folder = '';
  let browser: UiBrowser;
  let service: UiService;
  let closed: UiService;
  let unlicensed: UiService;
  const pages: UiPage[] = [];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'portolan-jobs-'));
    browser = await UiBrowser.launch();
    [service, closed, unlicensed] = await Promise.all([
      UiService.start(),
      UiService.start({ auth: true }),
      UiService.start({ env: await licenseWithoutJobs(folder) }),
    ]);
    const scan = { targets: ['127.0.0.1'], ports: '9', options: { discover: false } };
    const submit = (body: object) =>
      service.call<Job>('POST', '/api/v1/jobs', { type: 'scan', params: scan, ...body });
    await submit({ name: 'DMZ nightly', schedule: '0 2 * * *', pool: 'dmz' });
    await submit({ name: 'Branch Leipzig', schedule: '0 */6 * * *' });
    await submit({ name: hostileTexts.markup, schedule: '*/5 * * * *' });
    const { job_id: canceled } = await submit({ name: 'Lab sweep', schedule: '@monthly' });
    await service.call('POST', `/api/v1/jobs/${canceled}/cancel`, {});
    const { job_id: once } = await submit({ name: 'Core network' });
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
    await Promise.all([service, closed, unlicensed].map((each) => each?.dispose()));
    await rm(folder, { recursive: true, force: true });
  });

  async function visit(of: UiService, path = route, options: OpenOptions = {}): Promise<UiPage> {
    const ui = await browser.open(of, path, options);
    pages.push(ui);
    return ui;
  }
  const grid = (ui: UiPage) => ui.page.getByRole('grid', { name: 'Jobs' });

  it.each(looks)('shows schedules in words and the last outcome, at $width px, $theme', async (look) => {
    const ui = await visit(service, route, look);
    const row = grid(ui).getByRole('row').filter({ hasText: 'DMZ nightly' });
    await row.getByText('every day at 02:00').waitFor();
    await ui.page.getByText(/\d running, \d scheduled/).waitFor();
    await grid(ui).getByText('Canceled').waitFor();
    await ui.picture('jobs');
    await ui.expectGood();
  });

  it('says when runs follow within the next 24 hours', async () => {
    const ui = await visit(service);
    const row = grid(ui).getByRole('row').filter({ hasText: 'Branch Leipzig' });
    await row.getByRole('img', { name: /^4 runs in the next 24 hours/ }).waitFor();
    const done = grid(ui).getByRole('row').filter({ hasText: 'Core network' });
    await done.getByRole('img', { name: 'No run in the next 24 hours' }).waitFor();
    await done.getByRole('img', { name: /^Last 1 run: 1 / }).waitFor();
    await ui.expectClean();
  });

  it('is filtered and opened by keys', async () => {
    const ui = await visit(service);
    await grid(ui).getByText('DMZ nightly').waitFor();
    ui.keyboardOnly();
    await ui.press('/');
    await ui.type('leip');
    await expect.poll(() => grid(ui).getByRole('row').count()).toBe(2);
    expect(ui.path).toBe('/jobs?q=leip');
    await ui.tabTo(grid(ui).getByRole('row').filter({ hasText: 'Branch Leipzig' }));
    await ui.press('Enter');
    await ui.page.getByRole('heading', { name: 'Branch Leipzig', level: 1 }).waitFor();
    expect(ui.path).toMatch(/^\/jobs\/job-/);
    await ui.page.goBack();
    await grid(ui).getByText('Branch Leipzig').waitFor();
    expect(ui.path).toBe('/jobs?q=leip');
    await ui.expectClean();
  });

  it('is narrowed to a state by keys, and leads to a new job', async () => {
    const ui = await visit(service);
    await grid(ui).getByText('DMZ nightly').waitFor();
    ui.keyboardOnly();
    await ui.tabTo(ui.page.getByRole('combobox', { name: 'State' }));
    await ui.type('Canc');
    await expect.poll(() => ui.path).toBe('/jobs?status=canceled');
    await expect.poll(() => grid(ui).getByRole('row').count()).toBe(2);
    await ui.tabTo(ui.page.getByRole('link', { name: 'New job' }), { backward: true });
    await ui.press('Enter');
    await expect.poll(() => ui.path).toBe('/jobs/new');
    await ui.expectClean();
  });

  it('says what a filter hides, and clears it', async () => {
    const ui = await visit(service, '/jobs?q=nowhere');
    await ui.page.getByText('No job matches').waitFor();
    ui.keyboardOnly();
    await ui.choose(ui.page.getByRole('button', { name: 'Clear filter' }));
    await grid(ui).getByText('DMZ nightly').waitFor();
    await ui.expectGood();
  });

  it('invites to the first job', async () => {
    const ui = await visit(closed, route, { token: await closed.token('job:read') });
    await ui.page.getByText('No jobs yet').waitFor();
    await ui.picture('jobs-empty');
    await ui.expectGood();
  });

  it('asks for nothing else with a token that may read jobs alone', async () => {
    const params = { targets: ['127.0.0.1'], ports: '9', options: { discover: false } };
    await closed.call('POST', '/api/v1/jobs', { type: 'scan', params, name: 'Alone', schedule: '0 2 * * *' });
    const ui = await visit(closed, route, { token: await closed.token('job:read') });
    await grid(ui).getByText('0 2 * * *').waitFor();
    await ui.expectGood();
    await grid(ui).getByText('Alone').click();
    await ui.page.getByRole('heading', { name: 'Alone', level: 1 }).waitFor();
    await ui.expectGood();
  });

  it('names the scope or the license that is missing', async () => {
    const ui = await visit(closed, route, { token: await closed.token('metrics:read') });
    await ui.page.getByText('This token may not see jobs').waitFor();
    await ui.picture('jobs-no-permission');
    await ui.expectGood(status403);
    const locked = await visit(unlicensed);
    await locked.page.getByText('Jobs and schedules need a license').waitFor();
    expect(await locked.page.getByRole('link', { name: 'New job' }).count()).toBe(0);
    await locked.picture('jobs-no-license');
    await locked.expectGood(status403, /status of 402/);
    const form = await visit(unlicensed, '/jobs/new');
    await form.page.getByText('Jobs and schedules need a license').waitFor();
    await form.expectGood();
  });

  it('says that the server cannot be reached, and tries once more', async () => {
    const ui = await visit(service, '/no-such-page');
    await ui.page.route('**/api/v1/jobs?*', (request) => request.abort());
    await ui.press('g', 'j');
    await ui.page.getByText('The jobs could not be loaded').waitFor();
    await ui.expectGood(noAnswer);
    await ui.page.unroute('**/api/v1/jobs?*');
    ui.keyboardOnly();
    await ui.choose(ui.page.getByRole('button', { name: 'Try again' }));
    await grid(ui).getByText('DMZ nightly').waitFor();
    await ui.expectClean(noAnswer);
  });
});
