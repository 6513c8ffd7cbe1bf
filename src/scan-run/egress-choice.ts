import type { Config } from '../config/schema.ts';
import { type FieldProblem, invalidRequest, PortolanError } from '../domain/errors.ts';
import { interfaceForm, interfacePattern } from '../domain/interface-name.ts';
import type { ScanOptions, ScanRequest } from '../domain/scan.ts';
import { parseAddress } from '../domain/targets/address.ts';
import { type EgressChoice, egressProblem } from '../net/egress.ts';

/** The way out of this machine of a scan: what it asks for, else what the configuration says. */
export function egressOf({ options }: Pick<ScanRequest, 'options'>, { scanner }: Config): EgressChoice {
  return {
    interface: options.interface ?? scanner.interface ?? '',
    sourceIp: options.source_ip ?? scanner.source_ip ?? '',
    sourcePort: options.source_port ?? 0,
  };
}

/** Options that name no interface, address or port, whatever the machine. */
export function malformedEgress(options: ScanOptions): FieldProblem[] {
  const { interface: link, source_ip: source, source_port: port } = options;
  const problems: FieldProblem[] = [];
  if (link !== undefined && !interfacePattern.test(link))
    problems.push({ field: 'options.interface', reason: `must be ${interfaceForm}` });
  if (source !== undefined && parseAddress(source) === null)
    problems.push({ field: 'options.source_ip', reason: 'must be an IPv4 or IPv6 address' });
  if (port !== undefined && !(Number.isInteger(port) && port >= 1 && port <= 65_535))
    problems.push({ field: 'options.source_port', reason: 'must be from 1 to 65535' });
  return problems;
}

/**
 * Rejects a request for an interface or address that this machine does not have. Where workers of other machines scan,
 * only they know.
 * @throws PortolanError `invalid_request`
 */
export function checkEgress({ options }: Pick<ScanRequest, 'options'>, { queue }: Config): void {
  const { interface: link = '', source_ip: sourceIp = '' } = options;
  if (queue.url !== null && queue.url !== '') return;
  const problem = egressProblem({ interface: link, sourceIp, sourcePort: 0 });
  if (problem === null) return;
  const field = `options.${problem.field}`;
  throw invalidRequest(`${field}: ${problem.reason}`, [{ ...problem, field }]);
}

/** @throws PortolanError `configuration` as `requireEgress`, without a scan */
export function checkConfiguredEgress(config: Config): void {
  requireEgress({ options: {} }, config);
}

/** @throws PortolanError `configuration` for an interface or address that this machine does not have */
export function requireEgress(request: Pick<ScanRequest, 'options'>, config: Config): EgressChoice {
  const choice = egressOf(request, config);
  const problem = egressProblem(choice);
  if (problem === null) return choice;
  const field = problem.field as 'interface' | 'source_ip';
  const key = request.options[field] === undefined ? `scanner.${field}` : `options.${field}`;
  throw new PortolanError('configuration', `${key}: ${problem.reason}`, {
    problems: [{ path: key, reason: problem.reason }],
  });
}
