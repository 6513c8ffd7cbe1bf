import { describe, expect, it } from 'vitest';
import type { Finding } from '../../../domain/finding.ts';
import { findingRow, portRow, reportOfRows, scored } from '../../fixtures/report-of-rows.ts';

const openssh = 'cpe:2.3:a:openbsd:openssh:9.2:p1:*:*:*:*:*:*';
const update: Partial<Finding> = {
  action: { key: 'update openbsd:openssh', text: 'Update OpenSSH', update: true },
  cpe: openssh,
};

async function texts(...findings: Partial<Finding>[]): Promise<string[]> {
  const rows = findings.map((more, index) => findingRow('10.0.0.1', 22, `CVE-${index}`, more));
  return (await reportOfRows(rows)).actions.map(({ text }) => text);
}

describe('the remedy of an update', () => {
  it('names the version that the update installs, and keeps what else helps', async () => {
    const first = {
      ...update,
      fixed_in: '9.8p1',
      kev: true,
      remediation: 'Update OpenSSH to 9.8p1 or later. Until then, set LoginGraceTime to 0.',
    };
    const second = { ...update, fixed_in: '9.10p1', remediation: 'Update OpenSSH to 9.10p1 or later.' };
    const rows = [first, second].map((more, index) => findingRow('10.0.0.1', 22, `CVE-${index}`, more));
    const [action] = (await reportOfRows(rows)).actions;
    expect(action?.remediation).toBe(
      'Update OpenSSH to 9.10p1 or later. Until then, set LoginGraceTime to 0.',
    );
    const [alone] = (await reportOfRows(rows.slice(0, 1))).actions;
    expect(alone?.remediation).toBe(first.remediation);
  });
});

describe('the text of an action', () => {
  it('of an update names the highest fixed version', async () => {
    expect(await texts({ ...update, fixed_in: '9.8p1' }, { ...update, fixed_in: '9.10p1' })).toEqual([
      'Update OpenSSH to 9.10p1',
    ]);
  });

  it('says "or later" if a fixed version is unknown, and none if versions cannot be compared', async () => {
    expect(await texts({ ...update, fixed_in: '9.8p1' }, update)).toEqual([
      'Update OpenSSH to 9.8p1 or later',
    ]);
    expect(await texts({ ...update, fixed_in: 'next' })).toEqual(['Update OpenSSH']);
    expect(await texts(update)).toEqual(['Update OpenSSH']);
  });

  it('names the fix of the distribution where findings have a note on it', async () => {
    expect(await texts({ ...update, fixed_in: '9.8p1', backport_note: 'Debian may have fixed it.' })).toEqual(
      ["Update OpenSSH to 9.8p1 or install the distribution's fix"],
    );
  });

  it('of anything else stays as it is', async () => {
    const action = { key: 'telnet', text: 'Turn off Telnet', update: false };
    expect(await texts({ action, fixed_in: '2.0', backport_note: 'A note.' })).toEqual(['Turn off Telnet']);
  });

  it('of older findings follows from the product, the remediation or the title', async () => {
    expect(await texts({ cpe: openssh, fixed_in: '9.8p1' })).toEqual(['Update openssh to 9.8p1']);
    expect(await texts({ remediation: 'Require a password. Then restart.' })).toEqual(['Require a password']);
    expect(await texts({ title: 'Something is wrong' })).toEqual(['Something is wrong']);
    expect(await texts({ cpe: 'no cpe', remediation: 'Do it!' })).toEqual(['Do it']);
    const [cut] = await texts({ remediation: 'x'.repeat(1_000_000) });
    expect(cut?.length).toBe(160);
  });

  it('names the product as its service does', async () => {
    const service = {
      name: 'ssh',
      product: 'OpenSSH',
      vendor: null,
      version: '9.2p1',
      cpe: openssh,
      confidence: 1,
    };
    const rows = [
      portRow('10.0.0.1', 22, { service }),
      findingRow('10.0.0.1', 22, 'CVE-1', { cpe: openssh }),
    ];
    expect((await reportOfRows(rows)).actions[0]?.text).toBe('Update OpenSSH');
  });

  it('with a key of a prototype is an action like others', async () => {
    const action = { key: '__proto__', text: 'Do it', update: false };
    expect(await texts({ action }, { action: { ...action, key: 'constructor' } })).toEqual([
      'Do it',
      'Do it',
    ]);
  });
});

describe('what an action removes', () => {
  it('is counted by finding, host, severity and class', async () => {
    const rows = [
      findingRow('10.0.0.1', 22, 'CVE-1', { ...update, severity: 'high', class: 'possible' }),
      findingRow('10.0.0.1', 22, 'CVE-2', { ...update, class: 'likely', backport_note: 'Note: more.' }),
      findingRow('10.0.0.1', 2222, 'CVE-1', { ...update, severity: 'high', class: 'possible' }),
      findingRow('10.0.0.2', 22, 'CVE-1', { ...update, severity: 'high', class: 'certain' }),
    ];
    const { actions, kinds } = await reportOfRows(rows);
    const [action] = actions;
    expect(actions.length).toBe(1);
    expect([action?.hosts, action?.findings, action?.backported]).toEqual([2, 4, 1]);
    expect(action?.severities).toMatchObject({ high: 3, medium: 1 });
    expect(action?.classes).toEqual({ all: 4, certain: 1, likely: 1, possible: 2 });
    expect(action?.kinds).toEqual(kinds);
    expect(kinds.map((kind) => kind.action)).toEqual([1, 1]);
    // One per port, with the most certain class.
    expect(action?.places.map(({ host, port, class: name, note }) => [host, port, name, note])).toEqual([
      ['10.0.0.2', 22, 'certain', ''],
      ['10.0.0.1', 22, 'likely', 'Note'],
      ['10.0.0.1', 2222, 'possible', ''],
    ]);
  });

  it('may be findings of one ID in several products', async () => {
    const nginx = { action: { key: 'update f5:nginx', text: 'Update nginx', update: true } };
    const rows = [
      findingRow('10.0.0.1', 22, 'CVE-1', { ...update, kev: true }),
      findingRow('10.0.0.1', 443, 'CVE-1', nginx),
    ];
    const { actions, kinds } = await reportOfRows(rows);
    expect(actions.map(({ text, findings }) => [text, findings])).toEqual([
      ['Update OpenSSH', 1],
      ['Update nginx', 1],
    ]);
    expect([kinds.length, kinds[0]?.action]).toEqual([1, 1]);
    for (const action of actions) expect(action.kinds).toEqual(kinds);
  });

  it('beyond the maximum of actions is one action', async () => {
    const rows = Array.from({ length: 5002 }, (_, index) =>
      findingRow('10.0.0.1', 1, 'a', { action: { key: `k${index}`, text: `Do ${index}`, update: false } }),
    );
    const { actions } = await reportOfRows(rows);
    expect(actions.length).toBe(5001);
    expect(actions.find(({ key }) => key === '')?.findings).toBe(2);
  });
});

describe('the rank of an action', () => {
  const named = (name: string, more: Partial<Finding>): Partial<Finding> => ({
    action: { key: name, text: name, update: false },
    title: `About ${name}.`,
    ...more,
  });
  const ranked = (...findings: Partial<Finding>[]) => texts(...findings);

  it('follows its worst finding, in the one order of findings', async () => {
    const order = await ranked(
      named('low, exploited', { kev: true, severity: 'low', ...scored(0.9, 3.1) }),
      named('high CVE, possible and exploited', { kev: true, severity: 'high', class: 'possible' }),
      named('high CVE, likely', { severity: 'high', class: 'likely', ...scored(0.05, 8.8) }),
      named('high check', { severity: 'high' }),
      named('high CVE, certain', { severity: 'high', ...scored(0.05, 8.8) }),
      named('high CVE, likely and exploited', { kev: true, severity: 'high', class: 'likely' }),
      named('critical check', { severity: 'critical' }),
    );
    expect(order).toEqual([
      'critical check',
      'high CVE, likely and exploited',
      'high CVE, certain',
      'high check',
      'high CVE, likely',
      'high CVE, possible and exploited',
      'low, exploited',
    ]);
  });

  it('depends on the number of hosts where all else is equal, then on the text', async () => {
    const rows = [
      findingRow('10.0.0.1', 1, 'a', named('b', {})),
      findingRow('10.0.0.1', 1, 'b', named('a', {})),
      findingRow('10.0.0.1', 1, 'c', named('c', {})),
      findingRow('10.0.0.2', 1, 'c', named('c', {})),
    ];
    const { actions } = await reportOfRows(rows);
    expect(actions.map(({ text, rank, anchor }) => [text, rank, anchor])).toEqual([
      ['c', 1, 'fix-1'],
      ['a', 2, 'fix-2'],
      ['b', 3, 'fix-3'],
    ]);
  });

  it('has a reason', async () => {
    const rows = [
      findingRow('10.0.0.1', 1, 'CVE-1', named('both', { kev: true, class: 'likely', ...scored(0.94, 7.5) })),
      findingRow('10.0.0.1', 1, 'CVE-2', named('both', { class: 'possible' })),
      findingRow('10.0.0.1', 1, 'CVE-3', named('one', { kev: true, ...scored(0.9, null) })),
      findingRow('10.0.0.1', 1, 'CVE-4', named('soon', { class: 'possible', ...scored(0.5, 8.1) })),
      findingRow(
        '10.0.0.1',
        1,
        'CVE-5',
        named('later', { ...scored(0.2, 8.1), severity: 'high', class: 'likely' }),
      ),
      findingRow('10.0.0.1', 1, 'check', named('shown', {})),
      findingRow('10.0.0.1', 1, 'check-2', named('shown', { title: 'Another' })),
      findingRow('10.0.0.2', 1, 'unsure', named('unsure', { class: 'possible', severity: 'low' })),
    ];
    const { actions } = await reportOfRows(rows);
    expect(actions.map(({ text, reason }) => `${text}: ${reason}`)).toEqual([
      'later: High; 1 likely: About later. EPSS 0.20, CVSS 8.1.',
      'both: Medium, known exploited: 1 of 2 CVEs; 1 likely. EPSS 0.94, CVSS 7.5.',
      'one: Medium, known exploited: CVE-3; 1 certain. EPSS 0.90.',
      'shown: Shown by the service: About shown, and 1 more.',
      'soon: Medium; 1 possible: About soon. EPSS 0.50, CVSS 8.1.',
      'unsure: Low; 1 possible: About unsure.',
    ]);
  });
});
