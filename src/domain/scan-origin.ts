/** The request that submitted a scan. */
export interface ScanOrigin {
  /** As in `X-Request-Id`; null for scans of the command line and of earlier versions. */
  requestId: string | null;
  /** The client's span, see `domain/trace-context.ts`; null without one. */
  traceparent: string | null;
}

export const unknownOrigin: ScanOrigin = { requestId: null, traceparent: null };

/** Fields of every log line about a scan. */
export interface ScanLogFields {
  scan_id: string;
  request_id?: string;
}

export function scanLogFields(scanId: string, requestId: string | null): ScanLogFields {
  return { scan_id: scanId, ...(requestId !== null && { request_id: requestId }) };
}
