import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeCertificate } from '../../../src/server/fixtures/certificates.ts';
import { endedScan } from '../../receivers.ts';
import { Home } from '../command.ts';
import { Listeners } from '../listeners.ts';

const home = new Home();
const listeners = new Listeners();
afterAll(() => {
  listeners.close();
  home.remove();
});

describe('exit codes of a scan', () => {
  const target = ['127.0.0.1', '--no-discover', '--timeout', '1s', '--format', 'json'];

  it('is 6 after --max-duration, and what was found stays', async () => {
    const slow = ['--ports', '1-2000', '--rate', '20', '--max-duration', '1s'];
    const { code, stdout, stderr } = await home.run(['scan', ...target, ...slow]);
    expect([code, JSON.parse(stdout)]).toEqual([6, expect.objectContaining({ partial: true })]);
    expect(stderr).toContain('portolan: the scan timed out: ');
  });

  it('is 8 for a change with --fail-on-change, and only then', async () => {
    const port = await listeners.greet('SSH-2.0-OpenSSH_9.2p1\r\n');
    const ports = ['--ports', String(port)];
    const before = await home.run(['scan', ...target, ...ports]);
    const baseline = JSON.parse(before.stdout).scan_id as string;
    listeners.close();
    const after = await home.run([
      'scan',
      ...target,
      ...ports,
      '--compare-with',
      baseline,
      '--fail-on-change',
    ]);
    expect([after.code, after.stderr]).toEqual([8, expect.stringContaining(`- 127.0.0.1:${port}  ssh`)]);
    const scan = JSON.parse(after.stdout).scan_id as string;
    const diff = (...args: string[]) => home.run(['scan', 'diff', ...args]);
    const runs = [
      diff(scan, baseline, '--fail-on-change'),
      diff(scan, baseline),
      diff(scan, scan, '--fail-on-change'),
      home.run(['scan', ...target, '--fail-on-change']),
    ];
    expect((await Promise.all(runs)).map((ended) => ended.code)).toEqual([8, 0, 0, 2]);
  });
});

describe('the id of a scan', () => {
  it('may be a beginning, or latest, wherever one is taken', async () => {
    const other = new Home();
    const scan = ['scan', '127.0.0.1', '--no-discover', '--ports', '9', '--format', 'json'];
    const ids: string[] = [];
    for (const _turn of [1, 2]) ids.push(JSON.parse((await other.run(scan)).stdout).scan_id);
    const [first = '', second = ''] = ids;
    const start = second.slice(0, -2);
    const [shown, several, none, exported, explained, diff, compared, removed] = await Promise.all([
      other.run(['workspace', 'show', start, '--format', 'json']),
      other.run(['workspace', 'show', '20', '--format', 'json']),
      other.run(['workspace', 'show', '1999']),
      other.run(['workspace', 'export', 'latest']),
      other.run(['explain', '127.0.0.1']),
      other.run(['scan', 'diff', 'latest', '--format', 'json']),
      other.run(['scan', 'diff', start, first.slice(0, -1), '--format', 'json']),
      other.run(['workspace', 'delete', '2']),
    ]);
    expect(JSON.parse(shown.stdout)).toMatchObject({ scan_id: second });
    expect(several.code).toBe(1);
    expect(JSON.parse(several.stderr).error).toMatchObject({
      code: 'conflict',
      details: { candidates: [second, first] },
    });
    expect([none.code, none.stderr]).toEqual([
      1,
      'portolan: no scan "1999"\n  try: portolan workspace list\n',
    ]);
    expect(JSON.parse(exported.stdout)).toMatchObject({ scan_id: second });
    expect(explained.stdout).toMatch(new RegExp(`^127\\.0\\.0\\.1 .*\\(${second}, `));
    for (const ended of [diff, compared])
      expect(JSON.parse(ended.stdout)).toMatchObject({ scan_id: second, against: first });
    expect([removed.code, removed.stderr]).toEqual([1, expect.stringContaining('several ids')]);
    other.remove();
  });
});

describe('--format json', () => {
  it('is for config validate and token create, and for their errors', async () => {
    const good = home.file('good.yaml');
    const bad = home.file('bad.yaml');
    writeFileSync(good, 'scanner: {rat: 5}\n');
    writeFileSync(bad, 'scanner: {rate: fast}\n');
    const json = ['--format', 'json'];
    const token = ['server', 'token', 'create', '--name', 'ci', ...json, '--scopes'];
    const [valid, invalid, created, refused] = await Promise.all([
      home.run(['config', 'validate', good, ...json]),
      home.run(['config', 'validate', '--config', bad, ...json]),
      home.run([...token, 'scan:read']),
      home.run([...token, 'scan:rea']),
    ]);
    expect([valid.code, valid.stderr]).toEqual([0, '']);
    expect(JSON.parse(valid.stdout)).toEqual({
      valid: true,
      warnings: [expect.stringContaining('did you mean scanner.rate')],
    });
    expect([invalid.code, invalid.stdout]).toEqual([3, '']);
    expect(JSON.parse(invalid.stderr).error).toMatchObject({
      code: 'configuration',
      message: expect.stringContaining('scanner.rate'),
    });
    expect([created.code, created.stderr]).toEqual([0, '']);
    const { token: value, id, ...others } = JSON.parse(created.stdout);
    expect(value).toMatch(new RegExp(`^svc_${id}_`));
    expect(others).toMatchObject({ name: 'ci', scopes: ['scan:read'], expires_at: null, tenant: null });
    expect([refused.code, refused.stdout]).toEqual([2, '']);
    expect(JSON.parse(refused.stderr).error).toMatchObject({ code: 'invalid_request' });
  });
});

describe('a server with a private authority', () => {
  const { cert_file, key_file } = makeCertificate(home.file('keys'), {
    subject: 'localhost',
    alternative: 'IP:127.0.0.1',
  });
  const scan = endedScan({ scan_id: '20260101-000000-abcdef', status: 'running' });
  const server = createServer(
    { cert: readFileSync(cert_file), key: readFileSync(key_file) },
    (_request, response) => response.end(JSON.stringify({ data: scan, meta: {} })),
  );
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
  afterAll(() => server.close());

  it('is reached with --ca-file or NODE_EXTRA_CA_CERTS, which the error names', async () => {
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const pause = ['scan', 'pause', scan.scan_id, '--server', url];
    const [without, withFile, withVariable, noCertificate] = await Promise.all([
      home.run(pause),
      home.run([...pause, '--ca-file', cert_file]),
      home.start(pause, { env: { NODE_EXTRA_CA_CERTS: cert_file } }),
      home.run([...pause, '--ca-file', key_file]),
    ]);
    expect(without.code).toBe(4);
    expect(without.stderr).toContain('--ca-file');
    expect(without.stderr).toContain('NODE_EXTRA_CA_CERTS');
    for (const ended of [withFile, withVariable])
      expect(ended).toMatchObject({ code: 0, stdout: `${scan.scan_id} running\n`, stderr: '' });
    expect([noCertificate.code, noCertificate.stderr]).toEqual([3, expect.stringContaining(key_file)]);
  });
});
