import { BY_PROXY } from './server.js';

/**
 * A command that says bytes within TLS to a server, by the proxy, with `$TOKEN` in them put in, and prints
 * what it hears until the other side ends, or for two seconds.
 */
export function saying(host: string, bytes: string): string {
  const said = Buffer.from(bytes, 'latin1').toString('base64');
  return `${BY_PROXY} /usr/bin/python3 - <<'PROGRAM'
import base64, os, socket, ssl, sys
s = socket.create_connection(('127.0.0.1', 3128))
s.sendall(b'CONNECT ${host} HTTP/1.1\\r\\n\\r\\n')
s.recv(4096)
s = ssl.create_default_context().wrap_socket(s, server_hostname='${host.split(':')[0]}')
s.sendall(base64.b64decode('${said}').replace(b'$TOKEN', os.environ['TOKEN'].encode()))
s.settimeout(2)
heard = b''
try:
    while True:
        part = s.recv(65536)
        if not part: break
        heard += part
except (ConnectionResetError, TimeoutError, ssl.SSLError): pass
sys.stdout.write(heard.decode('latin1'))
PROGRAM`;
}
