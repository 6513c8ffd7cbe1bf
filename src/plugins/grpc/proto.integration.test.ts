import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const folder = fileURLToPath(new URL('.', import.meta.url));
const tools = join(root, 'node_modules/.bin');
const read = (file: string) => readFileSync(file, 'utf8');

describe('the protocol of gRPC plugins', () => {
  it('of the SDK has the code that `npm run proto` would write', async () => {
    const target = mkdtempSync(join(tmpdir(), 'portolan-proto-'));
    const env = { ...process.env, PATH: `${tools}${delimiter}${process.env['PATH']}` };
    const template = ['--template', join(folder, 'buf.gen.yaml'), '-o', target];
    const server = join(root, 'src/server/grpc');
    const sdk = join(root, 'sdk/grpc');
    try {
      for (const input of [
        [sdk, '--path', join(sdk, 'module.proto')],
        [server, '--path', join(server, 'grpc/health')],
      ]) {
        await promisify(execFile)(join(tools, 'buf'), ['generate', ...input, ...template], {
          env,
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
