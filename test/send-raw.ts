import { connect } from 'node:net';

/** Sends bytes as they are and reads the answer to its end. */
export async function sendRaw(base: string, request: string): Promise<string> {
  const { hostname, port } = new URL(base);
  return await new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(request));
    let answer = '';
    socket.on('data', (bytes) => (answer += bytes));
    socket.on('end', () => resolve(answer)).on('error', reject);
    socket.on('close', () => resolve(answer));
  });
}
