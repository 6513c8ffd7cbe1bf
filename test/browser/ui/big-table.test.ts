import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canRun, UiBrowser, type UiPage } from './ui-page.ts';
import { bigScanId, UiService } from './ui-service.ts';

/** Just over a million rows: hosts, and as many services as a table maps onto its scroll bar. */
const size = { hosts: 16_000, portsPerHost: 62, findingsPerPort: 0 };
const services = size.hosts * size.portsPerHost;
/** Rows in the page, of which some 30 are in view. */
const mostRows = 60;
const jumps = 60;
/** The index of a million records is built at the first request, milliseconds. */
const indexMs = 180_000;

describe.runIf(canRun('big-table'))('a table of a million rows', () => {
  let browser: UiBrowser;
  let service: UiService;
  let ui: UiPage;
  let wasBuiltFirst: boolean;
  beforeAll(async () => {
    browser = await UiBrowser.launch();
    service = await UiService.start({ big: size });
    ui = await browser.open(service, `/scans/${bigScanId}/services`);
    const note = ui.page.getByText('The index of this scan is being built').first();
    const firstRow = ui.page.getByRole('grid', { name: 'Services' }).locator('[data-row="0"]');
    await firstRow.getByText('10.0.0.0').waitFor({ timeout: indexMs });
    wasBuiltFirst = !(await note.isVisible());
    await note.waitFor({ state: 'detached', timeout: indexMs });
  });
  afterAll(async () => {
    await browser?.close();
    await service?.dispose();
  });

  const rows = () => ui.page.locator('[data-row]').count();
  const run = (script: string) => ui.page.evaluate(`(() => { ${findScroller} ${script} })()`);
  const activeRow = () => ui.page.evaluate('Number(document.activeElement.dataset.row)');
  const isLoaded = () => ui.page.locator('[data-row][aria-busy]').count();

  it('shows the first rows while the index is built', () => {
    expect(wasBuiltFirst).toBe(false);
  });

  it('says how many there are', async () => {
    const grid = ui.page.getByRole('grid', { name: 'Services' });
    expect(await grid.getAttribute('aria-rowcount')).toBe(String(services + 1));
  });

  it('has few of them in the page while it is scrolled', async () => {
    await ui.page.evaluate(watchLongTasks);
    let most = 0;
    for (let jump = 0; jump < jumps; jump++) {
      await run(`scroller.scrollTop = scroller.scrollHeight * ${((jump * 37) % jumps) / jumps};`);
      most = Math.max(most, await rows());
    }
    await ui.page.getByRole('grid', { name: 'Services' }).hover();
    for (let turn = 0; turn < jumps; turn++) await ui.page.mouse.wheel(0, 240);
    most = Math.max(most, await rows());
    expect(most).toBeLessThanOrEqual(mostRows);
    const long = (await ui.page.evaluate('longTasks')) as number[];
    console.log(
      `long tasks while scrolling a million rows: ${long.length}, the longest ${Math.max(0, ...long)} ms`,
    );
    await expect.poll(isLoaded).toBe(0);
    // While the index was built.
    await ui.expectClean(/status of 504/);
  });

  it('reaches the first and the last row by keys', async () => {
    ui.keyboardOnly();
    await ui.tabTo(ui.page.locator('[data-row][tabindex="0"]'));
    await ui.press('End');
    await expect.poll(activeRow).toBe(services - 1);
    await expect.poll(isLoaded).toBe(0);
    await ui.press('ArrowUp', 'PageUp', 'PageUp');
    expect(await activeRow()).toBeLessThan(services - 3);
    // Nothing lies above the row with the focus: neither the top bar nor the head.
    expect(await ui.page.evaluate(isOnTop)).toBe(true);
    await ui.press('Home');
    await expect.poll(activeRow).toBe(0);
    await ui.expectGood();
  });

  it('adds the value of a cell to the filter by keys', async () => {
    await ui.press('ArrowRight', 'Enter');
    await ui.menuItem('Only this value');
    await ui.press('ArrowDown', 'Enter');
    await expect.poll(() => ui.path).toContain('q=host%3A10.0.0.0');
    const grid = ui.page.getByRole('grid', { name: 'Services' });
    await expect.poll(() => grid.getAttribute('aria-rowcount')).toBe(String(size.portsPerHost + 1));
    await ui.expectGood();
  });
});

const findScroller = `
  let scroller = document.querySelector('[role=grid]');
  while (scroller && !/auto|scroll/.test(getComputedStyle(scroller).overflowY)) scroller = scroller.parentElement;
  scroller ??= document.scrollingElement;
`;

const watchLongTasks = `
  globalThis.longTasks = [];
  new PerformanceObserver((list) => longTasks.push(...list.getEntries().map((each) => each.duration)))
    .observe({ entryTypes: ['longtask'] });
`;

const isOnTop = `(() => {
  const row = document.activeElement;
  const { left, top, width } = row.getBoundingClientRect();
  return row.contains(document.elementFromPoint(left + width / 2, top + 3));
})()`;
