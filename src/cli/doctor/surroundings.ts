import { accessSync, closeSync, constants, existsSync, openSync, statfsSync } from 'node:fs';
import { release, tmpdir } from 'node:os';
import { messageOf } from '../../support/errors.js';
import { formatSize } from '../../support/text.js';
import { readQuietly } from './files.js';
import { type Finding, failed, fine, limited } from './finding.js';

const OLDEST_NODE = [20, 19] as const;
const FEW_DESCRIPTORS = 256;
const UNSEEN = 'not visible, without /proc';
const LITTLE_SPACE = 64 * 1024 * 1024;

/** Describes this machine as far as that takes no command. */
export function surroundings(): Finding[] {
  // Other systems do not need what only Linux has.
  const ofLinux = process.platform === 'linux' ? [proc, otherUsers, seccomp, descriptors] : [];
  return [platform, node, ...ofLinux, nullDevice, temporary].map((look) => look());
}

function platform(): Finding {
  const found = `${process.platform} ${process.arch}, kernel ${release()}`;
  const runs = process.platform === 'linux' || process.platform === 'darwin';
  if (runs) return fine('platform', found);
  return failed('platform', found, 'forkline runs on Linux and macOS');
}

function node(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_NODE;
  const isOld = major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
  if (!isOld) return fine('Node', process.version);
  return limited('Node', process.version, `not tried below ${OLDEST_NODE.join('.')}`);
}

function proc(): Finding {
  if (existsSync('/proc/self/stat')) return fine('/proc', 'mounted');
  const cost =
    'processes that commands leave running can be ended only by their process group, and not be named';
  return limited('/proc', 'not mounted', cost);
}

function otherUsers(): Finding {
  const name = 'other users';
  if (!existsSync('/proc/self/stat')) return limited(name, UNSEEN, 'as above');
  const isHidden = !existsSync('/proc/1/stat') || readQuietly('/proc/1/stat') === undefined;
  if (!isHidden) return fine(name, 'their processes can be seen');
  const cost =
    'processes of other users, as by sudo, can escape the end of their command; a sandbox does not tell ' +
    "the kernel's denials and what it holds back, and has no sshAgent, gpgAgent and ports.publish";
  return limited(name, 'their processes are hidden (hidepid)', cost);
}

function seccomp(): Finding {
  const status = readQuietly('/proc/self/status');
  if (status === undefined) {
    return limited('seccomp', UNSEEN, 'denied system calls show only when they fail');
  }
  const filtered = /^Seccomp:\s*2$/m.test(status);
  const found = filtered ? 'a filter is active' : 'no filter';
  if (!/^NoNewPrivs:\s*1$/m.test(status)) return fine('seccomp', found);
  return limited('seccomp', `${found}, no_new_privs is set`, 'sudo and the like have no effect');
}

function descriptors(): Finding {
  const limits = readQuietly('/proc/self/limits');
  const [, soft] = /^Max open files\s+(\S+)/m.exec(limits ?? '') ?? [];
  if (soft === undefined) {
    return limited('descriptors', UNSEEN, 'a low limit shows only when no descriptor is left');
  }
  if (soft === 'unlimited' || Number(soft) >= FEW_DESCRIPTORS) return fine('descriptors', soft);
  const cost = 'few commands can run at a time; `ulimit -n 1024` allows for more';
  return limited('descriptors', soft, cost);
}

function nullDevice(): Finding {
  try {
    closeSync(openSync('/dev/null', constants.O_RDWR));
    return fine('/dev/null', 'can be read and written');
  } catch (error) {
    return limited('/dev/null', messageOf(error), 'commands without input cannot be started');
  }
}

function temporary(): Finding {
  const path = tmpdir();
  const name = 'temporary directory';
  const cost = 'whole outputs, and those of background commands, cannot be kept';
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = statfsSync(path);
    const free = bavail * bsize;
    const found = `${path}, ${formatSize(free)} free`;
    return free < LITTLE_SPACE ? limited(name, found, cost) : fine(name, found);
  } catch (error) {
    return limited(name, messageOf(error), cost);
  }
}
