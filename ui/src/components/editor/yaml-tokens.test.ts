import { expect, it } from 'vitest';
import { yamlTokens } from './yaml-tokens.ts';

const colored = (line: string) =>
  yamlTokens(line)
    .filter(({ kind }) => kind !== 'plain')
    .map(({ kind, text }) => `${kind} ${text}`);

it('colors keys and values', () => {
  expect(colored('  - instance_id: tcp_ping')).toEqual(['key instance_id', 'string tcp_ping']);
  expect(colored('rate: 500 # slow')).toEqual(['key rate', 'number 500', 'comment # slow']);
});

it('colors within braces', () => {
  expect(colored('config: { ports: "80,443", rate: 500 }')).toEqual([
    'key config',
    'key ports',
    'string "80,443"',
    'key rate',
    'number 500',
  ]);
});

it('takes unfinished lines', () => {
  expect(colored('name: "no end')).toEqual(['key name', 'string "no end']);
  expect(colored('- [a, b')).toEqual(['string a', 'string b']);
  expect(colored('# only this')).toEqual(['comment # only this']);
  expect(colored('url: http://[::1]/')).toContain('key url');
});

it('loses no character', () => {
  const lines = [
    '',
    '  ',
    'a:',
    '- - x: {b: [1, "2"]}',
    "\"q\": 'it''s'",
    '\tx: "\\"',
    ':::',
    '}{][,#',
    'a: b: c',
    '\u202e: \u0000',
  ];
  for (const line of lines) {
    expect(
      yamlTokens(line)
        .map(({ text }) => text)
        .join(''),
    ).toBe(line);
  }
});

it('leaves very long lines uncolored', () => {
  expect(yamlTokens('a: '.repeat(1000))).toHaveLength(1);
});
