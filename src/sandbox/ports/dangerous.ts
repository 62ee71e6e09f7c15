/**
 * Ports by which whoever connects may control a program, a machine, or all containers: what listens there
 * asks for no password, and starts programs. The keeper has the same list for what it publishes.
 */
const DANGEROUS: Readonly<Record<number, string>> = {
  2345: "a debugger's (Go)",
  2375: "Docker's",
  2376: "Docker's",
  4243: "Docker's",
  4444: "a browser driver's",
  5005: "a debugger's (Java)",
  5037: "Android's debugger",
  5555: "Android's debugger",
  5678: "a debugger's (Python)",
  5858: "a debugger's (Node)",
  5900: 'the screen (VNC)',
  5901: 'the screen (VNC)',
  6000: 'the screen (X11)',
  6001: 'the screen (X11)',
  8265: "Ray's",
  9222: "a browser's debugger",
  9223: "a browser's debugger",
  9229: "a debugger's (Node)",
  9230: "a debugger's (Node)",
  9515: "a browser driver's",
  10250: "Kubernetes' kubelet",
  10255: "Kubernetes' kubelet",
  16509: "the virtual machines' (libvirt)",
  27183: "a debugger's (Android)",
};

/** Returns whose port this is, if whoever connects to it may control a program or the machine. */
export function ownerOfDangerous(port: number): string | undefined {
  return DANGEROUS[port];
}
