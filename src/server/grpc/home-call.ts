import { create } from '@bufbuild/protobuf';
import { bytesOf } from '../shards/call-owner.ts';
import { chunkPieces } from './file-chunks.ts';
import { type Chunk, ChunkSchema } from './gen/service_pb.ts';

/** Converts a file of the REST API to messages. */
export async function* forwardChunks({ headers, body }: Response): AsyncGenerator<Chunk> {
  let facts: Partial<Pick<Chunk, 'contentType' | 'filename' | 'scanStatus'>> = {
    contentType: headers.get('content-type') ?? '',
    filename: /filename="([^"]*)"/.exec(headers.get('content-disposition') ?? '')?.[1] ?? '',
    scanStatus: headers.get('x-scan-status') ?? '',
  };
  for await (const data of chunkPieces(bytesOf(body))) {
    yield create(ChunkSchema, { data, ...facts });
    facts = {};
  }
}
