import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { WritableLibrary } from '../../actions/graphs/graph-files.ts';
import { invalidRequest } from '../../domain/errors.ts';
import { installedName } from '../../engine/graph/profile-file.ts';
import type { RouteContext } from '../context.ts';
import type { Installed } from '../installed.ts';

/** The graphs and profiles that a request sees and changes. */
export function libraryOf(
  { space }: FastifyRequest,
  { config }: Pick<RouteContext, 'config'>,
  installed: Installed,
): WritableLibrary {
  return {
    config,
    tenant: space.tenant,
    store: space.store,
    workspace: space.workspace,
    get installed() {
      return space.installed;
    },
    change: (work) => installed.change(config, work),
  };
}

/** The version in If-Match; null without one. @throws PortolanError `invalid_request` */
export function versionIn(headers: { 'if-match'?: string | undefined }): string | null {
  const given = headers['if-match'];
  if (given === undefined) return null;
  if (given === '*') return given;
  const version = /^"([0-9a-f]{32})"$/.exec(given)?.[1];
  if (version !== undefined) return version;
  const reason = 'must be one ETag of this resource, or *';
  throw invalidRequest(`If-Match ${reason}`, [{ field: 'If-Match', reason }]);
}

export function setVersion(reply: FastifyReply, version: string): void {
  reply.header('etag', `"${version}"`);
}

/** What the audit log says about a change of a file. */
export function noteChange(
  request: FastifyRequest,
  type: 'dag' | 'profile',
  name: string,
  text?: string,
): void {
  const sha256 = text === undefined ? null : createHash('sha256').update(text).digest('hex');
  request.change = {
    type,
    id: installedName.test(name) ? name : null,
    ...(sha256 !== null && { details: { sha256 } }),
  };
}
