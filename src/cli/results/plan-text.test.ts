import { expect, it } from 'vitest';
import type { ScanPreview } from '../../actions/scans/preview-scan.ts';
import { planText } from './plan-text.ts';

const preview: ScanPreview = {
  graph: 'standard',
  profile: 'standard',
  vuln: false,
  targets: ['10.77.0.0/24'],
  target_list: [],
  target_list_left: 0,
  addresses: 254,
  hostnames: 0,
  excluded: 0,
  ports: { tcp: 1000, udp: 0 },
  rate: 1000,
  packets_estimate: 512_572,
  duration_estimate_seconds: 513,
  duration_estimate_basis: 'all are up and silent',
  packets_probable: 30_572,
  duration_probable: { seconds: 31, basis: '1 address in 10 is up', scan_id: null },
  nodes: [
    { instance_id: 'banners', module_type: 'banner_grabber', depends_on: [], skipped: null, options: {} },
    { instance_id: 'cve', module_type: 'cve_matcher', depends_on: ['banners'], skipped: 'why', options: {} },
  ],
  warnings: [],
};

it('a plan has its size, rate and both estimates with what they are based on', () => {
  expect(planText(preview, false)).toBe(`\
targets   10.77.0.0/24: 254 addresses, none excluded
profile   standard: 1,000 tcp ports, services; no findings without --vuln
rate      1,000 packets/s
probable  30,600 packets, 31 s: 1 address in 10 is up
at most   512,572 packets, 8 min 33 s: all are up and silent
Nothing was sent.
`);
});

it('a plan with its nodes says which run', () => {
  expect(planText(preview, true)).toMatch(
    /\n\nNODE .*\nbanners .* runs\ncve .* skipped: why\n\nNothing was sent\.\n$/,
  );
});

it('a plan counts what it does not name, and shows no control character', () => {
  const many = planText(
    {
      ...preview,
      targets: ['a\x1b[2J', ...Array<string>(6).fill('b')],
      hostnames: 1,
      excluded: 1200,
      ports: { tcp: 0, udp: 1 },
      vuln: true,
      warnings: [{ code: 'x', message: '\u202e' }],
      duration_estimate_seconds: 90_000,
    },
    false,
  );
  expect(many).toContain(
    'a\\x1b[2J b b b b and 2 more: 254 addresses, 1 host name not resolved yet, 1,200 excluded',
  );
  expect(many).toContain('standard: 1 udp port, services; findings\n');
  expect(many).toContain(', 1 d 1 h: ');
  expect(many).toContain('warning   \\u{202e}\n');
});

it('a plan of a server of an earlier version has only the upper bound', () => {
  const { packets_probable: _, duration_probable: __, duration_estimate_basis: ___, ...old } = preview;
  const text = planText(old as ScanPreview, false);
  expect(text).toContain('at most   512,572 packets, 8 min 33 s\n');
  expect(text).not.toContain('probable');
});
