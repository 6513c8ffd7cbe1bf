import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../../program.ts';
import { canRun, UiBrowser } from './ui-page.ts';
import { UiService } from './ui-service.ts';

/** Section 3 of docs/tutorial.md, in its words. */
describe.runIf(canRun('tutorial'))('the scan of the tutorial', () => {
  const page = readFileSync(join(root, 'docs/tutorial.md'), 'utf8');
  const section = page.slice(page.indexOf('## 3.'), page.indexOf('## 4.'));
  const named = [...section.matchAll(/\*\*([^*]+)\*\*/g)].map(([, name = '']) =>
    name.replaceAll(/\s+/g, ' '),
  );
  let browser: UiBrowser;
  let service: UiService;
  beforeAll(async () => {
    browser = await UiBrowser.launch();
    service = await UiService.start();
  });
  afterAll(async () => {
    await browser?.close();
    await service?.dispose();
  });

  it('has the fields and steps that the page names, and finds what it says', async () => {
    const { web } = await service.targets();
    const ui = await browser.open(service, '/');
    const places = ui.page.getByRole('navigation', { name: 'Steps' });
    const begin = ['Start a first scan', 'Targets', 'New scan', 'To the review', 'Review'];
    const steps = ['Options', 'Ports', 'Review', 'Profile', 'Start scan'];
    expect(named).toEqual([...begin, ...steps, 'Services', 'Findings', 'Fix list']);

    await ui.page.getByRole('textbox', { name: 'Targets' }).fill('127.0.0.1');
    await ui.page.getByText('1 address to scan, in scope').waitFor();
    await ui.press('Enter');
    await ui.page.getByText('Nothing has been sent yet.').waitFor();
    await places.getByRole('link', { name: 'Options' }).click();
    await ui.page.getByRole('textbox', { name: 'Ports' }).fill(String(web));
    await places.getByRole('link', { name: 'Profile' }).waitFor();
    await places.getByRole('link', { name: 'Review' }).click();
    await ui.page.getByRole('button', { name: /^Start scan/ }).click();

    await expect.poll(() => ui.path).toMatch(/^\/scans\/\d{8}-/);
    const scan = await service.ended(ui.path.split('/')[2] ?? '');
    expect(scan).toMatchObject({ status: 'completed', vuln: true, results: { open_ports: 1 } });
    const found = { Services: 'nginx', Findings: 'CVE-', 'Fix list': 'Update nginx' };
    for (const [tab, text] of Object.entries(found)) {
      await ui.page.getByRole('link', { name: tab }).first().click();
      await ui.page.getByText(text).filter({ visible: true }).first().waitFor();
    }
    await ui.close();
  });
});
