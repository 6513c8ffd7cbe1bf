import { describe, expect, it } from 'vitest';
import { alpineMain, debianTracker, redHatCves, ubuntuNotices } from '../fixtures/distribution-feeds.ts';
import { importFeed } from './import-feed.ts';
import type { PackageFixes } from './import-fixes.ts';

async function imported(text: string, chunk = 7) {
  const found: PackageFixes[] = [];
  const none = () => undefined;
  const bytes = (async function* () {
    for (let at = 0; at < text.length; at += chunk) yield Buffer.from(text.slice(at, at + chunk));
  })();
  const sink = {
    addRecord: none,
    setKev: none,
    setEpss: none,
    addFixes: (fixes: PackageFixes) => found.push(fixes),
  };
  const report = await importFeed(bytes, sink);
  return {
    report,
    fixes: found.map(({ fixed, ...of }) => [...Object.values(of), Object.fromEntries(fixed)]),
  };
}

describe('files of distributions, whatever their chunks', () => {
  it.each([1, 13, 1_000_000])(
    "Debian's tracker: fixed, never affected and open, of releases that are known",
    async (size) => {
      const { report, fixes } = await imported(JSON.stringify(debianTracker, null, 1), size);
      expect(report).toMatchObject({ format: 'debian', accepted: 2, refused: 0 });
      expect(fixes).toEqual([
        [
          'debian',
          '12',
          'openssh',
          { 'CVE-2023-38408': '1:9.2p1-2+deb12u1', 'CVE-2024-6387': '1:9.2p1-2+deb12u3' },
        ],
        ['debian', '11', 'openssh', { 'CVE-2023-38408': null, 'CVE-2024-6387': '0' }],
      ]);
    },
  );

  it("Ubuntu's notices: the first version that fixes a CVE", async () => {
    const { report, fixes } = await imported(JSON.stringify(ubuntuNotices));
    expect(report).toMatchObject({ format: 'ubuntu', accepted: 3, refused: 0 });
    expect(fixes).toEqual([
      ['ubuntu', '24.04', 'openssh', { 'CVE-2024-6387': '1:9.6p1-3ubuntu13.3' }],
      ['ubuntu', '22.04', 'openssh', { 'CVE-2024-6387': '1:8.9p1-3ubuntu0.10' }],
    ]);
  });

  it("Red Hat's list: the build of the current minor release", async () => {
    const { report, fixes } = await imported(JSON.stringify(redHatCves));
    expect(report).toMatchObject({ format: 'redhat', accepted: 2, refused: 0 });
    expect(fixes).toEqual([['rhel', '9', 'openssh', { 'CVE-2024-6387': '8.7p1-38.el9_4.1' }]]);
  });

  it("Alpine's branches", async () => {
    const { report, fixes } = await imported(JSON.stringify(alpineMain));
    expect(report).toMatchObject({ format: 'alpine', accepted: 2, refused: 0 });
    expect(fixes).toEqual([
      [
        'alpine',
        '3.20',
        'openssh',
        { 'CVE-2008-3844': '0', 'CVE-2024-6387': '9.7p1-r4', 'CVE-2023-38408': '9.3p2-r0' },
      ],
    ]);
  });

  it('counts what is invalid, and rejects what is cut off, nested too deep or no object', async () => {
    const odd = {
      openssh: { 'CVE-2024-6387': { releases: { bookworm: { status: 'resolved', fixed_version: '<x>' } } } },
    };
    await expect(imported(JSON.stringify(odd))).rejects.toThrow(
      'has no valid record: openssh: CVE-2024-6387 must name',
    );
    const mixed = await imported(JSON.stringify({ ...odd, nginx: debianTracker.openssh }));
    expect(mixed.report).toMatchObject({ accepted: 1, refused: 1 });
    const whole = JSON.stringify(debianTracker);
    await expect(imported(whole.slice(0, -1))).rejects.toThrow('is truncated');
    await expect(imported(`${whole}{}`)).rejects.toThrow('is not one JSON object');
    await expect(imported(`{"a1": {"CVE-1": ${'['.repeat(100)}`)).rejects.toThrow('is not one JSON object');
    await expect(imported(JSON.stringify({ ...alpineMain, distroversion: 3 }))).rejects.toThrow('its branch');
  });
});
