import { expect, test } from 'vitest';
import { versionText } from './http-version-text.ts';

test('finds tags and words with a version deep in a page', () => {
  const page = `<html>${'<p>text</p>\n'.repeat(5000)}<meta name="ajs-version-number"\n content="7.13.0"><b>Openfire, Version: 4.7.4</b>`;
  expect(versionText(page).split('\n')).toEqual([
    '<meta name="ajs-version-number" content="7.13.0">',
    expect.stringContaining('Openfire, Version: 4.7.4'),
  ]);
});

test('a page full of keywords is truncated', () => {
  for (const bait of ['<meta name', 'version 1.1 ', '(build ', '<meta name="a">', 'a']) {
    const text = versionText(bait.repeat(Math.ceil((256 * 1024) / bait.length)));
    expect(text.split('\n').length).toBeLessThanOrEqual(40);
    expect(text.length).toBeLessThanOrEqual(40 * 161);
  }
});

test('"version" without a number yields nothing', () => {
  expect(versionText('<?xml version="1"?><p>mobile version</p>')).toBe('');
});
