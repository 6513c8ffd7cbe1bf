import { existsSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../program.ts';
import { anchorsOf, docsPages, readPage } from './page.ts';

const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'bench/README.md', ...docsPages()];

/** Targets of links and pictures on a page, without those of other sites. */
function linksOf(page: string): string[] {
  const text = readPage(page).replace(/^```[\s\S]*?^```$/gm, '');
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g), ...text.matchAll(/(?:src|srcset|href)="([^"]+)"/g)];
  return links.map(([, link = '']) => link).filter((link) => !/^\w+:/.test(link));
}

/** Path from the root of the project, and the anchor. */
function targetOf(page: string, link: string): { file: string; anchor: string } {
  const [path = '', anchor = ''] = link.split('#');
  return { file: path === '' ? page : normalize(join(page, '..', path)), anchor };
}

describe('links', () => {
  it.each(pages)('of %s lead to a file and to a heading of it', (page) => {
    const dead = linksOf(page).filter((link) => {
      const { file, anchor } = targetOf(page, link);
      if (!existsSync(join(root, file))) return true;
      return anchor !== '' && file.endsWith('.md') && !anchorsOf(readPage(file)).has(anchor);
    });
    expect(dead).toEqual([]);
  });
});

describe('docs/index.md', () => {
  it('links every page of docs/', () => {
    const linked = new Set(linksOf('docs/index.md').map((link) => targetOf('docs/index.md', link).file));
    const records = linked.has('docs/decisions');
    const missing = docsPages().filter((page) => !(records && page.startsWith('docs/decisions/')));
    expect(missing.filter((page) => page !== 'docs/index.md' && !linked.has(page))).toEqual([]);
  });
});

describe('docs/web-ui.md', () => {
  it('has at most 600 words', () => {
    const words = readPage('docs/web-ui.md')
      .replace(/<[^>]*>/g, '')
      .split(/\s+/)
      .filter((word) => /\w/.test(word));
    expect(words.length).toBeLessThanOrEqual(600);
  });
});
