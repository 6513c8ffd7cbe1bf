/** Maximum length of a page without its style sheets, characters. */
const pageLimit = 256 * 1024;
/** Maximum number of style sheets removed from one page. */
const styleLimit = 50;
/** Products of one `Server` header. */
const productLimit = 20;
/** Maximum length of a word of it, characters. */
const wordLimit = 64;
/** Maximum number of build lines from one metrics page. */
const buildLineLimit = 10;

/** The page as latin1 without style sheets: they are long and do not identify the product. */
export function pageText(body: Buffer): string {
  const page = body.toString('latin1', 0, pageLimit);
  const lower = page.toLowerCase();
  let text = '';
  let position = 0;
  for (let count = 0; count < styleLimit; count++) {
    const start = lower.indexOf('<style', position);
    const end = start === -1 ? -1 : lower.indexOf('</style>', start);
    if (end === -1) break;
    text += page.slice(position, start);
    position = end + '</style>'.length;
  }
  return text + page.slice(position);
}

/** Lines of a Prometheus metrics page that describe the build: `name_build_info{...}`. */
export function buildLines(page: string): string {
  if (!page.includes('_build_info{') && !page.includes('app_version{')) return '';
  const lines: string[] = [];
  for (const [line] of page.matchAll(/^(?!go_)[a-z_]{1,64}\{[^\n]{1,512}/gm)) {
    if (!/^(?:\w+_build_info|\w*app_version)\{/.test(line)) continue;
    lines.push(line);
    if (lines.length === buildLineLimit) break;
  }
  return lines.join('\n');
}

/** `name/version` of a `Server` header (RFC 9110, 10.2.4), without comments in parentheses. */
export function serverProducts(server: string): string[] {
  const words = wordsOf(server);
  return words.filter((word) => /^[A-Za-z][\w.+-]*\/v?\d/.test(word)).slice(0, productLimit);
}

function wordsOf(server: string): string[] {
  return server
    .replace(/\([^()]{0,200}\)/g, ' ')
    .split(/[\s,;]+/, 2 * productLimit)
    .filter((word) => word !== '' && word.length <= wordLimit);
}

const listed = (words: string): ReadonlySet<string> => new Set(words.split(' '));

/** Words that do not identify a product. */
const commonWords = listed(
  'server http https httpd web webserver web-server http-server http_server httpserver embedded service router gateway ' +
    'camera ipcamera ipcam dvr nvr device proxy unknown none null undefined localhost hidden private default custom ' +
    'secure app api backend frontend host www net framework the',
);

/** Operating systems, languages and libraries that appear next to a product. */
const surroundings = listed(
  'linux unix windows win32 win64 darwin freebsd debian ubuntu centos upnp dlna dlnadoc soap rtos php python cpython ' +
    'perl ruby java jsp servlet openssl dav svn http/1.0 http/1.1 http/2',
);

/**
 * The likely product of a `Server` header, as `name` or `name/version`; null if the header holds only generic words.
 * In `Linux/4.9 UPnP/1.0 Name/2.1` it is the third.
 */
export function namedProduct(server: string): string | null {
  const pending: string[] = [];
  for (const word of wordsOf(server)) {
    const versioned = /^([A-Za-z][\w.+-]*?)[/-]v?(\d+(?:\.\d+){1,4})/.exec(word);
    const bare = /^v?(\d+(?:\.\d+){1,4})/.exec(word)?.[1];
    if (bare !== undefined) {
      if (saysSomething(pending)) return `${pending.join(' ')}/${bare}`;
      pending.length = 0;
    } else if (versioned) {
      const [, name = '', version = ''] = versioned;
      const around = surroundings.has(name.toLowerCase());
      if (!around && saysSomething([...pending, name])) return `${[...pending, name].join(' ')}/${version}`;
      if (saysSomething(pending)) return pending.join(' ');
      pending.length = 0;
    } else if (/^[A-Za-z][\w.+-]*$/.test(word) && pending.length < 3) pending.push(word);
    else break;
  }
  return saysSomething(pending) ? pending.join(' ') : null;
}

function saysSomething(words: readonly string[]): boolean {
  return words.some((word) => {
    const lower = word.toLowerCase();
    return word.length > 1 && !commonWords.has(lower) && !surroundings.has(lower);
  });
}
