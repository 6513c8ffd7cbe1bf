import { expect, test } from 'vitest';
import { DeviceClaims, deviceClaimsOfFact, deviceClaimsOfSystem } from './host-device.ts';

interface Traits {
  ports?: string[];
  services?: string[];
  facts?: [key: string, text: string][];
  acceptsAll?: boolean;
}

function collect({ ports = [], services = [], facts = [], acceptsAll = false }: Traits): DeviceClaims {
  const claims = new DeviceClaims();
  for (const place of ports) claims.addPort(place);
  for (const service of services) claims.addService(service);
  for (const [key, text] of facts) {
    const source = key === 'mac.vendor' ? 'network' : '80/tcp';
    claims.add(deviceClaimsOfFact({ key, text, source }));
  }
  if (acceptsAll) claims.acceptAll();
  return claims;
}

test.each<[string, Traits]>([
  ['unknown', {}],
  ['unknown', { ports: ['80/tcp'] }],
  ['server', { services: ['ssh', 'https'] }],
  ['server', { services: ['postgresql'], facts: [['mac.vendor', 'VMware']] }],
  ['printer', { ports: ['515/tcp', '9100/tcp'], services: ['http'] }],
  ['printer', { facts: [['http.title', 'HP LaserJet Pro MFP M428fdw']], services: ['https'] }],
  [
    'camera',
    {
      facts: [
        ['http.header.server', 'DNVRS-Webs'],
        ['service', 'rtsp'],
      ],
      services: ['http'],
    },
  ],
  [
    'nas',
    {
      facts: [
        ['product', 'Synology DSM'],
        ['mac.vendor', 'Synology'],
      ],
      services: ['https', 'ssh', 'smb'],
    },
  ],
  [
    'router',
    {
      facts: [
        ['http.title', 'FRITZ!Box 7590'],
        ['mac.vendor', 'AVM'],
      ],
      services: ['http', 'dns', 'sip'],
    },
  ],
  ['router', { ports: ['8291/tcp'], facts: [['product', 'RouterOS SSH']], services: ['ssh'] }],
  [
    'switch',
    {
      facts: [
        ['snmp.sysdescr', 'Cisco IOS Software, C2960 Software (C2960-LANBASEK9-M), Version 15.0(2)SE4'],
      ],
    },
  ],
  [
    'firewall',
    {
      facts: [
        ['http.title', 'OPNsense'],
        ['mac.vendor', 'Netgate'],
      ],
      services: ['https', 'ssh', 'dns'],
    },
  ],
  ['load_balancer', { facts: [['http.title', 'BIG-IP Redirect']], services: ['https'] }],
  ['hypervisor', { facts: [['product', 'VMware ESXi']], services: ['https', 'ssh'] }],
  ['phone', { facts: [['sip.user-agent', 'Yealink SIP-T46S 66.84.0.15']], services: ['sip'] }],
  [
    'iot',
    {
      facts: [
        ['mac.vendor', 'Espressif'],
        ['http.title', 'Tasmota'],
      ],
      services: ['http'],
    },
  ],
])('a %s', (device, traits) => {
  expect(collect(traits).verdict()).toBe(device);
});

test('a network card alone is evidence, and what speaks against the verdict is kept', () => {
  const claims = collect({
    facts: [
      ['mac.vendor', 'Synology'],
      ['http.realm', 'FRITZ!Box 7590'],
    ],
  });
  expect(claims.evidence().map(({ device_type, source }) => [device_type, source])).toEqual([
    ['router', '80/tcp'],
    ['nas', 'network'],
  ]);
});

test('the ports of a host that accepts them all say nothing', () => {
  const ports = ['515/tcp', '9100/tcp', '8291/tcp'];
  expect(collect({ ports }).verdict()).not.toBe('unknown');
  expect(collect({ ports, acceptsAll: true }).verdict()).toBe('unknown');
});

test('a server with a page about routers stays a server', () => {
  const claims = collect({
    services: ['ssh', 'https', 'smtp', 'mysql'],
    facts: [['http.title', 'Wireless Router Shop']],
  });
  claims.add(
    deviceClaimsOfSystem({
      family: 'linux',
      distribution: 'debian',
      version: '12',
      weight: 0.9,
      source: '22/tcp',
      evidence: 'x',
      rule: 'x',
    }),
  );
  expect(claims.verdict()).toBe('server');
});

test('the system speaks for the kind of its host', () => {
  const system = { weight: 0.9, source: '3389/tcp', evidence: 'x', rule: 'x' };
  const of = (family: string, distribution: string, version: string) =>
    deviceClaimsOfSystem({ ...system, family, distribution, version }).map(({ device_type }) => device_type);
  expect(of('windows', 'windows server', '2022')).toEqual(['server']);
  expect(of('windows', 'windows', '11')).toEqual(['workstation']);
  expect(of('linux', 'dsm', '7')).toEqual(['nas']);
});

test('pages that mention a device are none', () => {
  for (const title of [
    'Canon fans',
    'How to choose a network switch',
    'Our synology of ideas',
    'Nestlé',
    'AXIS of things',
  ]) {
    expect(deviceClaimsOfFact({ key: 'http.title', text: title, source: '80/tcp' }), title).toEqual([]);
  }
});
