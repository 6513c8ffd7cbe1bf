import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { installedBuf } from '../../../test/buf.ts';
import { codeOf, fromDescriptors, fromProto, GrpcClient, protoFolder } from '../fixtures/grpc-client.ts';
import { type GrpcService, openGrpcService } from '../fixtures/grpc-service.ts';

let grpc: GrpcService;
let token: string;
beforeAll(async () => {
  grpc = await openGrpcService({ 'server.api.auth': true });
  token = await grpc.service.token('admin');
});
afterAll(() => grpc.close());

const clients: GrpcClient[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.close();
});

interface Response {
  file_descriptor_response?: { file_descriptor_proto: Buffer[] };
  list_services_response?: { service: { name: string }[] };
  all_extension_numbers_response?: { base_type_name: string };
  error_response?: { error_code: number; error_message: string };
}

/** Sends requests on one stream, one after another. */
async function request(
  version: string,
  requests: object[],
  bearer: string | null = token,
): Promise<Response[]> {
  const definition = fromProto(`grpc/reflection/${version}/reflection.proto`);
  const client = new GrpcClient(
    definition,
    `grpc.reflection.${version}.ServerReflection`,
    grpc.address,
    bearer,
  );
  clients.push(client);
  const call = client.both('ServerReflectionInfo') as unknown as NodeJS.ReadWriteStream & {
    write(message: object): void;
  };
  const responses: Response[] = [];
  return await new Promise((resolve, reject) => {
    call.on('data', (response) => responses.push(response as Response));
    call.on('error', reject);
    call.on('end', () => resolve(responses));
    for (const request of requests) call.write(request);
    call.end();
  });
}

describe.each(['v1', 'v1alpha'])('reflection %s', (version) => {
  it('lists the services and gives their files, from which a client calls them', async () => {
    const [list, file] = await request(version, [
      { list_services: '' },
      { file_containing_symbol: 'service.api.v1.ScanService' },
    ]);
    expect(list?.list_services_response?.service.map(({ name }) => name)).toEqual([
      'service.api.v1.ScanService',
      'service.api.v1.JobService',
      'service.api.v1.WorkspaceService',
      'grpc.health.v1.Health',
      'grpc.reflection.v1.ServerReflection',
      'grpc.reflection.v1alpha.ServerReflection',
    ]);
    const files = file?.file_descriptor_response?.file_descriptor_proto ?? [];
    const set = create(FileDescriptorSetSchema, {
      file: files.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes)),
    });
    expect(set.file.map(({ name }) => name).toSorted()).toEqual([
      'google/protobuf/struct.proto',
      'google/protobuf/timestamp.proto',
      'service.proto',
    ]);
    const definition = fromDescriptors(toBinary(FileDescriptorSetSchema, set));
    const client = new GrpcClient(definition, 'service.api.v1.ScanService', grpc.address, token);
    clients.push(client);
    expect(await client.get('ListScans')).toMatchObject({ total: 0 });
  });

  it('knows files, messages, methods, fields and enums by name, and says what it does not know', async () => {
    const symbols = [
      'service.api.v1.Scan',
      'service.api.v1.Scan.progress',
      'service.api.v1.ScanService.WatchScan',
      'grpc.health.v1.HealthCheckResponse.ServingStatus',
      'google.protobuf.Struct',
    ];
    const good = await request(version, [
      ...symbols.map((symbol) => ({ file_containing_symbol: symbol })),
      { file_by_filename: 'service.proto' },
      { file_by_filename: 'google/protobuf/timestamp.proto' },
    ]);
    expect(good.map(({ error_response }) => error_response ?? null)).toEqual(Array(7).fill(null));
    const bad = await request(version, [
      { file_containing_symbol: 'no.Such' },
      { file_by_filename: '../../../etc/passwd' },
      { file_containing_extension: { containing_type: 'service.api.v1.Scan', extension_number: 1 } },
      { all_extension_numbers_of_type: 'no.Such' },
      {},
    ]);
    expect(bad.map(({ error_response }) => error_response?.error_code)).toEqual([5, 5, 5, 5, 3]);
  });

  it('needs a token where the API needs one', async () => {
    const refused = await request(version, [{ list_services: '' }], null).catch((error: unknown) => error);
    expect(codeOf({ error: refused as never })).toBe('unauthorized');
  });
});

const buf = installedBuf();

describe.runIf(buf)('buf curl', () => {
  const run = promisify(execFile);
  const curl = async (method: string, data: string, ...more: string[]) => {
    const bearer = `authorization: Bearer ${token}`;
    const flags = ['--protocol', 'grpc', '--http2-prior-knowledge', '-H', bearer, '-d', data, ...more];
    const { stdout } = await run(
      buf?.path as string,
      ['curl', ...flags, `http://${grpc.address}/${method}`],
      {
        timeout: 120_000,
      },
    );
    return stdout
      .trim()
      .split(/\n(?=\{)/)
      .map((text) => JSON.parse(text) as Record<string, unknown>);
  };

  it('calls the service by its schema', async () => {
    const submitted = '{"targets": ["127.0.0.1"], "options": {"name": "by schema", "ports": "80"}}';
    const [scan] = await curl('service.api.v1.ScanService/SubmitScan', submitted, '--schema', protoFolder);
    expect(scan).toMatchObject({ status: 'queued' });
  });

  it('calls the service by its reflection', async () => {
    const bearer = `authorization: Bearer ${token}`;
    for (const version of ['grpc-v1', 'grpc-v1alpha']) {
      const reflect = ['--reflect', '--reflect-protocol', version, '--reflect-header', bearer];
      const [list] = await curl('service.api.v1.ScanService/ListScans', '{"limit": 5}', ...reflect);
      expect(list).toMatchObject({ limit: 5 });
      const [health] = await curl('grpc.health.v1.Health/Check', '{}', ...reflect);
      expect(health).toEqual({ status: 'SERVING' });
    }
  });
});
