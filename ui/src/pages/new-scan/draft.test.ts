import { describe, expect, it } from 'vitest';
import { commandOf, draftOf, furtherText, submissionOf, targetsIn } from './draft.ts';

const draft = {
  targets: '192.0.2.0/28, web.example.net\n192.0.2.9',
  exclude: '',
  name: "the boss's office",
  tags: 'a b',
  profile: 'standard',
  vuln: true,
  ports: '22,80',
  rate: '500',
  scanType: 'connect',
  discover: false,
  intrusive: false,
  maxDuration: '',
  minSeverity: '',
  notifications: '',
  dag: '',
  pool: '',
  further: {},
} as const;

it('separates targets by commas, blanks and lines, each once', () => {
  expect(targetsIn(' 10.0.0.1,10.0.0.2\n10.0.0.1 ')).toEqual(['10.0.0.1', '10.0.0.2']);
  expect(targetsIn('10.0.0-3.1,7, 10.0.0.9 a.example,10.0.0.1')).toEqual([
    '10.0.0-3.1,7',
    '10.0.0.9',
    'a.example',
    '10.0.0.1',
  ]);
  expect(targetsIn('10.0.0-3.1,7\n10.0.*.5')).toEqual(['10.0.0-3.1,7', '10.0.*.5']);
  expect(targetsIn('')).toEqual([]);
});

it('sends only what was chosen', () => {
  expect(submissionOf(draft)).toEqual({
    targets: ['192.0.2.0/28', 'web.example.net', '192.0.2.9'],
    vuln: true,
    name: "the boss's office",
    tags: ['a', 'b'],
    profile: 'standard',
    ports: '22,80',
    rate: 500,
    options: { scan_type: 'connect', discover: false },
  });
});

it('writes a command that a shell reads back', () => {
  const command = commandOf(submissionOf(draft));
  expect(command).toContain(`--scan-name 'the boss'\\''s office'`);
  expect(command).toContain('--no-discover');
  expect(command.split(' \\\n  ')[0]).toBe('portolan scan');
});

describe('a scan that is repeated', () => {
  const requests: Parameters<typeof draftOf>[0][] = [
    { targets: ['192.0.2.1'], profile: 'standard', vuln: false },
    {
      targets: ['192.0.2.0/28', 'web.example.net'],
      exclude: ['192.0.2.3', '192.0.2.4'],
      name: 'office',
      tags: ['a', 'b'],
      profile: 'quick',
      vuln: true,
      ports: '22,U:53,8000-8010',
      rate: 77,
      dag: 'own',
      pool: 'dmz',
      notifications: ['slack://night'],
      options: {
        scan_type: 'connect',
        discover: false,
        intrusive: true,
        max_duration: '2h',
        min_severity: 'high',
        retries: 0,
        timeout: '2s',
        compliance: ['cis', 'pci'],
        fingerprint: false,
        fail_fast: true,
      },
    },
  ];

  it.each(requests)('is sent as it was', (request) => {
    expect(submissionOf(draftOf(request))).toEqual(request);
  });

  it('shows what no step edits', () => {
    expect(furtherText(draftOf(requests[1] as (typeof requests)[number]))).toEqual([
      'graph own',
      'pool dmz',
      'retries 0',
      'timeout 2s',
      'compliance cis,pci',
      'fingerprint false',
      'fail fast true',
    ]);
    expect(commandOf(submissionOf(draftOf(requests[1] as (typeof requests)[number])))).toContain(
      '--dag own \\\n  --vuln \\\n  --ports 22,U:53,8000-8010 \\\n  --rate 77',
    );
  });
});
