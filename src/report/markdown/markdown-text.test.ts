import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { visibleLines, visibleText } from '../../domain/text/visible.ts';
import { hostileTexts } from '../fixtures/hostile-rows.ts';
import { markdownBlock, markdownCode, markdownLink, markdownTable, markdownText } from './markdown-text.ts';

const most = 10_000;
const entities: Record<string, string> = {
  '&lt;': '<',
  '&gt;': '>',
  '&#96;': '`',
  '&#124;': '|',
  '&amp;': '&',
  '&#8296;': '',
  '&#8297;': '',
};

/** Pieces that mean something in Markdown, HTML, trackers or chats, mixed with any characters. */
const pieces = [
  '`',
  '``',
  '|',
  '\\',
  '*',
  '**',
  '_',
  '[',
  ']',
  '](',
  '!',
  '![',
  '<',
  '>',
  '<!--',
  '&',
  '&lt;',
  '&#60;',
  '#',
  '~~',
  '$',
  '{{',
  '@',
  '@here',
  '<!channel>',
  '<@U123>',
  'https://example.org',
  'www.',
  '\n',
  '\r\n',
  '\n\n# ',
  '\u2028',
  '\u202e',
  '\x1b[2J',
  '\0',
  '\ud800',
  '=1+1',
  '-',
  '- ',
  '+',
  '1. ',
  '|---|',
  ' ',
  '  ',
  'word',
  '\t',
];
const hostile = fc.oneof(
  fc.constantFrom(...hostileTexts),
  fc
    .array(fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: 'binary', maxLength: 4 })), {
      maxLength: 30,
    })
    .map((parts) => parts.join('')),
);

/** A character with its neighbors, of which each may be a pair of surrogates. */
function aroundOf(text: string, at: number): string {
  const before = Array.from(text.slice(Math.max(0, at - 2), at)).at(-1) ?? '';
  const after = Array.from(text.slice(at + 1, at + 3))[0] ?? '';
  return `${before}${text[at]}${after}`;
}

/**
 * The text that CommonMark shows of one line, with words in code between `⟦` and `⟧`. Throws where a character is
 * markup: everything but code, escapes and entities.
 */
function shownOf(markdown: string): string {
  let shown = '';
  for (let at = 0; at < markdown.length; ) {
    const rest = markdown.slice(at);
    const run = /^`+/.exec(rest)?.[0];
    const entity = /^&#?\w+;/.exec(rest)?.[0];
    if (run !== undefined) {
      const end = Array.from(rest.slice(run.length).matchAll(/`+/g)).find(
        ([other]) => other.length === run.length,
      );
      if (end === undefined) throw new Error(`code without end in ${JSON.stringify(markdown)}`);
      const content = rest.slice(run.length, run.length + end.index);
      shown += `⟦${/^ .*[^ ].* $/.test(content) ? content.slice(1, -1) : content}⟧`;
      at += 2 * run.length + content.length;
    } else if (entity !== undefined) {
      if (entities[entity] === undefined) throw new Error(`entity ${entity}`);
      shown += entities[entity];
      at += entity.length;
    } else if (/^\\[!-/:-@[-`{-~]/.test(rest)) {
      shown += rest[1];
      at += 2;
    } else {
      const inWord = /^[\p{L}\p{N}]_[\p{L}\p{N}]$/u.test(aroundOf(markdown, at));
      const alive = /^[\\*[\]<>|#!~$_]/.test(rest) && !inWord;
      if (alive) throw new Error(`markup ${rest.slice(0, 10)} in ${JSON.stringify(markdown)}`);
      shown += rest[0];
      at += 1;
    }
  }
  return shown;
}

const plain = (shown: string) => shown.replaceAll(/[⟦⟧]/g, '');
/** What a reader must see of a text. */
const expected = (text: string) => plain(visibleText(text.trim()).trim());

describe('text in Markdown', () => {
  it('shows every text as it is', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(plain(shownOf(markdownText(text, most)))).toBe(expected(text));
      }),
      { numRuns: 2000 },
    );
  });

  it('brings no mention, link or reference to life', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const outside = shownOf(markdownText(text, most)).replace(/⟦.*?⟧/gs, '');
        expect(outside).not.toMatch(/@\w|:\/\/|www\.|[#!]\w/i);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['=HYPERLINK(1)', '\\=HYPERLINK(1)'],
    ['+1', '\\+1'],
    ['-1', '\\-1'],
    ['- item', '\\- item'],
    ['# head', '\\# head'],
    ['12. item', '12\\. item'],
    ['192.0.2.1 is up', '192.0.2.1 is up'],
    ['ask @here', 'ask `@here`'],
    ['<!channel>', '&lt;`!channel`&gt;'],
    ['see #12', 'see `#12`'],
    ['a|b', 'a&#124;b'],
    ['two\nlines', 'two\\\\x0alines'],
    ['http_server _em_', 'http_server \\_em\\_'],
    ['שלום', '&#8296;שלום&#8297;'],
    ['OpenSSH 9.2p1 (Debian)', 'OpenSSH 9.2p1 (Debian)'],
  ])('writes %j as %j', (text, markdown) => {
    expect(markdownText(text, most)).toBe(markdown);
  });

  it('is cut before it is escaped', () => {
    expect(markdownText('<'.repeat(100), 5)).toBe('&lt;&lt;&lt;&lt;…');
    expect(markdownText('\u202e'.repeat(100), 20).length).toBeLessThan(40);
    expect(markdownText('@'.repeat(1_000_000), 80).length).toBeLessThan(100);
  });
});

describe('code in Markdown', () => {
  it('shows every text as it is', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(plain(shownOf(markdownCode(text, most)))).toBe(expected(text) || '–');
      }),
      { numRuns: 2000, examples: [['a|  |b'], ['a| |b'], ['a| ` |b'], ['a|   |']] },
    );
  });

  it('stands for nothing as a dash', () => {
    expect(markdownCode(null, 10)).toBe('–');
    expect(markdownCode(' \n', 10)).toBe('–');
  });
});

describe('a block of code', () => {
  it('ends at its own fence only, and keeps the text', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const [first = '', ...lines] = markdownBlock(text, most).split('\n');
        const fence = first.replace(/text$/, '');
        expect(lines.findIndex((line) => line.startsWith(fence))).toBe(lines.length - 1);
        expect(lines.slice(0, -1).join('\n')).toBe(visibleLines(text));
      }),
      { numRuns: 1000 },
    );
  });

  it('has a longer fence than any in the text', () => {
    expect(markdownBlock('a\n```\n<b>', most)).toBe('````text\na\n```\n<b>\n````');
    expect(markdownBlock('`````', most)).toBe('``````text\n`````\n``````');
  });

  it('has a limited number of lines and says how many more there are', () => {
    const lines = markdownBlock('a\n'.repeat(500), most).split('\n');
    expect(lines).toHaveLength(43);
    expect(lines.at(-2)).toBe('… 461 more lines');
  });
});

describe('a link', () => {
  it('leads to https only and shows where', () => {
    expect(markdownLink('https://nvd.nist.gov/vuln/detail/CVE-2024-6387')).toBe(
      '<https://nvd.nist.gov/vuln/detail/CVE-2024-6387>',
    );
    const refused = [
      'javascript:alert(1)',
      'http://example.org',
      'https://user@example.org',
      'x',
      '',
      'data:,',
    ];
    for (const address of refused) expect(markdownLink(address)).toBeNull();
    expect(markdownLink(`https://example.org/${'x'.repeat(600)}`)).toBeNull();
  });

  it('ends where it ends, whatever the address has', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(markdownLink(`https://example.org/${text}`) ?? '<https://>').toMatch(
          /^<https:\/\/[^\s<>`|\\]*>$/,
        );
      }),
    );
  });
});

it('every row of a table has as many cells as its head', () => {
  fc.assert(
    fc.property(hostile, hostile, (one, other) => {
      const cells = [markdownText(one, most), markdownCode(other, most), ''];
      const lines = markdownTable([['a'], ['b'], ['c', 'right']], [cells, cells]).split('\n');
      expect(lines).toHaveLength(4);
      for (const line of lines) expect(line.split('|')).toHaveLength(5);
    }),
    { numRuns: 1000 },
  );
});
