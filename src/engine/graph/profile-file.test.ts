import { beforeAll, describe, expect, it } from 'vitest';
import { defineModule } from '../module.ts';
import { Registry } from '../registry.ts';
import { loadProfile, type ProfileIssue } from './profile-file.ts';

const registry = new Registry();
beforeAll(() => {
  for (const name of ['icmp_discovery', 'tcp_probe_discovery']) {
    registry.register(
      defineModule({
        name,
        type: 'discovery',
        version: '1.0.0',
        description: 'finds',
        options: {
          timeout: { Type: 'duration', Description: 'Wait.', Default: '2s', Min: 10, Max: 300_000 },
          retry: { Type: 'int', Description: 'Tries.', Default: 2, Min: 0, Max: 10 },
          ports: { Type: 'string', Description: 'Ports.', Default: '80' },
        },
        requires: ['targets'],
        provides: ['discovered_hosts'],
        async execute() {},
      }),
      'test',
    );
  }
});

const load = (text: string) => loadProfile(text, 'fallback', registry, ['standard', 'port-scan']);

function problems(text: string): string[] {
  return load(text).issues.map(
    ({ line, column, field, message }: ProfileIssue) => `${line}:${column}: ${field}: ${message}`,
  );
}

const whole = `
name: nightly
description: what runs at night
dag: port-scan
scanner:
  rate: 200
  timeout: 800ms
  retry: 0
  concurrency: 50
  ports: { profile: top-10, custom: [8443, "9000-9002"] }
discovery:
  profile: fast
  timeout: 1s
  retry: 3
  icmp: { enabled: false }
  tcp_probe: { ports: "22,443", timeout: 2s }
fingerprint: { enabled: true, max_protocols: 2, probe_timeout: 4s }
vulnerability: { enabled: true, min_severity: high }
notifications: { channels: ["slack://night"] }
`;

describe('profile files', () => {
  it('give every setting', () => {
    expect(load(whole)).toEqual({
      profile: {
        name: 'nightly',
        description: 'what runs at night',
        dag: 'port-scan',
        settings: {
          rate: 200,
          timeout: '800ms',
          retries: 0,
          concurrency: 50,
          ports: 'top-10,T:8443,9000-9002',
          discoverProfile: 'fast',
          discoveryTimeout: '1s',
          discoveryRetries: 3,
          discoveryProbes: {
            icmp_discovery: { enabled: false, config: {} },
            tcp_probe_discovery: { enabled: true, config: { ports: '22,443', timeout: '2s' } },
          },
          fingerprint: true,
          maxProtocols: 2,
          probeTimeout: '4s',
          vuln: true,
          minSeverity: 'high',
          notifications: ['slack://night'],
        },
      },
      issues: [],
    });
  });

  it('leave open what they do not say; JSON and empty sections are fine', () => {
    const { profile, issues } = load('{"description": "short", "scanner": null, "discovery": {}}');
    expect(issues).toEqual([]);
    expect(profile).toEqual({ name: 'fallback', description: 'short', dag: 'standard', settings: {} });
  });

  it.each([
    ['nam: x', '1:1: nam: unknown key "nam"; did you mean name?'],
    ['scanner:\n  port: 3', '2:3: scanner.port: unknown key "port"; did you mean ports?'],
    ['scanner:\n  rate: 0', '2:9: scanner.rate: must be a whole number from 1 to 10000000, or auto'],
    ['scanner: { timeout: 3 }', '1:21: scanner.timeout: must be a duration from 10ms to 5m, such as 3s'],
    ['scanner: { retry: "1" }', '1:19: scanner.retry: must be a whole number from 0 to 10'],
    ['scanner: [1]', '1:10: scanner: must be a map'],
    [
      'scanner: { ports: { custom: [22, 70000] } }',
      '1:29: scanner.ports.custom: "70000" is out of range: ports are 1 to 65535',
    ],
    ['discovery: { profile: slow }', '1:23: discovery.profile: must be one of fast, standard, deep, tcp'],
    [
      'discovery:\n  icmp:\n    rety: 3',
      '3:11: discovery.icmp.rety: option rety of icmp_discovery is unknown; known options: timeout, retry, ports; did you mean retry?',
    ],
    ['discovery: { icmp: { enabled: 1 } }', '1:31: discovery.icmp.enabled: must be true or false'],
    ['discovery: { arp: {} }', '1:19: discovery.arp: this build has no module arp_discovery'],
    [
      'discovery: { tcp_probe: { ports: "22,x!" } }',
      '1:34: discovery.tcp_probe.ports: "x!" is not a port, a range or a known service name',
    ],
    ['fingerprint: { enabled: yes }', '1:25: fingerprint.enabled: must be true or false'],
    [
      'vulnerability: { min_severity: bad }',
      '1:32: vulnerability.min_severity: must be one of critical, high, medium, low, info',
    ],
    [
      'notifications: { channels: slack }',
      '1:28: notifications.channels: must be a list of channels such as slack://security-alerts',
    ],
    ['dag: port-scn', '1:6: dag: no graph "port-scn" is installed; did you mean port-scan?'],
    ['name: Big Name', '1:7: name: must be 1 to 64 of a-z, 0-9, _ and -, and start with a letter or digit'],
    ['__proto__: { rate: 3 }', expect.stringMatching(/^1:1: __proto__: unknown key/)],
    ['scanner: { constructor: 1 }', expect.stringMatching(/^1:12: scanner.constructor: unknown key/)],
  ])('say what is wrong and where: %j', (text, expected) => {
    expect(problems(text)).toEqual([expected]);
  });

  it('reports every problem at once', () => {
    expect(problems('a: 1\nscanner: { rate: x }\ndag: y')).toHaveLength(3);
  });

  it('YAML traps are refused with a line', () => {
    const traps: [string, RegExp][] = [
      ['name: !!js/function "function () { globalThis.x = 1 }"', /^1:/],
      ['a: &a [x]\nscanner: { rate: 5, ports: { custom: *a } }', /^1:1: a: unknown key/],
      ['scanner: &s { rate: 5 }\ndiscovery: *s', /^2:12: discovery: aliases are not supported/],
      [
        'scanner: { ports: { custom: [&p 80, *p] } }',
        /^1:29: scanner.ports.custom: aliases are not supported/,
      ],
      ['scanner:\n  <<: { rate: 5 }', /^2:3: scanner.<<: unknown key/],
      ['scanner:\n\trate: 5', /^2:/],
      ['name: a\nname: b', /^2:1/],
      [`name: ${'x'.repeat(10 * 1024 * 1024)}`, /^1:1: : the file is larger than 64 KiB/],
      ['[1, 2]', /^1:1: : the document is not a map; it needs some of name/],
    ];
    for (const [text, expected] of traps) {
      expect(problems(text)[0]).toMatch(expected);
    }
    expect(Object.hasOwn(globalThis, 'x')).toBe(false);
    expect(problems(`name: ${'['.repeat(60_000)}`)).toEqual([
      expect.stringMatching(/^1:\d+: : the document is nested too deeply$/),
    ]);
  });
});
