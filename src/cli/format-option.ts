import { Option } from 'commander';

/** `--format` of what is for a person or a program. */
export function formatOption(): Option {
  return new Option('--format <format>', 'form').choices(['text', 'json']).default('text');
}

/** `--format` of a list. */
export function listFormatOption(): Option {
  return new Option('--format <format>', 'form').choices(['table', 'json', 'csv']).default('table');
}
