import type { Explanation } from '../results/explain-port.ts';
import { rowsOfHost } from './host-rows.ts';
import type { ExplainRequest } from './index-requests.ts';
import type { OpenIndex } from './open-index.ts';
import type { Turns } from './turns.ts';

/** Explains a host or a port; rules and vulnerability data are loaded for the first one. */
export async function explainHost(
  open: OpenIndex,
  { scanId, endpoint, config }: ExplainRequest,
  turns: Turns,
): Promise<Explanation> {
  const { explainEndpoint, maxExplainedFindings, maxExplainedPorts } = await import(
    '../results/explain-port.ts'
  );
  const { rows, leftOut } = await rowsOfHost(
    open,
    { ...endpoint, maxPorts: maxExplainedPorts, maxFindings: maxExplainedFindings },
    turns,
  );
  const { withAtHand } = await import('./explain-data.ts');
  async function* each() {
    yield* rows;
  }
  const explanation = await withAtHand(config, (atHand) => explainEndpoint(scanId, each(), endpoint, atHand));
  return { ...explanation, left_out: explanation.left_out + leftOut };
}
