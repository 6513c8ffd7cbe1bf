import { isLoopbackHost, parseEndpoint } from './endpoint.ts';
import type { Config } from './schema.ts';

/** Whether clients of the API need tokens: as configured, else where other machines can reach it. */
export function requiresTokens(config: Pick<Config, 'server'>): boolean {
  return config.server.api.auth ?? isOutside(config.server.bind);
}

/** Whether other machines can reach a listener. @param bind as in the settings */
export function isOutside(bind: string): boolean {
  return !isLoopbackHost(parseEndpoint(bind)?.host ?? '');
}
