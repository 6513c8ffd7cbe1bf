/** System calls that the sandbox restricts, with their numbers. */

export type Architecture = 'x64' | 'arm64';

/** What the filter does with a call; arguments count from 0. */
export type Restriction =
  | 'deny'
  /** For calls that the C library replaces by an older one, or whose arguments a filter cannot read. */
  | 'missing'
  | { argument: number; allowed: 'self' | 'self_or_zero' }
  /** Denied unless this bit is set. */
  | { argument: number; needs: number }
  /** Denied if all bits of one of these masks are set. */
  | { argument: number; without: number[] }
  /** Denied if the argument has one of these values. */
  | { argument: number; not: number[] };

interface Syscall {
  /** Null: this architecture has no such call. */
  x64: number | null;
  arm64: number | null;
  restriction: Restriction;
}

/** The first number that did not exist in Linux 6.12: calls from here on are unknown to this table and fail with ENOSYS. */
export const firstUnknown = 463;

const cloneThread = 0x1_0000;
const truncateFile = 0x200;
const sharedAnonymous = 0x21;
/** A mapping that grows downward counts as stack, not as data. */
const growsDown = 0x100;
/** F_SETOWN and F_SETOWN_EX: the kernel would send signals to another process. */
const setOwner = [8, 15];
/** FIOSETOWN and SIOCSPGRP do the same. */
const setOwnerByIoctl = [0x8901, 0x8902];
/** PR_SET_PDEATHSIG: the host would outlive the scan. PR_SET_DUMPABLE: where /proc hides processes, nobody could count its threads. */
const ownProcess = [1, 4];

function denied(x64: number | null, arm64: number | null): Syscall {
  return { x64, arm64, restriction: 'deny' };
}

export const syscalls: Record<string, Syscall> = {
  // Network.
  socket: denied(41, 198),
  socketpair: denied(53, 199),
  connect: denied(42, 203),
  accept: denied(43, 202),
  accept4: denied(288, 242),
  bind: denied(49, 200),
  listen: denied(50, 201),
  sendto: denied(44, 206),
  sendmsg: denied(46, 211),
  sendmmsg: denied(307, 269),
  // Work that the kernel would do past the filter.
  io_uring_setup: denied(425, 425),
  io_uring_enter: denied(426, 426),
  io_uring_register: denied(427, 427),
  io_setup: denied(206, 0),
  io_submit: denied(209, 2),
  // Processes; threads are allowed.
  fork: denied(57, null),
  vfork: denied(58, null),
  clone: { x64: 56, arm64: 220, restriction: { argument: 0, needs: cloneThread } },
  clone3: { x64: 435, arm64: 435, restriction: 'missing' },
  unshare: denied(272, 97),
  setns: denied(308, 268),
  // Other processes.
  ptrace: denied(101, 117),
  process_vm_readv: denied(310, 270),
  process_vm_writev: denied(311, 271),
  process_madvise: denied(440, 440),
  process_mrelease: denied(448, 448),
  pidfd_open: denied(434, 434),
  pidfd_getfd: denied(438, 438),
  pidfd_send_signal: denied(424, 424),
  kcmp: denied(312, 272),
  kill: { x64: 62, arm64: 129, restriction: { argument: 0, allowed: 'self' } },
  tgkill: { x64: 234, arm64: 131, restriction: { argument: 0, allowed: 'self' } },
  tkill: denied(200, 130),
  rt_sigqueueinfo: denied(129, 138),
  rt_tgsigqueueinfo: denied(297, 240),
  fcntl: { x64: 72, arm64: 25, restriction: { argument: 1, not: setOwner } },
  ioctl: { x64: 16, arm64: 29, restriction: { argument: 1, not: setOwnerByIoctl } },
  prlimit64: { x64: 302, arm64: 261, restriction: { argument: 0, allowed: 'self_or_zero' } },
  prctl: { x64: 157, arm64: 167, restriction: { argument: 0, not: ownProcess } },
  setpriority: denied(141, 140),
  sched_setparam: denied(142, 118),
  sched_setscheduler: denied(144, 119),
  sched_setattr: denied(314, 274),
  sched_setaffinity: denied(203, 122),
  ioprio_set: denied(251, 30),
  migrate_pages: denied(256, 238),
  move_pages: denied(279, 239),
  // Memory that RLIMIT_DATA does not count, and objects that outlive the process.
  mmap: { x64: 9, arm64: 222, restriction: { argument: 3, without: [sharedAnonymous, growsDown] } },
  memfd_create: denied(319, 279),
  memfd_secret: denied(447, 447),
  shmget: denied(29, 194),
  shmat: denied(30, 196),
  shmctl: denied(31, 195),
  semget: denied(64, 190),
  semctl: denied(66, 191),
  msgget: denied(68, 186),
  msgsnd: denied(69, 189),
  msgctl: denied(71, 187),
  mq_open: denied(240, 180),
  mq_unlink: denied(241, 181),
  // Changes of files that Landlock ABI 2 does not know.
  open: { x64: 2, arm64: null, restriction: { argument: 1, without: [truncateFile] } },
  openat: { x64: 257, arm64: 56, restriction: { argument: 2, without: [truncateFile] } },
  openat2: { x64: 437, arm64: 437, restriction: 'missing' },
  creat: denied(85, null),
  truncate: denied(76, 45),
  chmod: denied(90, null),
  fchmod: denied(91, 52),
  fchmodat: denied(268, 53),
  fchmodat2: denied(452, 452),
  chown: denied(92, null),
  fchown: denied(93, 55),
  lchown: denied(94, null),
  fchownat: denied(260, 54),
  utime: denied(132, null),
  utimes: denied(235, null),
  futimesat: denied(261, null),
  utimensat: denied(280, 88),
  setxattr: denied(188, 5),
  lsetxattr: denied(189, 6),
  fsetxattr: denied(190, 7),
  removexattr: denied(197, 14),
  lremovexattr: denied(198, 15),
  fremovexattr: denied(199, 16),
  open_by_handle_at: denied(304, 265),
  // The machine.
  mount: denied(165, 40),
  umount2: denied(166, 39),
  pivot_root: denied(155, 41),
  chroot: denied(161, 51),
  open_tree: denied(428, 428),
  move_mount: denied(429, 429),
  fsopen: denied(430, 430),
  fsconfig: denied(431, 431),
  fsmount: denied(432, 432),
  fspick: denied(433, 433),
  mount_setattr: denied(442, 442),
  swapon: denied(167, 224),
  swapoff: denied(168, 225),
  bpf: denied(321, 280),
  perf_event_open: denied(298, 241),
  userfaultfd: denied(323, 282),
  fanotify_init: denied(300, 262),
  keyctl: denied(250, 219),
  add_key: denied(248, 217),
  request_key: denied(249, 218),
  init_module: denied(175, 105),
  finit_module: denied(313, 273),
  delete_module: denied(176, 106),
  kexec_load: denied(246, 104),
  kexec_file_load: denied(320, 294),
  reboot: denied(169, 142),
  syslog: denied(103, 116),
  personality: denied(135, 92),
};

/** Denied once the host runs: the launcher itself needs it to start the host. */
export const execCalls: Record<string, Syscall> = {
  execve: denied(59, 221),
  execveat: denied(322, 281),
};
