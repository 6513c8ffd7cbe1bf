/** A service recognized by its response, with the contents of the response by evidence key. */
export interface RecognizedService {
  service: string;
  evidence: [key: string, text: string][];
  /** Evidence for the protocol, in words if the bytes are not text. */
  proof: string;
  /** Confidence in the protocol, 0..1, if it differs from the default. */
  certainty?: number;
}
