import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { DescMessage } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { installedBuf } from '../../../test/buf.ts';
import { withoutReferences } from '../fixtures/api-document.ts';
import { openService } from '../fixtures/service.ts';
import {
  GcResponseSchema,
  JobSchema,
  ListJobsResponseSchema,
  ListScansResponseSchema,
  ScanSchema,
  SubmitScanResponseSchema,
  WorkspaceInfoSchema,
} from './gen/service_pb.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));

/** Name -> text of every file below a folder. */
function filesIn(root: string): Record<string, string> {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return Object.fromEntries(
    entries
      .map((entry) => join(entry.parentPath, entry.name))
      .toSorted()
      .map((path) => [path.slice(root.length), readFileSync(path, 'utf8')]),
  );
}

const buf = installedBuf();

describe.runIf(buf)('generated code', () => {
  it('is what `npm run proto` would write', async () => {
    const target = mkdtempSync(join(tmpdir(), 'portolan-proto-'));
    try {
      const template = join(folder, 'buf.gen.yaml');
      const args = ['generate', folder, '--template', template, '-o', target];
      await promisify(execFile)(buf?.path as string, args, { env: buf?.env, timeout: 120_000 });
      expect(filesIn(join(target, 'gen'))).toEqual(filesIn(join(folder, 'gen')));
    } finally {
      rmSync(target, { recursive: true, force: true });
    }
  });
});

/** Members of a schema of the REST API, with those of their objects. */
interface RestSchema {
  properties?: Record<string, RestSchema>;
  items?: RestSchema;
  anyOf?: RestSchema[];
  additionalProperties?: unknown;
}

/** Names without a field in the message. */
function missing(message: DescMessage, { properties = {} }: RestSchema, prefix = ''): string[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const field = message.fields.find((one) => one.name === name);
    if (!field) return [`${prefix}${name}`];
    const inner = [schema, schema.items, ...(schema.anyOf ?? [])].find((one) => one?.properties);
    if (!inner || !field.message || field.message.typeName === 'google.protobuf.Struct') return [];
    return missing(field.message, inner, `${prefix}${name}.`);
  });
}

/** Names of fields that the REST API lacks. */
function surplus(message: DescMessage, { properties = {} }: RestSchema): string[] {
  return message.fields.map(({ name }) => name).filter((name) => !Object.hasOwn(properties, name));
}

describe('messages', () => {
  it.each([
    ['POST', '/api/v1/scans', '201', SubmitScanResponseSchema],
    ['GET', '/api/v1/scans', '200', ListScansResponseSchema],
    ['GET', '/api/v1/scans/{scan_id}', '200', ScanSchema],
    ['GET', '/api/v1/jobs', '200', ListJobsResponseSchema],
    ['GET', '/api/v1/jobs/{job_id}', '200', JobSchema],
    ['GET', '/api/v1/workspace/info', '200', WorkspaceInfoSchema],
    ['POST', '/api/v1/workspace/gc', '200', GcResponseSchema],
  ] as const)('have the fields of %s %s', async (method, path, status, message) => {
    const service = await openService();
    try {
      const api = withoutReferences((await service.app.inject('/api/v1/openapi.json')).json());
      const response = api.paths[path][method.toLowerCase()].responses[status];
      const data = response.content['application/json'].schema.properties.data as RestSchema;
      expect(Object.keys(data.properties ?? {}).length).toBeGreaterThan(2);
      expect(missing(message, data)).toEqual([]);
      expect(surplus(message, data)).toEqual([]);
    } finally {
      await service.close();
    }
  });
});
