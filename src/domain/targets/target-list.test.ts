import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readTargetList } from './target-list.ts';

describe('readTargetList', () => {
  it.each([
    ['192.0.2.1 192.0.2.2\t192.0.2.3\n', ['192.0.2.1', '192.0.2.2', '192.0.2.3']],
    ['192.0.2.1,192.0.2.2,\r\n192.0.2.3\r', ['192.0.2.1', '192.0.2.2', '192.0.2.3']],
    ['# all\n192.0.2.1 # gateway\n\n\t#x\n192.0.2.2#3', ['192.0.2.1', '192.0.2.2#3']],
    ['192.0.2-3.1,7 host.example/28', ['192.0.2-3.1,7', 'host.example/28']],
    ['192.0.2.1,,192.0.2.2', ['192.0.2.1', '', '192.0.2.2']],
    ['192.0.2.1 - 192.0.2.9', ['192.0.2.1', '-', '192.0.2.9']],
  ])('splits %j at lines, blanks, tabs and commas', (text, targets) => {
    expect(readTargetList(text)).toEqual({ targets, reduced: [], ports: [], left: [] });
  });

  it('reads a hosts file: addresses and their names, without groups of hosts', () => {
    const text = [
      '127.0.0.1\tlocalhost',
      '::1     localhost ip6-localhost ip6-loopback # loopback',
      'fe00::0 ip6-localnet',
      'ff02::1 ip6-allnodes',
      '255.255.255.255 broadcasthost',
      '0.0.0.0 ads.example',
      '192.0.2.7 web.example web',
      '224.0.0.1 192.0.2.9',
    ].join('\n');
    expect(readTargetList(text)).toMatchObject({
      targets: [
        '127.0.0.1',
        'localhost',
        '::1',
        'ip6-localhost',
        'ip6-loopback',
        '192.0.2.7',
        'web.example',
        'web',
        '224.0.0.1',
        '192.0.2.9',
      ],
      left: [
        'fe00::0 ip6-localnet',
        'ff02::1 ip6-allnodes',
        '255.255.255.255 broadcasthost',
        '0.0.0.0 ads.example',
      ],
    });
  });

  it.each([
    ['https://192.0.2.1/', '192.0.2.1', 443],
    ['HTTP://User:p@Web.example/a?b=@c#d', 'Web.example', 80],
    ['https://web.example:8443', 'web.example', 8443],
    ['mqtts://web.example', 'web.example', null],
    ['http://[2001:db8::1]:8080/x', '[2001:db8::1]', 8080],
    ['[2001:db8::1]:22', '[2001:db8::1]', 22],
    ['192.0.2.1:22', '192.0.2.1', 22],
    ['web.example:443/login', 'web.example', 443],
  ])('takes the host of %s', (item, host, port) => {
    const ports = port === null ? [] : [port];
    expect(readTargetList(item)).toEqual({ targets: [host], reduced: [item], ports, left: [] });
  });

  it.each([
    '192.0.2.1:22/24',
    '192.0.2.0/255.255.255.0',
    '2001:db8::1:80',
    'http://',
    'http://224.0.0.1/',
    'a:b',
    'a:70000',
  ])('leaves %s to the check of targets', (item) => expect(readTargetList(item).reduced).toEqual([]));

  it('never throws, and leaves no blank in a target', () => {
    const nearly = fc.string({ unit: fc.constantFrom(...'019abx.:/-%,*[]@#= \t\r\n'), maxLength: 80 });
    fc.assert(
      fc.property(fc.oneof(nearly, fc.string()), (text) => {
        const { targets, reduced } = readTargetList(text);
        expect([...targets, ...reduced].filter((item) => /\s/.test(item))).toEqual([]);
        expect(new Set(targets).size).toBe(targets.length);
      }),
    );
  });

  it('names each port of a list once', () => {
    expect(readTargetList('a.example:80 b.example:80\nc.example:22')).toMatchObject({
      reduced: { length: 3 },
      ports: [22, 80],
    });
  });
});
