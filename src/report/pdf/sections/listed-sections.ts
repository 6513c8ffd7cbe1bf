import type { Report } from '../../model/report.ts';
import { numberText, pluralText } from '../../model/report-text.ts';

/** A section that the contents page names. Each draws itself exactly if `when` says so. */
interface ListedSection {
  title: string;
  /** In gray behind the title. */
  note(report: Report): string;
  when(report: Report): boolean;
}

const always = () => true;

/** In the order of the report. */
export const listedSections = {
  summary: { title: 'Summary', note: () => '', when: always },
  fixes: {
    title: 'Fix list',
    note: ({ actions }) => pluralText(actions.length, 'action'),
    when: ({ actions }) => actions.length > 0,
  },
  findings: {
    title: 'Findings',
    note: ({ summary, kinds, kindsLeft }) =>
      `${numberText(summary.findings)}, of ${pluralText(kinds.length + kindsLeft.kinds, 'kind')}`,
    when: ({ kinds }) => kinds.length > 0,
  },
  hosts: {
    title: 'Hosts',
    note: ({ hosts }) => numberText(hosts.all),
    when: ({ hosts }) => hosts.all > 0,
  },
  services: {
    title: 'Services and products',
    note: ({ services }) => pluralText(services.openPorts, 'open port'),
    when: ({ services, compliance, extras }) => services.openPorts + compliance.length + extras.length > 0,
  },
  certificates: {
    title: 'Certificates that expire',
    note: ({ certificates }) => numberText(certificates.expiring.length + certificates.expiringLeft),
    when: ({ certificates }) => certificates.read > 0,
  },
  compliance: {
    title: 'Compliance',
    note: ({ compliance }) => compliance.map(({ framework }) => framework).join(', '),
    when: ({ compliance }) => compliance.length > 0,
  },
  coverage: { title: 'Coverage', note: () => 'what was and was not looked at', when: always },
  methodology: { title: 'Methodology', note: () => 'profile, modules, catalog, times', when: always },
} satisfies Record<string, ListedSection>;

export type SectionName = keyof typeof listedSections;
export const sectionNames = Object.keys(listedSections) as SectionName[];
