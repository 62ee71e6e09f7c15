// Says again what it is told, over a broker: the least that a round trip there takes.
import { connect } from '@nats-io/transport-node';

const connection = await connect({ servers: process.argv[2] ?? '' });
connection.subscribe('bench.echo', {
  callback: (_, message) => void message.respond(message.data),
});
await connection.flush();
console.error('ready');
