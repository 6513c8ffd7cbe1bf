import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { syntheticPresets } from '../../../src/report/fixtures/synthetic-scan.ts';
import { isInstalled } from '../../installed.ts';
import { routes } from './page-table.ts';
import { canRun, type OpenOptions, UiBrowser, type UiPage } from './ui-page.ts';
import { renamed, UiService } from './ui-service.ts';

const scanId = '20261121-180000-a00001';
/** Reads the text of a PDF. */
const pdfReader = 'pdftotext';
const former = '20261120-180000-a00002';

/** A page of each route. `/profiles/$name` has another name than `/graphs/$name`. */
function addressOf(path: string, jobId: string): string {
  const name = path.startsWith('/profiles') ? 'deep' : 'standard';
  const address = path.replace('$scanId', scanId).replace('$jobId', jobId).replace('$name', name);
  return address === '/compare' ? `/compare?scan=${scanId}&against=${former}` : address;
}

describe.runIf(canRun('modes'))('every page', () => {
  let browser: UiBrowser;
  let service: UiService;
  let addresses: string[];
  let folder: string;
  let last: UiPage | undefined;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'portolan-modes-'));
    browser = await UiBrowser.launch();
    service = await UiService.start({
      recorded: [
        renamed(syntheticPresets.fifty(), scanId, 'Berlin office, all floors and the annex'),
        renamed(syntheticPresets.one(), former, 'Berlin office'),
      ],
    });
    const { job_id } = await service.call<{ job_id: string }>('POST', '/api/v1/jobs', {
      type: 'scan',
      name: 'DMZ nightly',
      schedule: '0 2 * * *',
      params: { targets: ['127.0.0.1'] },
    });
    // The first tab of a page stands at the address of the page itself.
    addresses = routes.filter(({ path }) => !/.\/$/.test(path)).map(({ path }) => addressOf(path, job_id));
  });
  afterAll(async () => {
    await browser?.close();
    await service?.dispose();
    rmSync(folder, { recursive: true, force: true });
  });

  async function visit(path: string, options: OpenOptions = {}): Promise<UiPage> {
    await last?.close();
    last = await browser.open(service, path, options);
    return last;
  }
  const pictureName = (mode: string, address: string) =>
    `${mode}${address
      .replace(scanId, 'scan')
      .replaceAll(/[/?=&]+/g, '-')
      .slice(0, 40)}`;

  describe.each([
    { width: 320, touch: true, some: /^/ },
    // What fits into half of it fits, but for what begins to stand side by side.
    { width: 640, touch: false, some: /^\/$|\/(findings|stages|standard|jobs|configuration)$/ },
  ] as const)('at $width px', ({ width, touch, some }) => {
    it('scrolls downward only, and what can be touched is large enough', async () => {
      const ui = await visit('/', { width, touch });
      const found: string[] = [];
      for (const address of addresses.filter((each) => some.test(each))) {
        await ui.goto(address);
        await ui.page.evaluate(untilCalm);
        await ui.picture(pictureName(touch ? 'phone' : 'zoomed', address));
        const wrong = (await ui.page.evaluate(touch ? tooWideOrSmall : tooWide)) as string[];
        found.push(...wrong.map((text) => `${address}: ${text}`));
      }
      expect(found).toEqual([]);
      await ui.expectClean();
    });
  });

  it('shows the focus and what is chosen in the colors of the system', async () => {
    const findings = `/scans/${scanId}/findings?q=severity:critical`;
    for (const [theme, shown] of [
      ['light', [findings, '/graphs/standard', '/settings']],
      ['dark', ['/scans']],
    ] as const) {
      const ui = await visit('/', { theme, forcedColors: true });
      for (const address of shown) {
        await ui.goto(address);
        await ui.page.evaluate(untilCalm);
        await ui.picture(pictureName('forced', address), { fullPage: false });
        for (let stop = 0; stop < 45; stop++) {
          await ui.press('Tab');
          // Behind the last one.
          if ((await ui.focused()) === 'nothing') break;
          await ui.expectFocusShown();
        }
      }
      await ui.expectClean();
    }
  });

  it('stands still for those who want less motion', async () => {
    const slow = { ports: '1-20000', rate: 20, options: { discover: false, scan_type: 'connect' } };
    const running = await service.submit({ name: 'Core network', ...slow });
    const ui = await visit(`/scans/${running}`);
    await ui.page.getByText('not tried yet').waitFor();
    expect(await ui.page.evaluate(movements)).toEqual([]);
    await ui.expectClean();
    await service.call('POST', `/api/v1/scans/${running}/cancel`, {});
  });

  describe.runIf(isInstalled(pdfReader))('on paper', () => {
    /** @param last text or row that comes last */
    async function print(
      address: string,
      name: string,
      last: string,
      options: OpenOptions = {},
    ): Promise<string> {
      const ui = await visit(address, { theme: 'dark', ...options });
      await ui.page.locator(last).first().waitFor();
      await ui.page.evaluate(untilCalm);
      const path = join(process.env['PORTOLAN_UI_PICTURES'] ?? folder, `print-${name}.pdf`);
      await ui.page.pdf({ path, format: 'A4', preferCSSPageSize: true });
      await ui.expectClean();
      return execFileSync(pdfReader, ['-layout', path, '-'], { encoding: 'utf8' });
    }
    const idsOf = async (type: string, q = '') => {
      const query = `type=${type}&limit=200&q=${encodeURIComponent(q)}`;
      const found = await service.call<{ records: { host: string; vulnerability?: { id: string } }[] }>(
        'GET',
        `/api/v1/scans/${scanId}/records?${query}`,
      );
      return found.records.map(({ host, vulnerability }) => vulnerability?.id ?? host);
    };

    it.each([1280, 390] as const)(
      'has all findings with the heads on every sheet, from %i px',
      async (width) => {
        const q = 'severity:>=low';
        const text = await print(
          `/scans/${scanId}/findings?q=${encodeURIComponent(q)}`,
          `findings-${width}`,
          '[data-row]',
          { width },
        );
        const sheets = text.split('\f').filter((sheet) => sheet.trim() !== '');
        const ids = await idsOf('vulnerability', q);
        expect(ids.length).toBeGreaterThan(20);
        expect(ids.filter((id) => !text.replaceAll(/\s/g, '').includes(id))).toEqual([]);
        for (const sheet of sheets) expect(sheet).toMatch(/Severity.*Finding.*Host/);
        expect(text).toContain(q);
        expect(text).not.toMatch(/Search or run|Dashboard|Filter by value|Columns/);
      },
    );

    it('has the overview and the hosts', async () => {
      const overview = await print(`/scans/${scanId}`, 'overview', 'main >> text=Ports tried');
      expect(overview).toMatch(/Berlin office[\s\S]*Fix first[\s\S]*Coverage/);
      expect(overview).not.toMatch(/Search or run|Dashboard|Run again/);
      const hosts = await print(`/scans/${scanId}/hosts`, 'hosts', '[data-row]');
      // Long addresses lose their middle.
      const short = (await idsOf('host')).filter((host) => !host.includes(':'));
      expect(short.length).toBeGreaterThan(10);
      for (const host of short) expect(hosts).toContain(host);
    });
  });
});

/** Until nothing more arrives and nothing loads. The stream of events never ends, so the network is never idle. */
const untilCalm = `new Promise((resolve) => {
  let [before, calm] = [-1, 0];
  const look = () => {
    const now = performance.getEntriesByType('resource').length;
    const isLoading = document.querySelector('[aria-busy=true]') ||
      [...document.querySelectorAll('[role=status]')].some(({ textContent }) => textContent.includes('Loading'));
    calm = now === before && !isLoading ? calm + 1 : 0;
    before = now;
    if (calm >= 3) resolve();
    else setTimeout(look, 60);
  };
  look();
})`;

/** Names an element for messages. */
const describeElement = `
  const describe = (element) => element.outerHTML.replace(/\\s+/g, ' ').slice(0, 160);
  const isVisible = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) &&
    !element.closest('.sr-only, [aria-hidden=true]') && element.getClientRects().length > 0;
`;

/** What makes the page wider than the window. */
const tooWide = `(() => {
  ${describeElement}
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth <= clientWidth) return [];
  return [...document.querySelectorAll('body *')]
    .filter((element) => isVisible(element) && element.getBoundingClientRect().right > clientWidth + 1)
    .slice(0, 5).map((element) => 'wide: ' + describe(element));
})()`;

/**
 * Also targets below 24 pixels. Links within sentences are as high as their line, a field can be touched at its label,
 * and what scrolls below the edge of something is not there.
 */
const tooWideOrSmall = `(() => {
  ${describeElement}
  const sizeOf = (element) => {
    const boxes = [element, element.closest('label')].filter(Boolean).map((one) => one.getBoundingClientRect());
    return Math.min(Math.max(...boxes.map(({ width }) => width)), Math.max(...boxes.map(({ height }) => height)));
  };
  const isInText = (element) => getComputedStyle(element).display === 'inline';
  const small = [...document.querySelectorAll('a, button, input, select, textarea, [role=button], [role=switch]')]
    .filter((element) => isVisible(element) && !isInText(element) && sizeOf(element) < 23.5)
    .map((element) => 'small: ' + Math.round(sizeOf(element)) + ' ' + describe(element));
  return [...${tooWide}, ...small];
})()`;

/** Animations that run now. */
const movements = `document.getAnimations()
  .filter(({ playState, effect }) => playState === 'running' && effect.getComputedTiming().duration > 0)
  .map(({ effect }) => effect.target?.outerHTML.slice(0, 200))`;
