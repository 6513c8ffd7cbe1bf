import type { FastifyRequest } from 'fastify';
import type { Type } from 'typebox';
import { invalidText } from '../../../actions/graphs/change-graph.ts';
import type { GraphChecker } from '../../../actions/graphs/graph-checker.ts';
import { invalidRequest } from '../../../domain/errors.ts';
import { loadGraph } from '../../../engine/graph/graph.ts';
import type { ScanChoices } from '../../../scan-run/plan/decide-request.ts';
import type { ModuleCatalog } from '../../../scan-run/plan/plan-scan.ts';
import type { Submission } from '../../../scan-run/plan/submission.ts';
import { checkScopes } from '../../access/auth.ts';
import type { RouteContext } from '../../context.ts';
import { choicesOf } from '../../installed.ts';
import { abortSignal } from '../response-deadline.ts';
import type { submissionSchema } from '../schema/schemas.ts';

type SentSubmission = Type.Static<typeof submissionSchema>;

/** What a scan is submitted with: the modules and graphs in force, and the files that came with it. */
export interface WithSent {
  installed: ModuleCatalog;
  choices: ScanChoices;
  submission: Submission;
}

/**
 * Loads the plugins and checks the graph of a submission.
 * @param keep whether processes of scans are to find the plugins
 * @throws PortolanError `insufficient_scope`, `invalid_request`, `license_required`
 */
export async function withSent(
  request: FastifyRequest<{ Body: SentSubmission }>,
  { plugins, workers }: Pick<RouteContext, 'plugins' | 'workers'>,
  checker: GraphChecker,
  keep: boolean,
): Promise<WithSent> {
  const { graph: file, plugins: sent = [], ...submission } = request.body;
  const { token, space } = request;
  if (token !== null && sent.length > 0) checkScopes(token, ['plugin:manage']);
  if (token !== null && file !== undefined) checkScopes(token, ['dag:write']);
  const installed =
    sent.length === 0
      ? space.installed
      : await plugins.withSent(sent, space.installed, keep ? space.store : null);
  const choices = choicesOf(installed, workers.listeners);
  if (file === undefined) return { installed, choices, submission };
  if (submission.dag !== undefined) {
    const reason = 'a graph file and the name of a graph exclude each other';
    throw invalidRequest(reason, [{ field: 'graph', reason }]);
  }
  const name = (file.file ?? 'graph').replace(/\.\w{1,8}$/, '');
  const text = { text: file.text, name, isNamed: false };
  const verdict = await checker.check(text, installed, abortSignal(request));
  if (!verdict.valid) throw invalidText(`graph ${file.file ?? ''}`.trim(), verdict.problems);
  const { graph } = loadGraph(file.text, name);
  return {
    installed,
    choices: { ...choices, sent: { graph, text: file.text } },
    submission: { ...submission, dag: graph.name },
  };
}
