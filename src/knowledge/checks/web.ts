import { furtherNames } from '../probes/probes.ts';
import { compressedPageName } from '../probes/web.ts';
import type { HttpFacts } from '../protocols/http.ts';
import { type Check, type CheckResponse, evidence } from './check.ts';

/** Default pages of servers, recognized by the title, the first bytes of the body, or both. */
const defaultPages: readonly { server: string; title?: RegExp; mark?: RegExp }[] = [
  { server: 'nginx', title: /^(?:Welcome to nginx!?|Test Page for the Nginx HTTP Server.{0,60})$/i },
  { server: 'OpenResty', title: /^Welcome to OpenResty!?$/i },
  {
    server: 'Apache',
    title:
      /^(?:Apache2? [\w ]{0,30}Default Page.{0,60}|Test Page for the (?:Apache )?HTTP Server.{0,60}|HTTP Server Test Page.{0,60})$/i,
  },
  { server: 'Apache', mark: /^\s*<html>\s*<body>\s*<h1>It works!<\/h1>/i },
  {
    server: 'IIS',
    title:
      /^(?:IIS(?: ?\d{0,2}(?:\.\d)?| Windows(?: Server)?)|Microsoft Internet Information Services.{0,30})$/i,
  },
  { server: 'Tomcat', title: /^Apache Tomcat(?:\/[\d.]{1,20})?$/i },
  {
    server: 'lighttpd',
    title: /^(?:Welcome page|Powered by lighttpd|Placeholder page)$/i,
    mark: /lighttpd/i,
  },
  { server: 'Caddy', title: /^Caddy works!$/i },
  { server: 'Jetty', title: /^(?:Welcome to )?Jetty(?: \d[\w.]{0,20})?.{0,30}$/i },
  { server: 'XAMPP', title: /^Welcome to XAMPP$/i },
  { server: 'Plesk', title: /^(?:Default Parallels Plesk.{0,40}|Web Server's Default Page)$/i },
  { server: 'cPanel', title: /^(?:Default Web Site Page|Default WebSite Page)$/i },
];

/** Length of the page prefix searched for the pattern, characters: default pages are short. */
const markedPart = 16 * 1024;

/** Minimum HSTS max-age, seconds: half a year, so that the browsers of rare visitors still have it. */
const shortestPromise = 15_768_000;

const listingTitle =
  /^(?:Index of \/|Directory listing for \/|Directory: \/|Listing directory \/|\S{1,100} - \/$)/i;

/** Information that web servers disclose and headers that they omit. */
export const webChecks: readonly Check[] = [
  {
    id: 'http-security-headers',
    title: 'Security headers are missing',
    severity: 'low',
    confidence: 0.9,
    action: 'Send the HTTP security headers',
    remediation:
      'Send Content-Security-Policy (with frame-ancestors), X-Content-Type-Options: nosniff, and over TLS Strict-Transport-Security.',
    references: ['https://owasp.org/www-project-secure-headers/'],
    prove(response) {
      const facts = ownPage(response);
      if (!facts || !/^text\/html\b/i.test(facts.headers['content-type'] ?? '')) return null;
      const missing = missingHeaders(facts, response.secure);
      return missing.length === 0 ? null : `HTTP ${facts.status}, missing: ${missing.join(', ')}`;
    },
  },
  {
    id: 'http-hsts-short',
    title: 'Strict-Transport-Security is invalid or too short',
    severity: 'low',
    confidence: 0.9,
    action: 'Send Strict-Transport-Security for at least half a year',
    remediation:
      'Send one Strict-Transport-Security over TLS with a max-age of at least half a year (15768000 seconds).',
    references: ['https://www.rfc-editor.org/rfc/rfc6797#section-6.1'],
    prove(response) {
      const promise = response.secure ? face(response)?.headers['strict-transport-security'] : undefined;
      if (promise === undefined) return null;
      const seconds = /(?:^|;)\s*max-age\s*=\s*"?(\d{1,12})"?\s*(?:;|,|$)/i.exec(promise)?.[1];
      const enough = seconds !== undefined && Number(seconds) >= shortestPromise;
      return enough ? null : evidence(`Strict-Transport-Security: ${promise}`);
    },
  },
  {
    id: 'http-compression-in-tls',
    title: 'HTTP compression is on inside TLS (a precondition of BREACH)',
    severity: 'info',
    confidence: 0.95,
    action: 'Send pages with secrets uncompressed',
    remediation:
      'Only pages that contain a secret and reflect request data are at risk: serve those uncompressed, or mask the secret differently in each response. Static files may stay compressed.',
    references: ['https://nvd.nist.gov/vuln/detail/CVE-2013-3587', 'https://www.breachattack.com/'],
    prove({ banner, http, secure }) {
      if (banner.probe !== compressedPageName || !secure) return null;
      const encoding = http?.facts.headers['content-encoding'] ?? '';
      const packed = /\b(?:gzip|deflate|br|zstd|compress)\b/i.test(encoding);
      return packed ? evidence(`response to GET /: Content-Encoding: ${encoding}`) : null;
    },
  },
  {
    id: 'http-basic-auth-cleartext',
    title: 'The server requests a password over HTTP without TLS',
    severity: 'medium',
    confidence: 0.97,
    action: 'Require TLS for pages that request a password',
    remediation: 'Serve pages that require a password over TLS only.',
    references: ['https://datatracker.ietf.org/doc/html/rfc7617#section-4'],
    prove(response) {
      if (response.secure) return null;
      const challenge = face(response)?.auth.find(({ scheme }) => scheme.toLowerCase() === 'basic');
      return challenge ? evidence(`WWW-Authenticate: Basic realm="${challenge.realm ?? ''}"`) : null;
    },
  },
  {
    id: 'http-default-page',
    title: 'The web server shows its default page',
    severity: 'info',
    confidence: 0.9,
    action: 'Remove the default pages of web servers',
    remediation: 'Take unused servers off the network; replace the page where the server is in use.',
    references: ['https://cwe.mitre.org/data/definitions/1188.html'],
    prove(response) {
      const title = ownPage(response)?.title;
      if (title === undefined) return null;
      const page = response.page.slice(0, markedPart);
      const known = defaultPages.find(
        (each) => (each.title?.test(title ?? '') ?? true) && (each.mark?.test(page) ?? true),
      );
      return known ? evidence(`${known.server}: ${title ?? known.mark?.exec(page)?.[0] ?? ''}`) : null;
    },
  },
  {
    id: 'http-directory-listing',
    title: 'The web server lists the files of its root directory',
    severity: 'medium',
    confidence: 0.9,
    action: 'Turn off directory listings',
    remediation: 'Turn directory listings off (Options -Indexes, autoindex off), or add an index page.',
    references: ['https://cwe.mitre.org/data/definitions/548.html'],
    prove(response) {
      const title = ownPage(response)?.title;
      return title && listingTitle.test(title) && /<a\s/i.test(response.page) ? evidence(title) : null;
    },
  },
];

/** The response to the request for the root page, not to a further probe. */
function face({ http, banner }: CheckResponse): HttpFacts | null {
  return http && !furtherNames.has(banner.probe) ? http.facts : null;
}

/** The root page response if its status is 2xx. */
function ownPage(response: CheckResponse): HttpFacts | null {
  const facts = face(response);
  return facts && facts.status >= 200 && facts.status < 300 ? facts : null;
}

function missingHeaders({ headers }: HttpFacts, secure: boolean): string[] {
  const policy = headers['content-security-policy'] ?? '';
  const framed = headers['x-frame-options'] !== undefined || /frame-ancestors/i.test(policy);
  return [
    ...(policy === '' ? ['Content-Security-Policy'] : []),
    ...(framed ? [] : ['X-Frame-Options or frame-ancestors']),
    ...(/nosniff/i.test(headers['x-content-type-options'] ?? '') ? [] : ['X-Content-Type-Options']),
    ...(secure && headers['strict-transport-security'] === undefined ? ['Strict-Transport-Security'] : []),
  ];
}
