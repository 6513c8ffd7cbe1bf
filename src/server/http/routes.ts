import type { RouteOptions } from 'fastify';
import { errorSchema } from './errors.ts';

/** Time for an answer, except of routes that stream. */
const handlerTimeoutMs = 30_000;

/** Every route declares who may call it. @throws Error, so that a server with an undeclared route never starts */
export function requireAccess(route: RouteOptions): void {
  if (!route.config?.access) throw new Error(`${route.method} ${route.url} declares no access`);
}

/** Every route ends in time unless it streams, and documents its errors. */
export function completeRoute(route: RouteOptions): void {
  if (!route.config?.streams) route.handlerTimeout = handlerTimeoutMs;
  route.schema = {
    ...route.schema,
    response: { ...(route.schema?.response as object), default: errorSchema },
  };
  if (route.config?.access === 'open') route.schema.security = [];
}

/** The paths that exist, to tell a wrong method from a wrong path. */
export class KnownPaths {
  readonly #paths = new Map<string, { pattern: RegExp; methods: Set<string> }>();

  add(route: RouteOptions): void {
    const known = this.#paths.get(route.url) ?? { pattern: patternOf(route.url), methods: new Set<string>() };
    for (const method of [route.method].flat()) known.methods.add(method);
    this.#paths.set(route.url, known);
  }

  /** Methods of a path, in alphabetical order; empty when there is no such path. */
  methodsOf(path: string): string[] {
    const matching = [...this.#paths.values()].filter(({ pattern }) => pattern.test(path));
    return [...new Set(matching.flatMap(({ methods }) => [...methods]))].sort();
  }
}

function patternOf(url: string): RegExp {
  return new RegExp(`^${url.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+')}$`);
}
