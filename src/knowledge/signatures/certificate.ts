import { rows } from './row.ts';
import type { Signature } from './signature.ts';

const subject = (certainty: number) => rows(null, 'tls.subject', certainty);

/** Products that bring their own certificate, by its subject. */
export const certificateSignatures: readonly Signature[] = [
  subject(0.95)(
    'tls.traefik-default',
    'Traefik',
    'traefik:traefik',
    'CN=TRAEFIK DEFAULT CERT',
    'CN=TRAEFIK DEFAULT CERT',
  ),
  subject(0.9)(
    'tls.syncthing',
    'Syncthing',
    'syncthing:syncthing',
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
  subject(0.9)(
    'tls.kube-apiserver',
    'Kubernetes API',
    'kubernetes:kubernetes',
    'CN=kube-apiserver',
    'CN=kube-apiserver',
  ),
  subject(0.85)(
    'tls.proxmox',
    'Proxmox VE',
    'proxmox:virtual_environment',
    'OU=PVE Cluster Node|O=Proxmox Virtual Environment',
    'OU=PVE Cluster Node, O=Proxmox Virtual Environment, CN=pve.example',
  ),
  subject(0.9)(
    'tls.vmware-esx',
    'VMware ESXi',
    'vmware',
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
    'Plesk',
    'plesk:plesk',
    'O=(?:Parallels|Plesk|SWsoft).*CN=(?:Parallels Panel|Plesk|plesk)',
    'C=CH, L=Schaffhausen, O=Plesk, CN=Plesk',
  ),
  subject(0.7)(
    'tls.dovecot-default',
    'Dovecot',
    'dovecot:dovecot',
    String.raw`OU=IMAP server, CN=imap\.example\.com`,
    'OU=IMAP server, CN=imap.example.com',
  ),
  subject(0.7)(
    'tls.plex-issuer',
    'Plex Media Server',
    'plex:media_server',
    String.raw`O=Plex, Inc\.`,
    'C=US, O=Plex, Inc.',
  ),
];
