import {
  create,
  createRegistry,
  type DescEnum,
  type DescExtension,
  type DescFile,
  type DescMessage,
  type DescService,
  toBinary,
} from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { Code, type ConnectRouter } from '@connectrpc/connect';
import { streaming } from '../call.ts';
import { Health } from '../gen/grpc/health/v1/health_pb.ts';
import {
  ServerReflection,
  type ServerReflectionRequest,
  ServerReflectionResponseSchema,
} from '../gen/grpc/reflection/v1/reflection_pb.ts';
import {
  ServerReflection as AlphaReflection,
  type ServerReflectionRequest as AlphaRequest,
  ServerReflectionResponseSchema as AlphaResponseSchema,
} from '../gen/grpc/reflection/v1alpha/reflection_pb.ts';
import { JobService, ScanService, WorkspaceService } from '../gen/service_pb.ts';

/** Services to describe. */
const services: readonly DescService[] = [
  ScanService,
  JobService,
  WorkspaceService,
  Health,
  ServerReflection,
  AlphaReflection,
];

/** Maximum length of an unknown name that the error repeats, characters. */
const maxEchoedName = 200;

type Request = ServerReflectionRequest['messageRequest'] | AlphaRequest['messageRequest'];

/** The same in both versions of the protocol. */
type Response =
  | { case: 'fileDescriptorResponse'; value: { fileDescriptorProto: Uint8Array[] } }
  | { case: 'allExtensionNumbersResponse'; value: { baseTypeName: string } }
  | { case: 'listServicesResponse'; value: { service: { name: string }[] } }
  | { case: 'errorResponse'; value: { errorCode: number; errorMessage: string } };

/** The standard reflection protocol; its two versions only differ in the package name. */
export function addReflection(router: ConnectRouter): void {
  const descriptors = new Descriptors();

  router.service(ServerReflection, {
    serverReflectionInfo: streaming(async function* responses(
      requests: AsyncIterable<ServerReflectionRequest>,
    ) {
      for await (const request of requests) {
        yield create(ServerReflectionResponseSchema, {
          validHost: request.host,
          originalRequest: request,
          messageResponse: descriptors.respond(request.messageRequest),
        });
      }
    }),
  });

  router.service(AlphaReflection, {
    serverReflectionInfo: streaming(async function* responses(requests: AsyncIterable<AlphaRequest>) {
      for await (const request of requests) {
        yield create(AlphaResponseSchema, {
          validHost: request.host,
          originalRequest: request,
          messageResponse: descriptors.respond(request.messageRequest),
        });
      }
    }),
  });
}

/** Files of all services, with their symbols. */
class Descriptors {
  readonly #files = new Map<string, DescFile>();
  readonly #symbols = new Map<string, DescFile>();

  constructor() {
    for (const { file } of services) this.#add(file);
  }

  respond(request: Request): Response {
    switch (request.case) {
      case 'listServices':
        return {
          case: 'listServicesResponse',
          value: { service: services.map(({ typeName }) => ({ name: typeName })) },
        };
      case 'fileByFilename':
        return fileResponse(this.#files.get(request.value), request.value);
      case 'fileContainingSymbol':
        return fileResponse(this.#symbols.get(request.value), request.value);
      case 'allExtensionNumbersOfType':
        return this.#symbols.has(request.value)
          ? { case: 'allExtensionNumbersResponse', value: { baseTypeName: request.value } }
          : unknown(request.value);
      case 'fileContainingExtension':
        return failure(Code.NotFound, 'There are no extensions.');
      default:
        return failure(Code.InvalidArgument, 'Empty request.');
    }
  }

  #add(file: DescFile): void {
    const { name } = file.proto;
    if (this.#files.has(name)) return;
    this.#files.set(name, file);
    for (const type of createRegistry(file)) {
      for (const symbol of symbolsOf(type)) this.#symbols.set(symbol, file);
    }
    for (const dependency of file.dependencies) this.#add(dependency);
  }
}

/** Full names of a type and its members. */
function symbolsOf(type: DescMessage | DescEnum | DescExtension | DescService): string[] {
  const inner = (names: readonly { name: string }[]) => names.map(({ name }) => `${type.typeName}.${name}`);
  switch (type.kind) {
    case 'service':
      return [type.typeName, ...inner(type.methods)];
    case 'message':
      return [type.typeName, ...inner(type.fields), ...inner(type.oneofs)];
    default:
      return [type.typeName];
  }
}

/** A file with its dependencies. */
function fileResponse(file: DescFile | undefined, name: string): Response {
  if (!file) return unknown(name);
  const files = [...closureOf(file)].map(({ proto }) => toBinary(FileDescriptorProtoSchema, proto));
  return { case: 'fileDescriptorResponse', value: { fileDescriptorProto: files } };
}

function closureOf(file: DescFile, found = new Set<DescFile>()): Set<DescFile> {
  if (found.has(file)) return found;
  found.add(file);
  for (const dependency of file.dependencies) closureOf(dependency, found);
  return found;
}

function unknown(name: string): Response {
  return failure(Code.NotFound, `Unknown name ${JSON.stringify(name.slice(0, maxEchoedName))}.`);
}

function failure(errorCode: Code, errorMessage: string): Response {
  return { case: 'errorResponse', value: { errorCode, errorMessage } };
}
