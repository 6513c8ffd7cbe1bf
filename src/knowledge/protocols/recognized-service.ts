/** A service recognized by its response, with the contents of the response by evidence key. */
export interface RecognizedService {
  service: string;
  evidence: [key: string, text: string][];
  /** Evidence for the protocol, in words if the bytes are not text. */
  proof: string;
  /** Confidence in the protocol, 0..1, if it differs from the default. */
  certainty?: number;
}

/** Recognizes a service by its response; null = another one. */
export type ResponseParser = (bytes: Buffer) => RecognizedService | null;

/** A service recognized by one text of its response. @param proof in words if the text says too little */
export function recognizedBy(service: string, key: string, text: string, proof = text): RecognizedService {
  return { service, evidence: [[key, text]], proof };
}
