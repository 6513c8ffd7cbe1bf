import { type DestinationStream, pino } from 'pino';
import type { Config } from '../config/schema.ts';
import type { Logger } from '../engine/module.ts';

export type ServerLog = ReturnType<typeof createServerLog>;

/** The log of the server: one JSON object or one line of text per event, on stderr unless configured otherwise. */
export function createServerLog({ level, format, output }: Config['logging']) {
  return createPino(level, format, output === 'stdout' ? 1 : 2);
}

/** What a scan process is told about logging: it speaks before it knows the configuration. */
export function logEnvironment({ level, format }: Config['logging']): Record<string, string> {
  return { SERVICE_LOG_LEVEL: level, SERVICE_LOG_FORMAT: format };
}

/** The log of a scan process, on stderr. */
export function createLogger(env: NodeJS.ProcessEnv = process.env): Logger {
  const log = createPino(env['SERVICE_LOG_LEVEL'] ?? 'info', env['SERVICE_LOG_FORMAT'] ?? 'text', 2);
  return {
    debug: (message, details = {}) => log.debug(details, message),
    info: (message, details = {}) => log.info(details, message),
    warn: (message, details = {}) => log.warn(details, message),
    error: (message, details = {}) => log.error(details, message),
  };
}

function createPino(level: string, format: string, descriptor: 1 | 2) {
  // Synchronous: the last words of a process that dies are the ones that matter.
  const destination = pino.destination({ dest: descriptor, sync: true });
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return pino(options, format === 'json' ? destination : textLines(destination));
}

function textLines(destination: DestinationStream): DestinationStream {
  return { write: (line) => destination.write(`${textLine(line)}\n`) };
}

/** `2026-10-06T14:30:22.118Z info  request method=GET status=200` */
function textLine(json: string): string {
  const { time, level, msg, err, ...details } = JSON.parse(json) as Record<string, unknown>;
  const facts = Object.entries(details).map(([name, value]) => ` ${name}=${plain(value)}`);
  const cause = err as { stack?: string; message?: string } | undefined;
  const text = `${time} ${String(level).padEnd(5)} ${msg}${facts.join('')}`;
  return visible(cause ? `${text}\n${cause.stack ?? cause.message}` : text);
}

function plain(value: unknown): string {
  return typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : (JSON.stringify(value) ?? '');
}

/** Text of targets may stand in a message; no control character of it may reach a terminal. */
function visible(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return text.replace(
    /[\0-\x08\x0b-\x1f\x7f-\x9f]/g,
    (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}
