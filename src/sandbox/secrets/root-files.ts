/** Returns the files of trusted certificates that the host's variables name. */
export function rootFiles(): readonly string[] {
  const { SSL_CERT_FILE, NODE_EXTRA_CA_CERTS } = process.env;
  return [SSL_CERT_FILE ?? '', NODE_EXTRA_CA_CERTS ?? ''].filter((path) => path !== '');
}
