import Fastify from 'fastify';

/** The peer of the API's bench: fastify with one route for each given answer, and nothing else. */
process.once('message', async (answers: Record<string, unknown>) => {
  const app = Fastify();
  for (const [path, answer] of Object.entries(answers)) app.get(path, async () => answer);
  process.send?.(await app.listen({ host: '127.0.0.1', port: 0 }));
});
process.on('disconnect', () => process.exit(0));
