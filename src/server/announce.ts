import { isLoopbackHost, parseEndpoint } from '../config/endpoint.ts';
import type { LoadedConfig } from '../config/load.ts';
import { requiresTokens } from '../config/required-tokens.ts';
import { isProtected } from './access/auth.ts';
import type { ServerLog } from './logging/log.ts';

type Announced = Pick<LoadedConfig, 'config' | 'warnings'> & { version: string };

/** Logs that the server is ready, with warnings about its configuration. */
export function announce(log: ServerLog, { config, warnings, version }: Announced, url: string): void {
  for (const warning of warnings) log.warn(warning);
  if (isProtected(config)) {
    log.warn(
      'PROTECTED MODE: listening on a non-loopback address without tokens, serving only clients on this machine. ' +
        'Set server.api.auth: true to require tokens, or server.allow_insecure: true to serve every client.',
    );
  }
  const outside = !isLoopbackHost(parseEndpoint(config.server.bind)?.host ?? '');
  if (outside && !requiresTokens(config) && config.server.allow_insecure) {
    log.warn('server.allow_insecure is set: every client that reaches this address can start scans');
  }
  const { enabled, path } = config.server.ui;
  const ui = enabled ? { ui: `${url}${path}/` } : {};
  log.info({ url, ...ui, version, auth: requiresTokens(config) }, 'portolan serves');
}
