import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { isLongRun } from '../../rounds.ts';
import { htmlFaults } from '../../valid-html.ts';
import { browserFile, browserObstacle } from '../chromium.ts';
import type { UiService } from './ui-service.ts';

/** How a reader sees the pages. */
export interface Look {
  /** CSS pixels. 320 and 640 are what 1280 pixels are to those who enlarge pages four times and twice. */
  width: 320 | 390 | 640 | 1280 | 1920;
  theme: 'light' | 'dark';
}

const widths = [390, 1280, 1920] as const;
const themes = ['light', 'dark'] as const;
const everyLook = widths.flatMap((width) => themes.map((theme) => ({ width, theme })));
/**
 * For `it.each`: every page is right in each of them. A width changes places, a theme colors alone: each width and each
 * theme once find what all pairs find, which the long run tries.
 */
export const looks: readonly Look[] = isLongRun
  ? everyLook
  : [
      { width: 390, theme: 'light' },
      { width: 1280, theme: 'dark' },
      { width: 1920, theme: 'light' },
    ];
export const usualLook: Look = { width: 1280, theme: 'light' };

/** Folder for the pictures of `picture()`; without it none are made. */
const pictures = process.env['PORTOLAN_UI_PICTURES'];
const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
/** Where the pages hold the token of their tab. */
const tokenKey = 'portolan.token';
/** A page that shows nothing for so long shows nothing at all, also on a busy machine, milliseconds. */
const longestWaitMs = 60_000;
/** Presses of Tab until something that should be reached counts as unreachable. */
const mostTabs = 120;

/** Why these tests cannot run here. Say so, and fail in CI: `describe.runIf(canRun('shell'))`. */
export function canRun(file: string): boolean {
  const obstacle = browserObstacle();
  if (obstacle === null) return true;
  if (process.env['CI'] === 'true') throw new Error(obstacle);
  console.log(`skipped: test/browser/ui/${file}.test.ts: ${obstacle}`);
  return false;
}

export interface OpenOptions extends Partial<Look> {
  /** The tab has this token, as if its reader had signed in. */
  token?: string;
  /** Seconds by which the clock of the browser is wrong. */
  clockOffset?: number;
  /** A phone, whose screen is touched. */
  touch?: boolean;
  /** Of the reader's clock; UTC as that of servers unless set. */
  zone?: string;
  /** The few colors of the system replace those of the page. */
  forcedColors?: boolean;
  /** In place of an empty browser: another tab of the same one. */
  besides?: UiPage;
}

/** Where pages come from. */
type Served = Pick<UiService, 'url' | 'page'>;

/** Chromium, with an empty profile for each page that is not opened beside another one. */
export class UiBrowser {
  readonly #browser: Browser;
  /** Profiles without pages, by their look: what they loaded stays in their cache. */
  readonly #idle = new Map<string, BrowserContext>();
  readonly #kinds = new WeakMap<BrowserContext, string>();

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  static async launch(): Promise<UiBrowser> {
    // Its own sandbox cannot be built by root.
    const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
    const args = [...sandbox, '--disable-gpu'];
    return new UiBrowser(await chromium.launch({ executablePath: browserFile, args }));
  }

  /** @param path of a page below that of the UI, `/scans?q=berlin` */
  async open(service: Served, path: string, options: OpenOptions = {}): Promise<UiPage> {
    const { width = usualLook.width, theme = usualLook.theme, token, clockOffset = 0, besides } = options;
    const context = besides?.context ?? (await this.#emptyContext({ ...options, width, theme }));
    const page = await context.newPage();
    if (clockOffset !== 0) await page.addInitScript(wrongClock(clockOffset * 1000));
    // A worker would have the right clock. Without them the page reads the events itself.
    if (clockOffset !== 0) await page.addInitScript('delete globalThis.SharedWorker');
    const ui = await UiPage.watch(page, service, { width, theme }, () => this.#release(context));
    if (token !== undefined) await page.addInitScript(giveToken(token));
    await ui.goto(path);
    return ui;
  }

  async close(): Promise<void> {
    await this.#browser.close();
  }

  async #emptyContext(options: OpenOptions & Look): Promise<BrowserContext> {
    const kind = JSON.stringify([
      options.width,
      options.theme,
      options.touch,
      options.zone,
      options.forcedColors,
    ]);
    const idle = this.#idle.get(kind);
    this.#idle.delete(kind);
    const context = idle ?? (await this.#newContext(options));
    this.#kinds.set(context, kind);
    return context;
  }

  async #release(context: BrowserContext): Promise<void> {
    const kind = this.#kinds.get(context);
    if (context.pages().length > 0) return;
    if (kind === undefined || this.#idle.has(kind)) return await context.close();
    await context.clearPermissions();
    this.#idle.set(kind, context);
  }

  async #newContext({
    width,
    theme,
    touch = false,
    zone = 'UTC',
    forcedColors,
  }: OpenOptions & Look): Promise<BrowserContext> {
    const context = await this.#browser.newContext({
      viewport: { width, height: 900 },
      colorScheme: theme,
      reducedMotion: 'reduce',
      locale: 'en-US',
      timezoneId: zone,
      ...(touch && { hasTouch: true, isMobile: true }),
      ...(forcedColors && { forcedColors: 'active' }),
    });
    context.setDefaultTimeout(longestWaitMs);
    return context;
  }
}

/** Once: who signs out stays signed out. */
function giveToken(token: string): string {
  const [key, value] = [tokenKey, token].map((text) => JSON.stringify(text));
  return `if (!sessionStorage.getItem('test.given')) {
    sessionStorage.setItem('test.given', '1');
    sessionStorage.setItem(${key}, ${value});
  }`;
}

function wrongClock(milliseconds: number): string {
  return `{
    const RightDate = Date;
    globalThis.Date = class extends RightDate {
      constructor(...parts) { super(...(parts.length === 0 ? [RightDate.now() + ${milliseconds}] : parts)); }
      static now() { return RightDate.now() + ${milliseconds}; }
    };
  }`;
}

/** A page of the UI, and everything that is wrong with it. */
export class UiPage {
  readonly page: Page;
  readonly look: Look;
  readonly #service: Served;
  #complaints: string[] = [];
  #allowsPointer = true;
  readonly #onClosed: () => Promise<void>;

  private constructor(page: Page, service: Served, look: Look, onClosed: () => Promise<void>) {
    this.page = page;
    this.#service = service;
    this.look = look;
    this.#onClosed = onClosed;
  }

  /** Collects what the browser complains about, from the first request on. */
  static async watch(
    page: Page,
    service: Served,
    look: Look,
    onClosed: () => Promise<void>,
  ): Promise<UiPage> {
    const ui = new UiPage(page, service, look, onClosed);
    page.on('console', (message) => ui.#complain(`console ${message.type()}: ${message.text()}`));
    page.on('pageerror', (error) => ui.#complain(`error: ${error.stack ?? error.message}`));
    page.on('dialog', (dialog) => {
      ui.#complain(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('request', (request) => ui.#checkOrigin(request.url()));
    page.on('websocket', (socket) => ui.#checkOrigin(socket.url()));
    await page.exposeFunction('complainAboutPolicy', (text: string) => ui.#complain(`policy: ${text}`));
    await page.exposeFunction('complainAboutPointer', (text: string) => {
      if (!ui.#allowsPointer) ui.#complain(`pointer: ${text}`);
    });
    await page.addInitScript(listeners);
    return ui;
  }

  get context(): BrowserContext {
    return this.page.context();
  }

  /** Path and search of the page below that of the UI. */
  get path(): string {
    const { pathname, search } = new URL(this.page.url());
    return pathname.replace(/^\/ui/, '') + search;
  }

  /** Loads a page and waits for its heading. */
  async goto(path: string): Promise<void> {
    await this.page.goto(this.#service.page(path));
    await this.page.locator('h1').first().waitFor();
  }

  async close(): Promise<void> {
    // The next page of this profile finds it empty. What a page that failed left is of no page.
    await this.page.evaluate('localStorage.clear()').catch(() => undefined);
    await this.page.close();
    await this.#onClosed();
  }

  /**
   * Nothing was wrong since the last call: no console message of any kind, no report of the content security policy, no
   * uncaught error, no request to another origin.
   * @param except complaints that the test provoked
   */
  async expectClean(...except: RegExp[]): Promise<void> {
    // Whatever the page has said by now has arrived when this has.
    await this.page.evaluate('0');
    const found = this.#complaints.splice(0);
    expect(found.filter((text) => !except.some((pattern) => pattern.test(text)))).toEqual([]);
  }

  /**
   * Also what axe and an HTML validator find, a page that is wider than the window, and at 1280 px cells of tables that show
   * less than most of their text.
   */
  async expectGood(...except: RegExp[]): Promise<void> {
    await this.expectAccessible();
    expect(await htmlFaults(await this.page.content())).toEqual([]);
    expect(await this.page.evaluate('document.documentElement.scrollWidth')).toBe(this.look.width);
    if (this.look.width === 1280) expect(await this.page.evaluate(cutCells)).toBe('');
    await this.expectClean(...except);
  }

  async expectAccessible(): Promise<void> {
    // The protocol of the debugger runs scripts that the policy of the page forbids.
    if (!(await this.page.evaluate('"axe" in globalThis'))) await this.page.evaluate(axe);
    expect(await this.page.evaluate(runAxe)).toEqual([]);
  }

  /** From now on everything is done by keys: a press of the mouse fails `expectClean`. */
  keyboardOnly(): void {
    this.#allowsPointer = false;
  }

  async press(...keys: string[]): Promise<void> {
    for (const key of keys) await this.page.keyboard.press(key);
  }

  async type(text: string): Promise<void> {
    await this.page.keyboard.type(text);
  }

  /**
   * Presses Tab until something has the focus, and checks that the focus can be seen there.
   * @param backward with Shift
   */
  async tabTo(target: Locator, { backward = false } = {}): Promise<void> {
    const passed: string[] = [];
    for (let tabs = 0; tabs < mostTabs; tabs++) {
      const { isThere, focused } = await target.evaluate(whereFocusIs);
      if (isThere) return await this.expectFocusShown();
      passed.push(focused);
      await this.press(backward ? 'Shift+Tab' : 'Tab');
    }
    throw new Error(`Tab does not reach ${target}. It passed:\n${passed.join('\n')}`);
  }

  /** Reaches something by Tab and activates it. */
  async choose(target: Locator, key: 'Enter' | 'Space' = 'Enter'): Promise<void> {
    await this.tabTo(target);
    await this.press(key);
  }

  /** What has the focus, `button "New scan"`. */
  async focused(): Promise<string> {
    return (await this.page.evaluate(describeFocus)) as string;
  }

  /** An item of the open menu is there, and the menu has the focus: earlier keys would go to its button. */
  async menuItem(name: string): Promise<void> {
    await this.page.getByRole('menuitem', { name, exact: true }).waitFor();
    await expect.poll(() => this.focused()).toMatch(/^menu/);
  }

  /** What has the focus has an outline, an own or that of the part of the page around it. */
  async expectFocusShown(): Promise<void> {
    const shown = await this.page.evaluate(isFocusShown);
    expect([await this.focused(), shown]).toEqual([expect.any(String), true]);
  }

  /** Keeps a screenshot in the folder of PORTOLAN_UI_PICTURES, if it is set. */
  async picture(name: string, { fullPage = true } = {}): Promise<void> {
    if (pictures === undefined) return;
    const path = join(pictures, `${name}-${this.look.width}-${this.look.theme}.png`);
    // Otherwise Playwright adds a style element, which the policy of the page forbids.
    await this.page.screenshot({ path, fullPage, caret: 'initial', animations: 'allow' });
  }

  #complain(text: string): void {
    this.#complaints.push(text.slice(0, 2000));
  }

  #checkOrigin(url: string): void {
    const { protocol, origin } = new URL(url);
    if (['data:', 'blob:', 'about:'].includes(protocol) || origin === this.#service.url) return;
    this.#complain(`request to ${url}`);
  }
}

const listeners = `
addEventListener('securitypolicyviolation', (event) => {
  complainAboutPolicy([event.effectiveDirective, event.blockedURI, event.sourceFile, event.lineNumber, event.sample].join(' '));
}, true);
addEventListener('pointerdown', (event) => {
  if (event.isTrusted) complainAboutPointer(String(event.target?.outerHTML).slice(0, 200));
}, true);
`;

/** Without the edges of menus, which hand on the focus that comes to them. */
const runAxe = `axe.run({ exclude: ['[data-base-ui-focus-guard]'] }, { resultTypes: ['violations'] }).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ html, failureSummary }) =>
    html.slice(0, 200) + ' (' + failureSummary.slice(0, 200) + ')').join(' | ')))`;

/** An element that the focus is in counts too: the cell of a row, the field of a label. One call for each press of Tab. */
const whereFocusIs = (element: unknown): { isThere: boolean; focused: string } => {
  const { ownerDocument, contains } = element as FocusedElement;
  const { activeElement } = ownerDocument;
  const text = activeElement?.getAttribute('aria-label') ?? activeElement?.textContent ?? 'nothing';
  return {
    isThere: contains.call(element, activeElement),
    focused: `${activeElement?.tagName} ${text.slice(0, 300).trim().replace(/\s+/g, ' ').slice(0, 60)}`,
  };
};

interface FocusedElement {
  ownerDocument: {
    activeElement: {
      tagName: string;
      textContent: string | null;
      getAttribute(name: string): string | null;
    } | null;
  };
  contains(other: unknown): boolean;
}

const describeFocus = `(() => {
  const element = document.activeElement;
  if (!element || element === document.body) return 'nothing';
  const role = element.getAttribute('role') ?? element.tagName.toLowerCase();
  const name = element.getAttribute('aria-label') ?? element.textContent ?? '';
  return role + ' "' + name.trim().replace(/\\s+/g, ' ').slice(0, 60) + '"';
})()`;

const isFocusShown = `(() => {
  for (let element = document.activeElement; element && element !== document.body; element = element.parentElement) {
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
    if (outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2) return true;
    if (element.matches(':focus-within') && /inset|0px 0px 0px [2-9]px/.test(boxShadow)) return true;
  }
  return false;
})()`;

/** Cells of which a line shows less than a part of its text; those of hostile targets have no end. */
const cutCells = `(() => {
  const least = 0.6;
  return [...document.querySelectorAll('main :is([role=gridcell], [role=columnheader], td)')].flatMap((cell) => {
    const lines = new Map();
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (node.data.trim() === '' || node.parentElement.closest('.sr-only, button[aria-haspopup]')) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      const { left, right, top } = range.getBoundingClientRect();
      let [from, to] = [left, right];
      for (let box = node.parentElement; box && cell.contains(box); box = box.parentElement) {
        if (getComputedStyle(box).overflowX === 'visible') continue;
        const clip = box.getBoundingClientRect();
        [from, to] = [Math.max(from, clip.left), Math.min(to, clip.right)];
      }
      const line = lines.get(Math.round(top / 8)) ?? { text: '', whole: 0, shown: 0 };
      lines.set(Math.round(top / 8), line);
      line.text += node.data;
      line.whole += right - left;
      line.shown += Math.max(0, to - from);
    }
    return [...lines.values()].filter(({ text, whole, shown }) => shown < whole * least && !/hostile|long /.test(text))
      .map(({ text, whole, shown }) => Math.round(100 * shown / whole) + ' % of ' + text.slice(0, 80));
  }).join('\\n');
})()`;
