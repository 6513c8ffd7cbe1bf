import { realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyReply } from 'fastify';
import { publicAddress } from '../../../config/public-url.ts';
import type { Config } from '../../../config/schema.ts';
import { PortolanError } from '../../../domain/errors.ts';
import type { RouteContext } from '../../context.ts';
import type { App } from '../app-type.ts';
import { pageHeaders } from '../page-headers.ts';
import { pathOf } from '../routes.ts';
import { BuiltUi, sendNotice } from '../ui-files/built-ui.ts';
import { findFile, holds, isPagePath, noSuchFile, segmentsOf } from '../ui-files/find-file.ts';
import type { PageNotice } from '../ui-files/notice-page.ts';
import { publicPaths } from '../ui-files/start-page.ts';

const { 'content-type': _ofPages, ...fileHeaders } = pageHeaders;

/** Left by the build, at the same depth below src/ and, compiled, below dist/. */
const builtFolder = fileURLToPath(new URL('../../../../dist/ui', import.meta.url));

const withoutLicense: PageNotice = {
  status: 403,
  title: 'The Web UI needs a license',
  paragraphs: [
    'This installation enforces licenses (<code>license.enforce</code>) and has none for the feature <code>ui</code>. ' +
      'Scans, the command line and the API work without it. See what is installed:',
    'Install a license with the feature by <code>portolan license install FILE</code>, then restart the server.',
  ],
  commands: ['portolan license show'],
};

const withoutApi: PageNotice = {
  status: 503,
  title: 'The Web UI needs the REST API',
  paragraphs: [
    'The API of this server is off (<code>server.api.enabled: false</code>, or <code>--no-api</code>), and its pages show ' +
      'nothing without it.',
  ],
};

/** Validates the settings before anything is opened or written. @throws PortolanError `configuration` */
export async function checkUiFolder({
  config,
  origins,
}: {
  config: Config;
  origins: ReadonlyMap<string, string>;
}): Promise<void> {
  const { enabled, static_dir } = config.server.ui;
  if (!enabled || static_dir === '') return;
  const invalid = (reason: string) => {
    const key = 'server.ui.static_dir';
    return new PortolanError('configuration', `${origins.get(key)} ${key}: ${static_dir} ${reason}`);
  };
  const folder = await realpath(static_dir).catch((error: NodeJS.ErrnoException) => {
    throw invalid(error.code === 'ENOENT' ? 'does not exist' : `cannot be read (${error.code})`);
  });
  if (!(await stat(folder)).isDirectory()) throw invalid('is not a directory');
  // Files of the UI are public, those of the workspace are secret.
  const workspace = await realpath(config.workspace.dir).catch(() => resolve(config.workspace.dir));
  if (holds(folder, workspace)) throw invalid('contains the workspace');
}

/**
 * Serves the Web UI without authentication: it contains no data. The files are those of `server.ui.static_dir`, else the built
 * ones of this package. A path that does not look like a file is a client-side route of the UI and gets its `index.html`.
 */
export async function uiRoutes(app: App, context: RouteContext, folder = builtFolder): Promise<void> {
  const { config } = context;
  const { enabled, path, static_dir } = config.server.ui;
  if (!enabled) return;
  await app.register(fastifyStatic, { serve: false });
  const route = { access: 'open', page: true, streams: true } as const;
  const schema = { hide: true };
  const built = new BuiltUi(folder, publicPaths(config.server.public_url, path));
  for (const [url, status] of [
    ['/', 302],
    [path, 308],
  ] as const) {
    app.route({
      method: 'GET',
      url,
      config: route,
      schema,
      handler: async (_request, reply) => reply.redirect(publicAddress(config.server, `${path}/`), status),
    });
  }
  app.route({
    method: 'GET',
    url: `${path}/*`,
    config: route,
    schema,
    handler: async (request, reply) => {
      const segments = segmentsOf(pathOf(request).slice(path.length + 1));
      try {
        context.license.demand('ui');
      } catch (error) {
        if (!isPagePath(segments)) throw error;
        request.refusal = error as PortolanError;
        return sendNotice(reply, withoutLicense);
      }
      if (static_dir !== '') return await sendUiFile(reply, segments, resolve(static_dir));
      if (!config.server.api.enabled && isPagePath(segments)) return sendNotice(reply, withoutApi);
      return await built.send(request, reply, segments);
    },
  });
}

async function sendUiFile(reply: FastifyReply, segments: string[], folder: string): Promise<FastifyReply> {
  // Resolved for each request: an operator may deploy another version by changing a link.
  const root = await realpath(folder).catch(() => null);
  const file = root && (await findFile(root, segments));
  if (!root || !file) throw noSuchFile();
  reply.headers(fileHeaders).header('cache-control', 'no-cache');
  // Links are resolved above; ranges are for downloads.
  return reply.sendFile(file, root, { cacheControl: false, acceptRanges: false, index: false });
}
