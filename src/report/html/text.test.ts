import { describe, expect, it } from 'vitest';
import { cellText, code, htmlLines, htmlText, paragraphText, referenceLink } from './text.ts';

describe('text of the HTML report', () => {
  it('is escaped for elements and quoted attributes, with every character visible', () => {
    expect(htmlText(`<a href="x" title='y'>&\x1b\u202e\n`)).toBe(
      '&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;\\x1b\\u{202e}\\x0a',
    );
    expect(htmlLines('a\r\nb\tc\x07<')).toBe('a\nb\tc\\x07&lt;');
  });

  it('is cut before it is escaped, never within a character', () => {
    expect(cellText('&'.repeat(300))).toBe('&amp;'.repeat(300));
    expect(cellText('&'.repeat(301))).toBe(`${'&amp;'.repeat(300)}…`);
    expect(cellText(`${'a'.repeat(299)}\u{1f600}`)).toBe(`${'a'.repeat(299)}\ufffd…`);
    expect(paragraphText('x'.repeat(5000))).toBe(`${'x'.repeat(4000)} … 1,000 more characters`);
    expect(code('<b>')).toBe('<code>&lt;b&gt;</code>');
  });

  it('becomes a link only if it is a URL of https', () => {
    expect(referenceLink('https://example.org/a?b=1&c="')).toBe(
      '<a href="https://example.org/a?b=1&amp;c=%22" rel="noopener noreferrer">example.org/a?b=1&amp;c=&quot;</a>',
    );
    expect(referenceLink('HTTPS://EXAMPLE.org')).toContain('href="https://example.org/"');
    for (const other of [
      'http://example.org',
      'javascript:alert(1)',
      'data:text/html,x',
      '//x',
      'see <the> manual',
    ])
      expect(referenceLink(other)).toBe(htmlText(other));
  });
});
