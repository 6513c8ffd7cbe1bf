import { describe, expect, it } from 'vitest';
import { readPageFacts } from './html-page.ts';

const bytes = (...parts: string[]) =>
  Buffer.concat(parts.map((part, index) => Buffer.from(part, index % 2 === 0 ? 'latin1' : 'hex')));

const titleOf = (body: string | Buffer, contentType = 'text/html') =>
  readPageFacts(typeof body === 'string' ? Buffer.from(body) : body, contentType).title;

describe('the encoding of a title', () => {
  it.each([
    ['gbk', 'b2e2cad4b9dcc0edc6bdcca8', '测试管理平台'],
    ['gb2312', 'c4dab2bfd0c5cfa2', '内部信息'],
    ['GB18030', '9534b235d2b0', '𠮷野'],
    ['gbk', 'c1aacda8', '联通'],
    ['EUC-KR', 'b0fcb8aec0da20b7ceb1d7c0ce', '관리자 로그인'],
    ['ks_c_5601-1987', 'b0fcb8aec0da', '관리자'],
    ['Shift_JIS', '838d834f8343839389e696ca', 'ログイン画面'],
    ['euc-jp', 'a5eda5b0a5a4a5f3b2e8cccc', 'ログイン画面'],
    ['iso-2022-jp', '1b244234494d7d3c541b28423c3e261b244232684c4c1b2842', '管理者<>&画面'],
    ['big5', 'b56ea44aa874b2ce', '登入系統'],
    ['windows-1251', 'cfe0ede5ebfc', 'Панель'],
    ['koi8-r', 'f0c1cec5ccd8', 'Панель'],
    ['iso-8859-2', 'be6c75bb', 'žluť'],
    ['iso-8859-7', 'c5ebebdce4e1', 'Ελλάδα'],
    ['windows-1252', '8075726f20937894', '€uro “x”'],
    ['iso-8859-1', '8075726f', '€uro'],
  ])('%s is read as header, meta element or XML declaration declare it', (name, hex, title) => {
    const page = (before: string, after = '') => bytes(`${before}<title>`, hex, `</title>${after}`);
    expect(titleOf(page(''), `TEXT/HTML; Charset="${name}"`)).toBe(title);
    expect(titleOf(page(''), `text/html;charset=${name.toLowerCase()}`)).toBe(title);
    expect(titleOf(page(`<meta charset=${name}>`))).toBe(title);
    expect(titleOf(page('', `<META CHARSET='${name}'/>`))).toBe(title);
    const equivalent = `<meta http-equiv="Content-Type" content="text/html; charset=${name}">`;
    expect(titleOf(page('<html><head>', equivalent), '')).toBe(title);
    expect(titleOf(page(`<?xml version="1.0" encoding="${name}"?>`))).toBe(title);
    expect(titleOf(page(`<?xml version="1.0" encoding="${name}"?>`), 'application/xhtml+xml')).toBe(title);
  });

  it('a byte order mark counts more than any declaration', () => {
    expect(titleOf(bytes('', 'efbbbf', '<title>', 'e6bca2', '</title>'), 'text/html; charset=gbk')).toBe(
      '漢',
    );
    const wide = (text: string, order: 'utf16le' | 'utf16be') => {
      const units = Buffer.from(`\ufeff<title>${text}</title>`, 'utf16le');
      return order === 'utf16le' ? units : units.swap16();
    };
    expect(titleOf(wide('Γραφή', 'utf16le'))).toBe('Γραφή');
    expect(titleOf(wide('漢字', 'utf16be'), 'text/html; charset=utf-8')).toBe('漢字');
    expect(titleOf(wide('漢字', 'utf16be').subarray(2), 'text/html; charset=utf-16be')).toBe('漢字');
  });

  it('the header counts more than the page, unless the title cannot be read by it', () => {
    const page = (hex: string) => bytes('<meta charset=gbk><title>', hex, '</title>');
    expect(titleOf(page('cfe0ede5ebfc'), 'text/html; charset=windows-1251')).toBe('Панель');
    expect(titleOf(page('b2e2cad4'), 'text/html; charset=utf-8')).toBe('测试');
    expect(titleOf(page('e6b58be8af95'), 'text/html; charset=utf-8')).toBe('测试');
  });

  it('without a known one it is UTF-8 where valid, else Windows 1252', () => {
    for (const contentType of [
      'text/html',
      'text/html; charset=bogus',
      'text/html; charset=iso-8859-1',
      '',
    ]) {
      expect(titleOf(Buffer.from('<title>Café 漢字</title>'), contentType)).toBe('Café 漢字');
      expect(titleOf(bytes('<title>Caf', 'e9', '</title>'), contentType)).toBe('Café');
    }
    expect(titleOf(bytes('<title>Caf', 'e9', '</title>'), 'text/html; charset=utf-8')).toBe('Caf\ufffd');
    expect(titleOf('<meta charset=utf-16><title>Café</title>')).toBe('Café');
    expect(titleOf('<!-- <meta charset=koi8-r> --><title>Café</title>')).toBe('Café');
  });

  it('the generator is read in the same encoding', () => {
    const page = bytes('<meta charset=gbk><meta name=generator content="', 'b2e2cad4', ' 2.1">');
    expect(readPageFacts(page, 'text/html')).toEqual({ title: null, generator: '测试 2.1' });
  });
});

describe('the title of a page', () => {
  it.each([
    ['<!-- <head><title>Welcome to nginx!</title></head> --><head><title>Staff</title></head>', 'Staff'],
    ['<!--> <title>after an empty comment</title> -->', 'after an empty comment'],
    ['<svg><title>Icon</title></svg>', null],
    ['<svg><g><title>a</title></g><title>b</title></svg><title>Page</title>', 'Page'],
    ['<svg/><title>Page</title>', 'Page'],
    ['<math><title>x</title></math>', null],
    ['<script>document.write("<title>no</title>")</script><title>Page</title>', 'Page'],
    ['<style>/* <title>no</title> */</style><title>Page</title>', 'Page'],
    ['<textarea><title>no</title></textarea><title>Page</title>', 'Page'],
    ['<iframe><title>no</title></iframe><title>Page</title>', 'Page'],
    ['<xmp><title>no</title></xmp><title>Page</title>', 'Page'],
    ['<noembed><title>no</title></noembed><noframes><title>no</title></noframes><title>Page</title>', 'Page'],
    ['<noscript><title>no</title></noscript><title>Page</title>', 'Page'],
    [
      '<template><template><title>no</title></template><title>no</title></template><title>Page</title>',
      'Page',
    ],
    ['<a title="<title>no</title>"></a><title>Page</title>', 'Page'],
    ['<body title=">"><title data-x="a>b">Page</title>', 'Page'],
    ['<titles>no</titles><title-bar>no</title-bar><TITLE\nlang=de>Page</TiTlE >', 'Page'],
    ['<title>first</title><title>second</title>', 'first'],
    ['<title>a <b>c</b> &lt;d&gt; &auml;&hellip;&#x20AC;</title>', 'a <b>c</b> <d> ä…€'],
    ['<title>\n  a\t b  </title>', 'a b'],
    ['<title></title><title>second</title>', null],
    ['<title>never closed', 'never closed'],
    ['no markup', null],
  ])('%s', (page, title) => {
    expect(titleOf(page)).toBe(title);
  });

  it('in XML may be empty, marked data or in a namespace', () => {
    const xml = 'application/xhtml+xml; charset=utf-8';
    expect(titleOf('<html><head><script src="a.js"/><title>Page</title></head></html>', xml)).toBe('Page');
    expect(titleOf('<h:head><h:title><![CDATA[A & <B>]]></h:title></h:head>', 'text/xml')).toBe('A & <B>');
    expect(titleOf('<head><title/></head>', xml)).toBeNull();
    expect(titleOf('<html><head><script src="a.js"/><title>Page</title></head></html>')).toBeNull();
  });
});

describe('hostile pages', () => {
  const size = 1024 * 1024;
  it.each([
    '<',
    '<title>',
    '<title>a</title>',
    '<svg>',
    '</svg>',
    '<template><title>',
    '<meta charset=x',
    '<meta charset=utf-7>',
    '<meta name=generator content=a>',
    '<a b=c ',
    ' a',
    '<!--',
    '<!-',
    '<script>',
    '</script',
    '&',
    '&amp',
    '&#',
    '<?xml encoding=',
    ']]>',
    '\x1b$B',
    '\xff',
  ])('of 1 MiB of %j take linear time', (part) => {
    for (const contentType of [
      'text/html',
      'text/xml',
      'text/html; charset=gbk',
      'text/html; charset=iso-2022-jp',
    ])
      for (const start of ['', '<title>', '<meta '])
        readPageFacts(Buffer.from(start + part.repeat(size / part.length), 'latin1'), contentType);
  });

  it('of many different attributes take linear time', () => {
    const names = Array.from({ length: 60_000 }, (_, index) => index.toString(36)).join(' ');
    for (let round = 0; round < 20; round++) readPageFacts(Buffer.from(`<meta ${names}>`), 'text/html');
  });

  it('say at most 512 characters', () => {
    const long = '\u{1f600}'.repeat(2000);
    expect(titleOf(`<title>${long}</title>`)?.length).toBe(512);
    expect(titleOf(`<title>${'&#x1f600;'.repeat(2000)}</title>`)?.isWellFormed()).toBe(true);
    const { generator } = readPageFacts(Buffer.from(`<meta name=generator content="${long}">`), '');
    expect(generator?.length).toBe(512);
  });
});
