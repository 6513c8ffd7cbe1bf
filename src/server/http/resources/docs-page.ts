import { createReadStream } from 'node:fs';
import { createRequire } from 'node:module';
import type { App } from '../app-type.ts';
import { pageHeaders } from '../page-headers.ts';

const require = createRequire(import.meta.url);

const page = `<!doctype html>
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
<form id="login" hidden>
<h1>Portolan API</h1>
<p>The description of this API needs a token, as the API does. It stays in this page and is gone when the page is closed.</p>
<label for="token">API token</label>
<input id="token" type="password" autocomplete="off" required>
<button>Show</button>
<p>On the machine of the server this makes one:
<code>portolan server token create --name docs --scopes scan:read --expiry 1d</code></p>
</form>
<p id="problem" role="alert"></p>
<div id="reference"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/page.js"></script>
</body>
</html>
`;

/** The token exists only in the memory of the page. */
const script = `'use strict';
const login = document.getElementById('login');
const problem = document.getElementById('problem');
let token = '';

function authorized(request) {
  if (token !== '') request.headers = { ...request.headers, Authorization: 'Bearer ' + token };
  return request;
}

async function show() {
  const response = await fetch('openapi.json', authorized({ cache: 'no-store' }));
  const answer = await response.json();
  problem.textContent = response.ok || (response.status === 401 && token === '') ? '' : answer.error.message;
  login.hidden = response.ok;
  if (!response.ok) return;
  SwaggerUIBundle({
    dom_id: '#reference',
    spec: answer,
    presets: [SwaggerUIBundle.presets.apis],
    layout: 'BaseLayout',
    validatorUrl: null,
    requestInterceptor: authorized,
  });
}

function start() {
  show().catch((error) => {
    problem.textContent = 'Cannot load the API description: ' + error.message;
  });
}

login.addEventListener('submit', (event) => {
  event.preventDefault();
  token = document.getElementById('token').value.trim();
  start();
});
start();
`;

const style = `
:root { color-scheme: light dark; --ink: #1b2330; --page: #fff; --line: #b9c1cc; --link: #0b57b8; --on-link: #fff; --bad: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6eaf0; --page: #12161d; --line: #4a5566; --link: #7db4ff; --on-link: #12161d; --bad: #ff938b; }
}
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
#login { max-width: 34rem; margin: 12vh auto 0; padding: 0 1.25rem; }
#login h1 { margin: 0; font-size: 1.6rem; }
#login label { display: block; margin-top: 1.5rem; font-weight: 600; }
#login input { box-sizing: border-box; width: 100%; margin: .35rem 0 .8rem; padding: .6rem .7rem; border: 1px solid var(--line);
  border-radius: 8px; background: transparent; color: inherit; font: inherit; }
#login button { padding: .55rem 1.4rem; border: 0; border-radius: 8px; background: var(--link); color: var(--on-link);
  font: inherit; font-weight: 600; cursor: pointer; }
#login :is(input, button):focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
#login code { display: block; overflow-x: auto; white-space: nowrap; font-size: .85rem; }
#problem { max-width: 34rem; margin: 1rem auto; padding: 0 1.25rem; color: var(--bad); }
#problem:empty { display: none; }
/* The library assumes a white background. */
#reference:not(:empty) { background: #fff; color-scheme: light; }
@media (max-width: 40rem) {
  #reference .opblock-summary { flex-wrap: wrap; }
  #reference .opblock-summary-path { max-width: 100%; }
}
`;

const libraryFiles = [
  {
    url: '/api/v1/docs/swagger-ui.css',
    type: 'text/css; charset=utf-8',
    file: require.resolve('@fastify/swagger-ui/static/swagger-ui.css'),
  },
  {
    url: '/api/v1/docs/swagger-ui-bundle.js',
    type: 'text/javascript; charset=utf-8',
    file: require.resolve('@fastify/swagger-ui/static/swagger-ui-bundle.js'),
  },
];

/** API documentation page. It contains no data, so it needs no token; the description that it loads does. */
export function docsPageRoutes(app: App): void {
  const config = { access: 'open', page: true } as const;
  const schema = { hide: true };
  app.route({
    method: 'GET',
    url: '/api/v1/docs',
    config,
    schema,
    handler: async (_request, reply) => reply.headers(pageHeaders).send(page),
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
    handler: async (_request, reply) => reply.type('text/css; charset=utf-8').send(style),
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
