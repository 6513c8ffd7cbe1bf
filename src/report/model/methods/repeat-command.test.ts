import { describe, expect, it } from 'vitest';
import { scanRequest } from '../../../domain/fixtures/scan-request.ts';
import { repeatCommand, shellQuoted } from './repeat-command.ts';

describe('the command that repeats a scan', () => {
  it('has targets, exclusions, profile, ports, rate and evaluation', () => {
    const request = scanRequest({
      targets: ['192.168.20.0/24', 'web.example'],
      exclude: ['192.168.20.8/30'],
      profile: 'standard',
      ports: 'top-1000,U:53',
      rate: 500,
      vuln: true,
      dag: null,
      options: { compliance: ['cis', 'pci'] },
    });
    expect(repeatCommand(request)).toBe(
      'portolan scan 192.168.20.0/24 web.example --exclude 192.168.20.8/30 --profile standard --ports top-1000,U:53 --rate 500 --vuln --compliance cis,pci',
    );
  });

  it('has every option of the request', () => {
    const request = scanRequest({
      targets: ['10.0.0.1'],
      exclude: [],
      profile: 'standard',
      dag: 'my graph',
      ports: null,
      rate: 10,
      vuln: false,
      pool: 'dmz',
      options: {
        scan_type: 'connect',
        discover: false,
        concurrency: 5,
        timeout: '3s',
        retries: 0,
        max_duration: '1h',
        min_severity: 'high',
        intrusive: true,
        fail_fast: false,
        exclude_ports: '9100',
        fingerprint: false,
        max_protocols: 2,
      },
    });
    expect(repeatCommand(request)).toBe(
      "portolan scan 10.0.0.1 --dag 'my graph' --rate 10 --no-vuln --pool dmz --no-discover --exclude-ports 9100 --scan-type connect --timeout 3s --retries 0 --concurrency 5 --max-duration 1h --max-protocols 2 --min-severity high --no-fingerprint --intrusive --continue-on-error",
    );
  });

  it('reads many targets from a file', () => {
    const targets = Array.from({ length: 1000 }, (_, index) => `host-${index}.example`);
    const command = repeatCommand(scanRequest({ targets, exclude: targets, ports: null }));
    expect(command).toMatch(/^portolan scan --target-file targets\.txt --exclude-file excluded\.txt --/);
    expect(command.length).toBeLessThan(300);
  });
});

it.each([
  ['10.0.0.0/24', '10.0.0.0/24'],
  ['fe80::1%eth0', 'fe80::1%eth0'],
  ['', "''"],
  ['a b', "'a b'"],
  ["it's", "'it'\\''s'"],
  ['$(reboot)', "'$(reboot)'"],
  ['a\nb', "'a\nb'"],
])('a shell reads %j from %j', (word, quoted) => {
  expect(shellQuoted(word)).toBe(quoted);
});
