import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { UiService } from '../ui/ui-service.ts';
import { officePorts, officeTargets, openOffice } from './office.ts';

/** What the second scan finds for the first time. */
const later = ['127.0.42.11:80', '127.0.42.12:21'];
const size = { width: 1280, height: 800 };

/** The pictures of docs/web-ui.md: a real server, real scans of listeners. @returns names of the PNG files in `folder` */
export async function drawUi(browser: Browser, folder: string): Promise<string[]> {
  const service = await UiService.start({ env: { SERVICE_SCANNER__RATE: '100000' } });
  const submission = { targets: [officeTargets], ports: officePorts, vuln: true, name: 'Berlin office' };
  const names: string[] = [];
  try {
    const closeBefore = await openOffice(later);
    await service.scan(submission);
    closeBefore();
    const close = await openOffice();
    const { scan_id } = await service.scan(submission);
    await service.call('POST', '/api/v1/jobs', {
      type: 'scan',
      name: 'nightly',
      schedule: '0 2 * * *',
      params: submission,
    });
    const slow = await service.submit({ ...submission, name: 'Hamburg office', ports: '1-10000', rate: 700 });
    await running(service, slow);
    await compared(service);
    for (const colorScheme of ['light', 'dark'] as const) {
      const context = await browser.newContext({ colorScheme, viewport: size, timezoneId: 'UTC' });
      const page = await context.newPage();
      const shots = {
        dashboard: '/',
        running: `/scans/${slow}`,
        fixes: `/scans/${scan_id}/fixes`,
      };
      for (const [name, path] of Object.entries(shots)) {
        await page.goto(service.page(path));
        await page.locator('h1').first().waitFor();
        // Streams never end: wait for what is loaded, then for charts and live counts to be drawn.
        await page.waitForTimeout(2500);
        const picture = `ui-${name}-${colorScheme}.png`;
        await page.screenshot({ path: join(folder, picture) });
        names.push(picture);
      }
      await context.close();
    }
    close();
  } finally {
    await service.dispose();
  }
  return names;
}

/** Waits until the scan has something to show. */
async function running(service: UiService, scanId: string): Promise<void> {
  for (;;) {
    const scan = await service.call<{ results: { open_ports: number } }>('GET', `/api/v1/scans/${scanId}`);
    if (scan.results.open_ports >= 6) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Waits until the dashboard has compared the runs. */
async function compared(service: UiService): Promise<void> {
  while ((await service.call<{ pending: boolean }>('GET', '/api/v1/dashboard')).pending) {
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
