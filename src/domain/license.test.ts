import { describe, expect, it } from 'vitest';
import { featuresOfModules, licenseNotice, licenseState } from './license.ts';

const day = 86_400_000;
const end = Date.parse('2026-06-30T00:00:00Z');
const claims = {
  customer_id: 'acme',
  license_id: 'lic-1',
  plan: 'enterprise' as const,
  features: [],
  iat: Date.parse('2026-01-01T00:00:00Z') / 1000,
  exp: end / 1000,
};

describe('a license', () => {
  it('works until its end and seven days longer', () => {
    const at = (ms: number) => licenseState(claims, ms);
    expect(at(end - 1)).toBe('valid');
    expect(at(end)).toBe('grace');
    expect(at(end + 7 * day - 1)).toBe('grace');
    expect(at(end + 7 * day)).toBe('expired');
    expect(at(claims.iat * 1000 - 60_000)).toBe('valid');
    expect(at(claims.iat * 1000 - day)).toBe('future');
  });

  it('gives a warning 30, 7 and 1 days before its end, and every day of the grace time', () => {
    const notice = (ms: number) => licenseNotice(claims, ms);
    expect(notice(end - 31 * day)).toBeNull();
    expect(notice(end - 30 * day)?.stage).toBe('due-30');
    expect(notice(end - 8 * day)?.stage).toBe('due-30');
    expect(notice(end - 7 * day)?.stage).toBe('due-7');
    expect(notice(end - day)).toEqual({
      stage: 'due-1',
      text: 'the license expires on 2026-06-30T00:00:00.000Z, in 1 day',
    });
    expect([0, 1, 6].map((days) => notice(end + days * day)?.stage)).toEqual([
      'grace-0',
      'grace-1',
      'grace-6',
    ]);
    expect(notice(end + 8 * day)?.stage).toBe('expired');
    expect(notice(0)?.stage).toBe('future');
  });
});

it('names the features that modules are', () => {
  expect(featuresOfModules(['connect_scanner', 'pdf_reporter', 'pdf_reporter'])).toEqual(['pdf_reporter']);
  expect(featuresOfModules(['toString', 'constructor'])).toEqual([]);
});
