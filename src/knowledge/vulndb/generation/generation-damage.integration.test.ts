import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { PortolanError } from '../../../domain/errors.ts';
import { buildGeneration } from '../fixtures/build-generation.ts';
import { nvdRecord } from '../fixtures/feeds.ts';
import { VulndbTrial } from '../fixtures/vulndb-trial.ts';
import { readNvdRecord } from '../import/import-nvd.ts';
import { openVulndb } from './generation.ts';
import { GenerationWriter } from './generation-writer.ts';
import { generationFiles } from './manifest.ts';

const trial = new VulndbTrial();

const nvd = (id: string, options = {}) => readNvdRecord(nvdRecord(id, options));

describe('damaged data', () => {
  const query = async () => {
    const db = await openVulndb(trial.dir);
    try {
      const fixes = db?.fixes('debian', '12', 'CVE-2026-1000');
      return JSON.stringify([db?.rank('CVE-2026-1000'), fixes, db?.lookup('acme', 'httpd')]);
    } finally {
      db?.close();
    }
  };
  const damagedError = (error: unknown) =>
    error instanceof PortolanError && error.code === 'conflict' && /damaged/.test(error.message);

  beforeEach(async () => {
    await buildGeneration(trial.dir, (writer) => {
      for (let index = 0; index < 50; index++) writer.addRecord(nvd(`CVE-2026-${1000 + index}`));
      writer.setKev([{ id: 'CVE-2026-1000', added: '2026-11-19', ransomware: true }]);
      writer.setEpss([{ id: 'CVE-2026-1000', score: 0.5, percentile: 0.5 }]);
      writer.addFixes({
        distribution: 'debian',
        release: '12',
        package: 'x',
        fixed: new Map([['CVE-2026-1000', '1']]),
      });
    });
    await query();
  });

  it.each([...generationFiles, 'manifest.json'])(
    '%s that is cut off or missing is a clear error',
    async (name) => {
      const file = join(trial.dir, trial.generations()[0] ?? '', name);
      const whole = readFileSync(file);
      for (const length of [0, 1, Math.floor(whole.length / 2), whole.length - 2]) {
        truncateSync(file, length);
        await expect(query()).rejects.toSatisfy(damagedError);
        writeFileSync(file, whole);
      }
      await query();
      rmSync(file);
      await expect(query()).rejects.toSatisfy(damagedError);
    },
  );

  it('any flipped byte is a clear error or changes nothing', async () => {
    const whole = await query();
    for (const name of generationFiles) {
      const file = join(trial.dir, trial.generations()[0] ?? '', name);
      const content = readFileSync(file);
      const step = Math.max(1, Math.floor(content.length / 150));
      for (let at = 0; at < content.length; at += step) {
        const bytes = Buffer.from(content);
        bytes[at] = (bytes[at] ?? 0) ^ 0x01;
        writeFileSync(file, bytes);
        const responses = await query().catch((error: unknown) => {
          if (!damagedError(error)) throw error;
          return whole;
        });
        expect(responses, `${name}, byte ${at}`).toBe(whole);
      }
      writeFileSync(file, content);
    }
    expect(await query()).toBe(whole);
  });

  it('a hostile pointer or manifest leads nowhere else', async () => {
    for (const text of ['../../etc', '', 'x'.repeat(5000), '20200101T000000Z-abcdef']) {
      writeFileSync(join(trial.dir, 'current'), text);
      await expect(query()).rejects.toSatisfy(damagedError);
    }
  });

  it('stops an import that would carry it on, and one that begins anew replaces it', async () => {
    const file = join(trial.dir, trial.generations()[0] ?? '', 'records.bin');
    const bytes = readFileSync(file);
    bytes[bytes.length - 5] = (bytes.at(-5) ?? 0) ^ 0xff;
    writeFileSync(file, bytes);
    await expect(
      buildGeneration(trial.dir, (writer) => writer.addRecord(nvd('CVE-2026-2000'))),
    ).rejects.toSatisfy(damagedError);
    await buildGeneration(trial.dir, (writer) => writer.addRecord(nvd('CVE-2026-2000')), true);
    expect(await trial.idsOf('acme', 'httpd')).toEqual(['CVE-2026-2000']);
    writeFileSync(join(trial.dir, 'current'), 'nonsense');
    expect(() => GenerationWriter.open(trial.dir)).toThrow(/damaged/);
    await buildGeneration(trial.dir, (writer) => writer.addRecord(nvd('CVE-2026-2001')), true);
    expect(await trial.idsOf('acme', 'httpd')).toEqual(['CVE-2026-2001']);
    expect(trial.generations()).toHaveLength(1);
  });
});
