import { createHash } from 'node:crypto';
import { pageHeaders } from '../page-headers.ts';

/** Why there is no UI to show, and what to do about it. */
export interface PageNotice {
  status: number;
  title: string;
  paragraphs: string[];
  /** Commands that help. */
  commands?: string[];
}

const style = `
:root { color-scheme: light dark; --text: #151a1d; --quiet: #434d53; --page: #ffffff; --code: #f3f5f5; --link: #0a6878; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e8ecee; --quiet: #aeb8bd; --page: #101417; --code: #171c20; --link: #6bccd9; }
}
body { margin: 0; background: var(--page); color: var(--quiet); font: 14px/1.5 system-ui, sans-serif; }
main { max-width: 36rem; margin: 18vh auto 0; padding: 0 1.5rem; }
h1 { margin: 0 0 .75rem; color: var(--text); font-size: 20px; line-height: 1.3; }
p { margin: 0 0 .75rem; }
pre { margin: 0 0 .75rem; padding: .6rem .8rem; overflow-x: auto; border-radius: 6px; background: var(--code); color: var(--text);
  font: 12px/1.5 ui-monospace, monospace; }
a { color: var(--link); }
`;

const styleHash = createHash('sha256').update(style).digest('base64');
/** The style stands in the page: there is no folder to serve it from. */
const policy = pageHeaders['content-security-policy'].replace(
  "style-src 'self'",
  `style-src 'sha256-${styleHash}'`,
);

export const noticeHeaders = {
  ...pageHeaders,
  'content-security-policy': policy,
  'cache-control': 'no-store',
} as const;

/** A page that needs no other file. Its texts are the program's own: nothing of a request stands in it. */
export function noticePage({ title, paragraphs, commands = [] }: PageNotice): string {
  const text = paragraphs.map((paragraph) => `<p>${paragraph}</p>`);
  const code = commands.length === 0 ? [] : [`<pre tabindex="0">${commands.join('\n')}</pre>`];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Portolan</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${[...text.slice(0, 1), ...code, ...text.slice(1)].join('\n')}
</main>
</body>
</html>
`;
}
