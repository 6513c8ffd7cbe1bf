import { useGet } from '../../../api/use-get.ts';
import { Drawer } from '../../../components/controls/drawer.tsx';
import { Boundary } from '../../../components/states/boundary.tsx';
import { TargetText } from '../../../components/text/target-text.tsx';
import { type ExplainedFinding, FindingDetailView } from './finding-detail.tsx';
import { HostDetail } from './host-detail.tsx';
import { PortDetail } from './port-detail.tsx';

interface RecordDrawerProps {
  scanId: string;
  /** `host ADDRESS`, `port ADDRESS 443/tcp`, `finding ADDRESS 443/tcp ID`; empty for none. */
  openKey: string;
  onClose: () => void;
}

/** What the URL names: a host, a service or a finding, with the bytes and rules behind it. */
export function RecordDrawer({ scanId, openKey, onClose }: RecordDrawerProps) {
  const place = readKey(openKey);
  if (place === null) return null;
  return (
    <Drawer title={<Title place={place} />} onClose={onClose}>
      <Explained scanId={scanId} place={place} />
    </Drawer>
  );
}

export interface RecordPlace {
  kind: 'host' | 'port' | 'finding';
  host: string;
  port: number | null;
  protocol: string | null;
  /** Of a finding. */
  id: string | null;
}

export function readKey(key: string): RecordPlace | null {
  const match = /^(host|port|finding) (\S+)(?: (?:host|(\d{1,5})\/(\w+)))?(?: (.+))?$/.exec(key);
  if (!match) return null;
  const [, kind, host = '', port, protocol, id] = match;
  return {
    kind: kind as RecordPlace['kind'],
    host,
    port: port === undefined ? null : Number(port),
    protocol: protocol ?? null,
    id: id ?? null,
  };
}

function Title({ place: { host, port, protocol } }: { place: RecordPlace }) {
  return <TargetText text={port === null ? host : `${host}:${port}/${protocol}`} mono />;
}

function Explained({ scanId, place }: { scanId: string; place: RecordPlace }) {
  const { host, port, protocol } = place;
  const got = useGet('/api/v1/scans/{scan_id}/explain', {
    path: { scan_id: scanId },
    query: {
      host,
      ...(port !== null && { port }),
      ...(protocol !== null && { protocol: protocol as 'tcp' | 'udp' }),
    },
  });
  return (
    <Boundary got={got} rows={12}>
      {(explanation) => {
        const [service] = explanation.ports;
        if (place.kind === 'host') return <HostDetail explanation={explanation} scanId={scanId} />;
        if (place.kind === 'port' && service)
          return <PortDetail port={service} scanId={scanId} host={host} />;
        const findings = [
          ...explanation.findings,
          ...explanation.ports.flatMap(({ findings: own }) => own),
        ] as unknown as ExplainedFinding[];
        const finding = findings.find(({ id }) => id === place.id);
        if (!finding) return <p>This finding is not part of the scan any more.</p>;
        return <FindingDetailView finding={finding} port={service ?? null} />;
      }}
    </Boundary>
  );
}
