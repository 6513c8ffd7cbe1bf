import type { FastifyRequest, RouteOptions } from 'fastify';

/** Time for an answer, except of routes that stream. */
export const handlerTimeoutMs = 30_000;

/** Every route declares who may call it. @throws Error, so that a server with an undeclared route never starts */
export function requireAccess(route: RouteOptions): void {
  if (!route.config?.access) throw new Error(`${route.method} ${route.url} declares no access`);
}

/** Work that can be aborted is, when its answer is late or nobody waits for it; open routes say that they need no token. */
export function completeRoute(route: RouteOptions): void {
  if (route.config?.abortable) route.handlerTimeout = handlerTimeoutMs;
  if (route.config?.access === 'open') route.schema = { ...route.schema, security: [] };
}

/** The options of the request's route; fastify makes the object anew each time that it is asked. */
export function routeOf(request: FastifyRequest): FastifyRequest['routeOptions'] {
  request.route ??= request.routeOptions;
  return request.route;
}

/** Without the query: that may hold what somebody took for a place for secrets. */
export function pathOf(request: FastifyRequest): string {
  return request.url.split('?')[0] ?? '';
}

/** The paths that exist, to tell a wrong method from a wrong path. */
export class KnownPaths {
  readonly #paths = new Map<string, { pattern: RegExp; methods: Set<string>; open: boolean }>();

  add(route: RouteOptions): void {
    const known = this.#paths.get(route.url) ?? {
      pattern: patternOf(route.url),
      methods: new Set<string>(),
      open: route.config?.access === 'open',
    };
    for (const method of [route.method].flat()) known.methods.add(method);
    this.#paths.set(route.url, known);
  }

  /** Whether everybody may know of the path; a wrong method there is no matter of tokens. */
  isOpen(path: string): boolean {
    return this.#matching(path).some(({ open }) => open);
  }

  /** Methods of a path, in alphabetical order; empty when there is no such path. */
  methodsOf(path: string): string[] {
    return [...new Set(this.#matching(path).flatMap(({ methods }) => [...methods]))].sort();
  }

  #matching(path: string) {
    return [...this.#paths.values()].filter(({ pattern }) => pattern.test(path));
  }
}

function patternOf(url: string): RegExp {
  return new RegExp(`^${url.replaceAll('.', '\\.').replaceAll('*', '.*').replace(/:\w+/g, '[^/]+')}$`);
}
