// Echoes messages over a broker: the least time of a round trip there.
import { connect } from '@nats-io/transport-node';

const connection = await connect({ servers: process.argv[2] ?? '' });
connection.subscribe('bench.echo', {
  callback: (_, message) => void message.respond(message.data),
});
await connection.flush();
console.error('ready');
