import { expect, it } from 'vitest';
import { groupsOf, matchingSettings, settingText } from './setting-groups.ts';

const settings = [
  { key: 'server.bind', value: '127.0.0.1:8080', origin: 'default', description: 'Address to listen on.' },
  { key: 'scanner.rate', value: 500, origin: 'portolan.yaml:3:9', description: 'Packets per second.' },
  { key: 'server.name', value: null, origin: 'default', description: 'Name of the server.' },
];
const keys = (list: readonly { key: string }[]) => list.map(({ key }) => key);

it('finds settings by name, value and description', () => {
  expect(keys(matchingSettings(settings, 'RATE', false))).toEqual(['scanner.rate']);
  expect(keys(matchingSettings(settings, '8080', false))).toEqual(['server.bind']);
  expect(keys(matchingSettings(settings, 'name of', false))).toEqual(['server.name']);
  expect(matchingSettings(settings, '', false)).toHaveLength(3);
});

it('leaves out defaults', () => {
  expect(keys(matchingSettings(settings, '', true))).toEqual(['scanner.rate']);
});

it('groups by the first part of the name', () => {
  expect(groupsOf(settings).map(([name, members]) => [name, keys(members)])).toEqual([
    ['server', ['server.bind', 'server.name']],
    ['scanner', ['scanner.rate']],
  ]);
});

it('writes values in one line', () => {
  expect([
    settingText(null),
    settingText([]),
    settingText(['a', 'b']),
    settingText({ a: 1 }),
    settingText(false),
  ]).toEqual(['', '[]', 'a, b', 'a: 1', 'false']);
});
