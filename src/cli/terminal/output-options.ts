import { Option } from 'commander';
import { wholeNumber } from './globals.ts';

/** Most items in one answer of a server. */
const maxListed = 1000;

/** `--format` of what is for a person or a program. */
export function formatOption(): Option {
  return new Option('--format <format>', 'form').choices(['text', 'json']).default('text');
}

/** `--format` of a list. */
export function listFormatOption(): Option {
  return new Option('--format <format>', 'form').choices(['table', 'json', 'csv']).default('table');
}

/** `--limit` of a list. */
export function limitOption(): Option {
  return new Option('--limit <n>', 'at most this many')
    .argParser((text) => wholeNumber(text, 1, maxListed))
    .default(50);
}
