import { products } from './product-names.ts';
import { rows } from './row.ts';
import type { Signature } from './signature.ts';

const subject = (certainty: number) => rows(null, 'tls.subject', certainty);

/** Products that bring their own certificate, by its subject. */
export const certificateSignatures: readonly Signature[] = [
  subject(0.95)(
    'tls.traefik-default',
    ...products.traefik,
    'CN=TRAEFIK DEFAULT CERT',
    'CN=TRAEFIK DEFAULT CERT',
  ),
  subject(0.9)(
    'tls.syncthing',
    ...products.syncthing,
    '^(?:O=Syncthing, OU=Automatically Generated, )?CN=syncthing$',
    'O=Syncthing, OU=Automatically Generated, CN=syncthing',
  ),
  subject(0.95)(
    'tls.kubernetes-ingress',
    'ingress-nginx',
    'kubernetes:ingress-nginx',
    'CN=Kubernetes Ingress Controller Fake Certificate',
    'O=Acme Co, CN=Kubernetes Ingress Controller Fake Certificate',
  ),
  subject(0.9)('tls.kube-apiserver', ...products.kubernetesApi, 'CN=kube-apiserver', 'CN=kube-apiserver'),
  subject(0.85)(
    'tls.proxmox',
    ...products.proxmoxVe,
    'OU=PVE Cluster Node|O=Proxmox Virtual Environment',
    'OU=PVE Cluster Node, O=Proxmox Virtual Environment, CN=pve.example',
  ),
  subject(0.9)(
    'tls.vmware-esx',
    ...products.vmwareESXi,
    'OU=VMware ESX Server Default Certificate',
    'O=VMware\\, Inc, OU=VMware ESX Server Default Certificate, CN=localhost.localdomain',
  ),
  subject(0.85)(
    'tls.synology',
    'Synology DSM',
    'synology:diskstation_manager',
    String.raw`O=Synology Inc\.`,
    'C=TW, L=Taipel, O=Synology Inc., CN=synology.com',
  ),
  subject(0.85)(
    'tls.fortigate',
    'FortiGate',
    'o:fortinet:fortios',
    'O=Fortinet(?:,|$).*CN=FG|CN=FortiGate',
    'C=US, O=Fortinet, OU=FortiGate, CN=FortiGate',
  ),
  subject(0.85)('tls.unifi', 'UniFi', 'ui', 'CN=UniFi', 'C=US, O=Ubiquiti Inc., CN=UniFi'),
  subject(0.85)(
    'tls.plesk',
    ...products.plesk,
    'O=(?:Parallels|Plesk|SWsoft).*CN=(?:Parallels Panel|Plesk|plesk)',
    'C=CH, L=Schaffhausen, O=Plesk, CN=Plesk',
  ),
  subject(0.7)(
    'tls.dovecot-default',
    ...products.dovecot,
    String.raw`OU=IMAP server, CN=imap\.example\.com`,
    'OU=IMAP server, CN=imap.example.com',
  ),
  subject(0.7)(
    'tls.plex-issuer',
    ...products.plexMediaServer,
    String.raw`O=Plex, Inc\.`,
    'C=US, O=Plex, Inc.',
  ),
];
