import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { installedBuf } from '../../../test/buf.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const folder = fileURLToPath(new URL('.', import.meta.url));
const buf = installedBuf();
const read = (file: string) => readFileSync(file, 'utf8');

describe.runIf(buf)('the protocol of gRPC plugins', () => {
  it('of the SDK has the code that `npm run proto` would write', async () => {
    const target = mkdtempSync(join(tmpdir(), 'portolan-proto-'));
    const template = ['--template', join(folder, 'buf.gen.yaml'), '-o', target];
    const server = join(root, 'src/server/grpc');
    const sdk = join(root, 'sdk/grpc');
    try {
      for (const input of [
        [sdk, '--path', join(sdk, 'module.proto')],
        [server, '--path', join(server, 'grpc/health')],
      ]) {
        await promisify(execFile)(buf?.path as string, ['generate', ...input, ...template], {
          env: buf?.env,
          timeout: 60_000,
        });
      }
      for (const file of ['module_pb.ts', 'grpc/health/v1/health_pb.ts']) {
        expect(read(join(target, 'gen', file))).toBe(read(join(folder, 'gen', file)));
      }
    } finally {
      rmSync(target, { recursive: true, force: true });
    }
  });
});
