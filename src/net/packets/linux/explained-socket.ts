import type { Family } from '../../../domain/targets/address.ts';
import type { SocketEgress } from '../../egress.ts';
import { boundSocket } from './bind-socket.ts';
import {
  errorControlBytes,
  msgErrqueue,
  type QueuedError,
  queueErrors,
  readQueuedError,
} from './error-queue.ts';
import { MessageArena } from './message-arena.ts';
import { socketNameBytes, socketNames } from './socket-name.ts';
import { msgDontwait, nonblockCloexec, type Sys, socketTypes, sysOrReason } from './sys.ts';

/** A TCP socket that can say which ICMP error ended its connection attempt. */
interface ExplainedSocket {
  /** The caller closes it. */
  fd: number;
  /** Null = none, or the kernel does not tell (before Linux 5.8). Before it is closed. */
  error(): QueuedError | null;
}

const errorShape = {
  messages: 1,
  nameBytes: socketNameBytes,
  sendBytes: 0,
  receiveBytes: 64,
  controlBytes: errorControlBytes,
};

let arena: MessageArena | null = null;

/** Null where there is none. @throws Error with `code`, an errno name, if it cannot be bound */
export function explainedSocket(family: Family, egress: SocketEgress | null): ExplainedSocket | null {
  const sys = sysOrReason();
  if ('reason' in sys) return null;
  const fd = egress
    ? boundSocket('stream', egress)
    : sys.socket(socketNames[family].domain, socketTypes.stream | nonblockCloexec, 0);
  if (fd < 0) return null;
  queueErrors(sys, fd, family);
  return { fd, error: () => errorOf(sys, fd, family) };
}

function errorOf(sys: Sys, fd: number, family: Family): QueuedError | null {
  arena ??= new MessageArena(sys, errorShape);
  arena.prepareNames(socketNameBytes);
  const count = arena.receive(fd, msgErrqueue | msgDontwait);
  return count > 0 ? readQueuedError(arena.receivedControl(0), family) : null;
}
