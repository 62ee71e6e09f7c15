import type { Socket } from 'node:net';

/**
 * A descriptor of a pipe as a stream, which keeps nobody alive. What makes it is loaded at the first
 * call: whoever imports this package need not wait for that.
 */
export function pipeSocket(fd: number, direction: 'in' | 'out'): Socket {
  const { Socket } = process.getBuiltinModule('node:net');
  const readable = direction === 'in';
  return new Socket({ fd, readable, writable: !readable }).unref();
}
