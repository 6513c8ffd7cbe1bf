import { describe, expect, it } from 'vitest';
import { meansPorts } from './scan-words.ts';

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
