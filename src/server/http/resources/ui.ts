import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { publicAddress } from '../../../config/public-url.ts';
import type { Config } from '../../../config/schema.ts';
import { PortolanError } from '../../../domain/errors.ts';
import type { RouteContext } from '../../context.ts';
import type { App } from '../app-type.ts';
import { pageHeaders } from '../page-headers.ts';
import { pathOf } from '../routes.ts';

const { 'content-type': _ofPages, ...fileHeaders } = pageHeaders;

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
 * Serves a directory as the Web UI, without authentication: it contains no data. Files outside of it are not found, even
 * through links. A path that does not look like a file is a client-side route of the UI and gets its `index.html`.
 */
export async function uiRoutes(app: App, { config }: RouteContext): Promise<void> {
  const { enabled, path, static_dir } = config.server.ui;
  if (!enabled) return;
  await app.register(fastifyStatic, { serve: false });
  const route = { access: 'open', page: true, feature: 'ui', streams: true } as const;
  const schema = { hide: true };
  app.route({
    method: 'GET',
    url: path,
    config: route,
    schema,
    handler: async (_request, reply) => {
      if (static_dir === '') throw noSuchFile();
      return reply.redirect(publicAddress(config.server, `${path}/`), 308);
    },
  });
  app.route({
    method: 'GET',
    url: `${path}/*`,
    config: route,
    schema,
    handler: async (request, reply) => {
      if (static_dir === '') throw noSuchFile();
      return await sendUiFile(request, reply, path, resolve(static_dir));
    },
  });
}

async function sendUiFile(
  request: FastifyRequest,
  reply: FastifyReply,
  prefix: string,
  folder: string,
): Promise<FastifyReply> {
  // Resolved for each request: an operator may deploy another version by changing a link.
  const root = await realpath(folder).catch(() => null);
  const file = root && (await findFile(root, segmentsOf(pathOf(request).slice(prefix.length + 1))));
  if (!root || !file) throw noSuchFile();
  reply.headers(fileHeaders).header('cache-control', 'no-cache');
  // Links are resolved above; ranges are for downloads.
  return reply.sendFile(file, root, { cacheControl: false, acceptRanges: false, index: false });
}

/**
 * The segments of a path, the last one empty for a directory. Each is decoded separately, so that an encoded slash cannot
 * split one.
 *
 * @throws PortolanError `not_found` for a name that a UI file cannot have
 */
function segmentsOf(path: string): string[] {
  const segments = path.split('/').map(decoded);
  const isGood = (name: string, index: number) =>
    (name !== '' || index === segments.length - 1) && !name.startsWith('.') && !/[/\\\0]/.test(name);
  if (!segments.every(isGood)) throw noSuchFile();
  return segments;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw noSuchFile();
  }
}

/** @param root real path @returns the path of the file within the root; null when there is none */
async function findFile(root: string, segments: string[]): Promise<string | null> {
  const last = segments.at(-1) ?? '';
  const wanted = join(root, ...segments, last === '' ? 'index.html' : '');
  const place = await insideOf(root, wanted);
  if (place === 'outside') return null;
  if (place !== 'missing') return place;
  return last.includes('.') ? null : await indexOf(root);
}

async function indexOf(root: string): Promise<string | null> {
  const place = await insideOf(root, join(root, 'index.html'));
  return place === 'missing' || place === 'outside' ? null : place;
}

/**
 * Real location of a file, relative to the root. For a missing one, the nearest existing directory decides whether the
 * path leads outside: responses must not reveal which outside files exist.
 */
async function insideOf(root: string, path: string): Promise<string | 'missing' | 'outside'> {
  const real = await realpath(path).catch((error: NodeJS.ErrnoException) =>
    error.code === 'ENOENT' || error.code === 'ENOTDIR' ? 'missing' : 'outside',
  );
  if (real === 'missing') {
    return path === root
      ? 'missing'
      : (await insideOf(root, dirname(path))) === 'outside'
        ? 'outside'
        : 'missing';
  }
  if (real === 'outside' || !holds(root, real)) return 'outside';
  const place = relative(root, real);
  if (place.split(sep).some((name) => name.startsWith('.'))) return 'outside';
  return (await isReadableFile(real)) ? place : 'missing';
}

async function isReadableFile(path: string): Promise<boolean> {
  try {
    await access(path, constants.R_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

/** Whether a directory equals the other one or contains it. */
function holds(folder: string, place: string): boolean {
  return place === folder || place.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function noSuchFile(): PortolanError {
  return new PortolanError('not_found', 'Path not found.');
}
