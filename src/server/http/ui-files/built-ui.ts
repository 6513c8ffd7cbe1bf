import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { pageHeaders } from '../page-headers.ts';
import { acceptedEncodings, type Encoding, encodings } from './accepted-encoding.ts';
import { findFile, indexName, isPagePath, noSuchFile } from './find-file.ts';
import { noticeHeaders, noticePage, type PageNotice } from './notice-page.ts';
import { type PublicPaths, startPage } from './start-page.ts';

const { 'content-type': _ofPages, ...fileHeaders } = pageHeaders;

/** Vite puts a hash of its content into the name of each of these. */
const hashedFolder = 'assets/';
const cached = 'public, max-age=31536000, immutable';

const notBuilt: PageNotice = {
  status: 503,
  title: 'The Web UI is not built',
  paragraphs: [
    'The server runs, but this checkout has no pages yet: <code>npm ci</code> makes them unless it is called with ' +
      '<code>--ignore-scripts</code> or <code>--omit</code>. Build them, then load this page again:',
    'The server need not be restarted. Its API works without the pages.',
  ],
  commands: ['npm ci', 'npm run build:ui'],
};

interface Page {
  text: string;
  tag: string;
  /** Time of the file's last change, milliseconds. */
  changedAt: number;
}

/** The UI of this package: the folder that its build leaves in dist/. */
export class BuiltUi {
  readonly #folder: string;
  readonly #paths: PublicPaths;
  #page: Page | null = null;

  constructor(folder: string, paths: PublicPaths) {
    this.#folder = folder;
    this.#paths = paths;
  }

  /** @param segments of the path below that of the UI. @throws PortolanError `not_found` */
  async send(
    request: FastifyRequest,
    reply: FastifyReply,
    segments: readonly string[],
  ): Promise<FastifyReply> {
    // A build replaces the folder while the server runs.
    const root = await realpath(this.#folder).catch(() => null);
    const file = root && ((await findFile(root, segments)) ?? (await findCompressed(root, segments)));
    if (root === null || file === null) {
      if (isPagePath(segments)) return sendNotice(reply, notBuilt);
      throw noSuchFile();
    }
    if (file === indexName) return await this.#sendPage(request, reply, root);
    return await sendAsset(request, reply, root, file);
  }

  async #sendPage(request: FastifyRequest, reply: FastifyReply, root: string): Promise<FastifyReply> {
    const { text, tag } = await this.#readPage(join(root, indexName));
    reply.headers(pageHeaders).header('cache-control', 'no-cache').header('etag', tag);
    return matches(request.headers['if-none-match'], tag) ? reply.code(304).send() : reply.send(text);
  }

  async #readPage(file: string): Promise<Page> {
    const { mtimeMs: changedAt } = await stat(file);
    if (this.#page?.changedAt === changedAt) return this.#page;
    const text = startPage(await readFile(file, 'utf8'), this.#paths);
    const hash = createHash('sha256').update(text).digest('base64url');
    this.#page = { text, tag: `"${hash.slice(0, 22)}"`, changedAt };
    return this.#page;
  }
}

export function sendNotice(reply: FastifyReply, notice: PageNotice): FastifyReply {
  return reply.code(notice.status).headers(noticeHeaders).send(noticePage(notice));
}

/** The build leaves larger files in their compressed forms only. @returns the path without the end of the form */
async function findCompressed(root: string, segments: readonly string[]): Promise<string | null> {
  const compressed = [...segments.slice(0, -1), `${segments.at(-1)}${encodings.gzip}`];
  return (await findFile(root, compressed))?.slice(0, -encodings.gzip.length) ?? null;
}

/** Compressed at the build, so that no request costs time of the processor. */
async function sendAsset(
  request: FastifyRequest,
  reply: FastifyReply,
  root: string,
  file: string,
): Promise<FastifyReply> {
  const encoding = await bestEncoding(request, root, file);
  reply
    .headers(fileHeaders)
    .header('cache-control', file.startsWith(hashedFolder) ? cached : 'no-cache')
    .header('vary', 'accept-encoding')
    .type(typeOf(file));
  const options = { cacheControl: false, acceptRanges: false, index: false as const, contentType: false };
  if (encoding !== null) {
    reply.header('content-encoding', encoding);
    return reply.sendFile(`${file}${encodings[encoding]}`, root, options);
  }
  if (await findFile(root, file.split('/'))) return reply.sendFile(file, root, options);
  return reply.send(unpacked(join(root, `${file}${encodings.gzip}`)));
}

/** For clients that accept no compression: browsers do. */
function unpacked(file: string) {
  // An error ends the response; there is nothing else to do about it.
  return pipeline(createReadStream(file), createGunzip(), () => undefined);
}

async function bestEncoding(request: FastifyRequest, root: string, file: string): Promise<Encoding | null> {
  for (const encoding of acceptedEncodings(request.headers['accept-encoding'])) {
    if (await findFile(root, `${file}${encodings[encoding]}`.split('/'))) return encoding;
  }
  return null;
}

const types: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  json: 'application/json; charset=utf-8',
  png: 'image/png',
  txt: 'text/plain; charset=utf-8',
};

function typeOf(file: string): string {
  return types[file.slice(file.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
}

/** @param header `If-None-Match` (RFC 9110, 13.1.2) */
function matches(header: string | undefined, tag: string): boolean {
  return (header ?? '').split(',').some((part) => ['*', tag, `W/${tag}`].includes(part.trim()));
}
