/** A service recognized by its response, with what the response says by evidence key. */
export interface RecognizedService {
  service: string;
  evidence: [key: string, text: string][];
  /** What shows the protocol, in words where the bytes are no text. */
  proof: string;
  /** How certain the protocol is, 0..1, where it is less or more than by other responses. */
  certainty?: number;
}
