import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { meansPorts, readJobWords } from './scan-words.ts';

describe('a value of -p', () => {
  it.each([
    '22',
    '22,80',
    '-100',
    '65500-',
    '-',
    'T:22',
    'ssh',
    'http*',
    '[1-1000]',
    'top-100',
    'all',
    'https?',
    'htpp,80',
    'S:9',
    'tcp:80',
    '80/tcp',
    'top1000',
    '22 80',
    '22;80',
    '[22',
    '0x50,1',
    '',
    '１',
  ])('is about ports: %j', async (value) => expect(await meansPorts(value)).toBe(true));

  it.each([
    'standard',
    'standart',
    'my-profile',
    '2fa',
    './own.yaml',
    'own.yml',
    '/etc/profile.json',
    'dir/own',
  ])('is about profiles: %s', async (value) => expect(await meansPorts(value)).toBe(false));
});

it.each([
  ['192.0.2.1 -p 22,80', '192.0.2.1 --ports 22,80'],
  ['-p quick 192.0.2.1', '--profile quick 192.0.2.1'],
  ['-p http* --name -p -phttps?', '--ports http* --name -p --ports https?'],
  ['--config -p 192.0.2.1 -p', '--config -p 192.0.2.1 -p'],
  ['-pquick -- -p 22', '-pquick -- -p 22'],
])('`job submit %s` means %s', async (words, meant) => {
  const submit = new Command('submit').option('-p, --profile <name>').option('--name <name>');
  const program = new Command('portolan').option('--config <file>');
  expect((await readJobWords(submit, program, words.split(' '))).join(' ')).toBe(meant);
});
