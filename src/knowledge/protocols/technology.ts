/** A technology detected in an HTTP response. */
export interface Technology {
  name: string;
  version: string | null;
}

interface HttpTraits {
  headers: ReadonlyMap<string, string>;
  cookies: readonly string[];
  generator: string | null;
  /** Start of the body in lower case. */
  markup: string;
}

/** Length of the body prefix searched for markers, characters. */
const markerLimit = 64 * 1024;
/** Technologies of one site. */
const technologyLimit = 20;

/** Cookie names unique to one technology. */
const cookieMarks: readonly [string, string][] = [
  ['phpsessid', 'PHP'],
  ['jsessionid', 'Java Servlet'],
  ['asp.net_sessionid', 'ASP.NET'],
  ['.aspnetcore.', 'ASP.NET Core'],
  ['csrftoken', 'Django'],
  ['laravel_session', 'Laravel'],
  ['connect.sid', 'Express'],
  ['ci_session', 'CodeIgniter'],
  ['grafana_session', 'Grafana'],
  ['_gitlab_session', 'GitLab'],
];

/** Page texts unique to one technology. */
const markupMarks: readonly [string, string][] = [
  ['/wp-content/', 'WordPress'],
  ['/wp-includes/', 'WordPress'],
  ['/sites/default/files', 'Drupal'],
  ['/media/jui/', 'Joomla'],
  ['__next_data__', 'Next.js'],
  ['ng-version="', 'Angular'],
  ['data-reactroot', 'React'],
  ['phpmyadmin', 'phpMyAdmin'],
];

/** Detects the technologies of a page, deduplicated, with a version if the page states one. */
export function detectTechnologies(traits: HttpTraits): Technology[] {
  const found = new Map<string, string | null>();
  const add = (name: string, version: string | null = null) => {
    if (found.size < technologyLimit) found.set(name, version ?? found.get(name) ?? null);
  };
  for (const part of (traits.headers.get('x-powered-by') ?? '').split(',', technologyLimit))
    addPowered(part, add);
  const aspNet = /^[\d.]{1,20}$/.exec(traits.headers.get('x-aspnet-version') ?? '')?.[0];
  if (aspNet) add('ASP.NET', aspNet);
  for (const token of (traits.headers.get('server') ?? '').split(' ', technologyLimit)) {
    const module = /^(PHP|OpenSSL|mod_[a-z]{1,20})\/([0-9][\w.-]{0,30})$/.exec(token);
    if (module) add(module[1] as string, module[2]);
  }
  if (traits.generator) addNamed(traits.generator, add);
  for (const cookie of traits.cookies) {
    const mark = cookieMarks.find(([name]) => cookie.toLowerCase().startsWith(name));
    if (mark) add(mark[1]);
  }
  const page = traits.markup.slice(0, markerLimit);
  for (const [mark, name] of markupMarks) if (page.includes(mark)) add(name);
  return [...found].map(([name, version]) => ({ name, version }));
}

type Add = (name: string, version?: string | null) => void;

function addPowered(part: string, add: Add): void {
  const match = /^([A-Za-z][\w .+-]{0,40}?)(?:\/([0-9][\w.+~-]{0,30}))?(?: ?\(.{0,60}\))?$/.exec(part.trim());
  // Debian and Ubuntu append their revision: PHP/7.4.33-1+deb11u4.
  if (match) add((match[1] as string).trim(), match[2]?.split('-')[0] ?? null);
}

function addNamed(text: string, add: Add): void {
  const match =
    /^([A-Za-z][\w.+-]{0,30}(?: [A-Za-z!][\w.+!-]{0,20}){0,2}?)(?: v?([0-9][\w.-]{0,20}))?(?: |;|$)/.exec(
      text.slice(0, 128),
    );
  if (match) add((match[1] as string).replace(/!$/, ''), match[2] ?? null);
}
