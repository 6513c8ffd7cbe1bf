import type { FastifyRequest, RouteOptions } from 'fastify';

/** Time limit of a response, except for streaming routes. */
export const handlerTimeoutMs = 30_000;

/** Every route declares who may call it. @throws Error, so that a server with an undeclared route never starts */
export function requireAccess(route: RouteOptions): void {
  if (!route.config?.access) throw new Error(`${route.method} ${route.url} declares no access`);
}

/** Marks open routes as needing no token. */
export function completeRoute(route: RouteOptions): void {
  if (route.config?.access === 'open') route.schema = { ...route.schema, security: [] };
}

/** The options of the request's route, cached: fastify creates the object on each access. */
export function routeOf(request: FastifyRequest): FastifyRequest['routeOptions'] {
  request.route ??= request.routeOptions;
  return request.route;
}

/** Without the query, which may contain secrets. */
export function pathOf(request: FastifyRequest): string {
  return request.url.split('?')[0] ?? '';
}

/** The existing paths, to distinguish a wrong method from a wrong path. */
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

  /** Whether the path is public; a wrong method is then reported without a token. */
  isOpen(path: string): boolean {
    return this.#matching(path).some(({ open }) => open);
  }

  /** Methods of a path, in alphabetical order; empty for an unknown path. */
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
