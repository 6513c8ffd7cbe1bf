import { useGet } from '../../../api/use-get.ts';
import { Drawer, type DrawerProps } from '../../../components/controls/drawer.tsx';
import { Boundary } from '../../../components/states/boundary.tsx';
import { TargetText } from '../../../components/text/target-text.tsx';
import { Link } from '../../../url/link.tsx';
import { searchText } from '../../../url/search-text.ts';
import { type ExplainedFinding, FindingDetailView } from './finding-detail.tsx';
import { HostDetail } from './host-detail.tsx';
import { type ExplainedPort, PortDetail, serviceName } from './port-detail.tsx';

interface RecordDrawerProps extends Pick<DrawerProps, 'position' | 'onNext' | 'onPrevious'> {
  scanId: string;
  /** `host ADDRESS`, `port ADDRESS 443/tcp`, `finding ADDRESS 443/tcp ID`; empty for none. */
  openKey: string;
  onClose: () => void;
}

/** What the URL names: a host, a service or a finding, with the bytes and rules behind it. */
export function RecordDrawer({ scanId, openKey, ...drawer }: RecordDrawerProps) {
  const place = readKey(openKey);
  if (place === null) return null;
  return (
    <Drawer title={<Title place={place} />} {...drawer}>
      <Explained key={openKey} scanId={scanId} place={place} />
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

/** The service of a finding: there are its bytes and the rule that names it. */
function ServiceLink({ port, host, scanId }: { port: ExplainedPort; host: string; scanId: string }) {
  const place = `${port.port}/${port.protocol}`;
  return (
    <p className="text-text-2">
      <TargetText text={serviceName(port)} /> on <TargetText text={`${host}:${place}`} mono />
      {'. '}
      <Link
        to={`/scans/${scanId}/services${searchText({ open: `port ${host} ${place}` })}`}
        className="underline"
      >
        Why it is called so
      </Link>
    </p>
  );
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
        return (
          <FindingDetailView
            finding={finding}
            port={service ?? null}
            service={service && <ServiceLink port={service} host={host} scanId={scanId} />}
          />
        );
      }}
    </Boundary>
  );
}
