import { join } from 'node:path';
import { type DestinationStream, pino } from 'pino';
import type { Config } from '../../config/schema.ts';
import type { Logger } from '../../engine/module.ts';
import { LogOutput, standardError, textLine } from './log-output.ts';

export type ServerLog = ReturnType<typeof createServerLog>;

/** Log output of a server, by its settings. @param workspaceDir folder of the default log file */
export function openLogOutput(logging: Config['logging'], workspaceDir: string): LogOutput {
  return new LogOutput(logging, join(workspaceDir, 'logs', 'portolan.log'));
}

/** The log of the server: one JSON object or one line of text per event. */
export function createServerLog({ level }: Config['logging'], output: DestinationStream) {
  return createPino(level, output);
}

/** Environment of a scan process: it logs before it has the configuration. */
export function logEnvironment({ level, format }: Config['logging']): Record<string, string> {
  return { SERVICE_LOG_LEVEL: level, SERVICE_LOG_FORMAT: format };
}

/** Log of a scan process, on stderr; its server passes the lines on. */
export function createLogger(env: NodeJS.ProcessEnv = process.env): Logger {
  const format = env['SERVICE_LOG_FORMAT'] ?? 'text';
  const log = createPino(
    env['SERVICE_LOG_LEVEL'] ?? 'info',
    format === 'json' ? standardError() : { write: (line) => standardError().write(`${textLine(line)}\n`) },
  );
  return {
    debug: (message, details = {}) => log.debug(details, message),
    info: (message, details = {}) => log.info(details, message),
    warn: (message, details = {}) => log.warn(details, message),
    error: (message, details = {}) => log.error(details, message),
  };
}

function createPino(level: string, destination: DestinationStream) {
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return pino(options, destination);
}
