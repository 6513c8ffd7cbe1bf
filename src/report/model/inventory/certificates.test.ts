import { describe, expect, it } from 'vitest';
import { portRow, reportOfRows } from '../../fixtures/report-of-rows.ts';
import { readRecordedCertificate } from './certificates.ts';

const completedAt = '2026-11-21T12:00:00.000Z';

const certificate = (not_after: string, more: object = {}) => ({
  tls: {
    version: 'TLSv1.3',
    certificate: {
      subject: `CN=${not_after}`,
      issuer: 'CN=Example CA',
      not_after,
      sha256: not_after,
      ...more,
    },
  },
});

describe('certificates of a report', () => {
  it('are counted by the days that are left at the end of the scan', async () => {
    const untils = [
      '2027-02-19T13:00:00Z', // in 90 days
      '2027-02-19T11:00:00Z', // in 89 days
      '2026-12-05T13:00:00Z', // in 14 days
      '2026-12-05T11:00:00Z', // in 13 days
      '2026-11-21T13:00:00Z', // in an hour
      '2026-11-21T11:00:00Z', // expired an hour ago
      '2026-10-30T12:00:00Z',
    ];
    const rows = untils.map((until, index) => portRow('10.0.0.1', 443 + index, certificate(until)));
    const { certificates } = await reportOfRows(rows, { completedAt });
    const { read, expired, within14Days, within90Days, expiring } = certificates;
    expect([read, expired, within14Days, within90Days]).toEqual([7, 2, 2, 2]);
    expect(expiring.map(({ days, port }) => [days, port])).toEqual([
      [-22, 449],
      [-1, 448],
      [0, 447],
      [13, 446],
      [14, 445],
      [89, 444],
    ]);
  });

  it('stand once with the number of further places', async () => {
    const expired = certificate('2026-11-01T00:00:00Z', { self_signed: true });
    const rows = [1, 2, 3].map((last) => portRow(`10.0.0.${last}`, 443, expired));
    const { certificates } = await reportOfRows(rows, { completedAt });
    expect(certificates.read).toBe(1);
    expect(certificates.expiring).toEqual([
      {
        until: '2026-11-01T00:00:00.000Z',
        days: -21,
        subject: 'CN=2026-11-01T00:00:00Z',
        issuer: 'self-signed',
        host: '10.0.0.1',
        port: 443,
        more: 2,
      },
    ]);
  });

  it('beyond the maximum are counted, the soonest kept', async () => {
    const rows = Array.from({ length: 150 }, (_, index) => {
      const until = new Date(Date.parse(completedAt) + (150 - index) * 3_600_000).toISOString();
      return portRow('10.0.0.1', 1000 + index, certificate(until));
    });
    const { expiring, expiringLeft } = (await reportOfRows(rows, { completedAt })).certificates;
    expect([expiring.length, expiringLeft, expiring[0]?.port]).toEqual([100, 50, 1149]);
  });

  it.each([
    [null],
    [{}],
    [{ certificate: null }],
    [{ certificate: 'text' }],
    [{ certificate: { error: 'is not a readable certificate' } }],
    [{ certificate: { subject: 'CN=a', not_after: null } }],
    [{ certificate: { subject: 'CN=a', not_after: 'soon' } }],
  ])('that are not readable are none: %j', (tls) => {
    expect(readRecordedCertificate({ tls })).toBeNull();
  });

  it('of servers that claim nonsense have empty names', () => {
    const tls = { certificate: { subject: 5, issuer: null, not_after: '2026-12-01', self_signed: 'yes' } };
    expect(readRecordedCertificate({ tls })).toMatchObject({ subject: '', issuer: '', selfSigned: false });
  });
});
