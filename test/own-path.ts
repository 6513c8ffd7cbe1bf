import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';

/** A path that nobody else on this machine knows, without a slash at its end. */
export const ownPath = () => `/${randomUUID()}`;

/**
 * Answers requests under a path, which their URL loses. Others get 404 and are not seen: a scan of another test that
 * meets the port, or a client that takes it for the one that had it before.
 */
export function respondUnder(path: string, answer: RequestListener): RequestListener {
  return (request, response) => {
    const { url = '' } = request;
    if (!url.startsWith(path)) return void response.writeHead(404).end();
    request.url = url.slice(path.length);
    answer(request, response);
  };
}
