import { Option } from 'commander';
import { numberOption } from './globals.ts';

/** Maximum number of items in one response of a server. */
export const maxListLimit = 1000;

/** `--format` of single objects. @param more further formats of the command */
export function formatOption(more: readonly string[] = []): Option {
  return new Option('--format <format>', 'output format').choices(['text', 'json', ...more]).default('text');
}

/** `--format` of a list. */
export function listFormatOption(): Option {
  return new Option('--format <format>', 'output format').choices(['table', 'json', 'csv']).default('table');
}

/** `--limit` of a list. */
export function limitOption(): Option {
  return numberOption('--limit <n>', 'maximum number of entries', 1, maxListLimit).default(50);
}
