import { expect, it } from 'vitest';
import { commandOf, submissionOf, targetsIn } from './draft.ts';

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
} as const;

it('separates targets by commas, blanks and lines, each once', () => {
  expect(targetsIn(' 10.0.0.1,10.0.0.2\n10.0.0.1 ')).toEqual(['10.0.0.1', '10.0.0.2']);
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
