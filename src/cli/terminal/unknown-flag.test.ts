import { Option } from 'commander';
import { expect, it } from 'vitest';
import { knownFlags, unknownFlag } from './unknown-flag.ts';

const known = [
  new Option('-r, --rate <n>'),
  new Option('--ports <list>'),
  new Option('--exclude <list>'),
  new Option('--exclude-ports <list>'),
  new Option('-o, --output <file>'),
  new Option('--output-file <file>'),
  new Option('--min-severity <level>'),
  new Option('--concurrency <n>'),
  new Option('--dry-run'),
  new Option('--format <format>', 'json, jsonl, csv or nmap'),
].flatMap(knownFlags);

const hintOf = (word: string, next?: string) => unknownFlag(word, next, known, '--help').details['try'];

it.each([
  ['--name', 'x'],
  ['--date', 'x'],
  ['--hosts', 'x'],
  ['--exclude-hosts', '192.0.2.1'],
  ['--no-such-flag', undefined],
  ['--max', '3'],
  ['-x', '3'],
])('%s is not taken for a flag that means something else', (word, next) => {
  expect(hintOf(word, next)).toBe('--help');
});

it.each([
  ['--prots', '22', '--ports 22'],
  ['--dryrun', undefined, '--dry-run'],
  ['--out', 'f', '--output f'],
  ['--severity=high', undefined, '--min-severity high'],
  ['--exclud-prots', '22', '--exclude-ports 22'],
  ['--threads', '5', '--concurrency 5'],
  ['-ports', '22', '--ports 22'],
  ['--json', undefined, '--format json'],
  ['-json', '192.0.2.1', '--format json'],
  ['--xml', undefined, '--format nmap'],
])('%s %s means %s', (word, next, meant) => expect(hintOf(word, next)).toBe(meant));
