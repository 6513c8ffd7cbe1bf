import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createLicenseKeys, issueLicense } from '../../actions/access/issue-license.ts';
import { loadConfig } from '../../config/load.ts';
import { scanRequest } from '../../domain/fixtures/scan-request.ts';
import { GraphLibrary } from '../../engine/graph/graph-library.ts';
import { defineModule } from '../../engine/module.ts';
import { Registry } from '../../engine/registry.ts';
import { ScanFolder } from '../../workspace/scan-folder.ts';
import { runScan } from '../run-scan.ts';

const keys = createLicenseKeys();
let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-licensed-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const graph = `
nodes:
  - { instance_id: work, module_type: plain_scanner }
  - { instance_id: pdf, module_type: pdf_reporter, depends_on: [work] }
  - { instance_id: other, module_type: plain_reporter, depends_on: [work] }
`;

/** How the nodes of an accepted scan ended. */
async function nodesOf(features: string[] | null, enforce = true): Promise<unknown> {
  const { config } = loadConfig({
    env: { HOME: dir },
    systemFile: join(dir, 'none.yaml'),
    flags: {
      'workspace.dir': join(dir, 'ws'),
      'license.enforce': enforce,
      'license.public_key': keys.publicKey,
    },
  });
  if (features) {
    const order = { customer: 'acme', plan: 'team', features, expiry: '90d', licenseId: null };
    await mkdir(join(dir, 'ws/config'), { recursive: true });
    await writeFile(join(dir, 'ws/config/license.key'), (await issueLicense(order, keys.privateKey)).license);
  }
  const registry = new Registry();
  for (const name of ['plain_scanner', 'pdf_reporter', 'plain_reporter']) {
    const module = defineModule({
      name,
      type: name === 'plain_scanner' ? 'scanner' : 'reporter',
      version: '1.0.0',
      description: 'Does nothing.',
      options: {},
      requires: [],
      provides: [],
      execute: async () => undefined,
    });
    registry.register(module, 'test');
  }
  const folder = new ScanFolder(join(dir, 'scan'));
  const request = scanRequest({ targets: ['127.0.0.1'], dag: 'test', graph });
  await folder.create(request);
  const silent = () => undefined;
  const { status, stages } = await runScan({
    request,
    config,
    catalogue: { registry, library: new GraphLibrary() },
    folder,
    startedAt: new Date().toISOString(),
    resumes: 0,
    signal: new AbortController().signal,
    log: { debug: silent, info: silent, warn: silent, error: silent },
  });
  return { status, pdf: stages[1]?.error ?? stages[1]?.status, other: stages[2]?.status };
}

it('a node whose license is gone since the submission fails with the reason, and the others run', async () => {
  expect(await nodesOf(null)).toEqual({
    status: 'completed',
    pdf: 'This installation requires a license for pdf_reporter.',
    other: 'completed',
  });
});

it.each([
  ['with a license for it', ['pdf_reporter'], true],
  ['where none is enforced', null, false],
])('it runs %s', async (_what, features, enforce) => {
  expect(await nodesOf(features, enforce)).toEqual({
    status: 'completed',
    pdf: 'completed',
    other: 'completed',
  });
});
