import { accessSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { syntheticPresets } from '../../src/report/fixtures/synthetic-scan.ts';
import { renderHtml } from '../../src/report/html/render-html.ts';
import { reportOptions } from '../report-of-rows.ts';
import { text } from '../result-rows.ts';
import { isLongRun } from '../rounds.ts';
import { browserFile, browserObstacle } from './chromium.ts';

const obstacle = browserObstacle() ?? axeObstacle();
if (obstacle !== null) console.log(`skipped: test/browser/report-page.test.ts: ${obstacle}`);
if (obstacle !== null && process.env['CI'] === 'true') throw new Error(obstacle);

/** Why axe cannot run here, with the remedy. */
function axeObstacle(): string | null {
  try {
    accessSync(axeFile());
    return null;
  } catch {
    return 'axe-core is not installed. Install it with: npm ci';
  }
}

function axeFile(): string {
  return fileURLToPath(import.meta.resolve('axe-core/axe.min.js'));
}

/** Scans of all states, small enough for axe. */
const scans = ['empty', 'office', 'hostile', 'canceled'] as const;
const widths = [390, 1280];

describe.runIf(obstacle === null)('the HTML report in Chromium', () => {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-page-'));
  let browser: Browser;

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: browserFile, args: ['--no-sandbox', '--disable-gpu'] });
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function reportFile(name: keyof typeof syntheticPresets): Promise<string> {
    const { facts, rows } = syntheticPresets[name]();
    const file = join(folder, `${name}.html`);
    writeFileSync(file, await text(renderHtml({ facts, options: reportOptions, rows })));
    return pathToFileURL(file).href;
  }

  async function withPage<T>(
    name: keyof typeof syntheticPresets,
    options: Parameters<Browser['newPage']>[0],
    use: (page: Page, url: string) => Promise<T>,
  ): Promise<T> {
    const page = await browser.newPage({ reducedMotion: 'reduce', ...options });
    try {
      const url = await reportFile(name);
      await page.goto(url);
      return await use(page, url);
    } finally {
      await page.close();
    }
  }

  // A width changes places, a scheme colors: each once finds what all pairs find, which the long run tries.
  const looks = scans
    .flatMap((name) =>
      widths.flatMap((width) => (['light', 'dark'] as const).map((scheme) => ({ name, width, scheme }))),
    )
    .filter(({ width, scheme }) => isLongRun || (scheme === 'dark') === (width === 390));

  it.each(looks)(
    '$name at $width px, $scheme: no violations of axe, no horizontal scrolling',
    async (look) => {
      const viewport = { width: look.width, height: 900 };
      await withPage(look.name, { viewport, colorScheme: look.scheme }, async (page) => {
        for (const opened of [false, true]) {
          if (opened) await page.evaluate(openEntries);
          // The protocol of the debugger runs scripts that the policy of the page forbids.
          await page.evaluate(readFileSync(axeFile(), 'utf8'));
          const violations = (await page.evaluate(runAxe)) as string[];
          expect(violations).toEqual([]);
          expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(look.width);
        }
      });
    },
  );

  it('opens the host, finding or action that an address or a link leads to', async () => {
    await withPage('office', {}, async (page, url) => {
      const shown = async (anchor: string) => {
        const entry = page.locator(`[id="${anchor}"]`);
        await entry.waitFor({ state: 'visible' });
        await expect.poll(() => entry.evaluate(isInView)).toBe(true);
        return entry;
      };
      expect(await page.locator('[id="h-192.168.20.14"]').isVisible()).toBe(false);
      await page.goto('about:blank');
      await page.goto(`${url}#h-192.168.20.14`);
      const block = await shown('h-192.168.20.14');
      const followed = async (within: Locator, name: string | RegExp, anchor: RegExp) => {
        const link = within.getByRole('link', { name });
        const href = (await link.getAttribute('href')) ?? '';
        expect(href).toMatch(anchor);
        await link.click();
        return await shown(href.slice(1));
      };
      // Where a distribution may have fixed it, it is an entry of its own.
      const kind = await followed(block, 'CVE-2024-6387', /^#f-CVE-2024-6387(?:\.2)?$/);
      await followed(kind, /^fix /, /^#fix-\d+$/);
    });
  });

  it('finds text in folded banners of folded hosts', async () => {
    await withPage('office', {}, async (page, url) => {
      await page.goto('about:blank');
      await page.goto(`${url}#:~:text=Length:%20169`);
      const banner = page.locator('details.ho[open] details.more[open] pre');
      await banner.waitFor({ state: 'visible' });
      expect(await banner.innerText()).toContain('Content-Length: 169');
    });
  });

  it('draws hosts only when they come into view', async () => {
    await withPage('office', { viewport: { width: 1280, height: 900 } }, async (page) => {
      const last = page.locator('details.ho').last();
      const drawn = () => last.evaluate(isDrawn);
      await expect.poll(drawn).toBe(false);
      await last.scrollIntoViewIfNeeded();
      await expect.poll(drawn).toBe(true);
    });
  });

  it('sorts its hosts without a script, by mouse and by keys', async () => {
    await withPage('fifty', {}, async (page) => {
      const order = async () => (await page.evaluate(hostPlaces)) as HostPlace[];
      const grouped = await order();
      expect(grouped.map(({ found }) => found)).toEqual(
        grouped.map(({ found }) => found).toSorted((a, b) => Number(b) - Number(a)),
      );
      await page.getByText('address', { exact: true }).click();
      const byAddress = await order();
      expect(byAddress.map(({ address }) => address)).toEqual(
        byAddress.map(({ address }) => address).toSorted((a, b) => a - b),
      );
      await page.getByText('worst finding').click();
      const byWorst = (await order()).map(({ worst }) => worst);
      expect(byWorst).toEqual(byWorst.toSorted((a, b) => a - b));
      expect(new Set(byWorst).size).toBeGreaterThan(2);
      await page.locator('#by-worst').press('ArrowLeft');
      expect(await order()).toEqual(grouped);
      await page.getByText('open ports', { exact: true }).click();
      const byPorts = (await order()).map(({ ports }) => ports);
      expect(byPorts).toEqual(byPorts.toSorted((a, b) => b - a));
    });
  });

  it('prints 127 findings on at most 8 sheets, with exploited entries open', async () => {
    await withPage('print127', {}, async (page) => {
      const sheets = await page.pdf({ format: 'A4', preferCSSPageSize: true });
      const counts = [...sheets.toString('latin1').matchAll(/\/Type\s*\/Pages\b[^>]*?\/Count\s+(\d+)/g)];
      const pages = Math.max(...counts.map(([, count]) => Number(count)));
      expect(pages).toBeGreaterThan(2);
      expect(pages).toBeLessThanOrEqual(8);
      await page.emulateMedia({ media: 'print' });
      expect(await page.locator('details.fi.kev .in').first().isVisible()).toBe(true);
      expect(await page.locator('details.fi:not(.kev) .in').first().isVisible()).toBe(false);
      expect(await page.locator('nav').first().isVisible()).toBe(false);
    });
  });
});

/** A host of the list. */
interface HostPlace {
  worst: number;
  address: number;
  ports: number;
  found: boolean;
}

/** Opens the first entries of each list, and every banner in them. */
const openEntries = `for (const list of ['.fx', '.fi', '.ho'])
  for (const entry of [...document.querySelectorAll('details' + list)].slice(0, 3))
    for (const folded of [entry, ...entry.querySelectorAll('details')]) folded.open = true`;

const runAxe = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ html }) => html.slice(0, 200)).join(' | ')))`;

const isInView = (element: unknown): boolean => {
  const { top } = (element as { getBoundingClientRect(): { top: number } }).getBoundingClientRect();
  return top >= 0 && top < 800;
};

/** Whether the content of a host is laid out: it is skipped while it is out of view. */
const isDrawn = (host: unknown): boolean =>
  (host as Drawable).firstElementChild.firstElementChild.checkVisibility({ contentVisibilityAuto: true });

interface Drawable {
  firstElementChild: { firstElementChild: { checkVisibility(options: object): boolean } };
}

/** The hosts from top to bottom. */
const hostPlaces = `[...document.querySelectorAll('details.ho')]
  .sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)
  .map((host) => ({
    worst: Number(host.style.getPropertyValue('--w')),
    address: Number(host.style.getPropertyValue('--a')),
    ports: -Number(host.style.getPropertyValue('--p')),
    found: host.querySelector('.n i') !== null,
  }))`;
