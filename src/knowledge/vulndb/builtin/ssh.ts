import { cve, cvesOf } from './entry.ts';

const openssh = cvesOf('a:openbsd:openssh');
const libssh = cvesOf('a:libssh:libssh');
const dropbear = cvesOf('a:dropbear_ssh_project:dropbear_ssh');
const paramiko = cvesOf('a:paramiko:paramiko');

/** OpenSSH and other SSH servers. */
export const sshCves = [
  openssh('CVE-2024-6387', 'NHNN/U/HHH', ['< 4.4', '>= 8.5, < 9.8'], {
    title: 'A race in the signal handler of sshd lets strangers run code as root (regreSSHion)',
    remedy:
      'Until the update, LoginGraceTime 0 in sshd_config closes the race at the price of easier denial of service.',
  }),
  cve(
    'CVE-2023-48795',
    'NHNN/U/NHN',
    {
      'a:openbsd:openssh': ['< 9.6'],
      'a:libssh:libssh': ['< 0.9.8', '>= 0.10.0, < 0.10.6'],
      'a:dropbear_ssh_project:dropbear_ssh': ['<= 2022.83'],
      'a:paramiko:paramiko': ['< 3.4.0'],
      'a:apache:sshd': ['<= 2.11.0'],
    },
    {
      title: 'Somebody on the path can drop messages at the start of an SSH session unnoticed (Terrapin)',
      remedy:
        'Update both ends for strict key exchange, or switch off chacha20-poly1305 and the -etm MACs with CBC ciphers.',
    },
  ),
  openssh('CVE-2023-38408', 'NLNN/U/HHH', ['< 9.3p2'], {
    title:
      'A forwarded ssh-agent can be made to load libraries and run code; the SSH server itself is not at fault',
    remedy: 'Do not forward agents to hosts that are not trusted.',
  }),
  openssh('CVE-2023-51385', 'NLNN/U/LLN', ['< 9.6'], {
    title:
      'User or host names with shell characters can run commands through ssh configuration tokens on the client',
  }),
  openssh('CVE-2021-41617', 'LHLN/U/HHH', ['>= 6.2, < 8.8'], {
    title: 'Helper programs of sshd started for another user keep supplementary groups they should not have',
  }),
  openssh('CVE-2021-28041', 'NHLR/U/HHH', ['>= 8.2, < 8.5'], {
    title: 'A double free in ssh-agent may run code when the agent is forwarded to a hostile host',
  }),
  openssh('CVE-2025-26465', 'NHNR/U/HHN', ['>= 6.8, < 9.9p2'], {
    title: 'A client with VerifyHostKeyDNS can be led to a false server',
  }),
  openssh('CVE-2025-26466', 'NHNN/U/NNH', ['>= 9.5, < 9.9p2'], {
    title: 'Ping packets before authentication exhaust memory and processor of the SSH server',
    remedy: 'LoginGraceTime, MaxStartups and PerSourcePenalties bound the harm.',
  }),
  openssh('CVE-2018-15473', 'NLNN/U/LNN', ['<= 7.7'], {
    title: 'Responses to malformed authentication show which user names exist',
  }),
  openssh('CVE-2017-15906', 'NLNN/U/NLN', ['< 7.6'], {
    title: 'The SFTP server in read-only mode lets users create empty files',
  }),
  openssh('CVE-2016-10009', 'NLNN/U/LLL', ['< 7.4'], {
    title: 'A forwarded ssh-agent loads PKCS#11 modules from anywhere',
  }),
  openssh('CVE-2016-10012', 'LLLN/U/HHH', ['< 7.4'], {
    title:
      'Missing bounds checks in the shared memory of the pre-authentication process help a local attacker to more rights',
  }),
  openssh('CVE-2016-10708', 'NLNN/U/NNH', ['< 7.4'], {
    title: 'An out-of-sequence NEWKEYS message crashes the session process of sshd',
  }),
  openssh('CVE-2016-6515', 'NLNN/U/NNH', ['< 7.3'], {
    title: 'Very long passwords keep the processor of the SSH server busy',
  }),
  openssh('CVE-2016-6210', 'NHNN/U/HNN', ['< 7.3'], {
    title: 'The time until a response shows which user names exist',
  }),
  openssh('CVE-2016-1908', 'NLNN/U/HHH', ['< 7.2'], {
    title: 'Untrusted X11 forwarding falls back to trusted forwarding',
  }),
  libssh('CVE-2018-10933', 'NLNN/U/HHN', ['>= 0.6.0, < 0.7.6', '>= 0.8.0, < 0.8.4'], {
    title: 'A client that claims to be authenticated is believed, without any credentials',
  }),
  libssh('CVE-2023-2283', 'NLNN/U/LLN', ['>= 0.9.1, < 0.9.7', '>= 0.10.0, < 0.10.5'], {
    title: 'When memory is short, the signature of a client is taken as good without a check',
  }),
  dropbear('CVE-2016-7406', 'NLNN/U/HHH', ['< 2016.74'], {
    title: 'Format characters in user or host names may run code as root',
  }),
  dropbear('CVE-2017-9078', 'NLLN/U/HHH', ['< 2017.75'], {
    title: 'A double free when TCP forwarding is cleaned up lets authenticated users run code as root',
  }),
  dropbear('CVE-2018-15599', 'NLNN/U/LNN', ['<= 2018.76'], {
    title: 'Responses to malformed authentication show which user names exist',
  }),
  paramiko(
    'CVE-2018-7750',
    'NLNN/U/HHH',
    [
      '< 1.17.6',
      '>= 1.18.0, < 1.18.5',
      '>= 2.0.0, < 2.0.8',
      '>= 2.1.0, < 2.1.5',
      '>= 2.2.0, < 2.2.3',
      '>= 2.3.0, < 2.3.2',
      '>= 2.4.0, < 2.4.1',
    ],
    { title: 'The SSH server does not check that a client has authenticated before it serves requests' },
  ),
  cve(
    'CVE-2025-32433',
    'NLNN/C/HHH',
    {
      'a:erlang:erlang/otp': ['< 25.3.2.20', '>= 26.0, < 26.2.5.11', '>= 27.0, < 27.3.3'],
      // The ssh application has numbers of its own.
      'a:erlang:ssh': ['< 4.15.3.12', '>= 5.0, < 5.1.4.8', '>= 5.2, < 5.2.10'],
    },
    { title: 'The SSH server of Erlang/OTP runs commands of clients that have not authenticated' },
  ),
];
