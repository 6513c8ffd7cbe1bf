import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { htmlFaults } from '../../../../test/valid-html.ts';
import { publicPaths, startPage } from './start-page.ts';

const built = `<head>
    <meta name="portolan-ui" content="./" />
    <meta name="portolan-api" content="./api" />
    <link rel="icon" href="./favicon.svg" type="image/svg+xml" />
    <script type="module" crossorigin src="./assets/index-a1.js"></script>
    <link rel="stylesheet" crossorigin href="./assets/index-b2.css">
    <a href="https://example.net/./x">x</a>
</head>`;

describe('the start page', () => {
  it('names its files and the API by absolute paths', () => {
    const page = startPage(built, publicPaths(null, '/ui'));
    expect(page).toContain('<meta name="portolan-ui" content="/ui/" />');
    expect(page).toContain('<meta name="portolan-api" content="/api" />');
    expect(page).toContain('href="/ui/favicon.svg"');
    expect(page).toContain('src="/ui/assets/index-a1.js"');
    expect(page).toContain('href="/ui/assets/index-b2.css"');
    expect(page).toContain('href="https://example.net/./x"');
  });

  it('is valid HTML', async () => {
    const source = readFileSync(new URL('../../../../ui/index.html', import.meta.url), 'utf8');
    expect(await htmlFaults(startPage(source, publicPaths(null, '/ui')))).toEqual([]);
  });

  it('carries the path of a proxy', () => {
    const paths = publicPaths('https://scanner.example.net/port$&olan', '/console/v2');
    expect(paths).toEqual({ ui: '/port$&olan/console/v2/', api: '/port$&olan/api' });
    const page = startPage(built, paths);
    expect(page).toContain('<meta name="portolan-api" content="/port$&amp;olan/api" />');
    expect(page).toContain('src="/port$&amp;olan/console/v2/assets/index-a1.js"');
  });

  it('puts nothing but text into its attributes', () => {
    const page = startPage(built, { ui: '/"><script>', api: '/"' });
    expect(page).not.toContain('<script>');
    expect(page).toContain('content="/&quot;>&lt;script>"');
  });
});
