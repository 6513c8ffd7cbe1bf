import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RuleWatch } from './rule-watch.ts';

let dir: string;
let file: string;
let lines: [message: string, facts: unknown][];
let watch: RuleWatch;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-rules-'));
  file = join(dir, 'config/rules/own.yaml');
  await mkdir(join(dir, 'config/rules'), { recursive: true });
  lines = [];
  const write = (facts: unknown, message?: string) => lines.push([message ?? '', facts]);
  const log = { info: write, warn: write } as unknown as ConstructorParameters<typeof RuleWatch>[1];
  watch = new RuleWatch({ workspace: { enabled: true, dir } } as never, log, { HOME: dir });
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const rule = (id: string) =>
  `id: ${id}\nname: A rule\nversion: 1.0.0\ntype: evaluation\nmatch: { logic: OR, rules: [{ field: port, operator: equals, value: 22 }] }\noutput: { severity: low, message: text }\n`;

describe('the watch of rule files', () => {
  it('says nothing without files', async () => {
    await watch.look();
    expect([lines, watch.fault]).toEqual([[], null]);
  });

  it('reports an invalid file once, until it is repaired', async () => {
    await writeFile(file, rule('Bad_Id'));
    await watch.look();
    await watch.look();
    expect(lines).toEqual([
      ['evaluation rules rejected', { problems: [expect.stringMatching(/own\.yaml:1: id: must be/)] }],
    ]);
    expect(watch.fault).toBe('1 of the files of evaluation rules have problems; see the log');
    await writeFile(file, rule('good-id-now'));
    await watch.look();
    expect(lines.slice(1)).toEqual([['evaluation rules read', { rules: expect.any(Number) }]]);
    expect(watch.fault).toBeNull();
  });

  it('sees that the last file went', async () => {
    await writeFile(file, rule('Bad_Id'));
    await watch.look();
    await rm(file);
    await watch.look();
    expect(watch.fault).toBeNull();
  });
});
