import type { Socket } from 'node:net';

/**
 * Makes a stream of a pipe's descriptor, which does not keep the host alive. `node:net` is loaded at the
 * first call, so that the import of this package does not take longer.
 */
export function pipeSocket(fd: number, direction: 'in' | 'out'): Socket {
  const { Socket } = process.getBuiltinModule('node:net');
  const readable = direction === 'in';
  return new Socket({ fd, readable, writable: !readable }).unref();
}
