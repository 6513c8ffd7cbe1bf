import { expect, it } from 'vitest';
import { syntheticPresets } from '../../fixtures/synthetic-scan.ts';
import type { FindingPlace } from '../report.ts';
import { recheckCommand } from './recheck-command.ts';

const { request } = syntheticPresets.office().facts;
const place = (host: string, port: number | null, protocol: 'tcp' | 'udp' | null = 'tcp'): FindingPlace => ({
  host,
  name: null,
  port,
  protocol,
  seen: null,
  class: 'certain',
  note: '',
});
const again = (...places: FindingPlace[]) => recheckCommand(request, { places, placesLeft: 0 });
const whole = recheckCommand(request, { places: [], placesLeft: 0 });

it('looks again at the hosts and ports of an action, with the settings of the scan', () => {
  const hosts = ['192.0.2.21', '192.0.2.14', '192.0.2.15', '192.0.2.255', '192.0.3.0', '2001:db8::1'];
  expect(again(...hosts.map((host) => place(host, 443)), place('192.0.2.14', 22))).toBe(
    'portolan scan 192.0.2.14-15,192.0.2.21,192.0.2.255-192.0.3.0,2001:db8::1 --profile standard --ports 22,443 --rate 500 --vuln --compliance cis',
  );
  expect(again(place('192.0.2.1', 161, 'udp'), place('192.0.2.1', 80))).toContain(' --ports 80,U:161 ');
  expect(again(place('192.0.2.1', 161, 'udp'))).toContain(' --ports U:161 ');
});

it('keeps the ports of the scan where a finding is of a host as a whole', () => {
  expect(again(place('192.0.2.1', null, null))).toContain(` --ports ${request?.ports} `);
});

it('repeats the whole scan where places are unknown, too many, or no addresses', () => {
  expect(whole).toMatch(/^portolan scan 192\.168\.20\.0\/24 --exclude 192\.168\.20\.8\/30 /);
  expect(recheckCommand(request, { places: [place('192.0.2.1', 22)], placesLeft: 1 })).toBe(whole);
  expect(again(place('-oN /tmp/x', 22))).toBe(whole);
  expect(again(...Array.from({ length: 400 }, (_, at) => place(`10.0.${at % 256}.${at >> 7}`, 22)))).toBe(
    whole,
  );
});

it('is unknown without the request', () => {
  expect(recheckCommand(null, { places: [place('192.0.2.1', 22)], placesLeft: 0 })).toBeNull();
});
