/** Reports each open port; the version tells which one ran. */
export const noteTitles = (version: string) => `
export const Plugin = {
  name: () => 'title_note',
  description: () => 'Notes every banner.',
  version: () => '${version}',
  type: 'evaluation',
  configSchema: () => ({}),
  configure() {},
  requires: () => ['open_ports'],
  provides: () => ['vulnerabilities'],
  initialize() {},
  cleanup() {},
  async execute(ctx, data) {
    for await (const { host, port, protocol } of data.stream('open_ports')) {
      await data.append('vulnerabilities', {
        host, port, protocol, id: 'title-note', title: 'Noted', severity: 'low', cvss: null, kev: false, epss: null,
        cpe: null, affected: null, detected: null, confidence: 0.9, backport_note: null, class: 'certain',
        evidence: 'version ${version}', remediation: 'none', references: [], plugin: 'title_note',
      });
    }
  },
};
`;

export interface Result {
  results: { ports: { vulnerabilities: { id: string; evidence: string; producer?: object }[] }[] }[];
  stages?: { module_type: string; status: string; error: string | null }[];
}

export const findingsOf = ({ results }: Result) =>
  results.flatMap((host) => host.ports.flatMap(({ vulnerabilities }) => vulnerabilities));
