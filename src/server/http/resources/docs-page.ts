import { createReadStream } from 'node:fs';
import type { App } from '../app-type.ts';
import { pageHeaders } from '../page-headers.ts';
import { libraryFile } from './docs-library.ts';
import { docsStyle } from './docs-style.ts';

const page = (hasUi: boolean) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Portolan API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/swagger-ui.css">
<link rel="stylesheet" href="docs/page.css">
</head>
<body>
${hasUi ? '<nav><a href="../../">← Portolan</a></nav>\n' : ''}<header><h1>Portolan API</h1></header>
<main id="entry">
<form id="login" hidden>
<p>The description of this API needs a token, as the API does. It stays in this page and is gone when the page is closed.</p>
<label for="token">API token</label>
<input id="token" type="password" autocomplete="off" required>
<button>Show</button>
<p>On the machine of the server this makes one:
<code>portolan server token create --name docs --scopes scan:read --expiry 1d</code></p>
</form>
<p id="problem" role="alert"></p>
</main>
<div id="reference"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/page.js"></script>
</body>
</html>
`;

/** The token exists only in the memory of the page. */
const script = `'use strict';
const dark = matchMedia('(prefers-color-scheme: dark)');
const entry = document.getElementById('entry');
const login = document.getElementById('login');
const reference = document.getElementById('reference');
const problem = document.getElementById('problem');
let token = '';

/** The theme of the Web UI, which follows the system unless its reader chose otherwise. The library knows dark by this class. */
function showTheme() {
  const chosen = localStorage.getItem('portolan.theme');
  const isDark = chosen === 'dark' || (chosen !== 'light' && dark.matches);
  document.documentElement.classList.toggle('dark-mode', isDark);
}

/** What the library leaves out for keyboards and screen readers, by selector. */
const additions = [
  ['textarea', 'aria-label', () => 'Request body'],
  ['#servers', 'aria-label', () => 'Server'],
  ['.examples-select-element', 'aria-label', () => 'Example'],
  ['select', 'aria-label', () => 'Value'],
  ['.responses-table[role=region]', 'aria-label', (table) => 'Responses ' + table.id],
  ['.information-container', 'role', () => 'region'],
  ['.information-container', 'aria-label', () => 'About'],
  ['.scheme-container', 'role', () => 'region'],
  ['.scheme-container', 'aria-label', () => 'Server'],
  ['pre.microlight', 'tabindex', () => '0'],
  ['.info h1, .info h2', 'aria-level', () => '2'],
];

function complete() {
  for (const [selector, name, value] of additions) {
    for (const element of reference.querySelectorAll(selector)) {
      if (!element.hasAttribute(name)) element.setAttribute(name, value(element));
    }
  }
}

function authorized(request) {
  if (token !== '') request.headers = { ...request.headers, Authorization: 'Bearer ' + token };
  return request;
}

async function show() {
  const response = await fetch('openapi.json', authorized({ cache: 'no-store' }));
  const description = await response.json();
  problem.textContent = response.ok || (response.status === 401 && token === '') ? '' : description.error.message;
  login.hidden = response.ok;
  entry.hidden = response.ok;
  if (!response.ok) return;
  document.documentElement.classList.add('shown');
  SwaggerUIBundle({
    dom_id: '#reference',
    spec: description,
    presets: [SwaggerUIBundle.presets.apis],
    layout: 'BaseLayout',
    validatorUrl: null,
    syntaxHighlight: { theme: 'obsidian' },
    requestInterceptor: authorized,
  });
}

function start() {
  show().catch((error) => {
    entry.hidden = false;
    problem.textContent = 'Cannot load the API description: ' + error.message;
  });
}

new MutationObserver(complete).observe(reference, { childList: true, subtree: true });
dark.addEventListener('change', showTheme);
showTheme();
login.addEventListener('submit', (event) => {
  event.preventDefault();
  token = document.getElementById('token').value.trim();
  start();
});
start();
`;

const libraryFiles = [
  {
    url: '/api/v1/docs/swagger-ui.css',
    type: 'text/css; charset=utf-8',
    file: libraryFile('style'),
  },
  {
    url: '/api/v1/docs/swagger-ui-bundle.js',
    type: 'text/javascript; charset=utf-8',
    file: libraryFile('script'),
  },
];

/** API documentation page. It contains no data, so it needs no token; the description that it loads does. */
export function docsPageRoutes(app: App, hasUi: boolean): void {
  const config = { access: 'open', page: true } as const;
  const schema = { hide: true };
  app.route({
    method: 'GET',
    url: '/api/v1/docs',
    config,
    schema,
    handler: async (_request, reply) => reply.headers(pageHeaders).send(page(hasUi)),
  });
  app.route({
    method: 'GET',
    url: '/api/v1/docs/page.js',
    config,
    schema,
    handler: async (_request, reply) => reply.type('text/javascript; charset=utf-8').send(script),
  });
  app.route({
    method: 'GET',
    url: '/api/v1/docs/page.css',
    config,
    schema,
    handler: async (_request, reply) => reply.type('text/css; charset=utf-8').send(docsStyle),
  });
  for (const { url, type, file } of libraryFiles) {
    app.route({
      method: 'GET',
      url,
      config: { ...config, streams: true },
      schema,
      handler: async (_request, reply) => reply.type(type).send(createReadStream(file)),
    });
  }
}
