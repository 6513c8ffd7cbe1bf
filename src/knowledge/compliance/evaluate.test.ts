import { describe, expect, it } from 'vitest';
import { checkIds } from '../checks/all.ts';
import type { Control } from './control.ts';
import {
  controls,
  type EvaluatedFinding,
  type EvaluatedHost,
  type EvaluatedService,
  evaluateControls,
  unjudged,
} from './evaluate.ts';

const service = (name: string, more: Partial<EvaluatedService> = {}): EvaluatedService => ({
  port: 80,
  name,
  versioned: false,
  tls: null,
  ...more,
});
const finding = (id: string, more: Partial<EvaluatedFinding> = {}): EvaluatedFinding => ({
  id,
  title: `Title of ${id}`,
  severity: 'medium',
  port: 80,
  kev: false,
  confidence: 0.9,
  ...more,
});
const host = (services: EvaluatedService[], findings: EvaluatedFinding[] = []): EvaluatedHost => ({
  loginsTried: false,
  services,
  findings,
});

function named(framework: string, control: string): Control {
  const found = controls.find((each) => each.framework === framework && each.control === control);
  if (!found) throw new Error(`no control ${framework} ${control}`);
  return found;
}

describe('a control', () => {
  const stores = named('cis', '3.3');

  it('is broken by a finding, at its port, with the worst severity and all ids', () => {
    const findings = [
      finding('redis-no-auth', { port: 6379, severity: 'critical' }),
      finding('nfs-exposed', { port: 2049 }),
      finding('rsync-modules-listed', { port: 6379 }),
      finding('http-security-headers'),
    ];
    expect(evaluateControls(stores, host([service('redis', { port: 6379 })], findings))).toEqual({
      status: 'fail',
      breaches: [
        { port: 2049, severity: 'medium', description: 'Title of nfs-exposed', findingIds: ['nfs-exposed'] },
        {
          port: 6379,
          severity: 'critical',
          description: 'Title of redis-no-auth; Title of rsync-modules-listed',
          findingIds: ['redis-no-auth', 'rsync-modules-listed'],
        },
      ],
    });
  });

  it('is kept where what it is about was seen, and nothing breaks it', () => {
    expect(evaluateControls(stores, host([service('redis', { port: 6379 })]))).toEqual({
      status: 'pass',
      reason: 'no finding fails it at port 6379',
    });
  });

  it('cannot be told of a host without anything that it is about', () => {
    expect(evaluateControls(stores, host([service('ssh')]))).toMatchObject({ status: 'not_assessed' });
    expect(evaluateControls(named('pci', '4.2.1'), host([service('http')]))).toEqual({
      status: 'not_assessed',
      reason: 'no TLS was seen on this host',
    });
    expect(evaluateControls(named('nist', 'SI-2'), host([service('http')]))).toMatchObject({
      status: 'not_assessed',
    });
    expect(evaluateControls(named('cis', '3.10'), host([service('redis')]))).toMatchObject({
      status: 'not_assessed',
    });
    expect(evaluateControls(named('cis', '4.8'), host([]))).toMatchObject({ status: 'not_assessed' });
  });

  it('is not kept on a guess, and not broken by one', () => {
    const guess = finding('redis-no-auth', { confidence: 0.3 });
    expect(evaluateControls(stores, host([service('redis')], [guess]))).toMatchObject({
      status: 'not_assessed',
    });
  });

  it('of TLS is kept only where every version and suite was tried', () => {
    const old = named('nist', 'SP 800-52r2 3.1');
    const verdict = (tls: 'single' | 'complete') =>
      evaluateControls(old, host([service('https', { port: 443, tls })]));
    expect(verdict('single')).toMatchObject({
      status: 'not_assessed',
      reason: expect.stringContaining('tls_enumerate'),
    });
    expect(verdict('complete').status).toBe('pass');
    const broken = host(
      [service('https', { port: 443, tls: 'single' })],
      [finding('tls-v1-0', { port: 443 })],
    );
    expect(evaluateControls(old, broken).status).toBe('fail');
    // One handshake shows the certificate in full.
    expect(evaluateControls(named('nist', 'SC-17'), host([service('https', { tls: 'single' })])).status).toBe(
      'pass',
    );
  });

  it('of updates is broken by serious and by exploited flaws only', () => {
    const updates = named('pci', '6.3.3');
    const of = (more: Partial<EvaluatedFinding>) =>
      evaluateControls(
        updates,
        host([service('http', { versioned: true })], [finding('CVE-2024-6387', more)]),
      ).status;
    expect(of({ severity: 'high' })).toBe('fail');
    expect(of({ severity: 'low', kev: true })).toBe('fail');
    expect(of({ severity: 'medium' })).toBe('pass');
    expect(of({ severity: 'critical', confidence: 0.2 })).toBe('not_assessed');
  });

  it('is broken by a service that has no place anywhere, without a finding', () => {
    const verdict = evaluateControls(named('nist', 'CM-7'), host([service('chargen', { port: 19 })]));
    expect(verdict).toEqual({
      status: 'fail',
      breaches: [
        { port: 19, severity: 'medium', description: 'the service chargen is reachable', findingIds: [] },
      ],
    });
  });

  it('cannot be judged without the modules that look', () => {
    const of = (control: string, upstream: Record<string, Record<string, unknown>>) =>
      unjudged(named('cis', control), new Map(Object.entries(upstream)));
    const made = { misconfig_checker: { checks: 'all' }, banner_grabber: { probes: 'safe' } };
    expect(of('7.7', made)).toBe('the scan ran without cve_matcher');
    expect(of('3.3', made)).toBeNull();
    expect(of('4.7', { misconfig_checker: { checks: 'redis-no-auth' } })).toBe(
      'misconfig_checker was configured to skip snmp-public',
    );
    expect(of('4.7', { misconfig_checker: { checks: 'snmp-public, smb-v1' } })).toBeNull();
    expect(of('3.3', { ...made, banner_grabber: { probes: 'none' } })).toContain('probes: none');
    expect(of('7.7', { cve_matcher: { min_severity: 'medium', kev_only: false } })).toBeNull();
    expect(of('7.7', { cve_matcher: { min_severity: 'critical' } })).toContain('min_severity');
    expect(of('7.7', { cve_matcher: { kev_only: true } })).toContain('kev_only');
  });

  it('of anonymous logins cannot be told where none was tried', () => {
    const ftp = host([service('ftp', { port: 21 })]);
    expect(evaluateControls(stores, ftp)).toEqual({
      status: 'not_assessed',
      reason: 'anonymous FTP was not tested at port 21: that requires the option intrusive',
    });
    expect(evaluateControls(stores, { ...ftp, loginsTried: true }).status).toBe('pass');
  });
});

describe('the rules', () => {
  it('have one entry for each control, and name findings that exist', () => {
    const names = controls.map(({ framework, control }) => `${framework} ${control}`);
    expect(new Set(names).size).toBe(names.length);
    const known = /^(?:CVE$|tls-(?!cert)|ssh-)/;
    const unknown = controls
      .flatMap(({ findings }) => findings)
      .filter((id) => !known.test(id) && !checkIds.includes(id));
    expect(unknown).toEqual([]);
  });

  it('name the module that makes each of their findings', () => {
    for (const { control, findings, judges } of controls) {
      const makers = findings.map((id) =>
        id === 'CVE' ? 'cve_matcher' : checkIds.includes(id) ? 'misconfig_checker' : 'weak_cipher_checker',
      );
      expect([...new Set(makers)].sort(), control).toEqual([...judges].sort());
    }
  });
});
