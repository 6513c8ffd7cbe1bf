import { parseDns } from '../protocols/dns.ts';
import { parseNtp, parseSnmp } from '../protocols/management.ts';
import { parseRpc } from '../protocols/rpc.ts';
import { parseRsync } from '../protocols/rsync.ts';
import { type Check, evidence } from './check.ts';

const nfsProgram = 100_003;

/** Interfaces that control a machine, share its files, or act as a relay. */
export const managementChecks: readonly Check[] = [
  {
    id: 'docker-api-no-auth',
    title: 'The Docker API is accessible without a client certificate',
    severity: 'critical',
    confidence: 0.97,
    action: 'Require client certificates for the Docker API',
    remediation:
      'Make the Docker daemon listen on its local socket only, or require client certificates (--tlsverify).',
    references: ['https://docs.docker.com/engine/security/protect-access/'],
    prove({ http, page, banner }) {
      if (banner.probe !== 'docker-version' || http?.facts.status !== 200) return null;
      return /"ApiVersion"\s*:/.test(page) ? evidence(`GET /version: ${page}`) : null;
    },
  },
  {
    id: 'kubelet-anonymous',
    title: 'The kubelet lists its pods to anyone',
    severity: 'critical',
    confidence: 0.97,
    action: 'Turn off anonymous access to the kubelet',
    remediation:
      'Set authentication.anonymous.enabled: false and authorization.mode: Webhook, and readOnlyPort: 0, in the configuration of the kubelet.',
    references: ['https://kubernetes.io/docs/reference/access-authn-authz/kubelet-authn-authz/'],
    prove({ http, page, banner }) {
      if (banner.probe !== 'kubelet-pods' || http?.facts.status !== 200) return null;
      return /"kind"\s*:\s*"PodList"/.test(page) ? evidence(`GET /pods: ${page.slice(0, 200)}`) : null;
    },
  },
  {
    id: 'rsync-modules-listed',
    title: 'The rsync daemon lists its modules to anyone',
    severity: 'medium',
    confidence: 0.95,
    action: 'Hide the modules of rsync, and require a login',
    remediation: 'Set "list = no", "auth users" and "hosts allow" for each module, or use rsync over SSH.',
    references: ['https://download.samba.org/pub/rsync/rsyncd.conf.5'],
    prove({ bytes, banner }) {
      const modules = banner.protocol === 'tcp' ? parseRsync(bytes)?.modules : null;
      return modules && modules.length > 0 ? evidence(`#list: ${modules.join('; ')}`) : null;
    },
  },
  {
    id: 'nfs-exposed',
    title: 'An NFS server is reachable',
    severity: 'medium',
    confidence: 0.95,
    action: 'Limit NFS to the hosts that need it',
    remediation: 'Export to named hosts only, prefer NFSv4 with Kerberos, and filter ports 111 and 2049.',
    references: ['https://datatracker.ietf.org/doc/html/rfc2623'],
    prove(response) {
      const { banner, bytes } = response;
      if (banner.protocol !== 'tcp' || (banner.probe !== 'nfs' && banner.probe !== 'rpcbind')) return null;
      const record = parseRpc(bytes, 'tcp');
      if (banner.probe === 'nfs')
        return record?.accepted ? 'the NULL call to program 100003 (NFS) version 3 was accepted' : null;
      const served = record?.registrations.filter(({ program }) => program === nfsProgram) ?? [];
      if (served.length === 0) return null;
      const places = served.map(({ version, protocol, port }) => `version ${version} on ${port}/${protocol}`);
      return evidence(`registered at the port mapper: NFS ${places.join(', ')}`);
    },
  },
  {
    id: 'snmp-public',
    title: 'SNMP responds to the default community "public"',
    severity: 'high',
    confidence: 0.98,
    action: 'Change the SNMP community',
    remediation:
      'Turn SNMP off, or use SNMPv3 with authentication and privacy; remove the default communities.',
    references: ['https://datatracker.ietf.org/doc/html/rfc3414'],
    prove({ banner, bytes }) {
      const record = banner.protocol === 'udp' && banner.probe.startsWith('snmp') ? parseSnmp(bytes) : null;
      if (record?.community !== 'public') return null;
      return evidence(`version ${record.version}, sysDescr.0: ${record.text ?? 'no text'}`);
    },
  },
  {
    id: 'dns-open-recursion',
    title: 'The name server resolves recursive queries for anyone',
    severity: 'medium',
    confidence: 0.9,
    action: 'Allow DNS recursion for your own networks only',
    remediation:
      'Allow recursion for your own networks only (allow-recursion in BIND, access-control in Unbound), and limit response rates: attackers use open resolvers to flood others.',
    references: ['https://datatracker.ietf.org/doc/html/rfc5358'],
    prove({ banner, bytes }) {
      const record = /dns|domain/i.test(banner.probe) ? parseDns(bytes, banner.protocol) : null;
      return record?.recursion
        ? evidence(
            `the response to ${banner.probe} has the flag "recursion available" (rcode ${record.rcode})`,
          )
        : null;
    },
  },
  {
    id: 'ntp-monlist',
    title: 'The NTP server lists its recent clients to anyone (monlist)',
    severity: 'medium',
    confidence: 0.98,
    action: 'Turn off monlist on NTP servers',
    remediation: 'Update ntpd to 4.2.7p26 or later, or set "disable monitor" and "restrict default noquery".',
    references: ['https://nvd.nist.gov/vuln/detail/CVE-2013-5211'],
    prove({ banner, bytes }) {
      const record = banner.protocol === 'udp' && banner.probe.startsWith('ntp') ? parseNtp(bytes) : null;
      return record?.kind === 'monitor'
        ? `the private request 42 (MON_GETLIST_1) returned ${record.clients} entries`
        : null;
    },
  },
];
