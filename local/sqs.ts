import type { Emulator } from './dynamodb.ts'

/**
 * Starts the embedded SQS, in memory: what was queued when it ended is enqueued again by the sweeper, as a message
 * that was lost would be on AWS.
 */
export async function startSqs(): Promise<Emulator> {
  const { startFauxqs } = await import('fauxqs')
  const server = await startFauxqs({ port: 0, host: '127.0.0.1', logger: false })
  return { name: 'fauxqs', endpoint: `http://127.0.0.1:${server.port}`, stop: () => server.stop() }
}
