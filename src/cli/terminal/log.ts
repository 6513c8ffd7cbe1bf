import type { Logger } from '../../engine/module.ts';
import { printable } from './draw/printable.ts';
import { logLevels } from './globals.ts';

/** Log of a local scan: one line per event, written so that it does not disturb the progress bar. */
export function createLog(level: string, format: string, write: (line: string) => void): Logger {
  const least = logLevels.indexOf(level);
  const log =
    (name: string) =>
    (message: string, details: Record<string, unknown> = {}) => {
      if (logLevels.indexOf(name) >= least)
        write(format === 'json' ? jsonLine(name, message, details) : textLine(name, message, details));
    };
  return { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') };
}

function jsonLine(level: string, message: string, details: Record<string, unknown>): string {
  return printable(JSON.stringify({ time: new Date().toISOString(), level, message, ...details }));
}

function textLine(level: string, message: string, details: Record<string, unknown>): string {
  const facts = Object.entries(details).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return printable([`${level}:`, message, ...facts].join(' '));
}
