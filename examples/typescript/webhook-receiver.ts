import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
// From npm: import { AgentError, parseWebhook } from 'agent-execution-client'
import { AgentError, parseWebhook, type WebhookEvent } from '../../clients/typescript/src/index.ts'

/** A receiver of webhooks. `WEBHOOK_SECRET` may have two secrets, with a comma in between, during a rotation. */
const { PORT = '8080', WEBHOOK_SECRET = '' } = process.env
const secrets = WEBHOOK_SECRET.split(',')

/** Far above any event. */
const MAX_BODY_BYTES = 1_000_000

/** Events that were handled. With several processes, this belongs into a database. */
const handled = new Set<string>()

const server = createServer(async (request, response) => {
  response.statusCode = await receive(request)
  response.end()
})
server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`listening on ${(server.address() as AddressInfo).port}`)
})

/** Returns the status of the response. Whatever is not 2xx makes the service send the event again later. */
async function receive(request: IncomingMessage): Promise<number> {
  try {
    const body = await readBody(request)
    if (!body) return 413
    const event = await parseWebhook(body, request.headers, secrets)
    // The same event can arrive twice, also at the same time.
    const id = String(request.headers['webhook-id'])
    if (!handled.has(id)) handle(event)
    handled.add(id)
    return 204
  } catch (error) {
    if (error instanceof AgentError && error.code === 'InvalidWebhook') {
      console.error(`rejected: ${error.reason}`)
      return 400
    }
    console.error(error)
    return 500
  }
}

/** Work that takes longer than a few seconds belongs into a queue: the service waits 20 seconds for the response. */
function handle(event: WebhookEvent): void {
  switch (event.type) {
    case 'execution.succeeded':
      console.log(`succeeded: ${event.data.id}`)
      break
    case 'execution.failed':
      console.log(`failed: ${event.data.id} ${event.data.error?.code}`)
      break
    case 'batch.ended':
      console.log(`ended: ${event.data.id}, ${event.data.counts.ERROR} of ${event.data.lines} lines failed`)
      break
    default:
      // Also of types that this program does not know.
      console.log(event.type)
  }
}

/** The bytes as they were received; null if there are too many. */
async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > MAX_BODY_BYTES) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
