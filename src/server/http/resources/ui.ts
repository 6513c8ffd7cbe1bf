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

/** Before anything is opened or written. @throws PortolanError `configuration` */
export async function checkUiFolder({
  config,
  origins,
}: {
  config: Config;
  origins: ReadonlyMap<string, string>;
}): Promise<void> {
  const { enabled, static_dir } = config.server.ui;
  if (!enabled || static_dir === '') return;
  const refuse = (reason: string) => {
    const key = 'server.ui.static_dir';
    return new PortolanError('configuration', `${origins.get(key)} ${key}: ${static_dir} ${reason}`);
  };
  const folder = await realpath(static_dir).catch((error: NodeJS.ErrnoException) => {
    throw refuse(error.code === 'ENOENT' ? 'does not exist' : `cannot be read (${error.code})`);
  });
  if (!(await stat(folder)).isDirectory()) throw refuse('is not a folder');
  // Everybody may read the files of the UI, and the workspace has what nobody may.
  const workspace = await realpath(config.workspace.dir).catch(() => resolve(config.workspace.dir));
  if (holds(folder, workspace)) throw refuse('holds the workspace');
}

/**
 * The files of a folder as the Web UI, for everybody: they hold no data. What lies outside of the folder is not there,
 * however a path or a link leads to it. A path that names no file and looks like none is one of the pages that the
 * UI makes by itself, so it gets its `index.html`.
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
  // Anew for each request: an operator may put another version in place by changing a link.
  const root = await realpath(folder).catch(() => null);
  const file = root && (await findFile(root, segmentsOf(pathOf(request).slice(prefix.length + 1))));
  if (!root || !file) throw noSuchFile();
  reply.headers(fileHeaders).header('cache-control', 'no-cache');
  // Links were followed above; ranges are for downloads.
  return reply.sendFile(file, root, { cacheControl: false, acceptRanges: false, index: false });
}

/**
 * The names in a path, the last one empty for a folder. Each is decoded by itself, so that no encoded slash can make two
 * of one.
 *
 * @throws PortolanError `not_found` for a name that no file of a UI has
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

/** @param root without links in it @returns the path of the file within the root; null when there is none */
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
 * Where a file really lies, relative to the root. Of one that is missing, the nearest folder that is there decides
 * whether the path had led outside: nobody may learn what is there and what is not.
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

/** Whether a folder is the other place or has it somewhere inside. */
function holds(folder: string, place: string): boolean {
  return place === folder || place.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function noSuchFile(): PortolanError {
  return new PortolanError('not_found', 'There is no such path.');
}
